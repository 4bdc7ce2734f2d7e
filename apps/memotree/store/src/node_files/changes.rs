//! What other programs changed.

use crate::name::NodeId;

/// The changes made by other programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutsideChanges {
    /// New nodes.
    pub added: Vec<NodeId>,
    /// Nodes whose files have another content.
    pub changed: Vec<NodeId>,
    /// Nodes whose files are gone.
    pub removed: Vec<NodeId>,
    /// Files that are no nodes since their names aren't allowed: each with the reason, told once.
    pub misnamed: Vec<String>,
}

impl OutsideChanges {
    /// Returns true when nothing changed.
    pub fn is_empty(&self) -> bool {
        let Self { added, changed, removed, misnamed } = self;
        added.is_empty() && changed.is_empty() && removed.is_empty() && misnamed.is_empty()
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.added.append(&mut other.added);
        self.changed.append(&mut other.changed);
        self.removed.append(&mut other.removed);
        self.misnamed.append(&mut other.misnamed);
    }
}
