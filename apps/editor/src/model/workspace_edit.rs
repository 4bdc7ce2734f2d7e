//! An edit of any number of files: all of it is written, or nothing.
//!
//! **Invariant: nothing is half done.** Every text is on the disk beside its file before the first one takes its
//! place. If one of them can't, those before it are put back. Before that, the journal of changes has what is
//! about to be done, so that the next process can tell what the disk has if this one ends in between.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use docui::Fault;
use docui::blocking::CommitPoint;

use crate::limits::FILE_MAX;

use super::buffer::Buffer;
use super::change_log::change_journal::{ChangeJournal, Operation};
use super::change_log::lock;
use super::disk;
use super::documents::{Documents, ReadDocument};
use super::editor::interrupted::OwnLeftover;
use super::file_stamp::FileStamp;
use super::history::{EditKind, FileChange};
use super::journal::unrecorded;
use super::last_text;
use super::line_change::LineChange;
use super::project_rules::NewFileRules;
use super::splice::Splice;
use super::text_diff::{difference, line_change_of};
use super::text_gate::{GateClosed, GateGuard};

mod conflict;
pub mod links;
mod publish;

pub use conflict::DiskConflict;
use conflict::conflict;
pub(crate) use publish::make_folders;
use publish::publish;

/// An edit of any number of files, as it is planned.
#[derive(Debug, Clone)]
pub struct WorkspaceEdit {
    /// The kind of action.
    pub kind: EditKind,
    /// The edit of each file. Several edits of one file are made one after the other.
    pub files: Vec<FileEdit>,
}

/// The edit of one file.
#[derive(Debug, Clone)]
pub struct FileEdit {
    /// The file's path without symlinks.
    pub path: PathBuf,
    /// What becomes of it.
    pub edit: TextEdit,
    /// The permission bits that it is given; a file that is there keeps its own otherwise.
    pub mode: Option<u32>,
}

/// What becomes of a file.
#[derive(Debug, Clone)]
pub enum TextEdit {
    /// Replacements in its text, as [`Documents::text`] has it.
    Splices(Vec<Splice>),
    /// Replacements whose effect on the lines is known: lines that move keep their identity.
    Lines(Vec<Splice>, LineChange),
    /// A new file with this text. Its folders are made. It must not exist.
    Create(String),
    /// The file is deleted.
    Delete,
    /// A new link that leads there. There must be nothing at its path.
    CreateLink(String),
    /// The link is removed; what it leads to stays.
    DeleteLink,
    /// This very change, if the file is as it was before it.
    Exact(FileChange),
}

impl WorkspaceEdit {
    /// Returns an edit of nothing yet.
    pub fn new(kind: EditKind) -> Self {
        Self { kind, files: Vec::new() }
    }

    /// Adds the edit of a file.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>, edit: TextEdit) -> Self {
        self.files.push(FileEdit { path: path.into(), edit, mode: None });
        self
    }

    /// Gives the file that was added last these permission bits.
    #[must_use]
    pub fn with_mode(mut self, mode: Option<u32>) -> Self {
        if let Some(file) = self.files.last_mut() {
            file.mode = mode;
        }
        self
    }

    /// Adds replacements in a file.
    #[must_use]
    pub fn splices(self, path: impl Into<PathBuf>, splices: Vec<Splice>) -> Self {
        self.file(path, TextEdit::Splices(splices))
    }
}

/// How an edit is written.
#[derive(Debug, Default)]
pub struct WritePolicy {
    /// True when the texts stay in the session.
    pub hold: bool,
    /// The files that may be overwritten as they are.
    pub overwrite: Vec<DiskConflict>,
    /// True when the edit is only to be shown.
    pub preview: bool,
    /// What an interrupted edit left, which goes with the first one that writes.
    pub leftovers: Arc<Vec<OwnLeftover>>,
}

/// What became of an edit.
#[derive(Debug)]
pub enum Written {
    /// It was made. The files are still to be taken in.
    Done(Vec<WrittenFile>),
    /// Other programs wrote these files: the reader must say what to do.
    Conflicts(Vec<DiskConflict>),
    /// It was to be shown only: what it would do, and each text after it.
    Planned(Vec<(FileChange, Buffer)>),
    /// Nobody waits for it any more, so nothing was done.
    CalledOff,
}

/// A file that was written.
#[derive(Debug)]
pub struct WrittenFile {
    /// What was done to it.
    pub change: FileChange,
    /// Its stamp; `None` if it was deleted or is held in the session.
    pub stamp: Option<FileStamp>,
    /// How many names it had; the others keep the old text. 0 if its text wasn't replaced on disk.
    pub names: u64,
    /// The file as it was read, unless it is open or new.
    pub(crate) read: Option<ReadDocument>,
    /// Keeps others from changing an open file until this is taken in.
    pub(crate) guard: Option<GateGuard>,
}

/// A file that is to be written: its text before and after.
struct PlannedFile {
    change: FileChange,
    before: Buffer,
    after: Buffer,
    guard: Option<GateGuard>,
    /// The digest that the disk is expected to have.
    base_digest: Option<u64>,
    /// Digests of what may be replaced: what is expected, what the edit makes, and what a reader chose to overwrite.
    accepted: Vec<Option<u64>>,
}

impl Documents {
    /// Makes an edit. `operation` makes what is recorded of the changes to the files: a new change, or the undo
    /// or redo of one.
    ///
    /// # Errors
    /// The edit doesn't fit the texts, or the disk refuses it. Nothing was changed, unless the message says so.
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
        // The undo of changes that add up to nothing is recorded: it decides what is undone and redone next.
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
        if !policy.hold {
            let mut conflicts = Vec::new();
            for at in 0..planned.len() {
                let (earlier, rest) = planned.split_at_mut(at);
                let file = &mut rest[0];
                // What is there goes first.
                if links::is_freed(&file.change.path, earlier) {
                    continue;
                }
                let Some(found) = conflict(file)? else { continue };
                if policy.overwrite.iter().any(|may| may.is_same(&found)) {
                    file.accepted.push(found.disk);
                } else {
                    conflicts.push(found);
                }
            }
            if !conflicts.is_empty() {
                return Ok(Written::Conflicts(conflicts));
            }
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

    /// Adds the edit of a file to those that are planned.
    fn plan(&mut self, file: FileEdit, planned: &mut Vec<PlannedFile>) -> Result<(), Fault> {
        let FileEdit { path, edit, mut mode } = file;
        let shown = self.display(&path);
        if let Some(link) = links::plan((&path, &edit), &shown, planned)? {
            planned.push(link);
            return Ok(());
        }
        let is_same = |earlier: &PlannedFile| earlier.change.path == path && !earlier.change.link;
        let earlier = planned.iter().position(is_same);
        let missing = match earlier {
            Some(at) => planned[at].change.after.is_none(),
            None => links::is_freed(&path, planned) || self.is_missing(&path),
        };
        let is_new = missing && earlier.is_none();
        let rules = match edit {
            TextEdit::Create(_) | TextEdit::Splices(_) if is_new => {
                NewFileRules::read(&path, &self.root)
            }
            _ => NewFileRules::default(),
        };
        let (before, exists) = match (&edit, missing, earlier) {
            (TextEdit::Create(_), false, _) => {
                return Err(Fault::refused(format!("{shown} already exists")));
            }
            (_, _, Some(at)) => (planned[at].after.clone(), !missing),
            (TextEdit::Create(_), true, None) => (Buffer::new("", rules.bom), false),
            (TextEdit::Exact(change), true, None) if change.before.is_none() => {
                (Buffer::new("", change.bom), false)
            }
            // An open file may be new, and held text may be of a file that was deleted.
            (_, _, None) => {
                let open = self.open_file(&path);
                let exists = open.is_none_or(|open| open.unsaved || open.base_digest.is_some());
                (self.text(&path)?.clone(), exists)
            }
        };
        let (splices, lines, deleted) = match edit {
            TextEdit::Splices(splices) => {
                let mut splices: Vec<_> =
                    splices.into_iter().filter(|splice| splice.old != splice.new).collect();
                for splice in &mut splices {
                    splice.new = rules.with_line_endings(std::mem::take(&mut splice.new));
                }
                check_splices(&splices, &before, &shown)?;
                let lines = line_change_of(&before, &splices);
                (splices, lines, false)
            }
            TextEdit::Lines(splices, lines) => {
                check_splices(&splices, &before, &shown)?;
                (splices, lines, false)
            }
            TextEdit::CreateLink(_) | TextEdit::DeleteLink => return Ok(()),
            TextEdit::Create(new) => {
                let new = rules.with_line_endings(new);
                let splices = match new.is_empty() {
                    true => Vec::new(),
                    false => vec![Splice { at: 0, old: String::new(), new }],
                };
                check_splices(&splices, &before, &shown)?;
                let lines = line_change_of(&before, &splices);
                (splices, lines, false)
            }
            TextEdit::Exact(change) => {
                mode = change.mode;
                if change.before != exists.then(|| before.digest()) {
                    return Err(Fault::failed(format!("{shown} has been changed since"))
                        .hint("take back first what came later, newest first: pipemux undo"));
                }
                check_splices(&change.splices, &before, &shown)?;
                (change.splices, change.lines, change.after.is_none())
            }
            TextEdit::Delete => {
                let splices = match before.is_empty() {
                    true => Vec::new(),
                    false => vec![Splice { at: 0, old: before.text(), new: String::new() }],
                };
                let lines = line_change_of(&before, &splices);
                (splices, lines, true)
            }
        };
        let mut after = before.clone();
        after.apply(&splices);
        let digest = (!deleted).then(|| after.digest());
        if let Some(at) = earlier {
            if let Some(mode) = mode.filter(|_| !deleted) {
                let change = &mut planned[at].change;
                change.mode_before = change.mode_before.or_else(|| disk::permission_bits(&path));
                change.mode = Some(mode);
            }
            return merge(&mut planned[at], after, digest);
        }
        let open = self.open_file(&path);
        let read = self.read.get(&path).and_then(|read| read.file.digest());
        let base_digest = open.map_or(read, |open| open.base_digest);
        let mode_before = disk::permission_bits(&path).filter(|_| exists);
        let mode = if deleted { mode_before } else { mode };
        let mode_before =
            mode_before.filter(|bits| !deleted && mode.is_some_and(|mode| mode != *bits));
        let mode = mode.filter(|_| deleted || !exists || mode_before.is_some());
        let bom = before.has_bom();
        let digest_before = exists.then(|| before.digest());
        let change = FileChange {
            path,
            splices,
            lines,
            before: digest_before,
            after: digest,
            bom,
            mode,
            mode_before,
            link: false,
        };
        let accepted = vec![base_digest, change.after];
        planned.push(PlannedFile { change, before, after, guard: None, base_digest, accepted });
        Ok(())
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

/// Makes one change of two of the same file.
fn merge(file: &mut PlannedFile, after: Buffer, digest: Option<u64>) -> Result<(), Fault> {
    let (splices, lines) = difference(&file.before.text(), &after.text());
    file.change.splices = splices;
    file.change.lines = lines;
    file.change.after = digest;
    file.accepted.push(digest);
    file.after = after;
    Ok(())
}

fn check_splices(splices: &[Splice], buffer: &Buffer, shown: &str) -> Result<(), Fault> {
    if splices.iter().any(|splice| splice.new.contains('\0')) {
        return Err(Fault::usage("text has a NUL character, which no text file may contain"));
    }
    let disjoint = splices.is_sorted_by(|a, b| a.old_end() <= b.at);
    if !disjoint || !splices.iter().all(|splice| buffer.accepts(splice)) {
        return Err(Fault::failed(format!("the edits of {shown} don't fit its text"))
            .hint("nothing was changed: run the call again"));
    }
    let added: usize = splices.iter().map(|splice| splice.new.len()).sum();
    if (buffer.len() + added) as u64 > FILE_MAX {
        let limit = FILE_MAX / 1024 / 1024;
        return Err(Fault::refused(format!("{shown} would exceed the limit of {limit} MiB")));
    }
    Ok(())
}
