//! The result of a change.

use crate::file_edit::{FileEdit, FileName};
use crate::name::NodeId;

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// A description of the change in a few words.
    pub label: String,
    /// The nodes whose files changed.
    pub nodes: Vec<NodeId>,
    /// The files that the change wrote, created or removed.
    pub files: Vec<FileName>,
    /// The number of the change for undo; `None` if nothing changed.
    pub change: Option<i64>,
}

/// A change during which the process ended, of which some files have what it found and others what
/// it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    /// A description of the change in a few words.
    pub label: String,
    /// The files that have the content after the change, which an undo takes back.
    pub done: Vec<String>,
    /// The files that have the content before the change, which a redo changes.
    pub rest: Vec<String>,
    /// The files that have any other content.
    pub others: Vec<String>,
}

impl Committed {
    pub(super) fn new(
        label: &str,
        nodes: Vec<NodeId>,
        edits: &[FileEdit],
        change: Option<i64>,
    ) -> Self {
        let files = edits.iter().map(|edit| edit.file.clone()).collect();
        Self { label: label.to_owned(), nodes, files, change }
    }
}
