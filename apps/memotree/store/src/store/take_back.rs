//! Takes one change back, whatever was changed since, by merging the way back into what the files
//! have now.

use super::{Committed, Store};
use crate::error::StoreError;
use crate::file_edit::{FileEdit, FileName, Part};
use crate::name::NodeId;
use crate::node_file::NodeFile;
use crate::node_files::parse;
use crate::state::Change;

/// The prefix of the label of a change that takes another one back.
const UNDO_OF: &str = "undo of ";

impl Store {
    /// Takes back one change of this session, and nothing of those that came after it. Of a change
    /// that took another one back, that one is made again. The result names the change by which
    /// this is undone.
    ///
    /// # Errors
    /// There is no such change, or what came after it rests on it: nothing is changed.
    pub fn take_back(&mut self, change: i64) -> Result<Committed, StoreError> {
        let change = self.state.reversible(change)?.ok_or(StoreError::Nothing("undo"))?;
        let mut edits = Vec::new();
        for edit in change.files.iter().rev() {
            edits.push(self.way_back(edit)?);
        }
        self.check_places(&edits)?;
        let label = match change.label.strip_prefix(UNDO_OF) {
            Some(first) => first.to_owned(),
            None => format!("{UNDO_OF}{}", change.label),
        };
        let mut done = self.commit(&label, edits)?;
        if let Some(by) = done.change {
            done.change = Some(self.state.note_reversal(by, change.id)?);
        }
        Ok(done)
    }

    /// Takes back the last change of this session that isn't taken back yet.
    ///
    /// # Errors
    /// There is none, or what other programs changed since rests on it: nothing is changed.
    pub fn undo_last(&mut self) -> Result<Committed, StoreError> {
        match self.undo() {
            Err(StoreError::Changed(files)) => {
                let Some(Change { id, .. }) = self.state.last_done()? else {
                    return Err(StoreError::Changed(files));
                };
                self.take_back(id)
            }
            done => done,
        }
    }

    /// Makes the change again that was last taken back.
    ///
    /// # Errors
    /// There is none, or what was changed since rests on it: nothing is changed.
    pub fn redo_last(&mut self) -> Result<Committed, StoreError> {
        match self.state.last_reversal()? {
            Some(last) => self.take_back(last),
            None => self.redo(),
        }
    }

    /// Returns the edit that takes one back from what its file has now.
    fn way_back(&self, edit: &FileEdit) -> Result<FileEdit, StoreError> {
        let FileEdit { file, before, after } = edit;
        let now = self.files.folder.read(file)?.map(|(bytes, _)| bytes);
        let back = match (&now, after, before) {
            (now, after, _) if now == after => before.clone(),
            (now, _, before) if now == before => before.clone(),
            (Some(now), Some(after), Some(before)) => {
                Some(merged(file, now, after, before).ok_or_else(|| later(file))?)
            }
            _ => return Err(later(file)),
        };
        Ok(FileEdit { file: file.clone(), before: now, after: back })
    }

    /// Refuses edits after which a node would have lost its parent, or stand below itself.
    fn check_places(&self, edits: &[FileEdit]) -> Result<(), StoreError> {
        let node = |edit: &FileEdit| match edit.file.part {
            Part::Nodes => NodeId::of_file(&edit.file.name).and_then(Result::ok),
            _ => None,
        };
        let nodes = || edits.iter().filter_map(|edit| Some((edit, node(edit)?)));
        let edited = |id: &str| nodes().find(|(_, node)| node.as_str() == id).map(|(edit, _)| edit);
        for (edit, id) in nodes() {
            let Some(bytes) = &edit.after else {
                for child in self.files.index.child_ids(id.as_str())? {
                    if edited(&child).is_none() {
                        let child = NodeId::parse(&child)?.file_name();
                        return Err(later(&FileName::new(Part::Nodes, child)));
                    }
                }
                continue;
            };
            let parent = parse(&id, &edit.file.name, bytes).parent;
            let is_gone = match edited(&parent) {
                Some(edit) => edit.after.is_none(),
                None => !parent.is_empty() && self.files.index.node(&parent)?.is_none(),
            };
            if is_gone
                || (edit.before.is_some() && self.files.index.is_below(&parent, id.as_str())?)
            {
                return Err(later(&edit.file));
            }
        }
        Ok(())
    }
}

/// Returns what a file has now without what a change made of it.
fn merged(file: &FileName, now: &[u8], after: &[u8], before: &[u8]) -> Option<Vec<u8>> {
    if file.part != Part::Nodes {
        return pipemux_merge::merge(after, now, before).ok();
    }
    let parse = |bytes| NodeFile::parse(bytes).ok();
    let (mut now, after, before) = (parse(now)?, parse(after)?, parse(before)?);
    now.take_back(&after, &before).then(|| now.print())
}

fn later(file: &FileName) -> StoreError {
    StoreError::Later(file.clone())
}
