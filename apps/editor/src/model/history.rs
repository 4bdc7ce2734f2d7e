//! Undo and redo of whole actions.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::limits::{HISTORY_BYTES_MAX, HISTORY_MAX};

use super::buffer::Splice;
use super::linemap::LineChange;

/// Who makes a change, and which version comes of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The reader.
    pub reader: String,
    /// The run; empty for changes that came from the disk.
    pub run: String,
    /// The version after the change.
    pub version: u64,
}

/// One action's change of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Change {
    /// Its name, never used again.
    pub id: String,
    /// The action.
    pub what: Cow<'static, str>,
    /// Whose, and when; of an undone change, of the undoing.
    pub author: Author,
    pub(crate) splices: Vec<Splice>,
    pub(crate) lines: LineChange,
    /// The state of the text before and after.
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
    /// Of a text that is as on disk, or isn't.
    pub fn new(saved: bool) -> Self {
        Self { saved: saved.then_some(0), ..Self::default() }
    }

    /// True when the text is as it was last read or written.
    pub fn is_saved(&self) -> bool {
        self.saved == Some(self.state)
    }

    /// Notes that the text was written or read as it is.
    pub fn mark_saved(&mut self) {
        self.saved = Some(self.state);
    }

    /// Notes that the disk holds none of the states.
    pub fn mark_unsaved(&mut self) {
        self.saved = None;
    }

    /// A number for the text as it is: another text has another one.
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

    /// Adds a change that was made.
    pub(crate) fn push(
        &mut self,
        id: String,
        what: Cow<'static, str>,
        author: Author,
        splices: Vec<Splice>,
        lines: LineChange,
    ) {
        self.undone.clear();
        self.last_state += 1;
        let states = (self.state, self.last_state);
        self.state = self.last_state;
        self.bytes += weight(&splices);
        self.done.push_back(Change { id, what, author, splices, lines, states });
        while self.done.len() > HISTORY_MAX
            || (self.bytes > HISTORY_BYTES_MAX && self.done.len() > 1)
        {
            let oldest = self.done.pop_front();
            self.bytes -= oldest.map_or(0, |oldest| weight(&oldest.splices));
        }
    }

    /// Notes that the latest change was undone.
    pub(crate) fn undo(&mut self, author: Author) {
        if let Some(mut change) = self.done.pop_back() {
            self.bytes -= weight(&change.splices);
            self.state = change.states.0;
            change.author = author;
            self.undone.push(change);
        }
    }

    /// Notes that the next undone change was made again.
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
