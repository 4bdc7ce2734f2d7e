//! A file that an edit writes.

use std::path::Path;

use crate::model::buffer::Buffer;
use crate::model::history::FileChange;
use crate::model::text_gate::GateGuard;

/// A file to be written, with its text before and after.
pub(super) struct PlannedFile {
    pub change: FileChange,
    pub before: Buffer,
    pub after: Buffer,
    pub guard: Option<GateGuard>,
    /// The digest that the file on disk is expected to have.
    pub base_digest: Option<u64>,
    /// Digests of what may be replaced: what is expected, what the edit makes, and what a reader
    /// chose to overwrite.
    pub accepted: Vec<Option<u64>>,
}

/// True when what is at a path goes from there with an edit that is planned.
pub(super) fn is_freed(path: &Path, planned: &[PlannedFile]) -> bool {
    let last = planned.iter().rev().find(|earlier| earlier.change.path == path);
    last.is_some_and(|last| last.change.after.is_none())
}
