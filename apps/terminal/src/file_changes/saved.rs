//! The changes of the newest commands, as they are saved.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use docui::{Fault, regular_file, state_file};
use pipemux_snapshots::Tree;
use serde::{Deserialize, Serialize};

use crate::limits::CHANGES_MAX;

/// The name of the file in the session's directory.
pub(super) const FILE_NAME: &str = "changes";

/// The saved changes of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// The name of the command: `c3`.
    pub name: String,
    /// The command line, shortened.
    pub line: String,
    /// The reader who started the command.
    pub reader: String,
    /// A one-line description of the changed files.
    pub files: String,
    /// The files before the command.
    pub before: Tree,
    /// The files after the command.
    pub after: Tree,
    /// Others who may have changed the files.
    pub beside: Vec<String>,
    /// From when to when it ran, in milliseconds since 1970; zeros in what earlier releases saved.
    #[serde(default)]
    pub ran: (u64, u64),
    /// True if it is taken back.
    pub undone: bool,
    /// The files that its undo left as they are, relative to the project, since others changed them
    /// while it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// The trees of all files before and after the undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo: Option<(Tree, Tree)>,
}

impl Saved {
    /// Returns from when to when it ran.
    pub fn span(&self) -> (SystemTime, SystemTime) {
        let at = |ms| UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(UNIX_EPOCH);
        (at(self.ran.0), at(self.ran.1))
    }

    /// Returns how long it ran.
    pub fn took(&self) -> Duration {
        Duration::from_millis(self.ran.1.saturating_sub(self.ran.0))
    }
}

/// The changes of the newest commands, oldest first.
#[derive(Debug)]
pub(super) struct SavedChanges {
    file: PathBuf,
    changes: VecDeque<Saved>,
}

impl SavedChanges {
    /// Reads what an earlier process kept; nothing if it can't be read.
    pub fn load(state_dir: &Path) -> Self {
        let file = state_dir.join(FILE_NAME);
        let read = regular_file::read(&file).ok();
        let changes = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { file, changes: changes.unwrap_or_default() }
    }

    pub fn find(&self, name: Option<&str>, reader: &str) -> Option<Saved> {
        let is_meant = |saved: &&Saved| match name {
            Some(name) => saved.name == name,
            None => saved.reader == reader && !saved.undone,
        };
        self.changes.iter().rev().find(is_meant).cloned()
    }

    /// # Errors
    /// It can't be saved.
    pub fn add(&mut self, saved: Saved) -> Result<(), Fault> {
        self.changes.push_back(saved);
        if self.changes.len() > CHANGES_MAX {
            self.changes.pop_front();
        }
        self.save()
    }

    /// # Errors
    /// It can't be saved.
    pub fn mark(
        &mut self,
        name: &str,
        undone: bool,
        kept: &[String],
        redo: Option<(Tree, Tree)>,
    ) -> Result<(), Fault> {
        for saved in self.changes.iter_mut().filter(|saved| saved.name == name) {
            (saved.undone, saved.kept, saved.redo) = (undone, kept.to_vec(), redo.clone());
        }
        self.save()
    }

    fn save(&self) -> Result<(), Fault> {
        let bytes = serde_json::to_vec(&self.changes)
            .map_err(|error| Fault::failed(format!("what changed can't be saved: {error}")))?;
        state_file::replace(&self.file, &bytes)
    }
}
