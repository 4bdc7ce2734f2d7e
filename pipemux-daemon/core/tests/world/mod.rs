//! A world around one core, in memory: clients, apps, a disk and a clock.
//!
//! Nothing here decides for the core. Effects are carried out in their order, as a driver does, and
//! what follows from them is handed to the core as events.
#![allow(dead_code)]

mod app;
mod calls;
mod effects;
mod exchanges;
mod model;
mod paths;
pub mod text;
mod wire;

use std::collections::{BTreeMap, VecDeque};

use pipemux_core::audit::AuditEntry;
use pipemux_core::peer::PeerProcess;
use pipemux_core::saved::Record;
use pipemux_core::{
    BuiltIn, ClientId, Config, Core, Event, Exit, Idle, Manifest, ManifestProblem, Now, Scope,
};
use pipemux_proto::app::{Changed, Invoke, Progress, Project};
use pipemux_proto::client::Answer;
use pipemux_proto::job::JobReport;
use pipemux_proto::{Envelope, Fault, Incarnation, Method};

#[allow(unused_imports)]
pub use app::{App, Behaviour, slot};
pub use calls::{AnswerText, Reader, open, reader, run, session_addr};
pub use model::Model;
pub use wire::{frame, garbage};

/// The end of a client's request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestEnd {
    Answer(Box<Answer>),
    Fault(Fault),
}

/// The connection of a client.
#[derive(Debug, Default)]
pub struct Client {
    /// The ends of each request, by its id. A correct core sends one.
    pub request_ends: BTreeMap<u64, Vec<RequestEnd>>,
    /// The progress that it was told of, with the request that it is about.
    pub progress: Vec<(u64, Progress)>,
    /// True once the core has closed it.
    pub closed: bool,
    pub next: u64,
}

/// Something that left the core.
#[derive(Debug, Clone)]
pub enum Output {
    Saved(Box<Record>),
    /// The workspace's key and the text of an answer.
    Text(String, String),
    Started(Incarnation),
}

pub struct World {
    pub core: Core,
    pub now: Now,
    /// The records on the disk.
    pub records: Vec<Record>,
    /// The running processes.
    pub apps: BTreeMap<Incarnation, App>,
    /// True for processes that don't end when they are asked to, from the next start on.
    pub stubborn: bool,
    /// The state of each session, by state directory. It outlives processes and daemons.
    pub models: BTreeMap<String, Model>,
    /// The behaviour of each session's processes, by `provider/session`.
    pub behaviours: BTreeMap<String, Behaviour>,
    /// Every `Invoke` that reached an app.
    pub invoked: Vec<(String, Invoke)>,
    /// Every `Project` that reached an app.
    pub projected: Vec<(String, Project)>,
    /// Every effect, in its debug form.
    pub effects: Vec<String>,
    /// The incarnation to which each request attached its client.
    pub attached: Vec<(ClientId, u64, Incarnation)>,
    /// Everything that left the core, in order.
    pub shown: Vec<Output>,
    pub clients: BTreeMap<ClientId, Client>,
    /// The processes of clients; the others are the user's own.
    pub peers: BTreeMap<ClientId, PeerProcess>,
    /// The lines of the audit log.
    pub audited: Vec<AuditEntry>,
    pub stopped: bool,
    /// The files with values, those that were removed, and why none can be written.
    pub values: BTreeMap<String, Vec<u8>>,
    pub removed_values: Vec<String>,
    pub value_refusal: Option<String>,
    /// The state directories that the core discarded.
    pub discarded: Vec<String>,
    /// Manifests that can't be registered, found whenever manifests are read.
    pub manifest_problems: Vec<ManifestProblem>,
    config: Config,
    queue: VecDeque<Event>,
    /// The key of the workspace of each request.
    keys: BTreeMap<(ClientId, u64), String>,
    next_client: u64,
    pub next_run: u64,
}

impl World {
    pub fn new() -> Self {
        Self::restored(Vec::new())
    }

    /// Starts a daemon on the records of an earlier one.
    pub fn restored(records: Vec<Record>) -> Self {
        Self::configured(config(), records)
    }

    /// Starts a daemon with a changed manifest of `notes`.
    pub fn with_notes(change: impl FnOnce(&mut Manifest)) -> Self {
        let mut config = config();
        if let Some(notes) = config.providers.first_mut() {
            change(notes);
        }
        Self::configured(config, Vec::new())
    }

    /// Starts a daemon with the built-in apps `notes` and `other`; both have the action `say`.
    pub fn with_built_in() -> Self {
        let mut config = config();
        let actions = [&["say", "text", "fail"][..], &["say", "touch"]];
        for (manifest, actions) in config.providers.iter_mut().zip(actions) {
            let known = app::prototypes().into_iter();
            let prototypes = known.filter(|one| actions.contains(&one.name.as_str())).collect();
            let help = format!("the help of {}\n", manifest.id);
            manifest.built_in = Some(Box::new(BuiltIn { prototypes, help }));
        }
        Self::configured(config, Vec::new())
    }

    /// Removes a provider's manifest for the next daemon.
    pub fn forget_provider(&mut self, id: &str) {
        self.config.providers.retain(|manifest| manifest.id.as_str() != id);
    }

    /// Restores all manifests.
    pub fn remember_providers(&mut self) {
        self.config = config();
    }

    fn configured(config: Config, records: Vec<Record>) -> Self {
        Self {
            core: Core::new(config.clone(), records.clone()),
            now: Now { mono_ms: 1_000, unix_ms: 1_765_360_800_000 },
            records,
            apps: BTreeMap::new(),
            stubborn: false,
            models: BTreeMap::new(),
            behaviours: BTreeMap::new(),
            invoked: Vec::new(),
            projected: Vec::new(),
            effects: Vec::new(),
            attached: Vec::new(),
            shown: Vec::new(),
            clients: BTreeMap::new(),
            peers: BTreeMap::new(),
            audited: Vec::new(),
            stopped: false,
            values: BTreeMap::new(),
            removed_values: Vec::new(),
            value_refusal: None,
            discarded: Vec::new(),
            manifest_problems: Vec::new(),
            config,
            queue: VecDeque::new(),
            keys: BTreeMap::new(),
            next_client: 0,
            next_run: 0,
        }
    }

    /// Sets the key that a daemon without one of an earlier daemon takes.
    pub fn set_pseudonym_key(&mut self, key: [u8; 16]) {
        self.config.pseudonym_key = key;
    }

    /// Kills the daemon with all processes and connections, and starts another one on the same
    /// disk.
    pub fn lose_daemon(&mut self) {
        self.core = Core::new(self.config.clone(), self.records.clone());
        // The log of the next daemon begins with what it restored.
        self.records = self.core.snapshot();
        self.apps.clear();
        self.clients.clear();
        self.queue.clear();
    }

    /// Sets how a session's processes behave from now on.
    pub fn set_behaviour(&mut self, session: &str, behaviour: Behaviour) {
        self.behaviours.insert(session.to_owned(), behaviour);
    }

    /// Returns the state of a session, and makes it when the session has not run yet.
    pub fn model(&mut self, session: &str) -> &mut Model {
        let wanted = format!("/{session}");
        let known = self.models.keys().find(|dir| dir.ends_with(&wanted)).cloned();
        self.models.entry(known.unwrap_or(wanted)).or_default()
    }

    /// Returns the state of the session that an address names in a workspace.
    pub fn model_of(&self, workspace: &str, session: &str) -> Option<&Model> {
        let own = format!("/{}/{session}", paths::workspace_directory(&format!("/{workspace}")));
        let shared = format!("/user/{session}");
        let mut all = self.models.iter();
        all.find(|(dir, _)| dir.ends_with(&own) || dir.ends_with(&shared)).map(|(_, model)| model)
    }

    /// Returns the running process of a session.
    pub fn process(&self, session: &str) -> Option<Incarnation> {
        self.apps
            .iter()
            .find(|(_, app)| app.session == session)
            .map(|(incarnation, _)| *incarnation)
    }

    /// Ends a process from outside. As with a driver, its connection closes first, then it has
    /// exited.
    pub fn kill(&mut self, app: Incarnation, exit: Exit, last_lines: &[&str]) {
        self.end_process(app, exit, last_lines);
        self.settle();
    }

    /// Hands an event to the core, and everything that follows from it at once.
    pub fn event(&mut self, event: Event) {
        self.queue.push_back(event);
        self.settle();
    }

    /// The app of a session reports that its state has changed.
    pub fn report_change(&mut self, session: &str) {
        let version = self.model(session).version;
        let app = self.process(session).expect("it runs");
        let changed = frame(&Envelope::event(Method::Changed, app), &Changed { version });
        self.event(Event::AppFrame { app, frame: changed });
    }

    /// The app of a session reports on a job.
    pub fn report_job(&mut self, session: &str, report: &JobReport) {
        let app = self.process(session).expect("it runs");
        let report = frame(&Envelope::event(Method::JobReport, app), report);
        self.event(Event::AppFrame { app, frame: report });
    }

    /// Lets time pass, with every timeout that is due in it.
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

    /// Lets time pass until no timer is left. Fails when timers are set again for ever.
    pub fn run_out(&mut self) {
        for _ in 0..10_000 {
            let Some(due) = self.core.next_timeout() else { return };
            self.pass(due.saturating_sub(self.now.mono_ms));
        }
        panic!("timers never run out: next at {:?}", self.core.next_timeout());
    }

    /// Lets a session's processes send the answers that they hold.
    pub fn release(&mut self, session: &str) {
        self.set_behaviour(session, Behaviour::Normal);
        for (incarnation, app) in &mut self.apps {
            if app.session == session {
                let frames = std::mem::take(&mut app.held);
                self.queue.extend(
                    frames.into_iter().map(|f| Event::AppFrame { app: *incarnation, frame: f }),
                );
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

/// Returns a configuration with the providers `notes` and `other`, whose sessions belong to
/// workspaces, and `shared`, whose sessions belong to the user.
fn config() -> Config {
    let manifest = |id: &str, scope| Manifest {
        description: format!("the {id} app"),
        scope,
        // Tests of hibernation set another value.
        idle: Idle::Never,
        ..Manifest::new(id.parse().expect("a provider"), format!("/apps/{id}"))
    };
    Config {
        confines: String::new(),
        limit_levels: String::new(),
        providers: vec![
            manifest("notes", Scope::Workspace),
            manifest("other", Scope::Workspace),
            manifest("shared", Scope::User),
        ],
        state_dir: "/state".into(),
        pid: 1,
        software: "pipemuxd test".into(),
        identity: None,
        socket: "/run/pipemux.sock".into(),
        pseudonym_key: *b"a secret to apps",
        history_rounds: None,
        bounds: &[],
    }
}
