//! The caller of a run: its reader, workspace and working directory.

use crate::keys::{ReaderId, RunId, WorkspaceKey};

/// The reader of a run, and the place where it runs.
#[derive(Debug, Clone)]
pub struct Caller {
    pub workspace: WorkspaceKey,
    pub reader: ReaderId,
    /// The run's id, which all its steps carry; changes with this id are the run's own.
    pub run_id: RunId,
    /// The caller's working directory; empty if unknown.
    pub cwd: String,
}

impl Caller {
    /// Creates a caller with an unknown working directory.
    pub fn new(
        workspace: WorkspaceKey,
        reader: impl Into<ReaderId>,
        run_id: impl Into<RunId>,
    ) -> Self {
        Self { workspace, reader: reader.into(), run_id: run_id.into(), cwd: String::new() }
    }
}
