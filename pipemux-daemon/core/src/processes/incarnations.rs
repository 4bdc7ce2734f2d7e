//! The existing processes, and the sessions that run in each.
//!
//! Mostly a session's incarnation is a process of its own. A shared process has a number of its
//! own, which is the incarnation of no session; what concerns one is in `shared_processes`.

use std::collections::BTreeSet;

use pipemux_proto::ids::Incarnation;
use rustc_hash::FxHashMap;

use crate::event::Effect;
use crate::keys::SessionKey;
use crate::processes::shared_processes::SharedProcesses;
use crate::turn::Turn;

/// All incarnations of sessions, with processes that run, end or are about to start.
#[derive(Debug, Default)]
pub struct Incarnations {
    sessions: FxHashMap<Incarnation, SessionKey>,
    /// The ids of the running processes.
    pids: FxHashMap<Incarnation, u32>,
    pub(super) shared: SharedProcesses,
}

impl Incarnations {
    pub fn session_of(&self, app: Incarnation) -> Option<&SessionKey> {
        self.sessions.get(&app)
    }

    /// The session that runs in one of the given processes.
    pub fn session_of_pids(&self, pids: &BTreeSet<u32>) -> Option<&SessionKey> {
        let (app, _) = self.pids.iter().find(|(_, pid)| pids.contains(pid))?;
        self.session_of(*app)
    }

    /// The sessions that run in a process, ordered by key.
    pub fn sessions_in(&self, process: Incarnation) -> Vec<SessionKey> {
        let in_it =
            |(app, _): &(&Incarnation, &SessionKey)| self.shared.process_of(**app) == process;
        let mut keys: Vec<SessionKey> =
            self.sessions.iter().filter(in_it).map(|(_, key)| key.clone()).collect();
        keys.sort();
        keys
    }

    /// The sessions in a shared process, in the order in which they joined it.
    pub(super) fn sharing(&self, process: Incarnation) -> Vec<SessionKey> {
        let incarnations = self.shared.incarnations(process).iter();
        incarnations.filter_map(|app| self.sessions.get(app).cloned()).collect()
    }

    /// The process that contains an incarnation: the incarnation itself, unless it is shared.
    pub fn process_of(&self, app: Incarnation) -> Incarnation {
        self.shared.process_of(app)
    }

    /// True for an incarnation in a shared process.
    pub fn is_shared(&self, app: Incarnation) -> bool {
        self.shared.is_shared(app)
    }

    /// The process id of the process that contains an incarnation.
    pub fn pid(&self, app: Incarnation) -> Option<u32> {
        self.pids.get(&self.process_of(app)).copied()
    }

    /// True when no process runs, ends or is about to start.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.shared.is_empty()
    }

    /// Adds the incarnation of a session that is about to have a process.
    pub fn insert(&mut self, app: Incarnation, key: &SessionKey) {
        self.sessions.insert(app, key.clone());
    }

    /// Removes an incarnation that ended, or won't be started. Returns its session.
    pub fn remove(&mut self, app: Incarnation) -> Option<SessionKey> {
        self.pids.remove(&app);
        self.sessions.remove(&app)
    }

    /// Records the process id of a process.
    pub fn set_pid(&mut self, process: Incarnation, pid: u32) {
        if self.sessions.contains_key(&process) || self.shared.is_process(process) {
            self.pids.insert(process, pid);
        }
    }

    /// A shared process ended. Returns the incarnations in it.
    pub(super) fn remove_shared(
        &mut self,
        turn: &mut Turn,
        process: Incarnation,
    ) -> Vec<Incarnation> {
        self.pids.remove(&process);
        self.shared.remove(turn, process)
    }

    /// Addresses what is to be sent to incarnations to the processes that they are in.
    pub fn address_effects(&self, effects: &mut [Effect]) {
        if self.shared.is_empty() {
            return;
        }
        for effect in effects {
            if let Effect::ToApp { app, .. }
            | Effect::Signal { app, .. }
            | Effect::NoteLog { app, .. } = effect
            {
                *app = self.shared.process_of(*app);
            }
        }
    }
}
