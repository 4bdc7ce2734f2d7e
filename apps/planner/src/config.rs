//! `planner.toml` beside the project: who plays which role, and with which prompt. Everything in it
//! is optional.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docui::{Fault, regular_file};
use pipemux_planner_course::Speaker;
use pipemux_planner_course::text::shown_name;
use serde::Deserialize;

use crate::limits::{CONFIG_MAX, DRIVER_DEADLINE, DRIVER_DEADLINE_MAX, PROMPT_MAX};

/// The name of the configuration file.
pub const FILE: &str = "planner.toml";

/// The user's own file below the home directory, whose drivers need no trust and may have keys.
pub const OWN_FILE: &str = ".config/planner.toml";

/// The content of the user's own configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnConfig {
    #[serde(default)]
    drivers: BTreeMap<String, DriverConfig>,
}

/// The content of the project's configuration file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The file's text; `None` if there is no file.
    #[serde(skip)]
    pub text: Option<String>,
    /// The drivers of the user's own file, which no project's driver of the same name takes the
    /// place of.
    #[serde(skip)]
    own_drivers: BTreeMap<String, DriverConfig>,
    /// The default driver, for roles without a driver of their own.
    #[serde(default)]
    driver: Option<String>,
    /// The command line of the program that plans are handed to.
    #[serde(default)]
    pub codegen: Option<CommandLine>,
    /// True if the roles of round 2 are asked at the same time, as those of round 1 are.
    #[serde(default)]
    pub parallel: bool,
    #[serde(default)]
    coach: RoleConfig,
    #[serde(default)]
    roles: BTreeMap<String, RoleConfig>,
    /// The drivers that the file describes, by name.
    #[serde(default)]
    pub drivers: BTreeMap<String, DriverConfig>,
}

/// A program and its arguments: a list, or a line with words separated by spaces.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// `"make-code --strict"`
    Line(String),
    /// `["make-code", "--strict"]`
    Words(Vec<String>),
}

impl CommandLine {
    /// Returns the program and its arguments.
    pub fn words(&self) -> Vec<String> {
        match self {
            Self::Line(line) => line.split_whitespace().map(str::to_owned).collect(),
            Self::Words(words) => words.clone(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleConfig {
    driver: Option<String>,
    prompt: Option<String>,
}

/// A program or an endpoint that plays roles.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverConfig {
    /// The command line of the program to start.
    pub command: Option<CommandLine>,
    /// The command line of an agent that speaks the Agent Client Protocol.
    pub acp: Option<CommandLine>,
    /// The base URL of the chat endpoint.
    pub base_url: Option<String>,
    model: Option<String>,
    key_env: Option<String>,
    /// The time limit of a turn, in seconds.
    deadline: Option<u64>,
}

/// The driver that plays a role.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverSpec {
    /// Whoever reads the window.
    Agent,
    Command {
        /// The driver's name in the configuration.
        name: String,
        /// The program and its arguments.
        words: Vec<String>,
        /// The time limit of the program.
        deadline: Duration,
    },
    /// An agent that speaks the Agent Client Protocol.
    Acp {
        /// The driver's name in the configuration.
        name: String,
        /// The program and its arguments.
        words: Vec<String>,
        /// The time limit of a turn.
        deadline: Duration,
    },
    Http {
        /// The driver's name in the configuration.
        name: String,
        /// The URL of the API: `http://localhost:11434/v1`.
        base_url: String,
        model: String,
        /// The environment variable that holds the API key.
        key_env: Option<String>,
        /// The time limit of one answer.
        deadline: Duration,
    },
}

impl DriverSpec {
    /// Returns its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Agent => "agent",
            Self::Command { name, .. } | Self::Acp { name, .. } | Self::Http { name, .. } => name,
        }
    }
}

/// Programs that the planner knows how to ask, those first that are preferred.
const PRESETS: [(&str, &[&str]); 3] = [
    ("claude", &["claude", "-p", "--output-format", "json"]),
    ("codex", &["codex", "exec", "--skip-git-repo-check", "-"]),
    ("ollama", &["ollama", "run", "llama3.2"]),
];

impl Config {
    /// Reads the file of a project; none is the same as an empty one.
    ///
    /// # Errors
    /// It can't be read or understood: the message says where.
    pub fn read(root: &Path) -> Result<Self, Fault> {
        let path = root.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        let wrong = |why: String| {
            Fault::failed(format!("{FILE}: {why}")).hint(format!("pipemux open editor {FILE}"))
        };
        let length = path.metadata().map_or(0, |found| found.len());
        if length > CONFIG_MAX {
            return Err(wrong(format!("{length} bytes, at most {CONFIG_MAX}")));
        }
        let text = regular_file::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let mut config: Self = toml::from_str(&text)
            .map_err(|error| wrong(error.to_string().trim().replace('\n', " ")))?;
        if let Some((name, _)) = config.drivers.iter().find(|(_, one)| one.key_env.is_some()) {
            return Err(wrong(format!(
                "drivers.{name}: key_env is taken only from {OWN_FILE}, which no project can write: a driver of that \
                 file can be named here"
            )));
        }
        let is_plain = |name: &&String| shown_name(name) == **name && !name.is_empty();
        if let Some(name) = config.drivers.keys().find(|name| !is_plain(name)) {
            return Err(wrong(format!(
                "drivers: {name:?} is no name: it has marks or hidden letters"
            )));
        }
        config.text = Some(text);
        for (name, role) in config.roles.iter().chain([(&"coach".to_owned(), &config.coach)]) {
            if Speaker::parse(name).is_none() {
                return Err(wrong(format!("roles.{name}: there is no such role")));
            }
            let length = role.prompt.as_ref().map_or(0, |prompt| prompt.chars().count());
            if length > PROMPT_MAX {
                return Err(wrong(format!(
                    "{name}: the prompt has {length} characters, at most {PROMPT_MAX}"
                )));
            }
        }
        Ok(config)
    }

    /// Takes in the drivers of the user's own file.
    ///
    /// # Errors
    /// It can't be read or understood: the message says where.
    pub fn with_own(mut self, home: Option<&str>) -> Result<Self, Fault> {
        let Some(path) = home.map(|home| Path::new(home).join(OWN_FILE)) else { return Ok(self) };
        if path.exists() {
            let wrong = |why: String| Fault::failed(format!("~/{OWN_FILE}: {why}"));
            let text = regular_file::read_to_string(&path).map_err(io::Error::from);
            let text = text.map_err(|error| match error.kind() {
                // The sandbox knows the file that was there when the session began, and most
                // editors write a new one.
                io::ErrorKind::PermissionDenied => {
                    wrong("it was written anew; pipemux restart planner/main reads it".into())
                }
                _ => wrong(error.to_string()),
            })?;
            let own: OwnConfig = toml::from_str(&text)
                .map_err(|error| wrong(error.to_string().trim().replace('\n', " ")))?;
            self.own_drivers = own.drivers;
        }
        Ok(self)
    }

    /// Returns the names of the drivers that the file has play somebody.
    pub fn driver_names(&self) -> impl Iterator<Item = &str> {
        let roles = self.roles.values().map(|role| &role.driver);
        let named = roles.chain([&self.driver, &self.coach.driver]).flatten();
        named.map(String::as_str).filter(|name| *name != "agent")
    }

    /// Returns the names of the variables that have keys of the user's own drivers.
    pub fn key_names(&self) -> impl Iterator<Item = String> {
        self.own_drivers.values().filter_map(|driver| driver.key_env.clone())
    }

    /// Returns the prompts that it has, by the speaker's name.
    pub fn prompts(&self) -> BTreeMap<String, String> {
        let mut prompts = BTreeMap::new();
        for (name, role) in &self.roles {
            if let (Some(speaker), Some(prompt)) = (Speaker::parse(name), &role.prompt) {
                prompts.insert(speaker.name().to_owned(), prompt.clone());
            }
        }
        if let Some(prompt) = &self.coach.prompt {
            prompts.insert("Coach".into(), prompt.clone());
        }
        prompts
    }

    /// Returns who plays a speaker: what was chosen in the session, what the file says of the
    /// speaker, what it says of all, else a preset that is on `PATH`, else the agent.
    ///
    /// # Errors
    /// The driver that is named isn't known.
    pub fn driver(
        &self,
        speaker: Speaker,
        chosen: Option<&str>,
        path: &str,
    ) -> Result<DriverSpec, String> {
        let own = match speaker {
            Speaker::Coach => self.coach.driver.as_deref(),
            Speaker::Role(role) => self
                .roles
                .iter()
                .find(|(name, _)| Speaker::parse(name) == Some(Speaker::Role(role)))
                .and_then(|(_, role)| role.driver.as_deref()),
        };
        match chosen.or(own).or(self.driver.as_deref()) {
            Some(name) => self.named(name),
            None => {
                // Only programs that answer for themselves; a model of ollama has to be chosen.
                let found =
                    PRESETS.iter().take(2).find(|(name, _)| find_program(name, path).is_some());
                found.map_or(Ok(DriverSpec::Agent), |(name, _)| self.named(name))
            }
        }
    }

    /// Returns the driver of this name.
    ///
    /// # Errors
    /// There is none, or it says not exactly one of a command, an agent and an endpoint.
    pub fn named(&self, name: &str) -> Result<DriverSpec, String> {
        if name == "agent" {
            return Ok(DriverSpec::Agent);
        }
        let name = name.to_owned();
        if let Some(own) = self.own_drivers.get(&name).or_else(|| self.drivers.get(&name)) {
            let deadline =
                own.deadline.map_or(DRIVER_DEADLINE, Duration::from_secs).min(DRIVER_DEADLINE_MAX);
            return match (&own.command, &own.acp, &own.base_url, &own.model) {
                (Some(command), None, None, _) if !command.words().is_empty() => {
                    Ok(DriverSpec::Command { name, words: command.words(), deadline })
                }
                (None, Some(agent), None, _) if !agent.words().is_empty() => {
                    Ok(DriverSpec::Acp { name, words: agent.words(), deadline })
                }
                (None, None, Some(base_url), Some(model)) => {
                    let (base_url, model) =
                        (base_url.trim_end_matches('/').to_owned(), model.clone());
                    Ok(DriverSpec::Http {
                        name,
                        base_url,
                        model,
                        key_env: own.key_env.clone(),
                        deadline,
                    })
                }
                _ => Err(format!(
                    "{FILE}: drivers.{name}: expected `command`, `acp`, or `base_url` and `model`"
                )),
            };
        }
        match PRESETS.iter().find(|(preset, _)| *preset == name) {
            Some((_, words)) => {
                let words = words.iter().map(|word| (*word).to_owned()).collect();
                Ok(DriverSpec::Command { name, words, deadline: DRIVER_DEADLINE })
            }
            None => {
                let known = self.own_drivers.keys().chain(self.drivers.keys());
                let mut known: Vec<&str> = known.map(String::as_str).collect();
                known.extend(["agent", "claude", "codex", "ollama"]);
                Err(format!("there is no driver `{name}`; there are {}", known.join(", ")))
            }
        }
    }
}

/// Returns the path of a program on `PATH`.
pub fn find_program(name: &str, path: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name));
    }
    std::env::split_paths(path).map(|directory| directory.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests;
