//! The record of a job.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A saved job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedJob {
    /// The number of the job.
    pub number: u64,
    /// The workspace that owns the job's session.
    pub workspace: Option<String>,
    /// `provider/session`
    pub session: String,
    /// The app's key of the job.
    pub key: String,
    /// True if readers know it by its key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// A short description of the job.
    pub brief: String,
    /// The workspace in which it was started.
    pub started_in: String,
    pub reader: String,
    /// The start time, in milliseconds since 1970, UTC.
    pub started_ms: u64,
    /// True when it goes on while its session sleeps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sleeps: bool,
    /// The end of the job; `None` while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<SavedJobEnd>,
    /// Workspaces and readers who know of it and, once it has ended, weren't told so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedJobEnd {
    /// `done`, `failed`, `cancelled` or `lost`
    pub state: String,
    /// The time of the end, in milliseconds since 1970, UTC.
    pub ended_ms: u64,
    #[serde(default)]
    pub result: String,
    /// The last bytes of the job's output.
    #[serde(default)]
    pub output: Bytes,
    /// The number of bytes of output before these last ones.
    #[serde(default)]
    pub dropped: u64,
}
