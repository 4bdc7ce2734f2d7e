//! Opening files that were read or written on other threads, and applying what an edit wrote to the
//! session.

use std::path::Path;

use docui::Fault;

use crate::limits::FILES_MAX;
use crate::model::documents::ReadDocument;
use crate::model::edits::Edits;
use crate::model::history::{Author, EditKind, FileChange};
use crate::model::open_file::{OpenFile, ReadFile};
use crate::model::open_files::OpenFiles;
use crate::model::workspace_edit::WrittenFile;

/// Takes in what others wrote to a file while no process of the session ran, before the file is
/// opened: what the session did earlier can then be taken back around it.
pub(crate) fn take_outside(files: &OpenFiles, edits: &mut Edits, read: &ReadFile) {
    let Some(change) = read.outside().filter(|_| files.index(read.path()).is_none()) else {
        return;
    };
    let knows = |text| edits.changes.knows(&change.path, text);
    if knows(change.before) && !knows(change.after) {
        edits.record_reload(Author::outside_of_runs(edits.version), change.clone());
    }
}

/// Opens a file that was read, without making it current, so that its line numbers can be shown.
/// They count from `version` on: a query leaves the session in its version. Returns its index, also
/// if it was open before.
///
/// # Errors
/// It can't be opened, or there is no room for it.
pub(crate) fn open_silently(
    files: &mut OpenFiles,
    edits: &mut Edits,
    read: ReadFile,
    version: u64,
) -> Result<usize, Fault> {
    if let Some(index) = files.index(read.path()) {
        return Ok(index);
    }
    if !files.make_room(1) {
        return Err(Fault::refused(format!("a session has at most {FILES_MAX} open files"))
            .hint(files.paths.run_command("save()")));
    }
    let shown = files.paths.display_path(read.path());
    take_outside(files, edits, &read);
    let (file, _) = OpenFile::open(read, &shown, version)?;
    files.list.push(file);
    let index = files.len() - 1;
    files.record_use(index);
    files.record_opened(index, version);
    files.manifest_stale = true;
    Ok(index)
}

/// Takes in files that an edit wrote, or that it changed in the session only. Those that aren't
/// open are opened without becoming current, as far as there is room; held ones must fit.
///
/// # Errors
/// Held edits can't be recorded, or there are too many held files. Nothing was changed.
pub(crate) fn take_written(
    files: &mut OpenFiles,
    edits: &mut Edits,
    kind: EditKind,
    author: &Author,
    written: Vec<WrittenFile>,
    hold: bool,
) -> Result<(), Fault> {
    for file in &written {
        files.record_changed_on_disk(&file.change.path);
        files.list_file(&file.change.path);
    }
    match hold {
        true => take_held(files, edits, kind, author, written)?,
        false => written.into_iter().for_each(|file| take_file(files, edits, kind, author, file)),
    }
    files.write_manifest();
    Ok(())
}

fn take_file(
    files: &mut OpenFiles,
    edits: &mut Edits,
    kind: EditKind,
    author: &Author,
    written: WrittenFile,
) {
    let WrittenFile { change, stamp, read, guard, .. } = written;
    drop(guard);
    let open = files.index(&change.path);
    let index = match (open, stamp.is_some()) {
        (Some(index), false) => {
            files.close_file(index, &format!("{kind} deleted it"), author);
            return;
        }
        (None, false) => return,
        (Some(index), true) => index,
        (None, true) => {
            if !files.make_room(1) {
                return;
            }
            // It was read a moment ago.
            let opened = open_edited(files, edits, &change.path, read, author.version);
            let Ok(index) = opened else { return };
            index
        }
    };
    if let Some(stamp) = stamp {
        files[index].take_change(kind, author, &change, stamp);
    }
    files.record_use(index);
    if open.is_none() {
        files.record_opened(index, author.version);
    }
}

/// Opens a file that an edit changes, as it was read for the edit, or as a new one. Returns its
/// index.
fn open_edited(
    files: &mut OpenFiles,
    edits: &mut Edits,
    path: &Path,
    read: Option<ReadDocument>,
    version: u64,
) -> Result<usize, Fault> {
    let file = match read {
        Some(read) => {
            take_outside(files, edits, &read.file);
            OpenFile::open(read.file, &files.paths.display_path(path), version)?.0
        }
        None => OpenFile::new_file(path.to_owned(), &files.paths.state_dir, version),
    };
    files.list.push(file);
    Ok(files.len() - 1)
}

/// Applies edits that stay in the session, all of them or none.
fn take_held(
    files: &mut OpenFiles,
    edits: &mut Edits,
    kind: EditKind,
    author: &Author,
    written: Vec<WrittenFile>,
) -> Result<(), Fault> {
    let new = written.iter().filter(|file| files.index(&file.change.path).is_none());
    let new = new.count();
    let is_on_disk = |path: &Path| match files.file(path) {
        Some(file) => file.base_digest().is_some(),
        None => true,
    };
    let unheld = |file: &&WrittenFile| {
        let change = &file.change;
        let deleted = change.after.is_none() && is_on_disk(&change.path);
        deleted || change.link || change.mode_before.is_some()
    };
    if let Some(unheld) = written.iter().find(unheld) {
        let shown = files.paths.display_path(&unheld.change.path);
        let what = if unheld.change.after.is_none() { "deleted" } else { "changed like this" };
        return Err(Fault::refused(format!("{shown} can't be {what} while edits are held"))
            .hint(files.paths.run_command("hold(false)")));
    }
    if !files.make_room(new) {
        return Err(Fault::refused(format!(
            "{new} more files are too many to hold: a session has at most {FILES_MAX} open files"
        ))
        .hint(files.paths.run_command("save()")));
    }
    let mut taken: Vec<FileChange> = Vec::new();
    let mut failed = None;
    for WrittenFile { change, read, guard, .. } in written {
        drop(guard);
        let open = files.index(&change.path);
        let held = match open {
            Some(index) => Ok(index),
            None => open_edited(files, edits, &change.path, read, author.version),
        };
        let held = held.and_then(|index| {
            files[index].hold_change(kind, author, &change)?;
            Ok(index)
        });
        match held {
            Ok(index) => {
                files.record_use(index);
                if open.is_none() {
                    files.record_opened(index, author.version);
                }
                taken.push(change);
            }
            Err(fault) => {
                failed = Some(fault);
                break;
            }
        }
    }
    let Some(fault) = failed else { return Ok(()) };
    for change in taken.iter().rev() {
        if let Some(index) = files.index(&change.path) {
            files[index].take_back(author, &change.inverse());
        }
    }
    Err(fault)
}
