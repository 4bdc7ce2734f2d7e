//! Sessions and the processes they run in: started, greeted, asked, watched, put to sleep, ended.
//!
//! | module | decides |
//! |---|---|
//! | [`session`] | what is known of one session |
//! | `starting`, [`opening`], `ending` | a process from start to end; its greeting and the opens it is told |
//! | `opens` | what a session is opened with at each start |
//! | `app_profile` | what its app said of itself |
//! | `crash_history` | its crashes, and when it starts again |
//! | `incarnations` | which processes there are, and whose they are |
//! | [`passed_variables`] | the variables that a manifest names: values in memory, names on disk |
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

pub mod app_profile;
pub mod confinement;
pub mod crash_history;
pub mod denials;
mod ending;
pub mod event;
pub mod forbidden;
mod frames;
pub mod health;
pub mod hibernation;
pub mod incarnations;
pub mod opening;
pub mod opens;
pub mod passed_variables;
pub mod quarantine;
pub mod reply;
mod requests;
pub mod session;
pub mod shared_processes;
mod starting;
mod wake_times;

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;

use crate::keys::{SessionKey, directory_name};
use crate::manifest::Manifest;
use crate::persist::records::{Record, SavedOpen};
use crate::turn::Turn;

pub use event::{EndedProcess, ProcessEnd, ProcessEvent, ReadyProcess};
use forbidden::ForbiddenFolders;
use incarnations::Incarnations;
use requests::AppRequests;
pub use requests::speaker;
use session::{ProcessState, Session};

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
    incarnations: Incarnations,
    requests: AppRequests,
    /// When the next sleeping session is to be woken, on the monotonic clock.
    wake_timer: Option<u64>,
    /// True once an app said that it shows each reader something else.
    any_per_reader: bool,
    forbidden: ForbiddenFolders,
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

    pub fn get_mut(&mut self, key: &SessionKey) -> Option<&mut Session> {
        self.sessions.get_mut(key)
    }

    /// Which processes there are, and whose they are.
    pub fn incarnations(&self) -> &Incarnations {
        &self.incarnations
    }

    /// The folders that the person forbids.
    pub fn forbidden(&self) -> &ForbiddenFolders {
        &self.forbidden
    }

    /// True for a session that shows each reader something else.
    pub fn is_per_reader(&self, key: &SessionKey) -> bool {
        self.any_per_reader && self.get(key).is_some_and(|session| session.profile.per_reader)
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

    /// What a session can do, as its windows are indexed by it; none when there is no such session.
    pub fn actions_of(&self, key: &SessionKey) -> Option<Prototypes> {
        self.sessions.get(key).map(|session| session.prototypes.clone())
    }

    /// What a provider's app said it can do when it last greeted.
    pub fn prototypes(&self, provider: &ProviderId) -> Option<&Prototypes> {
        self.prototypes.get(provider)
    }

    /// Makes a session that has no process yet.
    pub fn create(&mut self, key: SessionKey, manifest: Rc<Manifest>) {
        let mut session = Session::new(key.clone(), manifest);
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
            match self.sessions.get(key).is_some_and(Session::shares_process) {
                true => format!("{base}/logs/user/{}.log", addr.provider),
                false => format!("{base}/logs/{owner}/{}.{}.log", addr.provider, addr.session),
            },
        )
    }

    /// The log that only this session writes to.
    pub fn own_log(&self, key: &SessionKey) -> Option<String> {
        let shares = self.sessions.get(key).is_some_and(Session::shares_process);
        (!shares).then(|| self.paths(key).1)
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
        let mut session = Session::restored(key.clone(), manifest, opens);
        if !registered {
            session.failed = Some(format!("no app {provider} is registered"));
        }
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
            records.push(session.opens.record(key));
            let hibernation = &session.hibernation;
            let sleeps = hibernation.asleep.is_some_and(|asleep| asleep.version.is_some());
            if sleeps || hibernation.wake_at.is_some() {
                records.push(session.hibernation.record(key));
            }
        }
        records
    }
}

#[cfg(test)]
mod tests;
