//! An edit of any number of files: all of it is written, or nothing.
//!
//! **Invariant: nothing is half done.** Every text is on the disk beside its file before the first
//! one takes its place. If one of them can't, those before it are put back. Before that, the
//! journal of changes has what is about to be done, so that the next process can tell what the disk
//! has if this one ends in between.

use std::path::Path;
use std::sync::{Arc, Mutex};

use docui::Fault;
use docui::blocking::CommitPoint;

use super::buffer::Buffer;
use super::change_log::change_journal::{ChangeJournal, Operation};
use super::change_log::lock;
use super::disk;
use super::documents::{Documents, ReadDocument};
use super::file_stamp::FileStamp;
use super::history::FileChange;
use super::journal::unrecorded;
use super::last_text;
use super::own_leftover::OwnLeftover;
use super::text_gate::{GateClosed, GateGuard};

mod conflict;
mod file_edit;
pub mod links;
mod plan;
mod planned_file;
mod publish;

pub use conflict::DiskConflict;
use conflict::conflict;
pub use file_edit::{FileEdit, TextEdit, WorkspaceEdit};
use planned_file::{PlannedFile, is_freed};
pub(crate) use publish::make_folders;
use publish::publish;

/// The rules for writing an edit.
#[derive(Debug, Default)]
pub struct WritePolicy {
    /// True when the texts stay in the session.
    pub hold: bool,
    /// The files that may be overwritten in their present state.
    pub overwrite: Vec<DiskConflict>,
    /// True when the edit is only to be shown.
    pub preview: bool,
    /// Leftovers of an interrupted edit, removed together with the first edit that writes.
    pub leftovers: Arc<Vec<OwnLeftover>>,
}

/// The result of writing an edit.
#[derive(Debug)]
pub enum Written {
    /// The edit was written. Its files must still be registered in the session.
    Done(Vec<WrittenFile>),
    /// Other programs wrote these files: the reader must say what to do.
    Conflicts(Vec<DiskConflict>),
    /// A preview: the change of each file, and the text after it.
    Planned(Vec<(FileChange, Buffer)>),
    /// Nobody waits for it any more, so nothing was done.
    CalledOff,
}

#[derive(Debug)]
pub struct WrittenFile {
    pub change: FileChange,
    /// The file's stamp; `None` if the file was deleted or is held in the session.
    pub stamp: Option<FileStamp>,
    /// The file's former hard link count; other links keep the old text. 0 if not replaced.
    pub names: u64,
    /// The file as it was read; `None` if the file is open or new.
    pub(crate) read: Option<ReadDocument>,
    /// Keeps others from changing an open file until this is taken in.
    pub(crate) guard: Option<GateGuard>,
}

impl Documents {
    /// Makes an edit. `operation` makes what is recorded of the changes to the files: a new change,
    /// or the undo or redo of one.
    ///
    /// # Errors
    /// The edit doesn't fit the texts, or the disk refuses it. Nothing was changed, unless the
    /// message says so.
    pub(crate) fn write(
        &mut self,
        edit: WorkspaceEdit,
        policy: &WritePolicy,
        operation: impl FnOnce(Vec<FileChange>) -> Operation,
        journal: &Mutex<ChangeJournal>,
        commit: &CommitPoint,
    ) -> Result<Written, Fault> {
        let mut planned: Vec<PlannedFile> = Vec::new();
        for file in edit.files {
            self.plan(file, &mut planned)?;
        }
        planned.retain(|file| {
            file.change.before.is_some() != file.change.after.is_some()
                || !file.change.splices.is_empty()
                || file.change.mode_before.is_some()
        });
        // The undo of changes that add up to nothing is recorded: it decides what is undone and
        // redone next.
        if planned.is_empty() && !edit.kind.steps_history() {
            return Ok(Written::Done(Vec::new()));
        }
        if policy.preview {
            let planned = planned.into_iter().map(|file| (file.change, file.after));
            return Ok(Written::Planned(planned.collect()));
        }
        for file in &mut planned {
            // A link has no text that is open.
            if !file.change.link {
                file.guard = self.begin(&file.change.path, policy.hold)?;
            }
        }
        let conflicts = if policy.hold { Vec::new() } else { conflicts(&mut planned, policy)? };
        if !conflicts.is_empty() {
            return Ok(Written::Conflicts(conflicts));
        }
        if !commit.begin() {
            return Ok(Written::CalledOff);
        }
        policy.leftovers.iter().for_each(OwnLeftover::remove);
        let operation = operation(planned.iter().map(|file| file.change.clone()).collect());
        let begun = lock(journal).begin(&operation);
        begun.map_err(|error| unrecorded(lock(journal).path(), &error))?;
        let replaces = |change: &FileChange| {
            change.before.is_some() && change.after.is_some() && !change.link && !policy.hold
        };
        let names = planned.iter().map(|file| match replaces(&file.change) {
            true => disk::hard_links(&file.change.path),
            false => 0,
        });
        let names: Vec<u64> = names.collect();
        let stamps = match policy.hold {
            true => vec![None; planned.len()],
            false => publish(&planned).inspect_err(|_| lock(journal).end(operation.id(), None))?,
        };
        let texts = planned.iter().filter(|file| !file.change.link && !policy.hold);
        for file in texts.filter(|file| file.change.after.is_some()) {
            last_text::keep(&self.state_dir, &file.change.path, &file.after);
        }
        let written =
            planned.into_iter().zip(stamps).zip(names).map(|((file, stamp), names)| WrittenFile {
                read: self.read.remove(&file.change.path),
                change: file.change,
                stamp,
                names,
                guard: file.guard,
            });
        Ok(Written::Done(written.collect()))
    }

    /// Keeps others from changing an open file; does nothing for a file that isn't open.
    fn begin(&self, path: &Path, held: bool) -> Result<Option<GateGuard>, Fault> {
        let Some(open) = self.open_file(path) else { return Ok(None) };
        let shown = self.display(path);
        open.gate.begin_edit(open.revision, held).map(Some).map_err(|closed| match closed {
            GateClosed::Changed => Fault::stale(format!("{shown} was changed meanwhile"))
                .hint("nothing was changed: run the call again"),
            GateClosed::BeingWritten => being_written(&shown),
        })
    }
}

/// Returns the error of an edit of a file that is being written.
pub fn being_written(shown: &str) -> Fault {
    Fault::refused(format!("{shown} is being written, its disk has not answered yet"))
        .hint("nothing was changed: try again")
}

/// Finds the files that other programs wrote. Those that may be overwritten are accepted instead.
fn conflicts(
    planned: &mut [PlannedFile],
    policy: &WritePolicy,
) -> Result<Vec<DiskConflict>, Fault> {
    let mut conflicts = Vec::new();
    for at in 0..planned.len() {
        let (earlier, rest) = planned.split_at_mut(at);
        let Some(file) = rest.first_mut() else { continue };
        // What is there goes first.
        if is_freed(&file.change.path, earlier) {
            continue;
        }
        let Some(found) = conflict(file)? else { continue };
        match policy.overwrite.iter().any(|may| may.is_same(&found)) {
            true => file.accepted.push(found.disk),
            false => conflicts.push(found),
        }
    }
    Ok(conflicts)
}
