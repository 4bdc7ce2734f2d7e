//! Who runs steps, and where.

use crate::keys::{ReaderId, RunId, WorkspaceKey};

/// The reader whose run it is, and where it runs.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The workspace that it runs in.
    pub workspace: WorkspaceKey,
    /// The reader.
    pub reader: ReaderId,
    /// The run's id, which all its steps carry: changes that it made are its own.
    pub run_id: RunId,
    /// The caller's working directory; empty when it isn't known.
    pub cwd: String,
}

impl Caller {
    /// A caller whose working directory isn't known.
    pub fn new(
        workspace: WorkspaceKey,
        reader: impl Into<ReaderId>,
        run_id: impl Into<RunId>,
    ) -> Self {
        Self { workspace, reader: reader.into(), run_id: run_id.into(), cwd: String::new() }
    }
}
