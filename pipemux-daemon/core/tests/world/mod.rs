//! A world around one core, in memory: clients, apps that are little models, a disk and a clock.
//!
//! Nothing here decides for the core: effects are carried out as a driver would, in their order, and
//! what comes of them is handed in as events.
#![allow(dead_code)]

mod app;
mod calls;
mod exchanges;
mod model;
pub mod text;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use pipemux_core::saved::Record;
use pipemux_core::{
    ClientId, Config, Core, Effect, Event, Exit, Idle, LogText, Manifest, ManifestProblem,
    Manifests, Now, Scope, Signal,
};
use pipemux_proto::app::{Invoke, OpenRequest, Project};
use pipemux_proto::client::{Answer, Attached};
use pipemux_proto::{Fault, Frame, FrameDecoder, Incarnation, Kind, Method, decode};

pub use app::{App, Manner};
pub use calls::{Asker, Said, asker, open, run};
pub use model::Model;

/// The end of a client's request.
#[derive(Debug, Clone, PartialEq)]
pub enum Terminal {
    Answer(Box<Answer>),
    Fault(Fault),
}

/// One connection of a client.
#[derive(Debug, Default)]
pub struct Client {
    /// What came for each request.
    pub terminals: BTreeMap<u64, Vec<Terminal>>,
    /// True once the core closed it.
    pub closed: bool,
    pub next: u64,
}

/// What an effect showed to somebody outside, in order.
#[derive(Debug, Clone)]
pub enum Shown {
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
    pub manners: BTreeMap<String, Manner>,
    /// Every `Invoke` that reached an app.
    pub invoked: Vec<(String, Invoke)>,
    /// Every `Project` that reached an app.
    pub projected: Vec<(String, Project)>,
    /// Every effect, for comparing.
    pub effects: Vec<String>,
    /// Who was told which life, for which request to attach.
    pub attached: Vec<(ClientId, u64, Incarnation)>,
    /// What went out, in order.
    pub shown: Vec<Shown>,
    pub clients: BTreeMap<ClientId, Client>,
    pub stopped: bool,
    /// Directories that were to be removed.
    pub discarded: Vec<String>,
    /// Manifests that can't be registered, found whenever manifests are read.
    pub manifest_problems: Vec<ManifestProblem>,
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
            manners: BTreeMap::new(),
            invoked: Vec::new(),
            projected: Vec::new(),
            effects: Vec::new(),
            attached: Vec::new(),
            shown: Vec::new(),
            clients: BTreeMap::new(),
            stopped: false,
            discarded: Vec::new(),
            manifest_problems: Vec::new(),
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
    pub fn manner(&mut self, session: &str, manner: Manner) {
        self.manners.insert(session.to_owned(), manner);
    }

    /// What a session of a workspace's keeps, made when it has not run yet.
    pub fn model(&mut self, session: &str) -> &mut Model {
        let wanted = format!("/{session}");
        let known = self.models.keys().find(|dir| dir.ends_with(&wanted)).cloned();
        self.models.entry(known.unwrap_or(wanted)).or_default()
    }

    /// What a session keeps, as a workspace means it.
    pub fn model_of(&self, workspace: &str, session: &str) -> Option<&Model> {
        // As the core names a workspace's directory: FNV-1a of its key.
        let hash = format!("/{workspace}").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let own = format!("/{hash:016x}/{session}");
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
        self.doom(app, exit, last_lines);
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
        self.manner(session, Manner::Normal);
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

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.effects.push(format!("{effect:?}"));
            match effect {
                Effect::ToClient { client, bytes } => self.send_client(client, &bytes),
                Effect::ToClientInParts { client, parts } => {
                    self.send_client(client, &parts.concat());
                }
                Effect::CloseClient { client } => {
                    if let Some(found) = self.clients.get_mut(&client) {
                        found.closed = true;
                        self.queue.push_back(Event::ClientClosed { client });
                    }
                }
                Effect::ToApp { app, bytes } => self.send_app(app, &bytes),
                Effect::Start(start) => self.start(&start),
                Effect::Signal { app, signal } => {
                    let exit = Exit::Signal(if signal == Signal::Kill { 9 } else { 15 });
                    let stubborn = self.apps.get(&app).is_some_and(|app| app.stubborn);
                    if signal == Signal::Kill || !stubborn {
                        self.doom(app, exit, &[]);
                    }
                }
                Effect::ReadLog { request, log, .. } => {
                    let text = format!("log of {log}");
                    let read = Ok(LogText { next: text.len() as u64, text, missed: 0 });
                    self.queue.push_back(Event::LogRead { request, read });
                }
                Effect::WatchLog { .. } | Effect::UnwatchLog { .. } => {}
                Effect::LoadProviders { request, .. } => {
                    let manifests = self.config.providers.clone();
                    let problems = self.manifest_problems.clone();
                    let read = Ok(Manifests { manifests, problems, ..Manifests::default() });
                    self.queue.push_back(Event::Providers { request, read });
                }
                Effect::Persist(record) => {
                    self.shown.push(Shown::Saved(record.clone()));
                    self.records.push(record);
                }
                Effect::Prepare { .. } => {}
                Effect::Discard { state_dir } => self.discarded.push(state_dir),
                Effect::Stopped => self.stopped = true,
            }
        }
    }

    fn start(&mut self, start: &pipemux_core::Start) {
        self.shown.push(Shown::Started(start.app));
        for manner in self.manners.values_mut().filter(|m| **m == Manner::DiesOnInvokeOnce) {
            *manner = Manner::Normal;
        }
        let parts: Vec<&str> = start.state_dir.rsplit('/').take(2).collect();
        let session = format!("{}/{}", parts[1], parts[0]);
        if self.manners.get(&session) == Some(&Manner::Unstartable) {
            let why = "no such program".to_owned();
            return self.queue.push_back(Event::StartFailed { app: start.app, why });
        }
        if !self.models.contains_key(&start.state_dir) {
            let prepared = self.models.remove(&format!("/{session}")).unwrap_or_default();
            self.models.insert(start.state_dir.clone(), prepared);
        }
        self.apps.insert(start.app, App::new(session, start.state_dir.clone()));
        self.queue.push_back(Event::Started { app: start.app, pid: 1_000 + start.app.0 as u32 });
    }

    fn send_app(&mut self, life: Incarnation, bytes: &[u8]) {
        let Some(app) = self.apps.get_mut(&life) else { return };
        for frame in frames(bytes) {
            let of = frame.envelope.incarnation;
            // A process that sessions share gets frames of their lives.
            let shared = of != life;
            if shared && frame.envelope.method == Method::AppOpen {
                let open: OpenRequest = decode(&frame.body).expect("an OpenRequest");
                app.sessions.insert(of, (open.session.to_string(), open.state_dir));
            }
            let (session, dir) = match app.sessions.get(&of) {
                Some(known) => known.clone(),
                None => {
                    let request = frame.envelope.kind == Kind::Request;
                    assert!(!shared || !request, "a request of another life");
                    (app.session.clone(), app.state_dir.clone())
                }
            };
            let manner = self.manners.get(&session).cloned().unwrap_or_default();
            if !self.models.contains_key(&dir) {
                let prepared = self.models.remove(&format!("/{session}")).unwrap_or_default();
                self.models.insert(dir.clone(), prepared);
            }
            let model = self.models.get_mut(&dir).expect("a model");
            if frame.envelope.method == Method::Invoke && frame.envelope.kind == Kind::Request {
                let invoke = decode(&frame.body).expect("an Invoke");
                self.invoked.push((session.clone(), invoke));
            }
            if frame.envelope.method == Method::Project && frame.envelope.kind == Kind::Request {
                let project = decode(&frame.body).expect("a Project");
                self.projected.push((session.clone(), project));
            }
            let mut reaction = app.react(of, &frame, &manner, model);
            if shared && frame.envelope.method == Method::AppClose {
                app.sessions.remove(&of);
                reaction.exit = None;
            }
            self.queue.extend(
                reaction.frames.into_iter().map(|f| Event::AppFrame { app: life, frame: f }),
            );
            if let Some((exit, last_lines)) = reaction.exit {
                let lines: Vec<&str> = last_lines.iter().map(String::as_str).collect();
                self.doom(life, exit, &lines);
                return;
            }
        }
    }

    fn doom(&mut self, app: Incarnation, exit: Exit, last_lines: &[&str]) {
        if self.apps.remove(&app).is_some() {
            let last_lines = last_lines.iter().map(|line| (*line).to_owned()).collect();
            self.queue.push_back(Event::AppClosed { app });
            self.queue.push_back(Event::Exited { app, exit, last_lines });
        }
    }

    fn send_client(&mut self, client: ClientId, bytes: &[u8]) {
        for frame in frames(bytes) {
            let terminal = match frame.envelope.kind {
                Kind::Fault => Terminal::Fault(decode(&frame.body).expect("a fault")),
                Kind::Reply if frame.envelope.method == Method::Verb => {
                    let answer: Answer = decode(&frame.body).expect("an answer");
                    let workspace = self.keys.get(&(client, frame.envelope.id)).cloned();
                    let workspace = workspace.unwrap_or_default();
                    self.shown.push(Shown::Text(workspace, text::of(&answer)));
                    Terminal::Answer(Box::new(answer))
                }
                Kind::Reply if frame.envelope.method == Method::Attach => {
                    let told: Attached = decode(&frame.body).expect("a life");
                    self.attached.push((client, frame.envelope.id, told.incarnation));
                    continue;
                }
                _ => continue,
            };
            if let Some(found) = self.clients.get_mut(&client) {
                found.terminals.entry(frame.envelope.id).or_default().push(terminal);
            }
        }
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
