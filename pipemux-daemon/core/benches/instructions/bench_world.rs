//! A core with one client and one app that answers from memory.

use pipemux_core::{ClientId, Config, Core, Effect, Event, Manifest, Now, Usage, UsageReport};
use pipemux_proto::app::{Done, Empty, Opened, Outcome};
use pipemux_proto::client::{
    Answer, Attach, Attached, Body, DeliveryAck, Format, OpenArgs, Verb, VerbRequest, ViewArgs,
    Workspace,
};
use pipemux_proto::projection::{CodePiece, LinkSlot, ObjectSlot, Piece, Projection};
use pipemux_proto::prototype::{Prominence, Prototype, Risk};
use pipemux_proto::{
    Envelope, Frame, FrameDecoder, Hello, Incarnation, Kind, Method, Role, SessionAddr, decode,
};
use serde::Serialize;

const NOW: Now = Now { mono_ms: 1_000, unix_ms: 1_765_360_800_000 };

/// A line of the large window, in which each word is one token, and the number of its lines.
const LINE: &str = "because through another without between nothing against morning\n";
const LARGE: usize = 16_000;

/// The core with a client and an app.
pub struct BenchWorld {
    pub core: Core,
    pub client: ClientId,
    out: Vec<Effect>,
    projection: Projection,
    /// The encoded projection of the present version; encoding isn't to be measured.
    project: Vec<u8>,
    unchanged: Vec<u8>,
    next: u64,
    reply: Option<Frame>,
}

impl BenchWorld {
    /// Opens one window with this many lines.
    pub fn new(lines: usize) -> BenchWorld {
        BenchWorld::among(1, lines)
    }

    /// Opens this many windows with this many lines each; the newest one is `notes/main`.
    pub fn among(windows: usize, lines: usize) -> BenchWorld {
        BenchWorld::showing(windows, projection(lines))
    }

    /// Opens a window with about 1 MB of exact text, nearly as much as a frame holds.
    pub fn of_a_megabyte() -> BenchWorld {
        let code = CodePiece { text: LINE.repeat(LARGE), ..CodePiece::default() };
        let content = vec![Piece::Code(code)];
        BenchWorld::showing(1, Projection { content, ..projection(0) })
    }

    fn showing(windows: usize, projection: Projection) -> BenchWorld {
        let mut notes = Manifest::new("notes".parse().unwrap(), "/apps/notes".to_owned());
        notes.description = "an app".into();
        let config = Config {
            providers: vec![notes],
            state_dir: "/state".into(),
            pid: 1,
            software: "pipemuxd bench".into(),
            identity: None,
            socket: "/run/pipemux.sock".into(),
            pseudonym_key: [7; 16],
            bounds: &[],
            ..Config::default()
        };
        let mut world = BenchWorld {
            core: Core::new(config, Vec::new()),
            client: ClientId(1),
            out: Vec::new(),
            projection,
            project: Vec::new(),
            unchanged: Vec::new(),
            next: 0,
            reply: None,
        };
        world.changed();
        let client = world.client;
        world.handle(Event::ClientOpened { client });
        let hello = Envelope::event(Method::Hello, Incarnation(0));
        world.send(&hello, &Hello::new(Role::Client, "bench"));
        for other in 1..windows {
            world.open(Some(&format!("s{other}")));
        }
        world.open(None);
        world
    }

    fn open(&mut self, session: Option<&str>) {
        let opened = self.ask(Verb::Open(OpenArgs {
            provider: "notes".parse().unwrap(),
            session: session.map(|session| session.parse().unwrap()),
            args: Vec::new(),
            cwd: "/".into(),
            env: Default::default(),
            pin: None,
            priority: None,
            weight: None,
        }));
        assert_eq!(opened.exit, 0, "{opened:?}");
    }

    /// Raises the version of the app's state.
    pub fn changed(&mut self) {
        let version = self.projection.version + 1;
        self.projection.version = version;
        self.projection.title = format!("state {version}");
        self.project = encoded(&self.projection);
        self.unchanged = encoded(&Projection { version, unchanged: true, ..Projection::default() });
    }

    /// Changes the middle line of the text, or every line.
    pub fn edited(&mut self, everywhere: bool) {
        let line = LINE.replacen("cause", &format!("{:05}", self.projection.version), 1);
        for piece in &mut self.projection.content {
            let Piece::Code(code) = piece else { continue };
            if everywhere {
                code.text = line.repeat(LARGE);
            } else {
                let middle = LARGE / 2 * LINE.len();
                code.text.replace_range(middle..middle + LINE.len(), &line);
            }
        }
        self.changed();
    }

    /// Sends a request and confirms the answer, as a one-shot client does.
    pub fn ask(&mut self, verb: Verb) -> Answer {
        self.next += 1;
        let call = VerbRequest {
            workspace: workspace(),
            reader: "default".into(),
            reader_token: String::new(),
            run_id: format!("{:032x}", self.next),
            format: Format::Markdown,
            budget: Some(1_000_000),
            lod: None,
            at: None,
            client: String::new(),
            hint_options: String::new(),
            diff: 0,
            wait_ms: 0,
            env: std::collections::BTreeMap::new(),
            titles: false,
            cwd: "/".into(),
            verb,
        };
        let reply = self.request(Method::Verb, &call);
        let answer: Answer = decode(&reply.body).unwrap();
        if answer.delivery > 0 {
            self.request(Method::Seen, &DeliveryAck { delivery: answer.delivery });
        }
        answer
    }

    /// Attaches to the session for exchanges.
    pub fn attach(&mut self) -> Incarnation {
        let session: SessionAddr = "notes/main".parse().unwrap();
        let reply = self.request(Method::Attach, &Attach { workspace: workspace(), session });
        decode::<Attached>(&reply.body).unwrap().incarnation
    }

    /// Returns the first link in the window of `notes/main`.
    pub fn link(&mut self) -> String {
        let session = Some("notes/main".parse().unwrap());
        let view = Verb::View(ViewArgs { session, ..ViewArgs::default() });
        let Body::Text(text) = self.ask(view).body else { panic!() };
        let (_, rest) = text.split_once("(link:").unwrap();
        rest.split([')', ' ']).next().unwrap().to_owned()
    }

    fn request<T: Serialize>(&mut self, method: Method, body: &T) -> Frame {
        self.next += 1;
        self.send(&Envelope::request(method, self.next, Incarnation(0)), body);
        let reply = self.reply.take().unwrap();
        assert_eq!((reply.envelope.kind, reply.envelope.id), (Kind::Reply, self.next));
        reply
    }

    fn send<T: Serialize>(&mut self, envelope: &Envelope, body: &T) {
        let (client, bytes) = (self.client, Frame::encode(envelope, body).unwrap());
        self.handle(Event::ClientFrame { client, frame: frame(&bytes) });
    }

    /// Hands an event to the core, and what the app answers to its effects.
    fn handle(&mut self, event: Event) {
        self.core.handle(event, NOW, &mut self.out);
        let effects: Vec<Effect> = self.out.drain(..).collect();
        for effect in effects {
            match effect {
                Effect::ToClient { bytes, .. } => self.reply = Some(frame(&bytes)),
                Effect::ToClientInParts { parts, .. } => self.reply = Some(frame(&parts.concat())),
                Effect::Start(start) => {
                    let app = start.app;
                    self.handle(Event::Started { app, pid: 7, left_out: Vec::new() });
                    let hello =
                        Hello { prototypes: vec![tick()], ..Hello::new(Role::App, "notes") };
                    let envelope = Envelope::event(Method::Hello, app);
                    let frame = frame(&Frame::encode(&envelope, &hello).unwrap());
                    self.handle(Event::AppFrame { app, frame });
                }
                Effect::ToApp { app, bytes } => {
                    if let Some(frame) = self.react(&frame(&bytes)) {
                        self.handle(Event::AppFrame { app, frame });
                    }
                }
                Effect::ReadUsage { request, sessions } => {
                    let sessions = vec![Usage::default(); sessions.len()];
                    let report = UsageReport { own: Usage::default(), sessions };
                    self.handle(Event::UsageRead { request, report });
                }
                Effect::IdentifyClient { client } => {
                    let peer = pipemux_core::peer::PeerProcess::default();
                    self.handle(Event::ClientIdentified { client, peer });
                }
                _ => {}
            }
        }
    }

    fn react(&mut self, asked: &Frame) -> Option<Frame> {
        let envelope = asked.envelope.answer(Kind::Reply);
        let body = match (asked.envelope.kind, asked.envelope.method) {
            (Kind::Request, Method::AppOpen) => encoded(&Opened::default()),
            (Kind::Request, Method::Invoke) => {
                let version = self.projection.version;
                encoded(&Outcome::Done(Done { brief: "1".into(), version, ..Done::default() }))
            }
            (Kind::Request, Method::Project) => {
                let asked: pipemux_proto::app::Project = decode(&asked.body).unwrap();
                let same = asked.known_version == Some(self.projection.version);
                if same { self.unchanged.clone() } else { self.project.clone() }
            }
            (Kind::Request, _) => encoded(&Empty {}),
            _ => return None,
        };
        Some(Frame { envelope, body: body.into() })
    }
}

fn projection(lines: usize) -> Projection {
    let tick = LinkSlot {
        label: "tick".into(),
        action: "tick".into(),
        args: Default::default(),
        ..LinkSlot::default()
    };
    let mut content = vec![Piece::Link(tick), Piece::Text("\n".into())];
    for line in 0..lines {
        let key = format!("k{line}");
        content.push(Piece::Text(format!("{line} of the lines: ")));
        content.push(Piece::Object(ObjectSlot {
            label: key.clone(),
            key,
            rev: 0,
            ty: None,
            ..ObjectSlot::default()
        }));
        content.push(Piece::Text(", and more *words* of it.\n".into()));
    }
    Projection { content, ..Projection::default() }
}

fn tick() -> Prototype {
    Prototype {
        name: "tick".into(),
        doc: "Counts.".into(),
        params: Vec::new(),
        returns: None,
        risk: Risk::Changes,
        idempotent: false,
        prominence: Prominence::Featured,
        ..Prototype::default()
    }
}

fn workspace() -> Workspace {
    Workspace { key: "/demo".into(), name: "demo".into() }
}

fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    pipemux_proto::codec::encode(value).unwrap()
}

fn frame(bytes: &[u8]) -> Frame {
    let mut decoder = FrameDecoder::default();
    decoder.extend(bytes);
    decoder.next_frame().unwrap().unwrap()
}
