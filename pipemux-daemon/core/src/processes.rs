//! Sessions and the processes they run in: started, greeted, asked, watched, put to sleep, ended.
//!
//! | module | decides |
//! |---|---|
//! | [`session`] | what is known of one session |
//! | `starting`, [`opening`], `ending` | a process from start to end; its greeting and the opens it is told |
//! | [`passed`] | the variables that a manifest names: values in memory, names on disk |
//! | `frames` | what a process sends |
//! | `requests`, [`reply`] | a request to an app, which ends exactly once; what it is for and how it ended |
//! | [`confinement`] | what a process may do, and how it is given more |
//! | [`denials`] | what a confined app was refused, explained |
//! | [`shared_processes`] | processes that several sessions share |
//! | [`health`], [`hibernation`], [`quarantine`] | whether an app still answers, may sleep, dies of a request |
//! | `wake_times` | when a sleeping session is woken though nobody asks for it |
//!
//! [`Processes`] calls nobody: what concerns others is a [`ProcessEvent`] in its queue, which the core drains once
//! the method that was called has returned. So no method is entered while another one runs.
//!
//! **Invariant: a request to an app ends exactly once.** It leaves the table only in `Processes::remove_request`, and
//! whoever sent it gets one [`ProcessEvent::Replied`], unless it dropped the request itself.

pub mod confinement;
pub mod denials;
mod ending;
pub mod event;
mod forbidden;
mod frames;
pub mod health;
pub mod hibernation;
pub mod opening;
pub mod passed;
pub mod quarantine;
pub mod reply;
mod requests;
pub mod session;
pub mod shared_processes;
mod starting;
mod wake_times;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;
use rustc_hash::FxHashMap;

use crate::keys::{RequestId, SessionKey, directory_name};
use crate::manifest::Manifest;
use crate::persist::records::{Record, SavedOpen};
use crate::turn::Turn;

pub use event::{EndedProcess, ProcessEnd, ProcessEvent, ReadyProcess};
use requests::AppRequests;
pub use requests::speaker;
use session::{ProcessState, Session};
use shared_processes::SharedProcesses;

/// All sessions, by their keys.
pub type Sessions = BTreeMap<SessionKey, Session>;

/// Prototypes of a session, shared by all sessions of an app that can do the same.
pub type Prototypes = Rc<Vec<Prototype>>;

/// All sessions, their processes, and the requests that are with them.
#[derive(Debug, Default)]
pub struct Processes {
    /// What the greeting calls this software.
    software: String,
    /// Where sessions keep their state and logs; an absolute path.
    state_dir: String,
    sessions: Sessions,
    /// What each provider's app said it can do when it last greeted.
    prototypes: BTreeMap<ProviderId, Prototypes>,
    session_by_incarnation: FxHashMap<Incarnation, SessionKey>,
    pids: FxHashMap<Incarnation, u32>,
    shared: SharedProcesses,
    requests: AppRequests,
    /// Clients' requests whose `open` is part of a start that is under way.
    opening: BTreeMap<SessionKey, RequestId>,
    /// When the next sleeping session is to be woken, on the monotonic clock.
    wake_timer: Option<u64>,
    /// True once an app said that it shows each reader something else.
    any_per_reader: bool,
    /// Folders that no process is granted, as absolute paths.
    forbidden: Vec<String>,
    /// True once the daemon goes down: nothing is started any more.
    stopping: bool,
    events: VecDeque<ProcessEvent>,
}

impl Processes {
    /// No sessions yet. `software` is what the greeting calls the daemon, `state_dir` an absolute path.
    pub fn new(software: String, state_dir: String) -> Self {
        Self { software, state_dir, ..Self::default() }
    }

    /// The next thing that happened and concerns others.
    pub fn poll_event(&mut self) -> Option<ProcessEvent> {
        self.events.pop_front()
    }

    /// A session, if there is one of that key.
    pub fn get(&self, key: &SessionKey) -> Option<&Session> {
        self.sessions.get(key)
    }

    /// True for a session that shows each reader something else.
    pub fn is_per_reader(&self, key: &SessionKey) -> bool {
        self.any_per_reader && self.get(key).is_some_and(|session| session.per_reader)
    }

    /// False as long as no app has said that it shows each reader something else.
    pub fn any_per_reader(&self) -> bool {
        self.any_per_reader
    }

    /// True while there is a session of that key.
    pub fn contains(&self, key: &SessionKey) -> bool {
        self.sessions.contains_key(key)
    }

    /// All sessions, in the order of their keys.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The session that an incarnation belongs to.
    pub fn session_of(&self, app: Incarnation) -> Option<&SessionKey> {
        self.session_by_incarnation.get(&app)
    }

    /// The session that runs in one of these processes.
    pub fn session_of_pids(&self, pids: &BTreeSet<u32>) -> Option<&SessionKey> {
        let mut all = self.pids.iter();
        let (app, _) = all.find(|(_, pid)| pids.contains(pid))?;
        self.session_of(*app)
    }

    /// What a session can do, as its windows are indexed by it; none when there is no such session.
    pub fn actions_of(&self, key: &SessionKey) -> Option<Prototypes> {
        self.sessions.get(key).map(|session| session.prototypes.clone())
    }

    /// What a provider's app said it can do when it last greeted.
    pub fn prototypes(&self, provider: &ProviderId) -> Option<&Prototypes> {
        self.prototypes.get(provider)
    }

    /// The process id of a session's process.
    pub fn pid(&self, session: &Session) -> Option<u32> {
        self.pids.get(&self.process(session)?).copied()
    }

    /// Returns the process of a session, which it may share.
    pub fn process(&self, session: &Session) -> Option<Incarnation> {
        session.app().map(|app| self.shared.process_of(app))
    }

    /// True when no process runs, ends or is about to start.
    pub fn is_idle(&self) -> bool {
        self.session_by_incarnation.is_empty() && self.shared.is_empty()
    }

    /// Makes a session that has no process yet.
    pub fn create(&mut self, key: SessionKey, manifest: Rc<Manifest>) {
        let mut session = Session::new(manifest, Vec::new());
        if session.manifest.shadows {
            let (provider, file) = (&key.addr.provider, &session.manifest.file);
            let note =
                format!("{provider} is not the app that comes with PipeMux: {file} replaces it");
            session.notes.push(note.into());
        }
        self.sessions.insert(key.clone(), session);
        self.events.push_back(ProcessEvent::ActionsChanged { session: key });
    }

    /// Forgets a session that nobody needs any more.
    pub fn remove(&mut self, key: &SessionKey) -> Option<Session> {
        self.sessions.remove(key)
    }

    /// A session's own directory and its log.
    pub fn paths(&self, key: &SessionKey) -> (String, String) {
        let owner = key.workspace.as_deref().map_or("user".into(), directory_name);
        let (base, addr) = (&self.state_dir, &key.addr);
        (
            format!("{base}/sessions/{owner}/{}/{}", addr.provider, addr.session),
            match self.shares(key) {
                true => format!("{base}/logs/user/{}.log", addr.provider),
                false => format!("{base}/logs/{owner}/{}.{}.log", addr.provider, addr.session),
            },
        )
    }

    /// The log that only this session writes to.
    pub fn own_log(&self, key: &SessionKey) -> Option<String> {
        (!self.shares(key)).then(|| self.paths(key).1)
    }

    /// True for a session whose process is about to exit and opens nothing more: its first open was refused, or it was
    /// ended.
    pub fn is_ending_for_good(&self, key: &SessionKey) -> bool {
        self.sessions.get(key).is_some_and(|session| {
            matches!(session.process, ProcessState::Draining { .. }) && session.opens.is_empty()
        })
    }

    /// A client's request goes on once the session is ready ([`ReadyProcess::waiters`]) or has ended
    /// ([`EndedProcess::waiters`]).
    pub fn wait_until_ready(&mut self, key: &SessionKey, request: RequestId) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.ready_waiters.push(request);
        }
    }

    /// A session was ended for good by its user: it is opened with nothing, and may be started again.
    pub fn forget_opens(&mut self, key: &SessionKey) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.opens.clear();
            // Its end is written down: what it is opened with next has to be, too, even if that is the same.
            session.saved = 0;
            session.failed = None;
        }
    }

    /// A session has these running jobs, by its app's keys; `works` if one of them needs its process.
    pub fn set_jobs(&mut self, key: &SessionKey, jobs: Vec<String>, works: bool) {
        if let Some(session) = self.sessions.get_mut(key) {
            (session.jobs, session.works) = (jobs, works);
        }
    }

    /// A user asks for a fresh start: failures, crashes and quarantined requests are forgotten.
    pub fn forgive(&mut self, key: &SessionKey) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.failed = None;
            session.crashes.clear();
            session.quarantine.lift();
        }
    }

    /// The next process of a session is one of this manifest.
    pub fn set_manifest(&mut self, key: &SessionKey, manifest: Rc<Manifest>) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.manifest = manifest;
        }
    }

    /// Manifests were read again: sessions that are down take theirs.
    pub fn take_manifests(&mut self, manifests: &BTreeMap<ProviderId, Rc<Manifest>>) {
        let down = |session: &Session| session.process == ProcessState::Down;
        for (key, session) in self.sessions.iter_mut().filter(|(_, session)| down(session)) {
            let Some(manifest) = manifests.get(&key.addr.provider) else { continue };
            if *session.manifest != **manifest {
                // What was wrong may be mended. Also, a session may have come back from an earlier daemon before its
                // app was registered.
                session.failed = None;
            }
            session.manifest = manifest.clone();
        }
    }

    /// Remembers a further `open` of a session, which is repeated after a restart; the oldest makes room.
    pub fn add_open(&mut self, turn: &mut Turn, key: &SessionKey, open: SavedOpen, max: usize) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if !session.opens.contains(&open) {
            session.opens.push(open);
        }
        if session.opens.len() > max {
            let oldest = session.opens.remove(0);
            if let Some(first) = session.opens.first_mut() {
                first.granted.extend(oldest.granted);
            }
        }
        self.save(turn, key);
    }

    /// Remembers what the next process of a session is opened with.
    pub fn push_open(&mut self, key: &SessionKey, open: SavedOpen) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.opens.push(open);
        }
    }

    /// Writes a session's opens down, unless they already are.
    pub fn save(&mut self, turn: &mut Turn, key: &SessionKey) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let fingerprint = session.opens_fingerprint();
        if std::mem::replace(&mut session.saved, fingerprint) == fingerprint {
            return;
        }
        turn.persist(Record::Session {
            workspace: key.workspace.as_deref().map(Into::into),
            session: key.to_string(),
            opens: session.opens.clone(),
        });
    }

    /// An app says which version its state has. Returns true when that is a newer one.
    pub fn set_version(&mut self, key: &SessionKey, version: u64) -> bool {
        let Some(session) = self.sessions.get_mut(key) else { return false };
        let newer = version > session.version;
        session.version = session.version.max(version);
        newer
    }

    /// The version of an app's state went back to this one.
    pub fn reset_version(&mut self, key: &SessionKey, version: u64) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.version = version;
        }
    }

    /// Prepares for the daemon's end: every process is asked to end, and none is started.
    pub fn stop(&mut self, turn: &mut Turn) {
        self.stopping = true;
        let keys: Vec<SessionKey> = self.sessions.keys().cloned().collect();
        for key in keys {
            self.close(turn, &key);
        }
    }

    /// True once the daemon ends: no process is started any more.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// The daemon that wrote the records was killed, and its apps died with it: told when each is back.
    pub fn note_daemon_crash(&mut self) {
        let awake = |session: &&mut Session| {
            session.hibernation.asleep.is_none() && session.hibernation.wake_at.is_none()
        };
        for session in self.sessions.values_mut().filter(awake) {
            session.notes.push("restarted after a daemon crash.".into());
        }
    }
}

/// Sessions on disk.
impl Processes {
    /// A session was opened by an earlier daemon; `manifest` is none when its app isn't registered.
    pub fn restore_session(
        &mut self,
        key: SessionKey,
        opens: Vec<SavedOpen>,
        manifest: Option<Rc<Manifest>>,
    ) {
        let provider = key.addr.provider.clone();
        let registered = manifest.is_some();
        // Its manifest may be readable again tomorrow: what there is of the session is kept.
        let manifest = manifest.unwrap_or_else(|| Rc::new(Manifest::new(provider.clone(), "")));
        let mut session = Session::restored(manifest, opens);
        if !registered {
            session.failed = Some(format!("no app {provider} is registered"));
        }
        session.saved = session.opens_fingerprint();
        session.restored = true;
        session.prototypes = self.prototypes.get(&provider).cloned().unwrap_or_default();
        self.sessions.insert(key, session);
    }

    /// A session was put to sleep by an earlier daemon, or woke.
    pub fn restore_asleep(&mut self, key: &SessionKey, version: Option<u64>, wake_at: Option<u64>) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.hibernation.wake_at = wake_at;
            let asleep = hibernation::Asleep { app: Incarnation(0), version };
            session.hibernation.asleep = version.map(|_| asleep);
        }
    }

    /// What a provider's app could do in an earlier daemon's time.
    pub fn restore_prototypes(&mut self, provider: ProviderId, prototypes: Vec<Prototype>) {
        let prototypes = Rc::new(prototypes);
        let of_it = |(key, _): &(&SessionKey, &mut Session)| key.addr.provider == provider;
        for (_, session) in self.sessions.iter_mut().filter(of_it) {
            session.prototypes = prototypes.clone();
        }
        self.prototypes.insert(provider, prototypes);
    }

    /// The records of what each app can do.
    pub fn saved_prototypes(&self) -> Vec<Record> {
        let record = |(provider, prototypes): (&ProviderId, &Prototypes)| {
            let encoded = pipemux_proto::encode(&**prototypes).ok()?;
            Some(Record::Prototypes { provider: provider.to_string(), prototypes: encoded.into() })
        };
        self.prototypes.iter().filter_map(record).collect()
    }

    /// The records of all sessions.
    pub fn saved_sessions(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for (key, session) in &self.sessions {
            let workspace = key.workspace.as_deref().map(Into::into);
            let (name, opens) = (key.to_string(), session.opens.clone());
            records.push(Record::Session { workspace, session: name, opens });
            let hibernation = &session.hibernation;
            let sleeps = hibernation.asleep.is_some_and(|asleep| asleep.version.is_some());
            if sleeps || hibernation.wake_at.is_some() {
                records.push(hibernation::asleep_record(key, session));
            }
        }
        records
    }
}

#[cfg(test)]
mod tests;
