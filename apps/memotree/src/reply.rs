//! The answer to a change, with what it changed.

use docui::Done;
use pipemux_memotree_store::Committed;

use crate::action::Action;

/// The answer to an action that changes files.
pub struct ChangeReply {
    pub done: Done,
    /// The changes that were made, in order; empty if no file changed.
    pub committed: Vec<Committed>,
}

impl ChangeReply {
    /// Answers one change, with the link that takes it back.
    pub fn new(committed: Committed, brief: String) -> Self {
        let done = match committed.change {
            None => Done::new(format!("{brief}; nothing changed: it was so already")),
            Some(change) => Done::new(brief).link("undo", &undo_action(change)),
        };
        Self { done: done.complete(), committed: vec![committed] }
    }

    /// Answers an action that changed no file of the tree.
    pub fn unchanged(done: Done) -> Self {
        Self { done, committed: Vec::new() }
    }
}

/// Returns the action that takes a change back.
pub fn undo_action(change: i64) -> Action {
    Action::UndoChange { change: format!("c{change}").into() }
}
