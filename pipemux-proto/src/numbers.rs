//! Line numbers as references: which ones a message shows or maps, and the version in which they
//! count.

use serde::{Deserialize, Serialize};

/// Numbers of a document, and the version in which they count.
///
/// From an app: numbers that its answer or window shows beside numbered code, or says to have
/// moved. From the daemon: what the numbers in an action's arguments refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineNumbers {
    /// The document, as [`crate::projection::Projection::document`] names it; empty for the only
    /// one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub document: String,
    /// The first number.
    pub first: u64,
    /// The last number.
    pub last: u64,
    /// The version in which the numbers are valid. Absent if they are retired: refused as stale
    /// until they are shown again. 0, from the daemon: an earlier incarnation showed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The previous number of the first line, if an answer says that lines moved. Equal to `first`
    /// for lines that the answer doesn't mention because their numbers are unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<u64>,
}

impl LineNumbers {
    /// Makes numbers that are shown in a version.
    pub fn shown(document: impl Into<String>, first: u64, last: u64, version: u64) -> Self {
        Self { document: document.into(), first, last, version: Some(version), was: None }
    }
}

/// The identities of consecutive lines: `id`, `id + 1` and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LineRun {
    /// The identity of the first line, from 1 on. A line keeps its identity while it moves or is
    /// altered; it is never given to another line of the document.
    pub id: u64,
    /// The number of lines.
    pub count: u64,
}
