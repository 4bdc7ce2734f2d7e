//! The edits of a session, and the conditions for its next edit.

use std::sync::Arc;

use docui::Opening;

use super::change_log::ChangeLog;
use super::change_log::change_journal::Operation;
use super::history::{Author, Change, EditKind, FileChange};
use super::ids::{IdGenerator, IdKind};
use super::own_leftover::OwnLeftover;
use super::workspace_edit::DiskConflict;

/// The changes of a session, the ids and versions that they are counted with, and what the edit
/// that is begun next may overwrite and remove.
#[derive(Debug)]
pub(crate) struct Edits {
    /// The changes that can be undone and redone, which are already on disk.
    pub changes: ChangeLog,
    pub ids: IdGenerator,
    /// The version of the session's state, counted by the SDK's rules also for changes outside of
    /// actions.
    pub version: u64,
    /// The files that the action that is being begun may overwrite, as they were when the reader
    /// was asked.
    pub overwrite: Vec<DiskConflict>,
    /// Leftover files of interrupted changes, until an edit is written.
    pub leftovers: Arc<Vec<OwnLeftover>>,
}

impl Edits {
    /// The edits of a session in `version`, with the log that is kept in its directory. Also
    /// returns the operations that were being written when its last process ended, and a note if
    /// the log was lost.
    pub(crate) fn read(
        opening: &Opening,
        ids: IdGenerator,
        version: u64,
    ) -> (Self, Vec<Operation>, Option<String>) {
        let (changes, begun, lost) = ChangeLog::read(&opening.state_dir);
        let overwrite = Vec::new();
        (Self { changes, ids, version, overwrite, leftovers: Arc::default() }, begun, lost)
    }

    /// Records that a file has another text that this session didn't write.
    pub(crate) fn record_reload(&mut self, author: Author, file: FileChange) {
        let id = self.ids.next(IdKind::Change);
        let (kind, files) = (EditKind::Reload, vec![file]);
        self.changes.push_reload(Change { id, kind, author, files, of: None });
    }
}
