//! Starts a command in a terminal of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use docui::Fault;
use filedescriptor::FileDescriptor;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use sha2::{Digest, Sha256};

use crate::command_line::{CommandLine, Form};
use crate::limits::{COLUMNS, ROWS};
use crate::pattern::file_of;
use crate::question::Permit;
use crate::{orphans, process};

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The command line.
    pub line: CommandLine,
    /// The directory in which it runs.
    pub cwd: PathBuf,
    /// Variables that were given with the call.
    pub given: BTreeMap<String, String>,
    /// All variables.
    pub env: BTreeMap<String, String>,
    /// The program's file, if its word is a path: what was asked for is what is started.
    file: Option<PathBuf>,
}

/// A command that was started.
pub struct Started {
    /// The process, which leads a session and a group of its own.
    pub child: Box<dyn Child + Send + Sync>,
    /// Its process id.
    pub leader: i32,
    /// The terminal, which lasts as long as this.
    pub terminal: Box<dyn MasterPty + Send>,
    /// What it prints.
    pub output: Box<dyn Read + Send>,
    /// What is typed.
    pub input: File,
}

/// Variables that every command gets: nothing may wait for a person who turns pages, and what moves in a terminal costs
/// an agent as much as what is said.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("npm_config_progress", "false"),
    ("PIP_PROGRESS_BAR", "off"),
];

/// The language and encoding that every command has unless its call says otherwise.
const LOCALE: &str = if cfg!(target_os = "macos") { "en_US.UTF-8" } else { "C.UTF-8" };

/// Where programs are looked for when the opener's environment doesn't say.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl Order {
    /// Makes an order; `env` is what the opener's environment has.
    pub fn new(
        line: CommandLine,
        cwd: PathBuf,
        given: BTreeMap<String, String>,
        env: &BTreeMap<String, String>,
    ) -> Self {
        let mut all = env.clone();
        // In some encodings a backslash can be the second byte of a character, so a shell would read another line than was
        // checked. Without any locale, programs print names outside of ASCII as escapes.
        all.retain(|name, _| !is_locale(name));
        all.insert("LANG".to_owned(), LOCALE.to_owned());
        all.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
        all.extend(
            ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        all.extend(given.clone());
        let file = match &line.form {
            Form::Plain(words) => file_of(&words[0], &cwd),
            Form::Joined(_) | Form::Opaque => None,
        };
        Self { line, cwd, given, env: all, file }
    }

    /// Returns the line with the variables that were given, as it is asked for and told: without what a secret is.
    pub fn whole(&self) -> String {
        let shown = |(name, value): (&String, &String)| match is_secret(name) {
            true => format!("{name}=*** "),
            false => format!("{name}={} ", quoted(value)),
        };
        self.given.iter().map(shown).collect::<String>() + &self.line.text
    }

    /// Returns the line with the variables that were given, each as it is.
    pub(crate) fn exact(&self) -> String {
        let given = self.given.iter().map(|(name, value)| format!("{name}={value} "));
        given.collect::<String>() + &self.line.text
    }

    /// Returns what tells it from any other order: its line, its directory and its variables, as a digest, since a variable
    /// may be a secret.
    pub fn identity(&self) -> String {
        let parts = serde_json::to_vec(&(&self.line.text, &self.given)).unwrap_or_default();
        let digest = Sha256::new()
            .chain_update(parts)
            .chain_update([0])
            .chain_update(self.cwd.as_os_str().as_bytes())
            .finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Starts it. Only who has a permit has an order that may be started.
    ///
    /// # Errors
    /// There is no such program or directory, or the system gives no terminal.
    pub(crate) fn start(permit: &Permit, mark: &str) -> Result<Started, Fault> {
        permit.order().start_permitted(mark)
    }

    fn start_permitted(&self, mark: &str) -> Result<Started, Fault> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            let error = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            Fault::failed(format!("{what}: {error}"))
        };
        // A directory that is removed meanwhile stays the one that is meant, or there is none: the library would take the
        // home directory in its place.
        let folder = File::open(&self.cwd).ok().filter(|_| self.cwd.is_dir());
        let folder = folder.ok_or_else(|| self.no_folder())?;
        let opened = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        let cwd = if opened.is_dir() { &opened } else { &self.cwd };
        let arguments = match &self.line.form {
            Form::Plain(words) => {
                let mut words = words.clone();
                if let Some(file) = &self.file {
                    words[0] = file.to_string_lossy().into_owned();
                } else if let Some(found) =
                    self.find(&words[0]).filter(|found| !found.is_absolute())
                {
                    words[0] = self.cwd.join(found).to_string_lossy().into_owned();
                }
                words
            }
            Form::Joined(_) | Form::Opaque => {
                let shell = if self.find("bash").is_some() { "bash" } else { "/bin/sh" };
                vec![shell.to_owned(), "-c".to_owned(), self.line.text.clone()]
            }
        };
        let mut command =
            CommandBuilder::from_argv(arguments.into_iter().map(OsString::from).collect());
        command.env_clear();
        self.env.iter().for_each(|(name, value)| command.env(name, value));
        command.env("PWD", &self.cwd);
        command.env(process::MARK, mark);
        command.cwd(cwd);
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system()
            .openpty(size)
            .map_err(|error| failed("the system gives no terminal", &error))?;
        let output =
            pair.master.try_clone_reader().map_err(|error| failed("its output", &error))?;
        // Not the library's writer, which waits when it is dropped.
        let master = pair.master.as_raw_fd().map(Descriptor);
        let input = master
            .ok_or_else(|| Fault::failed("its input: the terminal has no descriptor"))
            .and_then(|master| {
                let own = FileDescriptor::dup(&master).and_then(|own| own.as_file());
                own.map_err(|error| failed("its input", &error))
            })?;
        let (child, leader) = orphans::start(|| {
            let child = pair
                .slave
                .spawn_command(command)
                .map_err(|error| failed(&format!("{} can't be started", self.line.text), &error))?;
            let leader = child.process_id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
            Ok((child, leader))
        })?;
        Ok(Started { child, leader, terminal: pair.master, output, input })
    }

    /// Checks that its directory and its program exist, as far as that can be told.
    ///
    /// # Errors
    /// There is none.
    pub fn check(&self) -> Result<(), Fault> {
        if !self.cwd.is_dir() {
            return Err(self.no_folder());
        }
        let Form::Plain(words) = &self.line.form else { return Ok(()) };
        let program = &words[0];
        match &self.file {
            Some(file) if file.is_file() => Ok(()),
            Some(_) => {
                let folder = self.cwd.display();
                Err(Fault::not_found(format!("there is no file {program} in {folder}")))
            }
            None if self.find(program).is_some() => Ok(()),
            None => Err(Fault::not_found(format!("no program is named {program}"))),
        }
    }

    fn no_folder(&self) -> Fault {
        Fault::not_found(format!("cwd: there is no folder {}", self.cwd.display()))
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.env.get("PATH")?;
        let folders = path.split(':').map(|folder| Path::new(folder).join(program));
        folders.into_iter().find(|path| self.cwd.join(path).is_file())
    }
}

/// A descriptor that something else keeps open.
struct Descriptor(RawFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0
    }
}

fn is_locale(name: &str) -> bool {
    name == "LANG" || name == "LANGUAGE" || name.starts_with("LC_")
}

/// Returns true for a variable whose value nobody should read: by its name, as those are named that have one.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    // They name a program, or are one: whoever is asked has to see it.
    if name.ends_with("_ASKPASS") || name.starts_with("BASH_FUNC_") || name.contains("AUTHOR_") {
        return false;
    }
    ["TOKEN", "SECRET", "PASS", "PWD", "KEY", "CREDENTIAL", "AUTH", "COOKIE", "PRIVATE", "DSN"]
        .iter()
        .any(|part| name.contains(part))
}

/// Returns a value as a shell reads it.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,@%+".contains(c);
    match !value.is_empty() && value.chars().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(line: &str, given: &[(&str, &str)]) -> Order {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Order::new(CommandLine::parse(line), "/p".into(), given.collect(), &BTreeMap::new())
    }

    #[test]
    fn secrets_are_not_told_and_values_are_quoted() {
        assert_eq!(
            order("a", &[("API_TOKEN", "x"), ("B", "1 2"), ("C", "d")]).whole(),
            "API_TOKEN=*** B='1 2' C=d a"
        );
        assert_eq!(order("a", &[("B", "it's")]).whole(), r"B='it'\''s' a");
        let (one, two) = (order("a", &[("TOKEN", "x")]), order("a", &[("TOKEN", "y")]));
        assert_eq!(one.whole(), two.whole());
        assert_ne!(one.identity(), two.identity());
    }

    #[test]
    fn locale_is_that_of_the_call_and_never_that_of_the_opener() {
        let opener =
            [("LANG", "zh_CN.GBK"), ("LC_ALL", "zh_TW.Big5"), ("LANGUAGE", "de"), ("A", "b")];
        let opener = opener.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let of = |given: &[(&str, &str)]| {
            let given = given.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let env =
                Order::new(CommandLine::parse("a"), "/p".into(), given.collect(), &opener).env;
            let locale = env.iter().filter(|(name, _)| is_locale(name));
            locale.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), [format!("LANG={LOCALE}")]);
        assert_eq!(
            of(&[("LC_ALL", "de_DE.UTF-8")]),
            [format!("LANG={LOCALE}"), "LC_ALL=de_DE.UTF-8".into()]
        );
        assert_eq!(of(&[("LANG", "C")]), ["LANG=C"]);
    }

    #[test]
    fn program_with_a_path_is_that_of_its_directory() {
        let order = order("bin/tool a", &[("PATH", "/elsewhere")]);
        assert_eq!(order.file.as_deref(), Some(Path::new("/p/bin/tool")));
        assert!(order.check().unwrap_err().message.contains("there is no folder /p"));
    }
}
