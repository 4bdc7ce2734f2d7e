//! Undo and redo of whole actions.

use std::collections::VecDeque;
use std::fmt;

use docui::Context;
use serde::{Deserialize, Serialize};

use crate::limits::{HISTORY_BYTES_MAX, HISTORY_MAX};

use super::line_change::LineChange;
use super::splice::Splice;

/// Who made a change, and in which version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The reader; empty for changes from outside of any run.
    pub reader: String,
    /// The run; empty for changes from outside of any run.
    pub run: String,
    /// The version after the change.
    pub version: u64,
}

impl Author {
    /// Returns the author of what an action changes.
    pub fn of(context: &Context) -> Self {
        Self {
            reader: context.reader.clone(),
            run: context.run_id.clone(),
            version: context.next_version(),
        }
    }

    /// Returns the author of a change that no run made: another program's write, or an `open`.
    pub fn outside_of_runs(version: u64) -> Self {
        Self { version, ..Self::default() }
    }
}

/// What changed a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditKind {
    /// Lines were inserted.
    Insert,
    /// Lines were replaced.
    ReplaceLines,
    /// Lines were deleted.
    DeleteLines,
    /// Lines were moved.
    MoveLines,
    /// Matches of a text were replaced.
    Replace,
    /// Statements became a function.
    ExtractMethod,
    /// The text was taken from disk.
    Reload,
    /// A change was undone.
    Undo,
    /// A change was redone.
    Redo,
}

/// Writes the name of the action, as it is saved and shown.
impl fmt::Display for EditKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EditKind::Insert => "insert",
            EditKind::ReplaceLines => "replace_lines",
            EditKind::DeleteLines => "delete_lines",
            EditKind::MoveLines => "move_lines",
            EditKind::ExtractMethod => "extract_method",
            EditKind::Replace => "replace",
            EditKind::Reload => "reload",
            EditKind::Undo => "undo",
            EditKind::Redo => "redo",
        })
    }
}

/// What one action changed in a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Change {
    /// The change's id, which is never reused.
    pub id: String,
    /// The kind of action.
    #[serde(rename = "what")]
    pub kind: EditKind,
    /// Who made the change; once it is undone, who undid it.
    pub author: Author,
    pub(crate) splices: Vec<Splice>,
    pub(crate) lines: LineChange,
    /// The text's states before and after the change.
    states: (u64, u64),
}

/// The changes of one file that can be undone and redone.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct History {
    done: VecDeque<Change>,
    undone: Vec<Change>,
    bytes: usize,
    state: u64,
    last_state: u64,
    saved: Option<u64>,
}

impl History {
    /// Returns an empty history of a text that is the same as on disk.
    pub fn new() -> Self {
        Self { saved: Some(0), ..Self::default() }
    }

    /// True when the text is the one that was last read or written.
    pub fn is_saved(&self) -> bool {
        self.saved == Some(self.state)
    }

    /// Marks the text of a state as the one on disk.
    pub fn mark_saved_at(&mut self, state: u64) {
        self.saved = Some(state);
    }

    /// Records that the disk holds none of the texts that undo and redo lead to.
    pub fn mark_unsaved(&mut self) {
        self.saved = None;
    }

    /// Identifies the present text: undo brings back the number together with the text.
    pub fn state(&self) -> u64 {
        self.state
    }

    /// The changes that can be undone, the latest first.
    pub fn undoable(&self) -> impl Iterator<Item = &Change> {
        self.done.iter().rev()
    }

    /// The changes that can be redone, the next one first.
    pub fn redoable(&self) -> impl Iterator<Item = &Change> {
        self.undone.iter().rev()
    }

    /// Adds a change that was made, and forgets the oldest ones past the bounds.
    pub(crate) fn push(
        &mut self,
        id: String,
        kind: EditKind,
        author: Author,
        splices: Vec<Splice>,
        lines: LineChange,
    ) {
        self.undone.clear();
        self.last_state += 1;
        let states = (self.state, self.last_state);
        self.state = self.last_state;
        self.bytes += weight(&splices);
        self.done.push_back(Change { id, kind, author, splices, lines, states });
        while self.done.len() > HISTORY_MAX
            || (self.bytes > HISTORY_BYTES_MAX && self.done.len() > 1)
        {
            let oldest = self.done.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| weight(&oldest.splices));
        }
    }

    /// Moves the latest change to those that can be redone. Does nothing if there is none.
    pub(crate) fn undo(&mut self, author: Author) {
        if let Some(mut change) = self.done.pop_back() {
            self.bytes -= weight(&change.splices);
            self.state = change.states.0;
            change.author = author;
            self.undone.push(change);
        }
    }

    /// Moves the latest undone change back to those that can be undone. Does nothing if there is none.
    pub(crate) fn redo(&mut self, author: Author) {
        if let Some(mut change) = self.undone.pop() {
            self.bytes += weight(&change.splices);
            self.state = change.states.1;
            change.author = author;
            self.done.push_back(change);
        }
    }
}

fn weight(splices: &[Splice]) -> usize {
    splices.iter().map(|splice| splice.old.len() + splice.new.len() + 64).sum()
}
