//! Files that others wrote since they were read.

use std::fs;
use std::path::PathBuf;

use docui::{Code, Fault};

use crate::model::buffer::Buffer;
use crate::model::disk;
use crate::model::text_diff::differing_lines;

use super::links;
use super::planned_file::PlannedFile;

/// A file whose text on disk differs from the one that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskConflict {
    pub path: PathBuf,
    /// The digest of the file on disk; `None` if it can't be read.
    pub disk: Option<u64>,
    /// True when there is no file.
    pub deleted: bool,
    /// A description of the lines that differ from those in the session.
    pub differs: Option<String>,
}

impl DiskConflict {
    /// True when it is about the same file as it is on disk.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.path, self.disk, self.deleted) == (&other.path, other.disk, other.deleted)
    }
}

/// Returns the conflict if the disk has another text than was read from it.
pub(super) fn conflict(file: &PlannedFile) -> Result<Option<DiskConflict>, Fault> {
    let path = &file.change.path;
    let deleted = fs::symlink_metadata(path).is_err();
    let disk = match links::target(path).filter(|_| file.change.link) {
        Some(target) => Some(Buffer::new(&target, false).digest()),
        None if deleted => None,
        None => disk::digest(path)?,
    };
    let expected = match file.base_digest {
        None => deleted,
        Some(base) => !deleted && disk == Some(base),
    };
    // What the edit makes may be there already.
    let made = file.change.after.is_some() && disk == file.change.after;
    if expected || made {
        return Ok(None);
    }
    let theirs = match disk::load(path) {
        Ok(loaded) => Some(loaded),
        // No undo could bring it back: a change has texts only.
        Err(fault) if fault.code == Code::InvalidSourceData => {
            let message = format!("changed on disk by someone else: {}", fault.message);
            let way = "nothing was written; once it is UTF-8 text again, what both wrote is merged";
            return Err(Fault { message, ..Fault::invalid_source_data("").hint(way) });
        }
        Err(_) => None,
    };
    let differs = theirs.and_then(|loaded| differing_lines(&loaded.text, &file.before.text()));
    Ok(Some(DiskConflict { path: path.clone(), disk, deleted, differs }))
}
