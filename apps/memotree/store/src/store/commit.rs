//! Makes a change of several files as one: all of it, or nothing, also when the process is killed
//! in between.

use super::Store;
use super::outcome::{Committed, Interrupted};
use crate::error::StoreError;
use crate::file_edit::FileEdit;
use crate::name::NodeId;
use crate::state::Status;

impl Store {
    /// Makes a change, and records it for undo. Files that are as they shall be aren't touched.
    pub(crate) fn commit(
        &mut self,
        label: &str,
        edits: Vec<FileEdit>,
    ) -> Result<Committed, StoreError> {
        let edits: Vec<FileEdit> =
            edits.into_iter().filter(|edit| edit.before != edit.after).collect();
        if edits.is_empty() {
            return Ok(Committed::new(label, Vec::new(), &[], None));
        }
        let change = self.state.begin(label, &edits)?;
        match self.apply(&edits) {
            Ok(nodes) => {
                self.state.set_status(change, Status::Done)?;
                Ok(Committed::new(label, nodes, &edits, Some(change)))
            }
            Err(error) => {
                self.state.set_status(change, Status::Dropped)?;
                Err(error)
            }
        }
    }

    /// Takes back the last change of this session that isn't taken back yet.
    ///
    /// # Errors
    /// There is none, or a file was changed since: nothing is then taken back.
    pub fn undo(&mut self) -> Result<Committed, StoreError> {
        let change = self.state.last_done()?.ok_or(StoreError::Nothing("undo"))?;
        let edits: Vec<FileEdit> = change.files.iter().rev().map(FileEdit::reversed).collect();
        self.state.set_status(change.id, Status::Undoing)?;
        let applied = self.apply(&edits);
        let status = if applied.is_ok() { Status::Undone } else { Status::Done };
        self.state.set_status(change.id, status)?;
        Ok(Committed::new(&change.label, applied?, &change.files, Some(change.id)))
    }

    /// Makes the change again that was last taken back.
    ///
    /// # Errors
    /// There is none, or a file was changed since: nothing is then changed.
    pub fn redo(&mut self) -> Result<Committed, StoreError> {
        let change = self.state.next_undone()?.ok_or(StoreError::Nothing("redo"))?;
        self.state.set_status(change.id, Status::Redoing)?;
        let applied = self.apply(&change.files);
        let status = if applied.is_ok() { Status::Done } else { Status::Undone };
        self.state.set_status(change.id, status)?;
        Ok(Committed::new(&change.label, applied?, &change.files, Some(change.id)))
    }

    /// Finds out what became of a change during which the process ended, by what the files have
    /// now. Nothing is written: by the time somebody looks again, a person may have finished it by
    /// hand. What is made of it can be undone, and what isn't can be redone.
    pub(super) fn settle_interrupted(&mut self) -> Result<Option<Interrupted>, StoreError> {
        let Some((change, made, not_made)) = self.state.interrupted()? else { return Ok(None) };
        let (mut done, mut rest, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for edit in &change.files {
            match self.files.folder.read(&edit.file).map(|found| found.map(|(bytes, _)| bytes)) {
                Ok(found) if found == edit.after => done.push(edit.clone()),
                Ok(found) if found == edit.before => rest.push(edit.clone()),
                _ => others.push(edit.file.to_string()),
            }
        }
        let backwards = made == Status::Undone;
        let (forward, back) = if backwards { (&rest, &done) } else { (&done, &rest) };
        self.leftovers.clone_from(&change.files);
        if others.is_empty() && back.is_empty() {
            self.state.set_status(change.id, made)?;
            return Ok(None);
        }
        if forward.is_empty() {
            self.state.set_status(change.id, not_made)?;
            return Ok(None);
        }
        self.state.split(&change, &done, &rest)?;
        self.files.forget_folder()?;
        let names = |edits: Vec<FileEdit>| edits.iter().map(|edit| edit.file.to_string()).collect();
        let (done, rest) = (names(done), names(rest));
        Ok(Some(Interrupted { label: change.label, done, rest, others }))
    }

    /// Writes files, all or none. Returns the nodes whose files changed.
    fn apply(&mut self, edits: &[FileEdit]) -> Result<Vec<NodeId>, StoreError> {
        self.files.folder.remove_leftovers(&std::mem::take(&mut self.leftovers));
        self.files.apply(edits)
    }
}
