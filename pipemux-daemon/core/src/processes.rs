//! Sessions and the processes they run in: started, greeted, asked, watched, put to sleep, ended.
//!
//! [`Processes`] is the state: its parts are tables that know nothing of each other. What happens
//! to them is a function in the module of that step, whose arguments say which parts it uses.
//!
//! | module | has or decides |
//! |---|---|
//! | [`session`] | what is known of one session, whose parts are the next six |
//! | `opens`, [`passed_variables`] | what it is opened with at each start |
//! | `app_profile` | what its app said of itself |
//! | `crash_history`, [`quarantine`] | its crashes, and the requests that its app dies of |
//! | [`health`], [`hibernation`] | whether its app still answers; whether it may sleep |
//! | `owed_requests` | how many answers it owes, and what waits for its process |
//! | `open_requests`, [`reply`] | the requests to apps; what one is for and how it ended |
//! | `incarnations`, `shared_processes` | which processes there are, and whose they are |
//! | `learned_prototypes` | what each provider's app can do, known while it doesn't run |
//! | `directories` | where sessions keep their state and logs |
//! | [`confinement`], [`environment`], [`forbidden`] | what a process may do and is given |
//! | [`denials`] | what a confined app was refused, explained |
//!
//! The steps, each of which uses those above it only:
//!
//! | module | does |
//! |---|---|
//! | [`draining`] | asks or makes processes end |
//! | [`opening`], [`starting`] | a process from its start to its first requests |
//! | [`exits`] | the end of a process, as it is reported |
//! | [`frames`] | what a process sends |
//! | [`requests`] | what clients' requests need of an app |
//! | [`health_checks`] | ends apps that don't answer |
//! | [`wake_times`] | wakes sleeping sessions though nobody asks for them |
//! | [`wider_grants`], [`sleep`] | replaces a process by one that may do more; ends it until it is needed |
//!
//! Nobody else is called: what concerns others is a [`ProcessEvent`] in a queue, which the core
//! drains once the function that was called has returned. So none is entered while another one
//! runs.
//!
//! **Invariant: a request to an app ends exactly once.** It leaves the table only in
//! `OpenRequests::remove`, and whoever sent it gets one [`ProcessEvent::Replied`], unless it
//! dropped the request itself.

pub mod app_profile;
pub mod confinement;
pub mod crash_history;
pub mod denials;
mod directories;
pub mod draining;
pub mod environment;
pub mod event;
pub mod exits;
pub mod forbidden;
pub mod frames;
pub mod granted_paths;
pub mod health;
pub mod health_checks;
pub mod hibernation;
pub mod incarnations;
pub mod learned_prototypes;
mod open_requests;
pub mod opening;
pub mod opens;
pub mod owed_requests;
pub mod passed_variables;
pub mod quarantine;
pub mod reply;
pub mod requests;
pub mod session;
mod shared_processes;
pub mod sleep;
pub mod starting;
mod wake_timer;
pub mod wake_times;
pub mod wider_grants;

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;

use crate::foreign::{ForeignText, Speaker, bounds};
use crate::keys::SessionKey;
use crate::manifest::Manifest;
use crate::persist::records::{Record, SavedOpen};
use crate::turn::Turn;
use directories::Directories;
use event::ProcessEvents;
pub use event::{EndedProcess, ProcessEnd, ProcessEvent, ReadyProcess};
use forbidden::ForbiddenFolders;
use hibernation::Asleep;
use incarnations::Incarnations;
use learned_prototypes::LearnedPrototypes;
pub use learned_prototypes::Prototypes;
use open_requests::OpenRequests;
use session::{ProcessState, Session};
pub use session::{Sessions, speaker};
use wake_timer::WakeTimer;

/// All sessions, their processes, and their pending requests.
#[derive(Debug, Default)]
pub struct Processes {
    /// The name of this software in the greeting.
    software: String,
    directories: Directories,
    sessions: Sessions,
    learned: LearnedPrototypes,
    incarnations: Incarnations,
    requests: OpenRequests,
    wake_timer: WakeTimer,
    /// True once an app said that it shows each reader something else.
    any_per_reader: bool,
    forbidden: ForbiddenFolders,
    /// True once the daemon goes down: nothing is started any more.
    stopping: bool,
    events: ProcessEvents,
}

impl Processes {
    /// No sessions yet. `software` is what the greeting calls the daemon, `state_dir` an absolute
    /// path.
    pub fn new(software: String, state_dir: String) -> Self {
        Self { software, directories: Directories::new(state_dir), ..Self::default() }
    }

    /// Takes the next event that concerns other components.
    pub fn poll_event(&mut self) -> Option<ProcessEvent> {
        self.events.pop_front()
    }

    /// The session with this key, if there is one.
    pub fn get(&self, key: &SessionKey) -> Option<&Session> {
        self.sessions.get(key)
    }

    pub fn get_mut(&mut self, key: &SessionKey) -> Option<&mut Session> {
        self.sessions.get_mut(key)
    }

    /// The incarnations of all sessions.
    pub fn incarnations(&self) -> &Incarnations {
        &self.incarnations
    }

    /// The folders that the user forbids to apps.
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

    /// All sessions, ordered by key.
    pub fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// The actions by which a session's windows are indexed; `None` without such a session.
    pub fn actions_of(&self, key: &SessionKey) -> Option<Prototypes> {
        self.sessions.get(key).map(|session| session.prototypes.clone())
    }

    /// What each provider's app said it can do when it last greeted.
    pub fn learned(&self) -> &LearnedPrototypes {
        &self.learned
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

    /// A session's own directory.
    pub fn state_dir_of(&self, key: &SessionKey) -> String {
        self.directories.state_of(key)
    }

    /// The log that a session's process writes to.
    pub fn log_of(&self, key: &SessionKey) -> String {
        let shares = self.sessions.get(key).is_some_and(Session::shares_process);
        self.directories.log_of(key, shares)
    }

    /// The log to which only this session writes.
    pub fn own_log(&self, key: &SessionKey) -> Option<String> {
        let shares = self.sessions.get(key).is_some_and(Session::shares_process);
        (!shares).then(|| self.directories.log_of(key, false))
    }

    /// Returns whose sentences come from a session.
    pub fn speaker<'a>(&self, key: &'a SessionKey) -> Speaker<'a> {
        speaker(&self.sessions, key)
    }

    /// Passes an app's notice on, unless it says too much.
    pub fn note_notice(&mut self, turn: &mut Turn, key: SessionKey, mut text: ForeignText) {
        let Some(session) = self.sessions.get_mut(&key) else { return };
        let Some(left_out) = session.notices.admit(turn.mono_ms()) else { return };
        if left_out > 0 {
            bounds::append(&mut text, &format!(" ({left_out} notices before it were left out)"));
        }
        self.events.push_back(ProcessEvent::Notice { session: key, text });
    }

    /// Manifests were read again: sessions that are down take theirs.
    pub fn take_manifests(&mut self, manifests: &BTreeMap<ProviderId, Rc<Manifest>>) {
        let down = |session: &Session| session.process == ProcessState::Down;
        for (key, session) in self.sessions.iter_mut().filter(|(_, session)| down(session)) {
            let Some(manifest) = manifests.get(&key.addr.provider) else { continue };
            if *session.manifest != **manifest {
                // What was wrong may be mended. Also, a session may have come back from an earlier
                // daemon before its app was registered.
                session.failed = None;
            }
            session.manifest = manifest.clone();
        }
    }

    /// True once the daemon ends: no process is started any more.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Notes that the daemon that wrote the records was killed, and its apps with it. Readers are
    /// told when each app is running again.
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
        session.prototypes = self.learned.get(&provider).cloned().unwrap_or_default();
        self.sessions.insert(key, session);
    }

    /// Restores whether a session sleeps, from the state of an earlier daemon.
    pub fn restore_asleep(&mut self, key: &SessionKey, version: Option<u64>, wake_at: Option<u64>) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.hibernation.wake_at = wake_at;
            let asleep = Asleep { app: Incarnation(0), version };
            session.hibernation.asleep = version.map(|_| asleep);
        }
    }

    /// Restores the actions of a provider's app from the state of an earlier daemon.
    pub fn restore_prototypes(&mut self, provider: ProviderId, prototypes: Vec<Prototype>) {
        let prototypes = self.learned.restore(provider.clone(), prototypes);
        let of_it = |(key, _): &(&SessionKey, &mut Session)| key.addr.provider == provider;
        for (_, session) in self.sessions.iter_mut().filter(of_it) {
            session.prototypes = prototypes.clone();
        }
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
