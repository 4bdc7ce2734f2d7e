//! Clients: requests and their answers.

use pipemux_core::{ClientId, Event};
use pipemux_proto::client::{
    Answer, DeliveryAck, Format, OpenArgs, Verb, VerbRequest, ViewArgs, Workspace,
};
use pipemux_proto::projection::Lod;
use pipemux_proto::{Envelope, Hello, Incarnation, Kind, Method, Role, SessionAddr};

use super::{Client, RequestEnd, World, frame, text};

/// A reader of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reader {
    pub workspace: &'static str,
    pub reader: &'static str,
}

impl Reader {
    /// Returns the same reader in another workspace.
    pub fn at(self, workspace: &'static str) -> Self {
        Self { workspace, ..self }
    }
}

/// Returns a reader of the workspace `demo`.
pub fn reader(reader: &'static str) -> Reader {
    Reader { workspace: "demo", reader }
}

/// An answer as text, with its exit status.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerText {
    pub exit: u8,
    pub text: String,
    pub delivery: u64,
}

impl AnswerText {
    /// Returns the id of the first anchor with that label.
    #[track_caller]
    pub fn id(&self, label: &str) -> u64 {
        let all = text::anchors(&self.text);
        let found = all.iter().find(|anchor| anchor.label == label);
        found.unwrap_or_else(|| panic!("no [{label}](…) in:\n{}", self.text)).id
    }

    #[track_caller]
    pub fn has(&self, part: &str) -> &Self {
        assert!(self.text.contains(part), "no {part:?} in (exit {}):\n{}", self.exit, self.text);
        self
    }

    #[track_caller]
    pub fn lacks(&self, part: &str) -> &Self {
        assert!(!self.text.contains(part), "{part:?} in:\n{}", self.text);
        self
    }

    #[track_caller]
    pub fn exits(&self, exit: u8) -> &Self {
        assert_eq!(self.exit, exit, "exit status of:\n{}", self.text);
        self
    }
}

/// Parses an address of the form `provider/session`.
pub fn session_addr(session: &str) -> SessionAddr {
    session.parse().expect("a session")
}

/// The verb that opens a session, `provider/main` unless the name has a slash.
pub fn open(session: &str) -> Verb {
    let (provider, session) = session.split_once('/').unwrap_or((session, "main"));
    Verb::Open(OpenArgs {
        provider: provider.parse().expect("a provider"),
        session: Some(session.parse().expect("a session")),
        args: Vec::new(),
        cwd: "/work".into(),
        env: [("PATH".to_owned(), "/bin".to_owned()), ("SECRET".to_owned(), "s".to_owned())].into(),
        pin: None,
        priority: None,
        weight: None,
    })
}

pub fn run(code: &str) -> Verb {
    Verb::Run { code: code.into(), stdin: None, only_queries: false }
}

impl World {
    pub fn connect(&mut self) -> ClientId {
        self.connect_with(Vec::new())
    }

    /// Connects a client that names these features.
    pub fn connect_with(&mut self, features: Vec<String>) -> ClientId {
        self.next_client += 1;
        let client = ClientId(self.next_client);
        self.clients.insert(client, Client::default());
        self.event(Event::ClientOpened { client });
        let hello = Envelope::event(Method::Hello, Incarnation(0));
        let hello = frame(&hello, &Hello { features, ..Hello::new(Role::Client, "test") });
        self.event(Event::ClientFrame { client, frame: hello });
        client
    }

    pub fn vanish(&mut self, client: ClientId) {
        self.clients.remove(&client);
        self.event(Event::ClientClosed { client });
    }

    pub fn cancel(&mut self, client: ClientId, id: u64) {
        let envelope =
            Envelope { kind: Kind::Cancel, ..Envelope::request(Method::Verb, id, Incarnation(0)) };
        let frame = frame(&envelope, &pipemux_proto::app::Empty {});
        self.event(Event::ClientFrame { client, frame });
    }

    /// Makes a request with a new run id.
    pub fn call(&mut self, who: Reader, verb: Verb) -> VerbRequest {
        self.next_run += 1;
        VerbRequest {
            workspace: Workspace { key: format!("/{}", who.workspace), name: who.workspace.into() },
            reader: who.reader.into(),
            reader_token: String::new(),
            run_id: format!("run-{}", self.next_run),
            format: Format::Markdown,
            budget: None,
            lod: None,
            at: None,
            client: String::new(),
            hint_options: String::new(),
            diff: 0,
            wait_ms: 0,
            env: std::collections::BTreeMap::new(),
            titles: false,
            cwd: String::new(),
            verb,
        }
    }

    /// Sends a request, and handles everything that follows at once. Returns its id.
    pub fn send(&mut self, client: ClientId, call: &VerbRequest) -> u64 {
        self.send_for(client, call, 0)
    }

    /// Sends a request with a deadline in milliseconds; 0 for none.
    pub fn send_for(&mut self, client: ClientId, call: &VerbRequest, deadline_ms: u32) -> u64 {
        let found = self.clients.get_mut(&client).expect("a connected client");
        found.next += 1;
        let id = found.next;
        self.keys.insert((client, id), call.workspace.key.clone());
        let envelope =
            Envelope { deadline_ms, ..Envelope::request(Method::Verb, id, Incarnation(0)) };
        self.event(Event::ClientFrame { client, frame: frame(&envelope, call) });
        id
    }

    pub fn request_ends(&self, client: ClientId, id: u64) -> &[RequestEnd] {
        let found = self.clients.get(&client).and_then(|client| client.request_ends.get(&id));
        found.map_or(&[], Vec::as_slice)
    }

    /// Returns the answer to a request once it has arrived.
    pub fn answer_to(&self, client: ClientId, id: u64) -> Option<AnswerText> {
        match self.request_ends(client, id) {
            [] => None,
            [RequestEnd::Answer(answer)] => Some(answer_text(answer)),
            other => panic!("not one answer: {other:?}"),
        }
    }

    /// Confirms an answer, as a client does after it has printed it.
    pub fn confirm(&mut self, client: ClientId, delivery: u64) {
        let found = self.clients.get_mut(&client).expect("a connected client");
        found.next += 1;
        let envelope = Envelope::request(Method::Seen, found.next, Incarnation(0));
        self.event(Event::ClientFrame {
            client,
            frame: frame(&envelope, &DeliveryAck { delivery }),
        });
    }

    /// Confirms an answer with the closing message of a client, on which the daemon closes the
    /// connection.
    #[track_caller]
    pub fn end(&mut self, client: ClientId, delivery: u64) {
        let envelope = Envelope::event(Method::Seen, Incarnation(0));
        self.event(Event::ClientFrame {
            client,
            frame: frame(&envelope, &DeliveryAck { delivery }),
        });
        let gone = self.clients.remove(&client).expect("it was connected");
        assert!(gone.closed, "the daemon closes after the last word");
    }

    /// Sends a request on a new connection, lets time pass until it is answered, and confirms the
    /// answer.
    #[track_caller]
    pub fn ask_call(&mut self, call: &VerbRequest) -> AnswerText {
        let client = self.connect();
        let id = self.send(client, call);
        for _ in 0..1_000 {
            if let Some(said) = self.answer_to(client, id) {
                match said.delivery {
                    0 => self.vanish(client),
                    delivery => self.end(client, delivery),
                }
                return said;
            }
            let due = self.core.next_timeout().expect("an unanswered request has a timer");
            self.pass(due.saturating_sub(self.now.mono_ms));
        }
        panic!("no answer");
    }

    #[track_caller]
    pub fn ask(&mut self, who: Reader, verb: Verb) -> AnswerText {
        let call = self.call(who, verb);
        self.ask_call(&call)
    }

    #[track_caller]
    pub fn open(&mut self, who: Reader, session: &str) -> AnswerText {
        self.ask(who, open(session))
    }

    #[track_caller]
    pub fn run(&mut self, who: Reader, code: &str) -> AnswerText {
        self.ask(who, run(code))
    }

    #[track_caller]
    pub fn click(&mut self, who: Reader, link: &str) -> AnswerText {
        self.ask(who, Verb::Click { link: link.into() })
    }

    #[track_caller]
    pub fn answer(&mut self, who: Reader, text: &str) -> AnswerText {
        self.ask(who, Verb::Answer { text: text.into(), to: None, stdin: None })
    }

    #[track_caller]
    pub fn view(&mut self, who: Reader) -> AnswerText {
        self.ask(who, Verb::View(ViewArgs::default()))
    }

    /// Returns the link with that label in the workspace's view.
    #[track_caller]
    pub fn link_of(&mut self, who: Reader, label: &str) -> String {
        format!("link:{}", self.view(who).id(label))
    }

    #[track_caller]
    pub fn view_at(&mut self, who: Reader, session: &str, lod: Lod) -> AnswerText {
        let session = Some(session.parse().expect("a session"));
        let call = VerbRequest {
            lod: Some(lod),
            ..self.call(who, Verb::View(ViewArgs { session, ..ViewArgs::default() }))
        };
        self.ask_call(&call)
    }
}

fn answer_text(answer: &Answer) -> AnswerText {
    AnswerText { exit: answer.exit, text: text::of(answer), delivery: answer.delivery }
}
