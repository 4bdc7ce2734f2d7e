//! What the daemon and its launcher say to each other. Both are the same program, so this needs no
//! versions.

use serde::{Deserialize, Serialize};

use crate::mark::Mark;

/// Daemon → launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Start a process. Two descriptors come with it: the app's end of its connection, then the end of
    /// the pipe that takes what it prints.
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
    /// Its whole environment; `PIPEMUX_FD` is added, or `PIPEMUX_TRANSPORT=stdio`.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub cwd: String,
    /// Taken when the working directory is gone.
    pub fallback_cwd: String,
    /// What tells it and its descendants from all other processes.
    pub mark: Mark,
    /// True: its connection is its standard input and output; false: descriptor 3.
    pub stdio: bool,
    /// What it may use.
    pub limits: Limits,
}

/// What a process may use; what is none is as the daemon has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of private memory that can be written to, for each process by itself.
    pub memory: Option<u64>,
    /// Seconds of processor time, for each process by itself.
    pub cpu: Option<u64>,
    /// Open descriptors, for each process by itself.
    pub files: Option<u64>,
    /// Processes with this mark: the app and all its descendants.
    pub processes: Option<u64>,
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
    /// The process ended, and with it all its descendants.
    Exited {
        /// Which life.
        incarnation: u64,
        /// How.
        how: Ended,
        /// The limit that it most likely ended for.
        over: Option<Over>,
        /// Descendants that could not be ended in time, by process id.
        left: Vec<i32>,
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

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Over {
    /// Processor time, in seconds.
    Cpu(u64),
    /// Memory, in bytes: what was used at most, and the limit that is near.
    Memory(u64, u64),
    /// So many processes.
    Processes(u64),
}
