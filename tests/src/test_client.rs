//! A client of the library over one connection, for harnesses that make many requests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use pipemux_client::blocking::Connection;
use pipemux_client::{ClientError, Options};
use pipemux_proto::client::{Answer, Body, Format, Verb, VerbRequest, ViewArgs};
use pipemux_proto::consent::{ConsentArgs, ConsentDecision, PersonChannel};
use pipemux_proto::report::Report;
use serde_json::json;

use crate::TestEnv;
use crate::programs::program;

/// One reader's connection. It is opened by the first request, and again after it was lost.
#[derive(Debug)]
pub struct TestClient {
    options: Options,
    directory: PathBuf,
    environment: BTreeMap<String, String>,
    connection: Option<Connection>,
    /// How the daemon writes the answers.
    pub format: Format,
}

/// The answer to a request, or the error that took its place.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientReply {
    /// The exit status that the command line would have.
    pub exit: u8,
    /// The text that the command line would print.
    pub text: String,
    /// The answer as data, if it was requested so and is a report.
    pub report: Option<Report>,
    /// True when the daemon answered, false when the client library gave up.
    pub from_daemon: bool,
}

impl TestClient {
    /// A reader of the environment's project, or of the named workspace. It starts no daemon,
    /// because that daemon would inherit the variables of this process.
    pub fn new(env: &TestEnv, workspace: Option<&str>, reader: &str) -> Self {
        let directory = env.project();
        let options = Options {
            paths: env.paths(),
            daemon: Some(program("pipemuxd")),
            start: false,
            workspace: pipemux_client::workspace::find(workspace, Some(&directory)),
            reader: reader.to_owned(),
            reader_token: String::new(),
            client: String::new(),
            timeout: Duration::from_secs(30),
            progress: None,
            known_daemon: Default::default(),
        };
        let environment = env.variables().into_iter().collect();
        Self { options, directory, environment, connection: None, format: Format::default() }
    }

    /// Opens a session, such as `editor/b`, with arguments.
    pub fn open(&mut self, session: &str, args: &[&str], timeout: Duration) -> ClientReply {
        let (provider, session) = match session.split_once('/') {
            Some((provider, session)) => (provider, Some(session)),
            None => (session, None),
        };
        // Built from data, so that a field which a later version adds takes its default.
        let open = serde_json::from_value(json!({
            "provider": provider,
            "session": session,
            "args": args,
            "cwd": self.directory,
            "env": self.environment,
        }));
        match open {
            Ok(open) => self.request(Verb::Open(open), timeout),
            Err(_) => invalid_session(provider),
        }
    }

    /// Runs code.
    pub fn run(&mut self, code: &str, timeout: Duration) -> ClientReply {
        self.request(Verb::Run { code: code.to_owned(), stdin: None, only_queries: false }, timeout)
    }

    /// Shows one window, or all of them.
    pub fn view(&mut self, session: Option<&str>, timeout: Duration) -> ClientReply {
        let session = match session.map(str::parse) {
            Some(Err(_)) => return invalid_session(session.unwrap_or_default()),
            Some(Ok(session)) => Some(session),
            None => None,
        };
        self.request(Verb::View(ViewArgs { session, ..ViewArgs::default() }), timeout)
    }

    /// Ends a session.
    pub fn end(&mut self, session: &str, timeout: Duration) -> ClientReply {
        match session.parse() {
            Ok(session) => self.request(Verb::End { session }, timeout),
            Err(_) => invalid_session(session),
        }
    }

    /// Restarts a session.
    pub fn restart(&mut self, session: &str, timeout: Duration) -> ClientReply {
        match session.parse() {
            Ok(session) => self.request(Verb::Restart { session }, timeout),
            Err(_) => invalid_session(session),
        }
    }

    /// Sends a verb, waits for its answer and confirms that the answer arrived.
    pub fn request(&mut self, verb: Verb, timeout: Duration) -> ClientReply {
        let call = self.call(verb);
        self.send(&call, timeout)
    }

    /// Allows what apps ask a person to allow in the workspace. Returns the numbers.
    pub fn allow_all(&mut self) -> Vec<u64> {
        let timeout = Duration::from_secs(30);
        let listed = self.request(Verb::Consent(ConsentArgs::default()), timeout).text;
        let number = |line: &str| {
            let (number, rest) = line.split_once(" · ")?;
            rest.contains(" asks to ").then(|| number.parse::<u64>().ok())?
        };
        let numbers: Vec<u64> = listed.lines().filter_map(number).collect();
        for number in &numbers {
            let decision = Some(ConsentDecision::Allow);
            let by = Some(PersonChannel::Terminal);
            let args = ConsentArgs { number: Some(*number), decision, by };
            let reply = self.request(Verb::Consent(args), timeout);
            assert_eq!(reply.exit, 0, "{}", reply.text);
        }
        numbers
    }

    /// Returns the call of a verb, under a new run id.
    pub fn call(&self, verb: Verb) -> VerbRequest {
        let cwd = self.directory.display().to_string();
        VerbRequest { format: self.format, cwd, ..self.options.call(verb) }
    }

    /// Sends a call, which may have been sent before.
    pub fn send(&mut self, call: &VerbRequest, timeout: Duration) -> ClientReply {
        match self.exchange(call, timeout) {
            Ok(answer) => from_answer(answer),
            Err(error) => {
                self.connection = None;
                let fault = error.fault();
                let hints = fault.hints.join("\n");
                let text = format!("{}\n{hints}\n", fault.message);
                ClientReply { exit: error.exit_status(), text, report: None, from_daemon: false }
            }
        }
    }

    fn exchange(&mut self, call: &VerbRequest, timeout: Duration) -> Result<Answer, ClientError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.options)?,
        };
        let answer = connection.call(call, timeout)?;
        // The answer counts even if the daemon is lost before it can be confirmed.
        if connection.seen(answer.delivery).is_ok() {
            self.connection = Some(connection);
        }
        Ok(answer)
    }
}

impl ClientReply {
    /// The epoch that the answer names.
    pub fn epoch(&self) -> Option<u64> {
        if let Some(report) = &self.report {
            return Some(report.epoch);
        }
        let last = self.text.lines().last()?;
        last.split(" · ").find_map(|part| part.strip_prefix('e')?.parse().ok())
    }

    /// The first line of the text.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

fn from_answer(answer: Answer) -> ClientReply {
    let (text, report) = match answer.body {
        Body::Text(text) => (text, None),
        Body::Report(report) => (String::new(), Some(*report)),
        Body::Raw(bytes) => (String::from_utf8_lossy(&bytes).into_owned(), None),
        other => (format!("{other:?}\n"), None),
    };
    ClientReply { exit: answer.exit, text, report, from_daemon: true }
}

fn invalid_session(name: &str) -> ClientReply {
    let text = format!("`{name}` does not name a session\n");
    ClientReply { exit: 2, text, report: None, from_daemon: false }
}
