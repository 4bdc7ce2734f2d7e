//! One request to the daemon: asked, printed, confirmed.

use std::time::Duration;

use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Answer, Call, Format, Verb};
use pipemux_client::{ClientError, Options};

use super::args::Global;
use super::wanted::patience;
use crate::output::{self, Written};

/// What the verbs share: whom to ask, and how to print.
#[derive(Debug, Clone)]
pub struct Asker {
    pub options: Options,
    pub global: Global,
}

impl Asker {
    /// Takes the environment, and what the command line says over it.
    pub fn new(global: Global) -> Result<Asker, ClientError> {
        let mut options = Options::from_env()?;
        if let Some(name) = &global.workspace {
            options = options.workspace(name);
        }
        if let Some(name) = global.reader.as_ref().filter(|name| !name.is_empty()) {
            options = options.reader(name);
        }
        options.timeout = global.timeout.unwrap_or(options.timeout);
        Ok(Asker { options, global })
    }

    /// Asks the daemon, started if need be, and prints its answer; returns the exit status.
    pub fn ask(&self, verb: Verb) -> Result<u8, ClientError> {
        let call = self.call(verb);
        let (connection, answer) =
            Connection::open_and_call(&self.options, &call, self.time_for(&call.verb))?;
        let (exit, seen) = self.print(&answer);
        if seen {
            connection.end(answer.delivery);
        }
        Ok(exit)
    }

    /// Asks over a connection, and prints nothing.
    pub fn answer(&self, connection: &mut Connection, verb: Verb) -> Result<Answer, ClientError> {
        let timeout = self.time_for(&verb);
        connection.call(&self.call(verb), timeout)
    }

    /// What waits for something to happen has its own time besides.
    pub fn time_for(&self, verb: &Verb) -> Duration {
        self.options.timeout + patience(verb)
    }

    /// A verb with everything that is said over it.
    pub fn call(&self, verb: Verb) -> Call {
        let mut call = self.options.call(verb);
        call.format = if self.global.json { Format::Json } else { Format::Markdown };
        call.budget = self.global.budget;
        call.lod = self.global.lod.map(Into::into);
        call.at = self.global.at;
        call.titles = self.global.titles;
        call
    }

    /// Prints an answer, and confirms it once it is out; returns the exit status.
    pub fn deliver(&self, connection: &mut Connection, answer: &Answer) -> u8 {
        let (exit, seen) = self.print(answer);
        if seen {
            // Unconfirmed, the reader is shown some things again: no reason to fail.
            let _ = connection.seen(answer.delivery);
        }
        exit
    }

    /// Prints an answer; returns the exit status, and whether all of it is out.
    fn print(&self, answer: &Answer) -> (u8, bool) {
        match output::out(&output::printed(answer, self.global.json)) {
            Ok(written) => (answer.exit, written == Written::Whole),
            Err(error) => {
                output::unwritable(&error);
                (answer.exit.max(1), false)
            }
        }
    }

    /// Prints a text of the client's own, with `--json` the data instead.
    pub fn say(&self, text: &str, data: &serde_json::Value) -> u8 {
        let bytes = if self.global.json { format!("{data:#}\n") } else { format!("{text}\n") };
        match output::out(bytes.as_bytes()) {
            Ok(_) => 0,
            Err(error) => {
                output::unwritable(&error);
                1
            }
        }
    }
}
