//! One request to the daemon: asked, printed, confirmed.

use pipemux_client::blocking::Connection;
use pipemux_client::proto::client::{Answer, Format, Verb};
use pipemux_client::{ClientError, Options};

use super::args::Global;
use crate::output::{self, Written};

/// What the verbs share: whom to ask, and how to print.
#[derive(Debug)]
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
        let mut connection = Connection::open(&self.options)?;
        let answer = self.answer(&mut connection, verb)?;
        Ok(self.deliver(&mut connection, &answer))
    }

    /// Asks over a connection, and prints nothing.
    pub fn answer(&self, connection: &mut Connection, verb: Verb) -> Result<Answer, ClientError> {
        let mut call = self.options.call(verb);
        call.format = if self.global.json { Format::Json } else { Format::Markdown };
        call.budget = self.global.budget;
        call.lod = self.global.lod.map(Into::into);
        call.at = self.global.at;
        call.titles = self.global.titles;
        connection.call(&call, self.options.timeout)
    }

    /// Prints an answer, and confirms it once it is out; returns the exit status.
    pub fn deliver(&self, connection: &mut Connection, answer: &Answer) -> u8 {
        match output::out(&output::printed(answer, self.global.json)) {
            Ok(Written::Whole) => {
                // Unconfirmed, the reader is shown some things again: no reason to fail.
                let _ = connection.seen(answer.delivery);
                answer.exit
            }
            Ok(Written::Abandoned) => answer.exit,
            Err(error) => {
                output::unwritable(&error);
                answer.exit.max(1)
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
