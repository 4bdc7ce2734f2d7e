//! Jobs: work of an app that outlasts the request that began it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::projection::{LinkSlotOf, Text};

/// An action that began a job. The action itself is over; the job's progress, output and end come
/// as [`JobReport`]s.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct StartedOf<T> {
    /// The app's own key of the job, which is never reused in its session.
    pub job: String,
    /// The job in a few words: `cargo test`.
    pub brief: T,
    /// The number of all units of work; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total: u64,
    /// The version of the app's state after the action.
    pub version: u64,
    /// Links to likely next actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSlotOf<T>>,
    /// True for a job that continues while its session is hibernated, because the app saves it. Any
    /// other running job prevents hibernation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sleeps: bool,
    /// True if readers know the key as the job's name, so that they are told no other: `job c2`. It
    /// must begin with a letter and have at most 32 letters, digits, `-` and `_`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// True when the brief tells all that the action changed, so that the answer doesn't show the
    /// window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// True if a run that waits for this job continues with its next steps even if the job fails:
    /// the failure is the job's result, like a command's exit status.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails_alone: bool,
    /// The time that the job has already run, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ran_ms: u64,
    /// The keys of the session's jobs that the action ended, such as the one that this one
    /// replaces: the reader isn't told of their ends again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_jobs: Vec<String>,
    /// The reason why there is no undo, as in [`DoneOf::no_undo`](crate::app::DoneOf::no_undo).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_undo: Option<T>,
}

/// An event: the progress or end of a job. `None` leaves a value unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct JobReportOf<T> {
    /// The key from [`StartedOf::job`].
    pub job: String,
    /// The current activity, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<T>,
    /// The number of units done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// The number of all units; 0 if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The next piece of the output. The daemon keeps the last bytes of all pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Bytes>,
    /// The way the job ended, in its last report; later ones are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobEnd>,
    /// The result in one line, with `state`: `12 passed`.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub brief: T,
}

/// The end of a job, as reported by its app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnd {
    /// The job was completed.
    Done,
    /// The job didn't succeed.
    Failed,
    /// The job was cancelled.
    Cancelled,
}

/// Asks the app to cancel a job. The reply is empty; the job's end is told by a [`JobReport`], as
/// any end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelJob {
    /// The key from [`StartedOf::job`].
    pub job: String,
}

/// A job as clients see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobStatus {
    /// The number, unique in the daemon's state: `pipemux read job:3`.
    pub number: u64,
    /// The displayed name, if it isn't the number: `pipemux read job:c2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The session that owns the job: `editor/main`.
    pub session: String,
    /// The job in a few words.
    pub brief: String,
    /// The state, which says whether the job runs or how it ended.
    pub state: JobState,
    /// The current activity.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The number of units done.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub done: u64,
    /// The number of all units; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total: u64,
    /// The result in one line, once the job has ended.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
    /// The time that the job has run, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ms: u64,
    /// The link that cancels the job while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<String>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// The job is running.
    #[default]
    Running,
    /// The job was completed.
    Done,
    /// The job didn't succeed.
    Failed,
    /// The job was cancelled.
    Cancelled,
    /// The app or the daemon was lost while the job ran, and the app doesn't resume it.
    Lost,
}

impl JobState {
    /// The state as one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Lost => "lost",
        }
    }
}

impl From<JobEnd> for JobState {
    fn from(end: JobEnd) -> Self {
        match end {
            JobEnd::Done => Self::Done,
            JobEnd::Failed => Self::Failed,
            JobEnd::Cancelled => Self::Cancelled,
        }
    }
}

/// A [`StartedOf`] of plain text.
pub type Started = StartedOf<String>;
/// A [`JobReportOf`] of plain text.
pub type JobReport = JobReportOf<String>;

fn is_empty<T: Text>(text: &T) -> bool {
    *text == T::default()
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
