//! The resource usage of processes and directories, as the driver reads it on request.

use pipemux_proto::Incarnation;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageQuery {
    /// The session's process, which may be shared; `None` if it has none.
    pub process: Option<Incarnation>,
    /// The path of the session's state directory.
    pub state_dir: String,
}

/// Resource usage; `None` for values that the system doesn't provide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of memory of its processes, with pages that others have, too, counted in parts where
    /// the system tells that.
    pub memory: Option<u64>,
    /// Processor time of its processes, in milliseconds.
    pub cpu_ms: Option<u64>,
    /// The run time of the first process, in seconds.
    pub age_s: Option<u64>,
    /// Bytes that its directory takes on the disk; of a very large tree, what a part of it takes.
    pub disk: Option<u64>,
}

/// The answer to [`Effect::ReadUsage`](crate::Effect::ReadUsage).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// The usage of the daemon with its launcher, and of the state directory as a whole.
    pub own: Usage,
    /// The usage of the sessions, in the order of the queries.
    pub sessions: Vec<Usage>,
}
