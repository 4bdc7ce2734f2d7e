//! Jobs: work of an app that outlasts the request that began it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::projection::{LinkSlotOf, Text};

/// An action that began a job. The action itself is over; the job's progress, output and end come as [`JobReport`]s.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct StartedOf<T> {
    /// The app's own key of the job, unique in its session for ever.
    pub job: String,
    /// What the job does, in a few words: `cargo test`.
    pub brief: T,
    /// The number of all units of work; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total: u64,
    /// The version of the app's state after the action.
    pub version: u64,
    /// Links to likely next actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSlotOf<T>>,
    /// True for a job that goes on while its session sleeps, because the app saves it: it doesn't keep the session
    /// awake. Any other running job does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sleeps: bool,
    /// True if readers know the key as the job's name, so that they are told no other: `job c2`. It must begin with a
    /// letter and have at most 32 letters, digits, `-` and `_`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// True when the brief tells all that the action changed, so that the answer doesn't show the window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// True if the steps behind it are carried out though it failed, when a run waits for its end: that it failed is its
    /// result, as a command's exit status is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails_alone: bool,
    /// How long the job has run already, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ran_ms: u64,
    /// The keys of the session's jobs that the action ended, such as the one that this one replaces: the reader isn't told
    /// of their ends again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended_jobs: Vec<String>,
    /// Why no link takes back what the action did, as in [`DoneOf::no_undo`](crate::app::DoneOf::no_undo).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_undo: Option<T>,
}

/// An event: what became of a job. What is absent stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Text + Serialize", deserialize = "T: Text + Deserialize<'de>"))]
pub struct JobReportOf<T> {
    /// The key from [`StartedOf::job`].
    pub job: String,
    /// What it does at the moment, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<T>,
    /// The number of units done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// The number of all units; 0 if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The next piece of its output. The daemon keeps the last bytes of all pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Bytes>,
    /// How it ended, in its last report: later ones are ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<JobEnd>,
    /// The result in one line, with `state`: `12 passed`.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub brief: T,
}

/// How an app ends a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnd {
    /// It reached its end.
    Done,
    /// It did not succeed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// Asks the app to cancel a job. The reply is empty; the job's end is told by a [`JobReport`], as any end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelJob {
    /// The key from [`StartedOf::job`].
    pub job: String,
}

/// A job as clients see it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobStatus {
    /// Its number, which no other job of this daemon's state has: `pipemux read job:3`.
    pub number: u64,
    /// The name by which readers know it, if that isn't its number: `pipemux read job:c2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The session whose job it is: `editor/main`.
    pub session: String,
    /// What it does, in a few words.
    pub brief: String,
    /// Whether it runs, or how it ended.
    pub state: JobState,
    /// What it does at the moment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The number of units done.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub done: u64,
    /// The number of all units; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total: u64,
    /// Its result in one line, once it has ended.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
    /// How long it has run or did run, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ms: u64,
    /// The link that cancels it, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<String>,
}

/// Whether a job runs, or how it ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It runs.
    #[default]
    Running,
    /// It reached its end.
    Done,
    /// It did not succeed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// Its app or the daemon was lost while it ran, and the app doesn't go on with it.
    Lost,
}

impl JobState {
    /// The state in one word.
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
