//! Cheap evidence that a file on disk is unchanged.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::limits::SETTLED_MS;

/// A file's identity, length and times at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// Device and inode.
    identity: (u64, u64),
    length: u64,
    /// Modification and change, each in seconds and nanoseconds.
    times: [(i64, i64); 2],
    /// False when the file was so young that another write could leave the same times.
    settled: bool,
}

impl FileStamp {
    /// Returns the stamp of a file as it is now; `None` if there is no file.
    pub fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::from(&metadata))
    }

    /// Returns the size of the file in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// False when the file was so young that its writer may not have finished.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// True when a file with the stamp `now` is certainly unchanged since this stamp.
    pub fn proves_unchanged(&self, now: &Self) -> bool {
        self.settled
            && (self.identity, self.length, self.times) == (now.identity, now.length, now.times)
    }
}

impl From<&Metadata> for FileStamp {
    fn from(metadata: &Metadata) -> Self {
        let age = metadata.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        Self {
            identity: (metadata.dev(), metadata.ino()),
            length: metadata.len(),
            times: [
                (metadata.mtime(), metadata.mtime_nsec()),
                (metadata.ctime(), metadata.ctime_nsec()),
            ],
            settled: age.is_some_and(|age| age.as_millis() > SETTLED_MS),
        }
    }
}
