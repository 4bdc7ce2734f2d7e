//! A reader of one workspace over one connection: what a harness has that asks often.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pipemux_client::blocking::Connection;
use pipemux_client::{ClientError, Options};
use pipemux_proto::client::{Answer, Body, Call, Format, Verb, View};
use pipemux_proto::report::Report;
use serde_json::json;

use crate::World;
use crate::programs::program;

/// One reader's connection. It is made when something is asked, and again after it was lost.
#[derive(Debug)]
pub struct Desk {
    options: Options,
    directory: PathBuf,
    environment: BTreeMap<String, String>,
    connection: Option<Connection>,
    /// How the answers are written.
    pub format: Format,
}

/// What was answered, or why nothing was.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// As the command line's exit status.
    pub exit: u8,
    /// As the command line prints it.
    pub text: String,
    /// The answer as data, if it was asked for so and is one.
    pub report: Option<Report>,
    /// True when the answer is the daemon's, false when the client library gave it.
    pub answered: bool,
}

impl Desk {
    /// A reader of the world's project, or of the workspace of that name. It starts no daemon: one that
    /// is started here would have this process's environment.
    pub fn new(world: &World, workspace: Option<&str>, reader: &str) -> Self {
        let directory = world.project();
        let options = Options {
            paths: world.paths(),
            daemon: Some(program("pipemuxd")),
            start: false,
            workspace: pipemux_client::workspace::find(workspace, Some(&directory)),
            reader: reader.to_owned(),
            timeout: Duration::from_secs(30),
        };
        let environment = world.environment().into_iter().collect();
        Self { options, directory, environment, connection: None, format: Format::default() }
    }

    /// Opens an app, `editor/b`, with arguments.
    pub fn open(&mut self, session: &str, args: &[&str], timeout: Duration) -> Said {
        let (provider, session) = match session.split_once('/') {
            Some((provider, session)) => (provider, Some(session)),
            None => (session, None),
        };
        // As data, so that what a later version adds to the message has its default here.
        let open = serde_json::from_value(json!({
            "provider": provider,
            "session": session,
            "args": args,
            "cwd": self.directory,
            "env": self.environment,
        }));
        match open {
            Ok(open) => self.ask(Verb::Open(open), timeout),
            Err(_) => no_name(provider),
        }
    }

    /// Runs calls.
    pub fn run(&mut self, code: &str, timeout: Duration) -> Said {
        self.ask(Verb::Run { code: code.to_owned(), stdin: None }, timeout)
    }

    /// Shows one window, or all.
    pub fn view(&mut self, session: Option<&str>, timeout: Duration) -> Said {
        let session = match session.map(str::parse) {
            Some(Err(_)) => return no_name(session),
            Some(Ok(session)) => Some(session),
            None => None,
        };
        self.ask(Verb::View(View { session, ..View::default() }), timeout)
    }

    /// Ends a session.
    pub fn end(&mut self, session: &str, timeout: Duration) -> Said {
        match session.parse() {
            Ok(session) => self.ask(Verb::End { session }, timeout),
            Err(_) => no_name(Some(session.to_owned())),
        }
    }

    /// Starts a session anew.
    pub fn restart(&mut self, session: &str, timeout: Duration) -> Said {
        match session.parse() {
            Ok(session) => self.ask(Verb::Restart { session }, timeout),
            Err(_) => no_name(Some(session.to_owned())),
        }
    }

    /// Asks, waits, and says that the answer was seen.
    pub fn ask(&mut self, verb: Verb, timeout: Duration) -> Said {
        let call = self.call(verb);
        self.send(&call, timeout)
    }

    /// The call of a verb, under an id of its own.
    pub fn call(&self, verb: Verb) -> Call {
        let cwd = self.directory.display().to_string();
        Call { format: self.format, cwd, ..self.options.call(verb) }
    }

    /// Sends a call, possibly one that was sent before.
    pub fn send(&mut self, call: &Call, timeout: Duration) -> Said {
        match self.exchange(call, timeout) {
            Ok(answer) => said(answer),
            Err(error) => {
                self.connection = None;
                let fault = error.fault();
                let hints = fault.hints.join("\n");
                let text = format!("{}\n{hints}\n", fault.message);
                Said { exit: error.exit_status(), text, report: None, answered: false }
            }
        }
    }

    /// Closes the connection, whatever it waits for.
    pub fn hang_up(&mut self) {
        self.connection = None;
    }

    /// Where relative paths of this reader start.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn exchange(&mut self, call: &Call, timeout: Duration) -> Result<Answer, ClientError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.options)?,
        };
        let answer = connection.call(call, timeout)?;
        // A daemon that is lost here has answered all the same.
        if connection.seen(answer.delivery).is_ok() {
            self.connection = Some(connection);
        }
        Ok(answer)
    }
}

impl Said {
    /// The epoch that the answer names.
    pub fn epoch(&self) -> Option<u64> {
        if let Some(report) = &self.report {
            return Some(report.epoch);
        }
        let last = self.text.lines().last()?;
        last.split(" · ").find_map(|part| part.strip_prefix('e')?.parse().ok())
    }

    /// The first line.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

fn said(answer: Answer) -> Said {
    let (text, report) = match answer.body {
        Body::Text(text) => (text, None),
        Body::Report(report) => (String::new(), Some(*report)),
        Body::Raw(bytes) => (String::from_utf8_lossy(&bytes).into_owned(), None),
        other => (format!("{other:?}\n"), None),
    };
    Said { exit: answer.exit, text, report, answered: true }
}

fn no_name(what: impl std::fmt::Debug) -> Said {
    Said { exit: 2, text: format!("no session: {what:?}\n"), report: None, answered: false }
}
