//! One command: its variables, its standard input and its deadline.

use std::io::{Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::processes::kill;
use crate::{Output, Signal, TestEnv};

/// How long a command may take; the command line gives up by itself after 30 s.
const DEADLINE: Duration = Duration::from_secs(50);

/// A command that has not been started yet.
#[derive(Debug)]
#[must_use = "`output` or `start` runs the command"]
pub struct Invocation<'e> {
    env: &'e TestEnv,
    command: Command,
    command_line: String,
}

impl<'e> Invocation<'e> {
    pub(crate) fn new(env: &'e TestEnv, program: PathBuf, args: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(args).current_dir(env.project()).env_clear().envs(env.variables());
        command.stdin(Stdio::null());
        let command_line = format!("pipemux {}", args.join(" "));
        Self { env, command, command_line }
    }

    /// Runs it as this reader.
    pub fn reader(self, name: &str) -> Self {
        self.env("PIPEMUX_READER", name)
    }

    /// Runs it in this workspace.
    pub fn workspace(self, name: &str) -> Self {
        self.env("PIPEMUX_WORKSPACE", name)
    }

    /// Runs it in this directory.
    pub fn current_dir(mut self, directory: PathBuf) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives it these bytes as standard input.
    pub fn stdin(mut self, bytes: &[u8]) -> Self {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).and_then(|()| file.rewind()).expect("a temporary file");
        self.command.stdin(Stdio::from(file));
        self
    }

    /// Runs it and waits until it has ended.
    pub fn output(self) -> Output {
        self.start().finish()
    }

    /// Starts it without waiting.
    pub fn start(mut self) -> RunningCommand<'e> {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.command.spawn().expect("the command line can be started");
        let pid = i32::try_from(child.id()).expect("a process id");
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        RunningCommand { env: self.env, command_line: self.command_line, pid, end }
    }
}

/// A command that was started.
#[derive(Debug)]
pub struct RunningCommand<'e> {
    env: &'e TestEnv,
    command_line: String,
    end: mpsc::Receiver<std::io::Result<std::process::Output>>,
    /// Its process id.
    pub pid: i32,
}

impl RunningCommand<'_> {
    /// Returns true while it has not ended.
    pub fn is_running(&self) -> bool {
        crate::is_alive(self.pid)
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// It doesn't end before the deadline.
    pub fn finish(self) -> Output {
        let Ok(ended) = self.end.recv_timeout(DEADLINE) else {
            kill(self.pid, Signal::SIGKILL);
            panic!("no end within {} s: $ {}", DEADLINE.as_secs(), self.command_line);
        };
        let ended = ended.expect("the end of a command");
        let exit = ended.status.code().or(ended.status.signal().map(|signal| 128 + signal));
        let output = Output {
            command: self.command_line,
            stdout: ended.stdout,
            stderr: ended.stderr,
            exit: exit.unwrap_or(-1),
        };
        self.env.record(&output);
        output
    }
}
