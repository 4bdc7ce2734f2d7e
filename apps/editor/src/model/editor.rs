//! One session of the editor.
//!
//! | module | holds |
//! |---|---|
//! | `baseline` | what a reader's bare line numbers refer to |
//! | `disk_changes` | what other programs did to open files |
//! | `opening` | starting a session, opening files, restoring them after a crash |
//! | `snapshot` | the whole state on disk during hibernation |

use std::path::Path;

use docui::{Fault, Opening};

use super::disk_watch::DiskWatch;
use super::edits::Edits;
use super::open_file::OpenFile;
use super::open_files::OpenFiles;

pub(crate) mod disk_changes;
pub(crate) mod opening;
mod snapshot;

/// One session of the editor.
#[derive(Debug)]
pub struct Editor {
    pub(crate) files: OpenFiles,
    pub(crate) edits: Edits,
    /// The checks of the open files for changes by other programs.
    pub(crate) disk_watch: DiskWatch,
    /// The key of the range that is bound to the name `selection`.
    pub(crate) selection: Option<String>,
    /// What the first reader is told about the start.
    pub(crate) notes: Vec<String>,
    /// True while the snapshot on disk holds exactly this state.
    snapshot_valid: bool,
    /// True when this process continues from the snapshot of the one before it.
    pub(crate) resumed: bool,
}

impl Editor {
    /// Returns the open file with a path.
    pub fn file(&self, path: &Path) -> Option<&OpenFile> {
        self.files.file(path)
    }

    /// The current file.
    pub fn current(&self) -> Option<&OpenFile> {
        self.files.current()
    }

    /// A session with these files and edits. It has no snapshot, and nothing to tell.
    fn new(opening: &Opening, files: OpenFiles, edits: Edits) -> Self {
        let mut disk_watch = DiskWatch::default();
        disk_watch.set_handle(opening.handle.clone());
        Self {
            files,
            edits,
            disk_watch,
            selection: None,
            notes: Vec::new(),
            snapshot_valid: false,
            resumed: false,
        }
    }

    /// Writes the snapshot unless the one on disk is valid.
    ///
    /// # Errors
    /// The state is too large, or the file can't be written: the session must stay awake.
    pub(crate) fn write_snapshot(&mut self) -> Result<(), Fault> {
        // A later crash goes by the manifest, so that must be up to date as well.
        self.files.write_manifest();
        if !self.snapshot_valid {
            snapshot::write(self)?;
            self.snapshot_valid = true;
        }
        Ok(())
    }

    /// Removes the snapshot, because the state is about to change.
    pub(crate) fn invalidate_snapshot(&mut self) {
        if std::mem::take(&mut self.snapshot_valid) {
            snapshot::remove(&self.files.paths.state_dir);
        }
    }
}
