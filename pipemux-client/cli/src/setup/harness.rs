//! Which files each harness reads, and what belongs into them.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use jsonc_parser::json;
use pipemux_client::ClientError;
use pipemux_client::proto::paths::Paths;

use super::guide::of_agents_md;
use super::json::{Entry, write};
use super::toml::Server;
use crate::args::{Harness, With};

/// The name of PipeMux in a harness's configuration.
pub const NAME: &str = "pipemux";
/// Claude Code's name of the tool that only looks.
const ASK: &str = "mcp__pipemux__ask";

/// Where files are.
#[derive(Debug, Clone)]
pub struct Places {
    home: PathBuf,
    /// `$XDG_CONFIG_HOME`, or what takes its place.
    config: PathBuf,
    /// Where VS Code keeps its user's files.
    vscode: PathBuf,
    codex: PathBuf,
    copilot: PathBuf,
    claude: Option<PathBuf>,
    /// Where PipeMux keeps its state.
    pub state: PathBuf,
    /// The project's root, if its files are meant.
    project: Option<PathBuf>,
}

impl Places {
    /// The project's root, if its files are meant.
    pub fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    /// Finds the places from the environment; with `project` those of the project around
    /// `directory`.
    ///
    /// # Errors
    /// There is no home directory, or no directory for a project.
    pub fn new(
        get: impl Fn(&str) -> Option<String>,
        directory: Option<PathBuf>,
        project: bool,
    ) -> Result<Self, ClientError> {
        let missing = |what: &str| ClientError::invalid(format!("there is no {what}"));
        let home = get("HOME").map(PathBuf::from).ok_or_else(|| missing("home directory: HOME"))?;
        let config = get("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        let root = |directory: PathBuf| {
            let found = directory.ancestors().find(|one| one.join(".git").exists());
            found.map(Path::to_owned).ok_or_else(|| {
                let shown = directory.display();
                ClientError::invalid(format!("there is no project around {shown}: no .git"))
                    .hint("go to the project's directory, or leave out --project")
            })
        };
        let project = match project {
            true => Some(root(directory.ok_or_else(|| missing("current directory"))?)?),
            false => None,
        };
        let vscode = match cfg!(target_os = "macos") {
            true => home.join("Library/Application Support/Code/User"),
            false => config.join("Code/User"),
        };
        let codex = get("CODEX_HOME").map_or_else(|| home.join(".codex"), PathBuf::from);
        let copilot = get("COPILOT_HOME").map_or_else(|| home.join(".copilot"), PathBuf::from);
        let claude = get("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let user = nix::unistd::getuid().as_raw();
        let state = Paths::from_env(&get, user).map_err(ClientError::invalid)?.state_dir;
        Ok(Self { home, config, vscode, codex, copilot, claude, state, project })
    }

    fn in_home(&self, path: &str) -> PathBuf {
        self.home.join(path)
    }
}

/// A file, and what belongs into it.
#[derive(Debug)]
pub struct Target {
    pub path: PathBuf,
    pub content: Content,
}

/// What belongs into a file.
#[derive(Debug)]
pub enum Content {
    Json(Vec<Entry>),
    Toml(Server),
    /// A block of Markdown.
    Block(String),
    /// The whole file is PipeMux's.
    Skill,
}

impl Target {
    /// Returns what belongs into the file, for a person who adds it.
    pub fn by_hand(&self) -> String {
        match &self.content {
            Content::Json(entries) => write(entries),
            Content::Toml(server) => super::toml::set("", server).unwrap_or_default(),
            Content::Block(block) => super::block::write(block),
            Content::Skill => String::new(),
        }
    }
}

impl Harness {
    /// Returns the name that people know.
    pub fn name(self) -> &'static str {
        match self {
            Harness::ClaudeCode => "Claude Code",
            Harness::Codex => "Codex",
            Harness::Gemini => "Gemini CLI",
            Harness::Cursor => "Cursor",
            Harness::Vscode => "VS Code",
            Harness::Zed => "Zed",
            Harness::Opencode => "opencode",
            Harness::QwenCode => "Qwen Code",
            Harness::Copilot => "Copilot CLI",
            Harness::AgentsMd => "AGENTS.md",
        }
    }

    /// Returns the word on the command line.
    pub fn word(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    /// Returns the files that are to be changed. None if the harness has no place for what is
    /// wanted.
    pub fn targets(self, places: &Places, with: With, command: &str) -> Vec<Target> {
        let mut targets = Vec::new();
        if with != With::Skill {
            targets.extend(self.server(places, command));
        }
        if with != With::Mcp {
            targets.push(Target { path: self.skill(places), content: Content::Skill });
        }
        let Some((file, more)) = self.settings(places, with, command) else { return targets };
        // Where the settings stand in the file of the server, both are one change.
        match targets.first_mut() {
            Some(Target { path, content: Content::Json(entries) }) if *path == file => {
                entries.extend(more);
            }
            _ if more.is_empty() => {}
            _ => targets.push(Target { path: file, content: Content::Json(more) }),
        }
        targets
    }

    /// Returns the file that names the server, or has what takes its place.
    fn server(self, places: &Places, command: &str) -> Option<Target> {
        let project = places.project.as_deref();
        let path = |own: &str, user: PathBuf| project.map_or(user, |root| root.join(own));
        let plain = || json!({ "command": command, "args": ["mcp"] });
        let (path, section, value) = match self {
            Harness::AgentsMd => {
                let content = Content::Block(of_agents_md());
                return Some(Target { path: project?.join("AGENTS.md"), content });
            }
            Harness::Codex => {
                let path = path(".codex/config.toml", places.codex.join("config.toml"));
                let server = Server { name: NAME, command: command.to_owned() };
                return Some(Target { path, content: Content::Toml(server) });
            }
            Harness::ClaudeCode => {
                let user = match &places.claude {
                    Some(directory) => directory.join(".claude.json"),
                    None => places.in_home(".claude.json"),
                };
                let value = json!({ "type": "stdio", "command": command, "args": ["mcp"] });
                (path(".mcp.json", user), "mcpServers", value)
            }
            Harness::Gemini => {
                let user = places.in_home(".gemini/settings.json");
                (path(".gemini/settings.json", user), "mcpServers", plain())
            }
            Harness::QwenCode => {
                let user = places.in_home(".qwen/settings.json");
                (path(".qwen/settings.json", user), "mcpServers", plain())
            }
            Harness::Copilot => {
                let value = json!({
                    "type": "local", "command": command, "args": ["mcp"], "tools": ["*"],
                });
                let user = places.copilot.join("mcp-config.json");
                (path(".github/mcp.json", user), "mcpServers", value)
            }
            Harness::Cursor => (
                path(".cursor/mcp.json", places.in_home(".cursor/mcp.json")),
                "mcpServers",
                plain(),
            ),
            Harness::Vscode => {
                let value = json!({ "type": "stdio", "command": command, "args": ["mcp"] });
                (path(".vscode/mcp.json", places.vscode.join("mcp.json")), "servers", value)
            }
            Harness::Zed => {
                let user = places.config.join("zed/settings.json");
                (path(".zed/settings.json", user), "context_servers", plain())
            }
            Harness::Opencode => {
                let directory =
                    project.map_or_else(|| places.config.join("opencode"), Path::to_owned);
                let with_comments = directory.join("opencode.jsonc");
                let path = match with_comments.exists() {
                    true => with_comments,
                    false => directory.join("opencode.json"),
                };
                let value = json!({
                    "type": "local", "command": [command, "mcp"], "enabled": true,
                });
                (path, "mcp", value)
            }
        };
        let entries = vec![Entry::Value { section, name: NAME, value }];
        Some(Target { path, content: Content::Json(entries) })
    }

    /// Returns where the harness looks for skills.
    fn skill(self, places: &Places) -> PathBuf {
        let user = |directory: &str| places.in_home(directory);
        let directory = match (self, &places.project) {
            (Harness::ClaudeCode, Some(root)) => root.join(".claude"),
            (Harness::ClaudeCode, None) => places.claude.clone().unwrap_or_else(|| user(".claude")),
            (Harness::Codex, Some(root)) => root.join(".agents"),
            (Harness::Codex, None) => places.codex.clone(),
            (Harness::Gemini, Some(root)) => root.join(".gemini"),
            (Harness::Gemini, None) => user(".gemini"),
            (Harness::Cursor, Some(root)) => root.join(".cursor"),
            (Harness::Cursor, None) => user(".cursor"),
            (Harness::Opencode, Some(root)) => root.join(".opencode"),
            (Harness::Opencode, None) => places.config.join("opencode"),
            (Harness::QwenCode, Some(root)) => root.join(".qwen"),
            (Harness::QwenCode, None) => user(".qwen"),
            (Harness::Copilot, Some(root)) => root.join(".github"),
            (Harness::Copilot, None) => places.copilot.clone(),
            // Where all look that follow agentskills.io.
            (Harness::Vscode | Harness::Zed | Harness::AgentsMd, project) => {
                project.as_ref().unwrap_or(&places.home).join(".agents")
            }
        };
        directory.join("skills/pipemux/SKILL.md")
    }

    /// Returns the harness's settings, and what belongs into them: with the server, that its tool
    /// that only looks needs no approval; with the skill, two hooks: one when the model has seen
    /// nothing yet, or has lost it in a compaction, and one at each prompt.
    fn settings(self, places: &Places, with: With, command: &str) -> Option<(PathBuf, Vec<Entry>)> {
        let (file, prompt) = match (self, &places.project) {
            (Harness::ClaudeCode, Some(root)) => {
                (root.join(".claude/settings.json"), "UserPromptSubmit")
            }
            (Harness::ClaudeCode, None) => {
                let directory = places.claude.clone().unwrap_or_else(|| places.in_home(".claude"));
                (directory.join("settings.json"), "UserPromptSubmit")
            }
            (Harness::Codex, Some(root)) => (root.join(".codex/hooks.json"), "UserPromptSubmit"),
            (Harness::Codex, None) => (places.codex.join("hooks.json"), "UserPromptSubmit"),
            (Harness::Gemini, Some(root)) => (root.join(".gemini/settings.json"), "BeforeAgent"),
            (Harness::Gemini, None) => (places.in_home(".gemini/settings.json"), "BeforeAgent"),
            _ => return None,
        };
        let command = pipemux_client::proto::command::join(&[command]);
        let hook = |event, arguments: &str| Entry::Hook {
            event,
            command: format!("{command} inject --hook{arguments}"),
        };
        let mut entries = Vec::new();
        if with != With::Skill && self == Harness::ClaudeCode {
            entries.push(Entry::Allowed(ASK));
        }
        if with != With::Mcp {
            entries.extend([hook("SessionStart", " --reset"), hook(prompt, "")]);
        }
        Some((file, entries))
    }
}
