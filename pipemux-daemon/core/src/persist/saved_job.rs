//! The record of a job.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedJob {
    /// Its number.
    pub number: u64,
    /// The workspace that owns its session.
    pub workspace: Option<String>,
    /// `provider/session`
    pub session: String,
    /// The app's key of it.
    pub key: String,
    /// True if readers know it by its key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// What it does.
    pub brief: String,
    /// The workspace in which it was started.
    pub started_in: String,
    /// The reader who started it.
    pub reader: String,
    /// When it started: milliseconds since 1970, UTC.
    pub started_ms: u64,
    /// True when it goes on while its session sleeps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sleeps: bool,
    /// How it ended; none while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<SavedJobEnd>,
    /// Workspaces and readers who know of it and, once it has ended, weren't told so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<(String, String)>,
}

/// The end of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedJobEnd {
    /// `done`, `failed`, `cancelled` or `lost`
    pub state: String,
    /// When it ended: milliseconds since 1970, UTC.
    pub ended_ms: u64,
    /// The result in one line.
    #[serde(default)]
    pub result: String,
    /// The last bytes of its output.
    #[serde(default)]
    pub output: Bytes,
    /// The number of bytes of output before these.
    #[serde(default)]
    pub dropped: u64,
}
