//! Whether a file on disk has changed: found out on another thread, because a file system may hang.

use std::path::PathBuf;

use docui::Fault;

use super::disk::{self, LoadedFile};
use super::file_stamp::FileStamp;

/// What is known of a file, to find out whether the one on disk is another.
#[derive(Debug, Clone)]
pub struct DiskCheck {
    /// The file's path.
    pub path: PathBuf,
    /// What was known when the check began. A finding counts only while it is known still.
    pub known: KnownFile,
    /// True when the file is to be read even if its stamp is the known one.
    pub read_again: bool,
    /// True when the text of a changed file is wanted.
    pub wants_text: bool,
}

/// The file on disk as it was last read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// Its stamp; `None` if there was no file.
    pub stamp: Option<FileStamp>,
    /// Its digest; `None` if it was never read or written.
    pub digest: Option<u64>,
}

/// What a check found.
#[derive(Debug)]
pub struct DiskFinding {
    /// The file that was checked.
    pub path: PathBuf,
    /// What was known when the check began.
    pub known: KnownFile,
    /// The file's permission bits, if there is a file.
    pub mode: Option<u32>,
    /// What is there.
    pub found: FoundFile,
}

/// What is at the path of an open file.
#[derive(Debug)]
pub enum FoundFile {
    /// The path has what is already known of it.
    Unchanged,
    /// There is nothing at the path.
    Missing,
    /// A file that may be another one.
    Present {
        /// The stamp before it was read.
        stamp: FileStamp,
        /// The digest; `None` if it can't be read.
        digest: Option<u64>,
        /// The text of a changed file, if it was wanted.
        text: Option<Result<LoadedFile, Fault>>,
    },
    /// Something that is no file.
    Other(Fault),
}

impl DiskCheck {
    /// Looks at the disk.
    pub fn run(self) -> DiskFinding {
        let mode = disk::permission_bits(&self.path);
        let found = self.find();
        DiskFinding { path: self.path, known: self.known, mode, found }
    }

    fn find(&self) -> FoundFile {
        let now = FileStamp::of(&self.path);
        match (&self.known.stamp, &now) {
            _ if self.read_again => {}
            (Some(then), Some(now)) if then.proves_unchanged(now) => return FoundFile::Unchanged,
            (None, None) => return FoundFile::Unchanged,
            _ => {}
        }
        let Some(stamp) = now else { return FoundFile::Missing };
        let digest = match disk::digest(&self.path) {
            Ok(digest) => digest,
            Err(fault) => return FoundFile::Other(fault),
        };
        let changed = digest.is_none() || digest != self.known.digest;
        let text = (changed && self.wants_text).then(|| disk::load(&self.path));
        FoundFile::Present { stamp, digest, text }
    }
}
