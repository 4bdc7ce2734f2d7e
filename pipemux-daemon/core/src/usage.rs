//! What processes and directories use, as the driver reads it when somebody asks.

use pipemux_proto::Incarnation;

/// A session whose usage is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageQuery {
    /// Its process, which it may share; none if it has none.
    pub process: Option<Incarnation>,
    /// Its directory, as a path.
    pub state_dir: String,
}

/// What something uses; none for what the system doesn't tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of memory of its processes, with pages that others have, too, counted in parts where the system tells that.
    pub memory: Option<u64>,
    /// Processor time of its processes, in milliseconds.
    pub cpu_ms: Option<u64>,
    /// How long its first process has run, in seconds.
    pub age_s: Option<u64>,
    /// Bytes that its directory takes on the disk; of a very large tree, what a part of it takes.
    pub disk: Option<u64>,
}

/// The answer to [`Effect::ReadUsage`](crate::Effect::ReadUsage).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// The daemon with its launcher, and the state directory with all sessions.
    pub own: Usage,
    /// The sessions, in the order of the queries.
    pub sessions: Vec<Usage>,
}
