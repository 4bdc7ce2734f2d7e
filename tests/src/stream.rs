//! A command that goes on: its lines as they come, its standard input as it is given.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crate::processes::kill;
use crate::programs::program;
use crate::waiting::look_for;
use crate::{Signal, World};

/// How long a line, or the end, is awaited.
const PATIENCE: Duration = Duration::from_secs(15);

/// A command that runs, with its lines. It is killed when it is dropped.
#[derive(Debug)]
pub struct Stream {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Its process.
    pub pid: i32,
}

impl Stream {
    /// Starts a command in the world's project.
    ///
    /// # Panics
    /// It can't be started.
    pub fn start(world: &World, args: &[&str]) -> Self {
        let mut child = Command::new(program("pipemux"))
            .args(args)
            .current_dir(world.project())
            .env_clear()
            .envs(world.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command line can be started");
        let output = child.stdout.take().expect("its output");
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        let pid = i32::try_from(child.id()).expect("a process id");
        Self { stdin: child.stdin.take(), child, lines, pid }
    }

    /// Gives it a line.
    ///
    /// # Panics
    /// It takes none any more.
    pub fn give(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("its standard input is open");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("it reads on");
    }

    /// Ends its standard input.
    pub fn end_input(&mut self) {
        self.stdin = None;
    }

    /// The next line; none at the end.
    ///
    /// # Panics
    /// There is neither in time.
    #[track_caller]
    pub fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("waited in vain for a line"),
        }
    }

    /// Lines up to one with that text; that is the last of them.
    ///
    /// # Panics
    /// None comes.
    #[track_caller]
    pub fn until(&self, text: &str) -> Vec<String> {
        let mut seen = Vec::new();
        while let Some(line) = self.line() {
            let found = line.contains(text);
            seen.push(line);
            if found {
                return seen;
            }
        }
        panic!("no `{text}` in: {seen:#?}")
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        kill(self.pid, signal);
    }

    /// Ends its standard input, if that is open, and waits for its end; returns the exit status.
    ///
    /// # Panics
    /// It doesn't end.
    #[track_caller]
    pub fn finish(mut self) -> i32 {
        self.stdin = None;
        let ended = look_for(PATIENCE, || self.child.try_wait().ok().flatten());
        let status = ended.expect("its end");
        status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
