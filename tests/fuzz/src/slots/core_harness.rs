//! A core, one client and one app, in memory.

use std::collections::VecDeque;

use pipemux_core::peer::PeerProcess;
use pipemux_core::saved::Record;
use pipemux_core::{ClientId, Config, Core, Effect, Event, Now, Usage, UsageReport};
use pipemux_proto::app::{Empty, KeyLocation, Located, Opened};
use pipemux_proto::client::{Answer, Body, Format, Verb, VerbRequest, Workspace};
use pipemux_proto::projection::{Piece, Projection};
use pipemux_proto::refs::{Local, Ref};
use pipemux_proto::report::Report;
use pipemux_proto::{
    Envelope, Fault, Frame, FrameDecoder, Hello, Incarnation, Kind, Method, Role, app, decode,
};
use pipemux_tests::Markdown;
use serde::Serialize;

use super::app_script::{AppScript, prototypes};
use super::text;

/// The first id of the workspace.
pub const FIRST_ID: u64 = 7_000_001;
const KEY: &str = "/w";
const CLIENT: ClientId = ClientId(1);

pub struct CoreHarness {
    core: Core,
    now: Now,
    script: AppScript,
    /// The numbers of projections and outcomes that were sent.
    sent: (usize, usize),
    queue: VecDeque<Event>,
    answers: Vec<(u64, Result<Answer, Fault>)>,
    asked: u64,
    highest: u64,
}

impl CoreHarness {
    pub fn new(script: AppScript) -> Self {
        let manifest = "id = 'fz'\ncommand = '/fz'";
        let config = Config {
            providers: toml::from_str(manifest).into_iter().collect(),
            state_dir: "/state".into(),
            ..Config::default()
        };
        let numbers = Record::Workspace {
            key: KEY.into(),
            name: "w".into(),
            ids_below: FIRST_ID,
            epochs_below: 0,
        };
        let mut harness = Self {
            core: Core::new(config, vec![numbers]),
            now: Now { mono_ms: 1_000, unix_ms: 1_765_360_800_000 },
            script,
            sent: (0, 0),
            queue: VecDeque::new(),
            answers: Vec::new(),
            asked: 0,
            highest: FIRST_ID,
        };
        harness.event(Event::ClientOpened { client: CLIENT });
        let hello = frame(Envelope::event(Method::Hello, Incarnation(0)), &client_hello());
        harness.event(Event::ClientFrame { client: CLIENT, frame: hello });
        harness
    }

    /// Sends a verb and returns the text of the answer.
    pub fn ask(&mut self, verb: Verb, format: Format, budget: Option<u32>) -> String {
        match self.call(verb, format, budget) {
            Ok(answer) => text(answer.body),
            Err(fault) => fault.message,
        }
    }

    /// Sends a verb and returns the answer as data.
    pub fn ask_report(&mut self, verb: Verb) -> Option<Report> {
        match self.call(verb, Format::Json, None).map(|answer| answer.body) {
            Ok(Body::Report(report)) => Some(*report),
            _ => None,
        }
    }

    /// Returns the projection that the app sent last.
    pub fn projection(&self) -> &Projection {
        &self.script.projections[self.sent.0.clamp(1, self.script.projections.len()) - 1]
    }

    /// Returns true when the answer is the latest window of the app. A busy app is shown with its
    /// previous window, which was cut to the budget of that time.
    pub fn shows_whole_window(&self, text: &str) -> bool {
        let heading = text.lines().find(|line| line.starts_with("## fz/main"));
        heading.is_some_and(|heading| !heading.ends_with("busy, as it was before"))
    }

    /// Asserts that an answer has only anchors and headings of the daemon, closed fences and no
    /// control characters.
    pub fn assert_inert(&self, text: &str, headings: Option<usize>) {
        let read = Markdown::read(text);
        for (of, label) in &read.anchors {
            assert!(self.issued(of), "[{label}]({of}) was not issued by the daemon:\n{text}");
        }
        for of in destinations(text) {
            assert!(
                self.issued(&of),
                "a CommonMark parser finds {of}, which the daemon did not issue:\n{text}"
            );
        }
        if let Some(most) = headings {
            assert!(read.headings.len() <= most, "{:?}:\n{text}", read.headings);
        }
        assert_eq!(read.open_fence, None, "a fence is open at the end:\n{text}");
        let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(!text.contains(steers), "a control character:\n{text:?}");
    }

    /// Returns true for a ref that the daemon may have written: it has an id that it gives, or the
    /// key of a thing that the app asked to be shown with its key.
    fn issued(&self, of: &str) -> bool {
        let key = match of.parse() {
            Ok(Ref { local: Local::Id(id), .. }) => {
                return (FIRST_ID..FIRST_ID + 4_000).contains(&id);
            }
            Ok(Ref { local: Local::Key(key), .. }) => key,
            Err(_) => return false,
        };
        let pieces = self.script.projections.iter().flat_map(|projection| &projection.content);
        let mut objects = pieces.filter_map(|piece| match piece {
            Piece::Object(object) => Some(object),
            _ => None,
        });
        objects.any(|object| object.show_key && object.key == key)
    }

    fn call(&mut self, verb: Verb, format: Format, budget: Option<u32>) -> Result<Answer, Fault> {
        self.asked += 1;
        let call = VerbRequest {
            workspace: Workspace { key: KEY.into(), name: "w".into() },
            reader: "r".into(),
            reader_token: String::new(),
            run_id: format!("run-{}", self.asked),
            format,
            budget,
            lod: None,
            at: None,
            cwd: String::new(),
            client: String::new(),
            hint_options: String::new(),
            diff: 0,
            wait_ms: 0,
            env: std::collections::BTreeMap::new(),
            titles: self.asked.is_multiple_of(3),
            verb,
        };
        let id = self.asked;
        let envelope = Envelope::request(Method::Verb, id, Incarnation(0));
        self.event(Event::ClientFrame { client: CLIENT, frame: frame(envelope, &call) });
        for _ in 0..100 {
            if self.answers.iter().any(|(of, _)| *of == id) {
                break;
            }
            // If the app doesn't answer, a timeout does.
            let Some(due) = self.core.next_timeout() else { break };
            self.now.mono_ms = self.now.mono_ms.max(due);
            let mut out = Vec::new();
            self.core.handle_timeout(self.now, &mut out);
            self.carry_out(out);
            self.settle();
        }
        let mut found = self.answers.extract_if(.., |(of, _)| *of == id);
        match (found.next(), found.next()) {
            (Some((_, answer)), None) => answer,
            (None, _) => panic!("no answer to {:?}", call.verb),
            (Some(_), Some(_)) => panic!("two answers to {:?}", call.verb),
        }
    }

    fn event(&mut self, event: Event) {
        self.queue.push_back(event);
        self.settle();
    }

    fn settle(&mut self) {
        let mut steps = 0;
        while let Some(event) = self.queue.pop_front() {
            steps += 1;
            assert!(steps < 10_000, "events breed events");
            let mut out = Vec::new();
            self.core.handle(event, self.now, &mut out);
            self.carry_out(out);
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::ToClient { bytes, .. } => {
                    for frame in frames(&bytes) {
                        self.client_got(&frame);
                    }
                }
                Effect::ToClientInParts { parts, .. } => {
                    for frame in frames(&parts.concat()) {
                        self.client_got(&frame);
                    }
                }
                Effect::ToApp { app, bytes } => {
                    for frame in frames(&bytes) {
                        self.app_got(app, &frame);
                    }
                }
                Effect::IdentifyClient { client } => {
                    let peer = PeerProcess::default();
                    self.queue.push_front(Event::ClientIdentified { client, peer });
                }
                Effect::StoreValue { request, path, .. } => {
                    self.queue.push_back(Event::ValueStored { request, stored: Ok(path) });
                }
                Effect::ReadUsage { request, sessions } => {
                    let sessions = vec![Usage::default(); sessions.len()];
                    let report = UsageReport { own: Usage::default(), sessions };
                    self.queue.push_back(Event::UsageRead { request, report });
                }
                Effect::Start(start) => {
                    self.queue.push_back(Event::Started {
                        app: start.app,
                        pid: 2,
                        left_out: Vec::new(),
                    });
                }
                Effect::Persist(Record::Anchors { anchors, .. }) => {
                    self.highest = anchors.iter().map(|a| a.id).fold(self.highest, u64::max);
                }
                Effect::Signal { app, .. } => {
                    self.queue.push_back(Event::AppClosed { app });
                    let exit = pipemux_core::Exit::Signal(9);
                    self.queue.push_back(Event::Exited { app, exit, last_lines: Vec::new() });
                }
                _ => {}
            }
        }
    }

    fn client_got(&mut self, frame: &Frame) {
        let answer = match (frame.envelope.kind, frame.envelope.method) {
            (Kind::Reply, Method::Verb) => Ok(decode(&frame.body).expect("an answer")),
            (Kind::Fault, Method::Verb) => Err(decode(&frame.body).expect("a fault")),
            _ => return,
        };
        self.answers.push((frame.envelope.id, answer));
    }

    fn app_got(&mut self, life: Incarnation, got: &Frame) {
        let envelope = got.envelope;
        let reply = envelope.answer(Kind::Reply);
        let answer = match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => {
                let mut hello = Hello::new(Role::App, "fuzzed 1");
                hello.prototypes = prototypes();
                hello.token_prefix = Some("FZ".into());
                frame(Envelope::event(Method::Hello, life), &hello)
            }
            (Kind::Request, Method::AppOpen) => {
                let said = &self.script.note;
                let notes = if said.is_empty() { Vec::new() } else { vec![said.clone()] };
                frame(reply, &Opened { notes, ..Opened::default() })
            }
            (Kind::Request, Method::Project) => {
                frame(reply, next(&self.script.projections, &mut self.sent.0))
            }
            (Kind::Request, Method::Invoke) => {
                frame(reply, next(&self.script.outcomes, &mut self.sent.1))
            }
            (Kind::Request, Method::Locate) => {
                let asked: app::Locate = decode(&got.body).expect("a Locate");
                let place = |_| KeyLocation::Gone(Some(self.script.note.clone()));
                let places = asked.keys.iter().map(place).collect();
                frame(reply, &Located { places, ..Located::default() })
            }
            (Kind::Request, Method::AppRead) => {
                frame(envelope.answer(Kind::Fault), &Fault::not_found(self.script.note.clone()))
            }
            (Kind::Request, _) => frame(reply, &Empty {}),
            _ => return,
        };
        self.queue.push_back(Event::AppFrame { app: life, frame: answer });
    }
}

/// Returns the anchors that a CommonMark parser finds.
fn destinations(text: &str) -> Vec<String> {
    use pulldown_cmark::{Event, Parser, Tag};
    let is_anchor = |to: &str| to.starts_with("obj:") || to.starts_with("link:");
    let found = Parser::new(text).filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            is_anchor(&dest_url).then(|| dest_url.into_string())
        }
        _ => None,
    });
    found.collect()
}

fn next<'a, T>(all: &'a [T], sent: &mut usize) -> &'a T {
    let at = (*sent).min(all.len() - 1);
    *sent += 1;
    &all[at]
}

fn client_hello() -> Hello {
    Hello::new(Role::Client, "fuzz 1")
}

fn frame<T: Serialize>(envelope: Envelope, body: &T) -> Frame {
    let bytes = Frame::encode(&envelope, body).expect("it fits");
    frames(&bytes).remove(0)
}

fn frames(bytes: &[u8]) -> Vec<Frame> {
    let mut decoder = FrameDecoder::default();
    decoder.extend(bytes);
    let mut all = Vec::new();
    while let Some(frame) = decoder.next_frame().expect("the core writes frames") {
        all.push(frame);
    }
    assert!(decoder.is_empty(), "the core writes whole frames");
    all
}
