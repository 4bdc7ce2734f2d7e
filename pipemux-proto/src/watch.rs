//! Live reports of the daemon: events of a workspace, lines of a log.

use serde::{Deserialize, Serialize};

use crate::job::JobStatus;

/// The answer of `watch`: events in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Events {
    /// Identifies this run of the daemon: event numbers start from 1 in each run.
    pub life: u64,
    /// The number to pass as `after` in the next request.
    pub last: u64,
    /// The newest event that was dropped before it could be reported; 0 if none was.
    #[serde(default)]
    pub dropped: u64,
    /// The events; empty if none happened in time.
    pub events: Vec<WorkspaceEvent>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceEvent {
    /// The event's number, from 1. Numbers only grow; some are missing.
    pub number: u64,
    /// The time in UTC: `2026-01-31T12:00:00Z`.
    pub at: String,
    /// The kind of event.
    pub what: EventKind,
    /// The workspace's name, unless the event concerns several workspaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The session that the event concerns: `editor/main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The reader who caused the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
    /// The event in one line.
    pub text: String,
    /// The way the session's process ended, if the event reports its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_exit: Option<ProcessExit>,
    /// The exit status of the run, as in [`crate::client::Answer::exit`], if the event is
    /// [`EventKind::Act`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_exit: Option<u8>,
    /// The job, if the event is [`EventKind::Job`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobStatus>,
}

/// The way a process ended. If no field is set, it is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessExit {
    /// The exit status of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The number of the signal that ended the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The limit that most likely ended the process.
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

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A run ended.
    Act,
    /// A session's content may have changed. Of several such events in a row only the last one is
    /// kept.
    Changed,
    /// A window was opened.
    Opened,
    /// A window was closed.
    Closed,
    /// A session's process is ready for requests.
    Started,
    /// A session's process was lost.
    Crashed,
    /// A session's process is ready for requests again after a crash.
    Restarted,
    /// A session's process was lost and is restarted only on request.
    Failed,
    /// A session's process ended on request.
    Ended,
    /// Nobody used the session, so its state was saved and its process ended.
    Hibernated,
    /// A question is waiting for an answer.
    Asked,
    /// A question was answered.
    Answered,
    /// The readers of a workspace received a notice.
    Notice,
    /// A job started, went on or ended. Of several reports of its progress only the last one is
    /// kept.
    Job,
    /// Providers were added or removed.
    Providers,
    /// A kind of a later version.
    #[serde(other)]
    Other,
}

/// The answer of `logs` that follows a log. Positions count the bytes of a log from its beginning,
/// including those that were rotated away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPart {
    /// The printed text; its last line may continue in the next part. Empty when nothing was
    /// printed in time.
    pub text: String,
    /// The position after the text, to pass as `after` in the next request.
    pub next: u64,
    /// The number of bytes before the text that are no longer kept; 0 if the text begins where it
    /// was asked for.
    #[serde(default)]
    pub missed: u64,
}
