//! Sends requests to the daemon with the options of the command line, prints the answers and
//! confirms them.

use std::io::{self, IsTerminal};
use std::time::Duration;

use pipemux_client::blocking::Connection;
use pipemux_client::call_wait::call_wait_ms;
use pipemux_client::proto::client::{Answer, Body, Format, Verb, VerbRequest};
use pipemux_client::tools::ToolVerb;
use pipemux_client::{ClientError, Options};

use super::args::GlobalArgs;
use super::begun;
use super::progress;
use crate::output::{self, WriteOutcome, colour};

/// The context that the verbs share: the daemon, the options, and the output.
#[derive(Debug, Clone)]
pub struct Requester {
    pub options: Options,
    pub global: GlobalArgs,
}

impl Requester {
    /// Combines the environment with the command line, which takes precedence.
    pub fn new(global: GlobalArgs) -> Result<Requester, ClientError> {
        let mut options = Options::from_env()?;
        if let Some(name) = &global.workspace {
            options = options.workspace(name);
        }
        if let Some(name) = global.reader.as_ref().filter(|name| !name.is_empty()) {
            options = options.reader(name);
        }
        if let Some(token) = &global.reader_token {
            options.reader_token.clone_from(token);
        }
        options.timeout = global.timeout.unwrap_or(options.timeout);
        options.progress = progress::is_wanted().then_some(progress::show);
        Ok(Requester { options, global })
    }

    /// Sends a request to the daemon, which is started if it is not running, and prints the answer.
    /// Returns the exit status.
    pub fn request(&self, verb: Verb) -> Result<u8, ClientError> {
        let mut call = self.call(verb);
        let timeout = self.timeout_for(&call.verb);
        match begun::take() {
            Some(begun) => {
                call.run_id = begun.run_id;
                let connection = (begun.stream, begun.received);
                self.print(Connection::resume(&self.options, &call, timeout, connection))
            }
            None => self.send(&call, timeout),
        }
    }

    /// Sends the request of a tool's call, and prints the answer. Returns the exit status.
    pub fn request_tool(&self, verb: ToolVerb) -> Result<u8, ClientError> {
        let (call, timeout) = self.tool_call(verb);
        self.send(&call, timeout)
    }

    /// Makes the request of a tool's call, and its deadline. What the call says takes precedence
    /// over the command line.
    pub fn tool_call(&self, verb: ToolVerb) -> (VerbRequest, Duration) {
        let timeout = self.options.timeout.saturating_add(verb.waits());
        let own = self.call(Verb::Status);
        let mut call = verb.into_request(&self.options);
        call.format = own.format;
        call.titles = own.titles;
        call.budget = call.budget.or(own.budget);
        call.lod = call.lod.or(own.lod);
        call.at = call.at.or(own.at);
        (call, timeout)
    }

    fn send(&self, call: &VerbRequest, timeout: Duration) -> Result<u8, ClientError> {
        self.print(Connection::open_and_call(&self.options, call, timeout))
    }

    fn print(
        &self,
        answered: Result<(Connection, Answer), ClientError>,
    ) -> Result<u8, ClientError> {
        progress::clear();
        let (connection, answer) = answered?;
        let (exit, seen) = self.print_answer(&answer);
        if seen {
            connection.close_seen(answer.delivery);
        }
        Ok(exit)
    }

    /// Sends a request over an open connection and returns the answer without printing it.
    pub fn request_on(
        &self,
        connection: &mut Connection,
        verb: Verb,
    ) -> Result<Answer, ClientError> {
        let call = self.call(verb);
        connection.call(&call, self.timeout_for(&call.verb))
    }

    /// Returns the deadline of a request. One that waits for an event has additional time for that.
    pub fn timeout_for(&self, verb: &Verb) -> Duration {
        self.options
            .timeout
            .saturating_add(event_wait(verb))
            .saturating_add(Duration::from_millis(self.job_wait_ms(verb).into()))
    }

    /// Makes a call of a verb and the options of the command line.
    ///
    /// A wait ends with the time limit that the command line names, if that is shorter.
    pub fn call(&self, mut verb: Verb) -> VerbRequest {
        if let (Verb::View(view), Some(limit)) = (&mut verb, self.global.timeout) {
            let most = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
            view.wait_ms = view.wait_ms.min(most);
        }
        let mut call = self.options.call(verb);
        call.format = if self.global.json { Format::Json } else { Format::Markdown };
        call.budget = self.global.budget;
        call.lod = self.global.lod.map(Into::into);
        call.at = self.global.at;
        call.titles = self.global.titles;
        call.hint_options = self.global.hint_options();
        call.wait_ms = self.job_wait_ms(&call.verb);
        call
    }

    /// Returns how long a verb waits for the ends of jobs: as its option says, or its calls do.
    fn job_wait_ms(&self, verb: &Verb) -> u32 {
        self.global.job_wait.map_or(0, milliseconds).max(call_wait_ms(verb))
    }

    /// Prints an answer, and confirms it once it is written. Returns the exit status.
    pub fn print_and_confirm(&self, connection: &mut Connection, answer: &Answer) -> u8 {
        let (exit, seen) = self.print_answer(answer);
        if seen {
            // Without the confirmation the reader is shown some things again, which is no reason to
            // fail.
            let _ = connection.seen(answer.delivery);
        }
        exit
    }

    /// Prints a text of the client's own, or with `--json` the data. Returns the exit status.
    pub fn print_own(&self, text: &str, data: &serde_json::Value) -> u8 {
        let bytes = if self.global.json { format!("{data:#}\n") } else { format!("{text}\n") };
        match output::write_stdout(bytes.as_bytes()) {
            Ok(_) => 0,
            Err(error) => {
                output::report_write_error(&error);
                1
            }
        }
    }

    /// Prints an error of the client's own to standard error, or with `--json` the data. Returns
    /// the exit status of writing.
    pub fn print_own_error(&self, text: &str, data: &serde_json::Value) -> u8 {
        if self.global.json {
            return self.print_own(text, data);
        }
        output::write_stderr(format!("{text}\n").as_bytes());
        0
    }

    /// Prints an answer; returns the exit status, and whether all of it was written. An error goes
    /// to standard error, unless it is data.
    fn print_answer(&self, answer: &Answer) -> (u8, bool) {
        let json = self.global.json;
        let bytes = output::format_answer(answer, json);
        if answer.error && !json {
            output::write_error(&bytes);
            return (answer.exit, true);
        }
        if let Body::Raw(value) = &answer.body
            && let Some(what) = pipemux_media::describe(value).filter(|_| !json)
        {
            let on_terminal = io::stdout().is_terminal();
            let hint = if on_terminal { "; write it to a file: > FILE" } else { "" };
            output::write_stderr(format!("{what}{hint}\n").as_bytes());
            if on_terminal {
                return (answer.exit, true);
            }
        }
        let bytes = match &answer.body {
            Body::Text(_) if !json => colour::for_stream(&bytes, &io::stdout(), colour::answer),
            _ => bytes.into(),
        };
        match output::write_stdout(&bytes) {
            Ok(written) => (answer.exit, written == WriteOutcome::Complete),
            Err(error) => {
                output::report_write_error(&error);
                (answer.exit.max(1), false)
            }
        }
    }
}

/// Returns the time that the daemon may spend waiting for an event before it answers, on top of the
/// usual timeout.
pub fn event_wait(verb: &Verb) -> Duration {
    let wait_ms = match verb {
        Verb::View(view) => view.wait_ms,
        Verb::Watch(watch) => watch.wait_ms,
        Verb::Logs { wait_ms, .. } | Verb::Trace { wait_ms, .. } => *wait_ms,
        _ => 0,
    };
    Duration::from_millis(wait_ms.into())
}

/// Converts a time to whole milliseconds for the wire; at least one.
pub fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1)
}
