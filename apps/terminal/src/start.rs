//! Starts a command in a terminal of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use docui::Fault;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::command_line::{CommandLine, Form};
use crate::limits::{COLUMNS, ROWS};

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
    pub input: Box<dyn Write + Send>,
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
        all.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
        all.extend(
            ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        all.extend(given.clone());
        Self { line, cwd, given, env: all }
    }

    /// Returns the line with the variables that were given, as it is asked for and told.
    pub fn whole(&self) -> String {
        let given = self.given.iter().map(|(name, value)| format!("{name}={value} "));
        given.collect::<String>() + &self.line.text
    }

    /// Starts it.
    ///
    /// # Errors
    /// There is no such program, or the system gives no terminal.
    pub fn start(&self) -> Result<Started, Fault> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            let error = error.to_string();
            Fault::failed(format!("{what}: {}", error.lines().next().unwrap_or_default()))
        };
        let arguments = match &self.line.form {
            Form::Plain(words) => words.clone(),
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
        command.cwd(&self.cwd);
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system()
            .openpty(size)
            .map_err(|error| failed("the system gives no terminal", &error))?;
        let output =
            pair.master.try_clone_reader().map_err(|error| failed("its output", &error))?;
        let input = pair.master.take_writer().map_err(|error| failed("its input", &error))?;
        let child = pair
            .slave
            .spawn_command(command)
            .map_err(|error| failed(&format!("{} can't be started", self.line.text), &error))?;
        let leader = child.process_id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or(0);
        Ok(Started { child, leader, terminal: pair.master, output, input })
    }

    /// Checks that its program exists, as far as that can be told.
    ///
    /// # Errors
    /// There is none.
    pub fn check(&self) -> Result<(), Fault> {
        let Form::Plain(words) = &self.line.form else { return Ok(()) };
        let program = &words[0];
        match program.contains('/') {
            true if self.cwd.join(program).is_file() => Ok(()),
            true => {
                let folder = self.cwd.display();
                Err(Fault::not_found(format!("there is no file {program} in {folder}")))
            }
            false if self.find(program).is_some() => Ok(()),
            false => Err(Fault::not_found(format!("no program is named {program}"))),
        }
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let path = self.env.get("PATH")?;
        path.split(':').map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
    }
}
