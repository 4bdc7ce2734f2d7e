//! The process at the other end of a client's connection, as the driver found it.

use std::collections::BTreeSet;

/// The process that connected, and its ancestors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerProcess {
    /// The process id; `None` if the system doesn't report it. It is always reported for processes
    /// that an app started.
    pub pid: Option<u32>,
    /// The path of the process's program; empty if unknown.
    pub program: String,
    /// The ancestors of the process, its parent first.
    pub ancestors: Vec<Ancestor>,
    /// The reliability of the other fields.
    pub evidence: Evidence,
    /// True when it has the mark that the launcher gives each app's process and that all its
    /// descendants inherit.
    pub marked: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ancestor {
    pub pid: u32,
    /// The process's name, of at most 15 bytes.
    pub name: String,
}

/// The reliability of the information about a peer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// The process was still alive when all of its ancestors had been found.
    #[default]
    Complete,
    /// The process that connected has ended; another one may use its connection.
    Ended,
    /// Not all ancestors of the process could be found.
    Partial,
    /// The system reports no process, or no ancestors.
    Unavailable,
}

impl PeerProcess {
    /// Returns the process ids of the peer and its ancestors.
    pub(crate) fn family(&self) -> BTreeSet<u32> {
        self.pid.into_iter().chain(self.ancestors.iter().map(|ancestor| ancestor.pid)).collect()
    }
}
