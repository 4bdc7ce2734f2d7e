//! Detects changes that other programs made to the open files, as far as the files' disks respond.

use crate::model::disk_watch::DiskWatch;
use crate::model::edits::Edits;
use crate::model::history::Author;
use crate::model::open_file::{DiskWait, OpenFile};
use crate::model::open_files::OpenFiles;

/// Returns what is waited for at the disk of a file.
pub(crate) fn disk_wait(disk_watch: &DiskWatch, file: &OpenFile) -> Option<DiskWait> {
    match file.is_being_written() {
        true => Some(DiskWait::Write),
        false => disk_watch.is_waiting(file.path()).then_some(DiskWait::Check),
    }
}

/// Applies what other programs did to the files on disk. Returns true if that changed what is
/// shown.
pub(crate) fn check_disk(
    files: &mut OpenFiles,
    edits: &mut Edits,
    disk_watch: &mut DiskWatch,
) -> bool {
    let version = edits.version + 1;
    let findings = disk_watch.check(files.iter().filter_map(OpenFile::disk_check));
    let mut changed = Vec::new();
    for finding in findings {
        let Some(index) = files.index(&finding.path) else { continue };
        let file = &mut files[index];
        let (is_changed, change) = file.take_finding(finding, version);
        if is_changed {
            changed.push(file.path().to_owned());
        }
        if let Some(change) = change {
            edits.record_reload(Author::outside_of_runs(version), change);
        }
    }
    let binary_changed = files.binaries.check(disk_watch.handle());
    changed.iter().for_each(|path| files.record_changed_on_disk(path));
    let mut waits_changed = false;
    for file in &mut files.list {
        let wait = disk_wait(disk_watch, file);
        waits_changed |= std::mem::replace(&mut file.shown_wait, wait) != wait;
    }
    !changed.is_empty() || waits_changed || binary_changed
}
