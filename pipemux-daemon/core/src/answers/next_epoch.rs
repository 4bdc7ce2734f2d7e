//! The epoch that an answer makes, while its parts are rendered.

use crate::event::Now;
use crate::workspaces::Workspace;

/// A workspace while an answer is rendered: ids minted for the answer belong to the epoch that the
/// answer will create.
///
/// **Invariant: the workspace enters the epoch only if the answer shows anything new**, and only
/// once all its parts are rendered.
pub(super) struct NextEpoch<'a> {
    pub workspace: &'a mut Workspace,
    pub number: u64,
    pub now: Now,
    /// True once the answer shows something new.
    pub changed: bool,
}

impl<'a> NextEpoch<'a> {
    pub fn begin(workspace: &'a mut Workspace, now: Now) -> Self {
        Self { number: workspace.epoch + 1, workspace, now, changed: false }
    }

    /// Enters the epoch if the answer shows anything new. From here on nothing that it shows
    /// changes.
    pub fn end(self) {
        if self.changed {
            self.workspace.epoch = self.number;
        }
        self.workspace.outdate_revised();
        self.workspace.anchors.forget(self.workspace.epoch);
    }
}
