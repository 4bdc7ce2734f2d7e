//! Changes that were being written when the process before this one ended.
//!
//! What the process left beside the files goes with the next edit, as far as it is what the change
//! made or found.
//!
//! **Invariant: nothing is written here.** A change of several files may be there in some of them.
//! By the time somebody looks again, a person may have finished it by hand, or taken it back. So it
//! is told, with the files of each half, and a reader decides: what is done can be undone, and what
//! isn't can be redone, each only in files that have exactly the text that the change made or
//! found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::Handle;
use docui::blocking::Task;

use crate::display::wording::count;
use crate::limits::{DISK_START, FILES_NAMED};
use crate::model::buffer::Buffer;
use crate::model::change_log::change_journal::Operation;
use crate::model::disk;
use crate::model::edits::Edits;
use crate::model::history::{Author, Change, EditKind, FileChange};
use crate::model::journal::Journal;
use crate::model::open_files::OpenFiles;
use crate::model::own_leftover::OwnLeftover;
use crate::model::workspace_edit::links;

/// The state in which an interrupted change left its files.
struct Interrupted {
    operation: Operation,
    done: Vec<FileChange>,
    /// The parts that weren't written; these files have the text from before the change.
    rest: Vec<FileChange>,
    /// Files that have another text than either.
    others: Vec<PathBuf>,
    /// The leftover files of the change, each with the texts that it may contain.
    left: Vec<OwnLeftover>,
    /// Texts that are left beside the files and neither made nor found by the change.
    foreign: Vec<PathBuf>,
}

/// Finds out what became of changes that were being written, by what is on disk now: one that is
/// there in all its files counts, one that is there in none doesn't. Returns notes for the readers
/// about all others.
pub(crate) fn settle(
    files: &OpenFiles,
    edits: &mut Edits,
    begun: Vec<Operation>,
    handle: &Handle,
) -> Vec<String> {
    if begun.is_empty() {
        return Vec::new();
    }
    let state_dir = files.paths.state_dir.clone();
    let look = move || begun.into_iter().map(|one| look_at(one, &state_dir)).collect();
    let task = Task::start(handle, look);
    let found: Option<Vec<Interrupted>> = task.ok().and_then(|mut task| task.wait(DISK_START));
    let Some(found) = found else {
        let note = "A change was interrupted, and its disk does not answer: it may be half done.";
        return vec![note.to_owned()];
    };
    let mut notes = Vec::new();
    let mut left = Vec::new();
    for mut one in found {
        left.append(&mut one.left);
        for foreign in std::mem::take(&mut one.foreign) {
            let shown = files.paths.display_path(&foreign);
            notes.push(format!(
                "{shown} was left by an edit that was interrupted, and somebody has written to it: take what you need, then remove its folder"
            ));
        }
        notes.extend(take_interrupted(files, edits, one));
    }
    edits.leftovers = Arc::new(left);
    notes
}

fn take_interrupted(
    files: &OpenFiles,
    edits: &mut Edits,
    interrupted: Interrupted,
) -> Option<String> {
    let Interrupted { operation, done, rest, others, .. } = interrupted;
    let author = Author::outside_of_runs(edits.version);
    if done.is_empty() {
        edits.changes.take_failure(operation.id());
        return None;
    }
    if rest.is_empty() && others.is_empty() {
        match operation {
            Operation::Edit(mut change) => {
                change.author.version = edits.version;
                edits.changes.push(change);
            }
            Operation::Undo { ids, .. } => edits.changes.take_undo(&ids, &author),
            Operation::Redo { ids, .. } => edits.changes.take_redo(&ids, &author),
        }
        return None;
    }
    let kind = match &operation {
        Operation::Edit(change) => change.kind,
        Operation::Undo { .. } => EditKind::Undo,
        Operation::Redo { .. } => EditKind::Redo,
    };
    edits.changes.take_failure(operation.id());
    let mut note = format!(
        "{kind} was interrupted, and nothing was mended since: it is done in {}",
        listed(files, done.iter().map(|file| &*file.path))
    );
    if !rest.is_empty() {
        note += &format!("; not in {}", listed(files, rest.iter().map(|file| &*file.path)));
    }
    if !others.is_empty() {
        let others = listed(files, others.iter().map(PathBuf::as_path));
        note += &format!("; {others}: changed by others since");
    }
    let id = |half: &str| format!("{}-{half}", operation.id());
    let change = |id: String, files| {
        let author = author.clone();
        Change { id, kind, author, files, of: None }
    };
    if !rest.is_empty() {
        let call = format!("redo(change=\"{}\")", id("rest"));
        note += &format!(" · go on: {}", files.paths.run_command(&call));
        edits.changes.push_undone(change(id("rest"), rest));
    }
    let call = format!("undo(change=\"{}\")", id("done"));
    note += &format!(" · go back: {}", files.paths.run_command(&call));
    edits.changes.push_reload(change(id("done"), done));
    Some(note)
}

/// Names files: the first of them, and how many there are.
fn listed<'p>(files: &OpenFiles, paths: impl ExactSizeIterator<Item = &'p Path>) -> String {
    let all = paths.len();
    let named: Vec<_> =
        paths.take(FILES_NAMED).map(|path| files.paths.display_path(path)).collect();
    match all > named.len() {
        true => format!("{} ({}, …)", count(all, "file"), named.join(", ")),
        false => named.join(", "),
    }
}

/// Compares the files of an operation with what it makes and what it found. This may wait for their
/// disks.
fn look_at(operation: Operation, state_dir: &Path) -> Interrupted {
    let (mut done, mut rest, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for file in operation.files() {
        let now = match file.link {
            true => links::target(&file.path).map(|target| Buffer::new(&target, false)),
            false => text_now(&file.path, state_dir),
        };
        let now = now.map(|text| text.digest());
        if now == file.after {
            done.push(file.clone());
        } else if now == file.before {
            rest.push(file.clone());
        } else {
            others.push(file.path.clone());
        }
    }
    let (left, foreign) = left_by(operation.files());
    Interrupted { operation, done, rest, others, left, foreign }
}

/// Finds what is left beside the files of a change: what it made or found there, and what it
/// didn't.
fn left_by(files: &[FileChange]) -> (Vec<OwnLeftover>, Vec<PathBuf>) {
    let mut texts: BTreeMap<&Path, Vec<Option<u64>>> = BTreeMap::new();
    for file in files {
        if let Some(directory) = file.path.parent() {
            let texts = texts.entry(directory).or_default();
            texts.extend([file.before, file.after].into_iter().filter(Option::is_some));
        }
    }
    let (mut left, mut foreign) = (Vec::new(), Vec::new());
    for (directory, texts) in texts {
        for leftover in pipemux_publish::leftovers(directory) {
            match leftover.is(&|file| disk::has_digest(file, &texts)) {
                Ok(true) => left.push(OwnLeftover::new(leftover, texts.clone())),
                _ => foreign.push(leftover.text().to_owned()),
            }
        }
    }
    (left, foreign)
}

/// Returns the text of a file: the unsaved one that its journal kept, or the one on disk.
fn text_now(path: &Path, state_dir: &Path) -> Option<Buffer> {
    if let Ok(Some(kept)) = Journal::new(state_dir, path).recover() {
        return Some(Buffer::new(&kept.text, kept.bom));
    }
    disk::load(path).ok().map(|loaded| Buffer::new(&loaded.text, loaded.bom))
}
