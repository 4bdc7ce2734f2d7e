//! One command: environment, standard input, deadline.

use std::io::{Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::processes::kill;
use crate::{Output, Signal, World};

/// Longest that a command may take; the command line promises an end after its own deadline of 30 s.
const DEADLINE: Duration = Duration::from_secs(50);

/// A command that is about to be run.
#[derive(Debug)]
#[must_use = "nothing runs before `output` or `start`"]
pub struct Invocation<'w> {
    world: &'w World,
    command: Command,
    shown: String,
}

impl<'w> Invocation<'w> {
    pub(crate) fn new(world: &'w World, program: PathBuf, args: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(args).current_dir(world.project()).env_clear().envs(world.environment());
        command.stdin(Stdio::null());
        let shown = format!("pipemux {}", args.join(" "));
        Self { world, command, shown }
    }

    /// Runs it as that reader.
    pub fn reader(self, name: &str) -> Self {
        self.env("PIPEMUX_READER", name)
    }

    /// Runs it in that workspace.
    pub fn workspace(self, name: &str) -> Self {
        self.env("PIPEMUX_WORKSPACE", name)
    }

    /// Runs it in that directory.
    pub fn within(mut self, directory: PathBuf) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives it standard input.
    pub fn stdin(mut self, bytes: &[u8]) -> Self {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).and_then(|()| file.rewind()).expect("a temporary file");
        self.command.stdin(Stdio::from(file));
        self
    }

    /// Runs it to its end.
    pub fn output(self) -> Output {
        self.start().finish()
    }

    /// Starts it and goes on.
    pub fn start(mut self) -> Running<'w> {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.command.spawn().expect("the command line can be started");
        let pid = i32::try_from(child.id()).expect("a process id");
        let (ended, end) = mpsc::channel();
        thread::spawn(move || ended.send(child.wait_with_output()));
        Running { world: self.world, shown: self.shown, pid, end }
    }
}

/// A command that runs.
#[derive(Debug)]
pub struct Running<'w> {
    world: &'w World,
    shown: String,
    end: mpsc::Receiver<std::io::Result<std::process::Output>>,
    /// Its process.
    pub pid: i32,
}

impl Running<'_> {
    /// True while it has not ended.
    pub fn is_running(&self) -> bool {
        crate::is_alive(self.pid)
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// It does not end.
    pub fn finish(self) -> Output {
        let Ok(ended) = self.end.recv_timeout(DEADLINE) else {
            kill(self.pid, Signal::SIGKILL);
            panic!("no end within {} s: $ {}", DEADLINE.as_secs(), self.shown);
        };
        let ended = ended.expect("the end of a command");
        let exit = ended.status.code().or(ended.status.signal().map(|signal| 128 + signal));
        let output = Output {
            command: self.shown,
            stdout: ended.stdout,
            stderr: ended.stderr,
            exit: exit.unwrap_or(-1),
        };
        self.world.remember(&output);
        output
    }
}
