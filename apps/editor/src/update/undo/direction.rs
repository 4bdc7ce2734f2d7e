//! Undo or redo.

use crate::model::history::EditKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Undo,
    Redo,
}

impl Direction {
    /// The name of the action.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Direction::Undo => "undo",
            Direction::Redo => "redo",
        }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Direction::Undo => Direction::Redo,
            Direction::Redo => Direction::Undo,
        }
    }

    pub(super) fn kind(self) -> EditKind {
        match self {
            Direction::Undo => EditKind::Undo,
            Direction::Redo => EditKind::Redo,
        }
    }
}
