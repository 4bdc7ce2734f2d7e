//! The status of the core, for the daemon's log and metrics.

use std::collections::BTreeMap;

use pipemux_proto::Incarnation;

use crate::Core;
use crate::clients::Clients;
use crate::processes::Processes;
use crate::turn::Turn;

/// The present state of a core, as far as it is logged and measured.
#[derive(Debug)]
pub struct Status<'a> {
    turn: &'a Turn,
    clients: &'a Clients,
    processes: &'a Processes,
}

impl Core {
    /// Returns what is logged and measured.
    pub fn status(&self) -> Status<'_> {
        Status { turn: &self.turn, clients: &self.clients, processes: &self.processes }
    }
}

impl Status<'_> {
    /// Returns how many sessions are in each state, by the words of `pipemux sessions`.
    pub fn sessions_by_state(&self) -> Vec<(&'static str, usize)> {
        let mut counts = BTreeMap::new();
        for session in self.processes.sessions().values() {
            *counts.entry(session.state()).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    /// Returns how many requests of clients have no answer yet.
    pub fn open_requests(&self) -> usize {
        self.clients.open_count()
    }

    /// Returns true once the daemon was told to end.
    pub fn is_stopping(&self) -> bool {
        self.processes.is_stopping()
    }

    /// Returns the units of work that the last turn took.
    pub fn last_work(&self) -> u64 {
        self.turn.work()
    }

    /// Returns the name of the session that an incarnation belongs to.
    pub fn session_name(&self, app: Incarnation) -> Option<String> {
        self.processes.incarnations().session_of(app).map(ToString::to_string)
    }
}
