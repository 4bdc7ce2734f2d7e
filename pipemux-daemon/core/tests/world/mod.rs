//! A world around one core, in memory: clients, apps that are little models, a disk and a clock.
//!
//! Nothing here decides for the core: effects are carried out as a driver would, in their order, and
//! what comes of them is handed in as events.
#![allow(dead_code)]

mod app;
mod calls;
mod effects;
mod exchanges;
mod model;
mod paths;
pub mod text;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use pipemux_core::saved::Record;
use pipemux_core::{ClientId, Config, Core, Event, Exit, Idle, Manifest, Now, Scope};
use pipemux_proto::app::{Invoke, Project};
use pipemux_proto::client::Answer;
use pipemux_proto::{Fault, Frame, FrameDecoder, Incarnation};

pub use app::{App, Behaviour};
pub use calls::{AnswerText, Reader, open, reader, run};
pub use model::Model;

/// The end of a client's request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestEnd {
    Answer(Box<Answer>),
    Fault(Fault),
}

/// One connection of a client.
#[derive(Debug, Default)]
pub struct Client {
    /// What came for each request.
    pub request_ends: BTreeMap<u64, Vec<RequestEnd>>,
    /// True once the core closed it.
    pub closed: bool,
    pub next: u64,
}

/// What an effect showed to somebody outside, in order.
#[derive(Debug, Clone)]
pub enum Output {
    Saved(Record),
    /// An answer, and the workspace's key.
    Text(String, String),
    Started(Incarnation),
}

pub struct World {
    pub core: Core,
    pub now: Now,
    /// The disk.
    pub records: Vec<Record>,
    /// Processes that run.
    pub apps: BTreeMap<Incarnation, App>,
    /// What sessions keep, by state directory: it outlives processes and daemons.
    pub models: BTreeMap<String, Model>,
    /// How the processes of a session behave, by `provider/session`.
    pub behaviours: BTreeMap<String, Behaviour>,
    /// Every `Invoke` that reached an app.
    pub invoked: Vec<(String, Invoke)>,
    /// Every `Project` that reached an app.
    pub projected: Vec<(String, Project)>,
    /// Every effect, for comparing.
    pub effects: Vec<String>,
    /// Who was told which life, for which request to attach.
    pub attached: Vec<(ClientId, u64, Incarnation)>,
    /// What went out, in order.
    pub shown: Vec<Output>,
    pub clients: BTreeMap<ClientId, Client>,
    pub stopped: bool,
    /// Directories that were to be removed.
    pub discarded: Vec<String>,
    config: Config,
    queue: VecDeque<Event>,
    /// The workspace's key of each request.
    keys: BTreeMap<(ClientId, u64), String>,
    next_client: u64,
    next_run: u64,
}

impl World {
    pub fn new() -> Self {
        Self::restored(Vec::new())
    }

    /// A daemon that starts on what an earlier one left on disk.
    pub fn restored(records: Vec<Record>) -> Self {
        Self::configured(config(), records)
    }

    /// A daemon whose `notes` have this manifest.
    pub fn with_notes(change: impl FnOnce(&mut Manifest)) -> Self {
        let mut config = config();
        if let Some(notes) = config.providers.first_mut() {
            change(notes);
        }
        Self::configured(config, Vec::new())
    }

    /// A provider's manifest is gone, for the next daemon.
    pub fn forget_provider(&mut self, id: &str) {
        self.config.providers.retain(|manifest| manifest.id.as_str() != id);
    }

    /// All manifests are there again.
    pub fn remember_providers(&mut self) {
        self.config = config();
    }

    fn configured(config: Config, records: Vec<Record>) -> Self {
        Self {
            core: Core::new(config.clone(), records.clone()),
            now: Now { mono_ms: 1_000, unix_ms: 1_765_360_800_000 },
            records,
            apps: BTreeMap::new(),
            models: BTreeMap::new(),
            behaviours: BTreeMap::new(),
            invoked: Vec::new(),
            projected: Vec::new(),
            effects: Vec::new(),
            attached: Vec::new(),
            shown: Vec::new(),
            clients: BTreeMap::new(),
            stopped: false,
            discarded: Vec::new(),
            config,
            queue: VecDeque::new(),
            keys: BTreeMap::new(),
            next_client: 0,
            next_run: 0,
        }
    }

    /// The daemon is lost, and another one starts on the same disk.
    pub fn lose_daemon(&mut self) {
        self.core = Core::new(self.config.clone(), self.records.clone());
        self.apps.clear();
        self.clients.clear();
        self.queue.clear();
    }

    /// How the session's processes behave from now on.
    pub fn set_behaviour(&mut self, session: &str, behaviour: Behaviour) {
        self.behaviours.insert(session.to_owned(), behaviour);
    }

    /// What a session of a workspace's keeps, made when it has not run yet.
    pub fn model(&mut self, session: &str) -> &mut Model {
        let wanted = format!("/{session}");
        let known = self.models.keys().find(|dir| dir.ends_with(&wanted)).cloned();
        self.models.entry(known.unwrap_or(wanted)).or_default()
    }

    /// What a session keeps, as a workspace means it.
    pub fn model_of(&self, workspace: &str, session: &str) -> Option<&Model> {
        let own = format!("/{}/{session}", paths::workspace_directory(&format!("/{workspace}")));
        let shared = format!("/user/{session}");
        let mut all = self.models.iter();
        all.find(|(dir, _)| dir.ends_with(&own) || dir.ends_with(&shared)).map(|(_, model)| model)
    }

    /// The process of a session.
    pub fn process(&self, session: &str) -> Option<Incarnation> {
        self.apps.iter().find(|(_, app)| app.session == session).map(|(life, _)| *life)
    }

    /// Ends a process from outside, as a driver reports it: its connection closes, then it is gone.
    pub fn kill(&mut self, app: Incarnation, exit: Exit, last_lines: &[&str]) {
        self.end_process(app, exit, last_lines);
        self.settle();
    }

    /// Hands in an event and all that follows from it at once.
    pub fn event(&mut self, event: Event) {
        self.queue.push_back(event);
        self.settle();
    }

    /// Lets time pass, with everything that falls due in it.
    pub fn pass(&mut self, ms: u64) {
        let end = self.now.mono_ms + ms;
        while let Some(due) = self.core.next_timeout().filter(|due| *due <= end) {
            self.tick_to(due.max(self.now.mono_ms));
            let mut out = Vec::new();
            self.core.handle_timeout(self.now, &mut out);
            self.carry_out(out);
            self.settle();
        }
        self.tick_to(end);
    }

    /// Lets pass what must pass until nothing is due any more. Bounded: what re-arms for ever fails.
    pub fn run_out(&mut self) {
        for _ in 0..10_000 {
            let Some(due) = self.core.next_timeout() else { return };
            self.pass(due.saturating_sub(self.now.mono_ms));
        }
        panic!("timers never run out: next at {:?}", self.core.next_timeout());
    }

    /// Lets apps that hold their answers back give them.
    pub fn release(&mut self, session: &str) {
        self.set_behaviour(session, Behaviour::Normal);
        for (life, app) in &mut self.apps {
            if app.session == session {
                let frames = std::mem::take(&mut app.held);
                self.queue
                    .extend(frames.into_iter().map(|f| Event::AppFrame { app: *life, frame: f }));
            }
        }
        self.settle();
    }

    pub fn settle(&mut self) {
        let mut steps = 0;
        while let Some(event) = self.queue.pop_front() {
            steps += 1;
            assert!(steps < 100_000, "events breed events");
            let mut out = Vec::new();
            self.core.handle(event, self.now, &mut out);
            self.carry_out(out);
        }
    }

    fn tick_to(&mut self, mono_ms: u64) {
        let ms = mono_ms.saturating_sub(self.now.mono_ms);
        self.now = Now { mono_ms, unix_ms: self.now.unix_ms + ms };
    }
}

/// Providers: `notes` (a workspace's own), `other` (likewise) and `shared` (the user's).
fn config() -> Config {
    let manifest = |id: &str, scope| Manifest {
        description: format!("the {id} app"),
        scope,
        // Those that are to sleep say so.
        idle: Idle::Never,
        ..Manifest::new(id.parse().expect("a provider"), format!("/apps/{id}"))
    };
    Config {
        providers: vec![
            manifest("notes", Scope::Workspace),
            manifest("other", Scope::Workspace),
            manifest("shared", Scope::User),
        ],
        state_dir: "/state".into(),
        pid: 1,
        software: "pipemuxd test".into(),
        socket: "/run/pipemux.sock".into(),
        bounds: &[],
    }
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

/// A frame as it comes from outside.
pub fn frame<T: serde::Serialize>(envelope: &pipemux_proto::Envelope, body: &T) -> Frame {
    let bytes = Frame::encode(envelope, body).expect("it encodes");
    frames(&bytes).remove(0)
}

/// A frame whose body is no message.
pub fn garbage(envelope: pipemux_proto::Envelope) -> Frame {
    Frame { envelope, body: Bytes::from_static(&[0xc1, 0xff, 0x00]) }
}
