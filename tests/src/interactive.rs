//! A command that goes on running: lines are written to it and read from it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::processes::kill;
use crate::programs::program;
use crate::waiting::poll_until;
use crate::{Signal, TestEnv};

/// How long a line, or the end of the command, may take.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A running command with its standard input and output. It is killed when it is dropped.
#[derive(Debug)]
pub struct InteractiveCommand {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Its process id.
    pub pid: i32,
}

impl InteractiveCommand {
    /// Starts a command in the environment's project.
    ///
    /// # Panics
    /// The command can't be started.
    pub fn start(env: &TestEnv, args: &[&str]) -> Self {
        Self::spawn(env, Command::new(program("pipemux")).args(args))
    }

    /// Starts any command in the environment's project.
    ///
    /// # Panics
    /// The command can't be started.
    pub fn spawn(env: &TestEnv, command: &mut Command) -> Self {
        let mut child = command
            .current_dir(env.project())
            .env_clear()
            .envs(env.variables())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command can be started");
        let output = child.stdout.take().expect("its output");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let pid = i32::try_from(child.id()).expect("a process id");
        Self { stdin: child.stdin.take(), child, lines, pid }
    }

    /// Writes a line to its standard input.
    ///
    /// # Panics
    /// The command no longer reads.
    pub fn write_line(&mut self, line: &str) {
        self.write_bytes(format!("{line}\n").as_bytes());
    }

    /// Writes bytes to its standard input.
    ///
    /// # Panics
    /// The command no longer reads.
    pub fn write_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("its standard input is open");
        stdin.write_all(bytes).expect("it reads its standard input");
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the next line; `None` when the output has ended.
    ///
    /// # Panics
    /// Neither happens in time.
    #[track_caller]
    pub fn next_line(&self) -> Option<String> {
        match self.lines.recv_timeout(TIMEOUT) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                panic!("no line was printed within {} s", TIMEOUT.as_secs())
            }
        }
    }

    /// Waits for a line that contains the text; returns the lines up to and with that one.
    ///
    /// # Panics
    /// No such line is printed in time.
    #[track_caller]
    pub fn lines_until(&self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        while let Some(line) = self.next_line() {
            let found = line.contains(text);
            seen.push(line);
            if found {
                return seen;
            }
        }
        panic!("no `{text}` in: {seen:#?}")
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid, signal);
    }

    /// Closes its standard input, waits until it ends and returns its exit status.
    ///
    /// # Panics
    /// It doesn't end in time.
    #[track_caller]
    pub fn finish(mut self) -> i32 {
        self.stdin = None;
        let ended = poll_until(TIMEOUT, || self.child.try_wait().ok().flatten());
        let status = ended.expect("the command ends");
        status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
    }
}

impl Drop for InteractiveCommand {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
