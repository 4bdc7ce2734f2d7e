//! What is told as it happens: events of a workspace, lines of a log.

use serde::{Deserialize, Serialize};

/// The answer of `watch`: events in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Tells this daemon's life from others; numbers are of one life.
    pub life: u64,
    /// What to ask after next.
    pub last: u64,
    /// The newest event that was dropped before it could be told; 0: none was.
    #[serde(default)]
    pub dropped: u64,
    /// What happened; empty when nothing did in time.
    pub events: Vec<Occurrence>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// Its number, from 1; numbers only rise, and some are missing.
    pub number: u64,
    /// When, UTC: `2026-01-31T12:00:00Z`.
    pub at: String,
    /// Of what kind.
    pub what: What,
    /// The workspace's name, if it is one workspace's alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The session, if it is about one: `editor/main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Whose doing it was, if somebody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
    /// One line.
    pub text: String,
    /// How the session's process ended, if the event tells of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_exit: Option<ProcessExit>,
    /// The exit status of the run, as in [`crate::client::Answer::exit`], if the event is
    /// [`What::Act`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_exit: Option<u8>,
}

/// How a process ended. Without any of these, nobody knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessExit {
    /// The status that the process exited with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The number of the signal that ended the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The limit of its manifest that the process most likely ended for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<ProcessLimit>,
}

/// A limit of one process, by its name in the manifest (`limits.cpu`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessLimit {
    /// Seconds of processor time.
    Cpu,
    /// Bytes of private memory.
    Memory,
    /// Processes: the app and its descendants.
    Processes,
    /// A limit of a later version.
    #[serde(other)]
    Other,
}

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A run ended.
    Act,
    /// What a session shows may have changed. Of several in a row only the last one is kept.
    Changed,
    /// A window was opened.
    Opened,
    /// A window was closed.
    Closed,
    /// A session's process takes requests.
    Started,
    /// A session's process was lost.
    Crashed,
    /// It takes requests again after a crash.
    Restarted,
    /// It stays down until it is asked for.
    Failed,
    /// It ended as it was asked to.
    Ended,
    /// Its state was saved and its process ended, for nobody used it.
    Hibernated,
    /// A question waits for its answer.
    Asked,
    /// A question was answered.
    Answered,
    /// What readers of a workspace are told.
    Notice,
    /// Providers came or went.
    Providers,
    /// A kind of a later version.
    #[serde(other)]
    Other,
}

/// The answer of `logs` that follows a log. Positions count the bytes of a log from its beginning on,
/// also those that were rotated away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPart {
    /// What was printed; its last line may go on in the next part. Empty when nothing was in time.
    pub text: String,
    /// The position after it: what to ask after next.
    pub next: u64,
    /// Bytes before the text that are kept no more; 0: the text begins where it was asked for.
    #[serde(default)]
    pub missed: u64,
}
