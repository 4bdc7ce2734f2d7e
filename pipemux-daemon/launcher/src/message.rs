//! The messages between the daemon and its launcher. Both are the same program, so the messages
//! need no versions.

use serde::{Deserialize, Serialize};

use crate::mark::ProcessMark;
use crate::sandbox::Sandbox;

/// A message from the daemon to the launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(
    clippy::large_enum_variant,
    reason = "an order is encoded at once and never kept in a list"
)]
pub enum Order {
    /// Starts a process. Two descriptors come with the order: the app's end of its connection, and
    /// the write end of the pipe that takes what the app prints.
    Spawn(Spawn),
    /// Signals a process and its group; does nothing for a process that exited.
    Signal {
        /// The incarnation of the app.
        incarnation: u64,
        signal: StopSignal,
    },
}

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spawn {
    /// The incarnation of the app; the reports name it.
    pub incarnation: u64,
    /// A path, or a name that is searched for in the environment's `PATH`.
    pub command: String,
    pub args: Vec<String>,
    /// The whole environment; the launcher adds `PIPEMUX_FD` or `PIPEMUX_TRANSPORT=stdio`.
    pub env: Vec<(String, String)>,
    pub cwd: String,
    /// The working directory if `cwd` is gone.
    pub fallback_cwd: String,
    /// Distinguishes the process and its descendants from all other processes.
    pub mark: ProcessMark,
    /// True if its connection is its standard input and output, false if it is descriptor 3.
    pub stdio: bool,
    pub limits: Limits,
    /// The process's sandbox; `None` if it isn't confined.
    pub sandbox: Option<Sandbox>,
}

/// The limits of a process; where one is `None`, the daemon's own limit applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of private writable memory, for each single process; and bytes of all memory, for all
    /// processes with the same mark together.
    pub memory: Option<u64>,
    /// Seconds of processor time, for each single process.
    pub cpu: Option<u64>,
    /// Open descriptors, for each single process.
    pub files: Option<u64>,
    /// Processes with the same mark: the app and all its descendants.
    pub processes: Option<u64>,
    /// Threads of all these processes together.
    pub threads: Option<u64>,
    /// Bytes that the session's own directory takes on the disk.
    pub disk: Option<u64>,
}

/// The signal that ends a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// SIGTERM
    Terminate,
    /// SIGKILL
    Kill,
}

/// A message from the launcher to the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Report {
    /// The process is running.
    Spawned {
        /// The incarnation of the app.
        incarnation: u64,
        /// The process id, which is also the id of its group.
        pid: u32,
        /// The grants that were left out of the sandbox and the reasons, in whole lines.
        left_out: Vec<String>,
    },
    /// The process could not be started.
    SpawnFailed {
        /// The incarnation of the app.
        incarnation: u64,
        /// The reason, in one line.
        why: String,
    },
    /// The process and all its descendants exited.
    Exited {
        /// The incarnation of the app.
        incarnation: u64,
        termination: Termination,
        /// The limit that most likely ended the process.
        exceeded: Option<ExceededLimit>,
        /// Process ids of descendants that could not be killed in time.
        survivors: Vec<i32>,
    },
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Termination {
    /// The process exited with this status.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// A limit that a process exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExceededLimit {
    /// Processor time: the limit in seconds.
    Cpu(u64),
    /// Memory: the peak usage and the limit that it came near, in bytes.
    Memory(u64, u64),
    /// Processes: the limit.
    Processes(u64),
    /// Memory of all processes together: the limit in bytes.
    TreeMemory(u64),
    /// Threads of all processes together: the limit.
    Threads(u64),
    /// The size of the session's directory, limited to this number of bytes.
    Disk(u64),
}
