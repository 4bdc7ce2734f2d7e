//! What the daemon and its launcher say to each other. Both are the same program, so this needs no
//! versions.

use serde::{Deserialize, Serialize};

/// Daemon → launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Start a process. Two descriptors come with it: the app's end of its connection, then its log.
    Spawn(Spawn),
    /// Signal a process and its group; one that ended is passed over in silence.
    Signal {
        /// Which life.
        incarnation: u64,
        /// With what.
        force: Force,
    },
}

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// Which life this is; comes back in the reports.
    pub incarnation: u64,
    /// A path, or a name that is looked up in the environment's `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment; `PIPEMUX_FD` is added.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub cwd: String,
    /// Taken when the working directory is gone.
    pub fallback_cwd: String,
}

/// How hard a process is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Force {
    /// SIGTERM
    Terminate,
    /// SIGKILL
    Kill,
}

/// Launcher → daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The process runs.
    Spawned {
        /// Which life.
        incarnation: u64,
        /// Its process id, and that of its group.
        pid: u32,
    },
    /// There is no process.
    SpawnFailed {
        /// Which life.
        incarnation: u64,
        /// Why, in one line.
        why: String,
    },
    /// The process ended, and with it its group.
    Exited {
        /// Which life.
        incarnation: u64,
        /// How.
        how: Ended,
    },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// By itself, with this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
}
