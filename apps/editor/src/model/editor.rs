//! One session of the editor.
//!
//! | module | holds |
//! |---|---|
//! | `disk_changes` | what other programs did to open files |
//! | `former_changes` | the changes of sessions that had a history for each file |
//! | `opening` | starting a session, opening files, restoring them after a crash |
//! | `snapshot` | the whole state on disk during hibernation |

use std::path::Path;

use docui::Opening;

use super::disk_watch::DiskWatch;
use super::edits::Edits;
use super::open_file::OpenFile;
use super::open_files::OpenFiles;

pub(crate) mod disk_changes;
mod former_changes;
pub(crate) mod opening;
mod snapshot;

/// A session of the editor.
#[derive(Debug)]
pub struct Editor {
    pub(crate) files: OpenFiles,
    pub(crate) edits: Edits,
    /// The checks of the open files for changes by other programs.
    pub(crate) disk_watch: DiskWatch,
    /// The key of the range that is bound to the name `selection`.
    pub(crate) selection: Option<String>,
    /// Notes on the session's start for its first reader.
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

    pub fn current(&self) -> Option<&OpenFile> {
        self.files.current()
    }

    /// Returns a session with these files and edits, without a snapshot or notes.
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
}
