//! The process of an agent, and its messages within their bounds.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread;
use std::time::Instant;

use docui::deadline;
use serde_json::Value;

use crate::drivers::cancel::Cancel;
use crate::drivers::command;
use crate::limits::{ACP_LEAVE, ACP_MESSAGE_MAX, ACP_OUTPUT_MAX, ACP_QUEUE_MAX, DRIVER_STDERR_MAX};

/// The next output of an agent within a short time.
pub enum Next {
    /// A message: a JSON object.
    Message(Value),
    /// No output, or a line that isn't a message.
    Nothing,
    /// The agent has closed its output.
    End,
}

/// A running agent.
pub struct Process<'a> {
    words: &'a [String],
    child: Child,
    /// What is written to it; none once that has ended. It holds no more than what its messages,
    /// which are bounded, ask for.
    input: Option<Sender<String>>,
    messages: Receiver<Result<Vec<u8>, String>>,
    stderr: Receiver<Vec<u8>>,
    cancel: &'a Cancel,
    /// The last line that isn't a message.
    noise: String,
}

impl<'a> Process<'a> {
    /// Starts it.
    ///
    /// # Errors
    /// It can't be started.
    pub fn start(words: &'a [String], cancel: &'a Cancel) -> Result<Self, String> {
        let mut child = command::spawn(words, &[])?;
        cancel.watch(command::group(&child));
        let (input, lines) = mpsc::channel::<String>();
        if let Some(mut stdin) = child.stdin.take() {
            // An agent that doesn't read must not keep this from going on.
            let write = move |line: String| stdin.write_all(line.as_bytes());
            thread::spawn(move || lines.into_iter().try_for_each(write));
        }
        let (sender, messages) = mpsc::sync_channel(ACP_QUEUE_MAX);
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read(stdout, &sender));
        }
        let (sender, stderr) = mpsc::channel();
        if let Some(from) = child.stderr.take() {
            thread::spawn(move || sender.send(command::head(from, DRIVER_STDERR_MAX).0));
        }
        let (input, noise) = (Some(input), String::new());
        Ok(Self { words, child, input, messages, stderr, cancel, noise })
    }

    /// Sends a message. That the agent has ended is seen where it is read.
    pub fn send(&self, message: &Value) {
        let _ = self.input.as_ref().map(|input| input.send(format!("{message}\n")));
    }

    /// Waits a moment for a message, until some time at the most.
    ///
    /// # Errors
    /// It sends too much, or a broken message.
    pub fn receive(&mut self, until: Instant) -> Result<Next, String> {
        let wait = until.saturating_duration_since(Instant::now()).min(command::LOOK);
        let line = match self.messages.recv_timeout(wait) {
            Ok(line) => line?,
            Err(RecvTimeoutError::Timeout) => return Ok(Next::Nothing),
            Err(RecvTimeoutError::Disconnected) => return Ok(Next::End),
        };
        match serde_json::from_slice::<Value>(&line) {
            Ok(message) if message.is_object() => Ok(Next::Message(message)),
            // Logs among the messages are against the protocol, and happen; a message that is lost
            // isn't passed over.
            Err(error) if line.trim_ascii_start().starts_with(b"{") => {
                Err(format!("sent a broken message ({error})"))
            }
            _ => {
                self.noise = String::from_utf8_lossy(&line).trim().to_owned();
                Ok(Next::Nothing)
            }
        }
    }

    /// Writes what it says to the session's log, which no project has.
    pub fn log(&self, text: &str) {
        command::log(self.words, text);
    }

    /// Ends it with all that it started. Returns how it ended, if by itself, and the last line that
    /// it logged.
    pub fn end(&mut self, is_ending: bool) -> (Option<ExitStatus>, String) {
        self.input = None;
        let until = deadline::after(ACP_LEAVE);
        let mut exit = self.child.try_wait().ok().flatten();
        while is_ending && exit.is_none() && Instant::now() < until {
            thread::sleep(command::LOOK);
            exit = self.child.try_wait().ok().flatten();
        }
        self.cancel.watch(None);
        command::end(&mut self.child);
        let stderr = self.stderr.recv_timeout(ACP_LEAVE).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr);
        self.log(&stderr);
        (exit, stderr.trim().lines().last().unwrap_or(&self.noise).to_owned())
    }
}

/// Reads messages up to the bounds, and says when there is more.
fn read(from: impl Read, to: &SyncSender<Result<Vec<u8>, String>>) {
    let (mut reader, mut left) = (BufReader::new(from), ACP_OUTPUT_MAX);
    loop {
        let (most, mut line) = (left.min(ACP_MESSAGE_MAX), Vec::new());
        let count = reader.by_ref().take(most as u64).read_until(b'\n', &mut line).unwrap_or(0);
        left = left.saturating_sub(count);
        let is_over = count == most && line.last() != Some(&b'\n');
        let bound = if most < ACP_MESSAGE_MAX { ACP_OUTPUT_MAX } else { ACP_MESSAGE_MAX };
        let sent = match (is_over, count) {
            (true, _) => Err(format!("sent more than {bound} bytes")),
            (false, 0) => return,
            (false, _) => Ok(line),
        };
        let is_last = sent.is_err();
        if to.send(sent).is_err() || is_last {
            return;
        }
    }
}
