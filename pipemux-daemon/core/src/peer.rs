//! The process at the other end of a client's connection, as the driver found it.

use std::collections::BTreeSet;

/// The process that connected, and those that started it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerProcess {
    /// Its process id; none if the system doesn't tell, which it does for every process that an app
    /// started.
    pub pid: Option<u32>,
    /// The path of its program; empty if unknown.
    pub program: String,
    /// The processes that started it, its own parent first.
    pub ancestors: Vec<Ancestor>,
    /// How far the above can be relied upon.
    pub evidence: Evidence,
    /// True when it has the mark that the launcher gives each app's process and that all its
    /// descendants inherit.
    pub marked: bool,
}

/// A process that started another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ancestor {
    /// Its process id.
    pub pid: u32,
    /// Its name, of at most 15 bytes.
    pub name: String,
}

/// How far what is known of a peer can be relied upon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// The process lived when all of its ancestors had been found.
    #[default]
    Complete,
    /// The process that connected has ended; another one may use its connection.
    Ended,
    /// Its ancestors could not all be found.
    Partial,
    /// The system names no process, or no ancestors.
    Unavailable,
}

impl PeerProcess {
    /// Returns the process ids of the peer and its ancestors.
    pub(crate) fn family(&self) -> BTreeSet<u32> {
        self.pid.into_iter().chain(self.ancestors.iter().map(|ancestor| ancestor.pid)).collect()
    }
}
