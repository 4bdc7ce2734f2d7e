//! Detects that a file on disk has changed, on another thread because a file system may hang.

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use docui::Fault;

use crate::limits::{WRITE_PATIENCE, WRITE_POLL};

use super::disk::{self, LoadedFile};
use super::file_stamp::FileStamp;

/// A check of a file on disk against its last known state.
#[derive(Debug, Clone)]
pub struct DiskCheck {
    pub path: PathBuf,
    /// The state known when the check began; a finding counts only while this is current.
    pub known: KnownFile,
    /// True when the file is to be read even if its stamp is the known one.
    pub read_again: bool,
    /// True when the text of a changed file is wanted.
    pub wants_text: bool,
}

/// The state of a file on disk as it was last read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// The file's stamp; `None` if there was no file.
    pub stamp: Option<FileStamp>,
    /// The file's digest; `None` if it was never read or written.
    pub digest: Option<u64>,
}

/// The result of a disk check.
#[derive(Debug)]
pub struct DiskFinding {
    pub path: PathBuf,
    /// The state known when the check began.
    pub known: KnownFile,
    /// The file's permission bits; `None` if there is no file.
    pub mode: Option<u32>,
    pub found: FoundFile,
}

/// The state found at the path of an open file.
#[derive(Debug)]
pub enum FoundFile {
    Unchanged,
    Missing,
    /// A file that may differ from the known one.
    Present {
        /// The file's stamp before it was read.
        stamp: FileStamp,
        /// The file's digest; `None` if it can't be read.
        digest: Option<u64>,
        /// The text of a changed file, if it was requested.
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
        let Some(mut stamp) = now else { return FoundFile::Missing };
        let begun = Instant::now();
        loop {
            let digest = match disk::digest(&self.path) {
                Ok(digest) => digest,
                Err(fault) => return FoundFile::Other(fault),
            };
            let changed = digest.is_none() || digest != self.known.digest;
            let text = (changed && self.wants_text).then(|| disk::load(&self.path));
            let Some(now) = FileStamp::of(&self.path) else { return FoundFile::Missing };
            // Most programs empty a file before they write it: a text that was read in between
            // would take every line number from its readers, and be shown to them as the file.
            let read = match &text {
                Some(Ok(loaded)) => loaded.length(),
                _ => now.length(),
            };
            if !self.is_torn(read, &stamp, &now) || begun.elapsed() > WRITE_PATIENCE {
                return FoundFile::Present { stamp, digest, text };
            }
            thread::sleep(WRITE_POLL);
            match FileStamp::of(&self.path) {
                Some(now) => stamp = now,
                None => return FoundFile::Missing,
            }
        }
    }

    /// True when so many bytes, read between two stamps, may be a part of what another program is
    /// writing.
    fn is_torn(&self, read: u64, before: &FileStamp, behind: &FileStamp) -> bool {
        let Some(known) = &self.known.stamp else { return false };
        // A file that only grows, as logs do, is what it seems at any time.
        let shorter = read < known.length().max(before.length());
        !behind.is_settled() && shorter && (read == 0 || before != behind)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::sync_channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn file_that_is_being_written_again_is_never_found_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.txt");
        let text = |n: usize| format!("row {n}\n").repeat(2000);
        fs::write(&path, text(0)).unwrap();
        let known = KnownFile { stamp: FileStamp::of(&path), digest: None };
        let (checked, seen) = sync_channel(0);
        thread::scope(|scope| {
            let file = path.clone();
            let writer = scope.spawn(move || {
                // A look between two writes, so that the looks begin while a write goes on.
                for n in 0..300 {
                    fs::write(&file, text(n)).unwrap();
                    seen.recv_timeout(Duration::from_secs(20)).unwrap();
                }
            });
            while !writer.is_finished() {
                let (path, known) = (path.clone(), known.clone());
                let check = DiskCheck { path, known, read_again: true, wants_text: true };
                let found = check.run().found;
                let FoundFile::Present { text: Some(Ok(loaded)), .. } = found else {
                    panic!("the file is there all the time: {found:?}")
                };
                assert!(!loaded.text.is_empty());
                // The writer may have ended.
                let _ = checked.send(());
            }
        });
    }

    #[test]
    fn file_that_was_emptied_is_found_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.txt");
        fs::write(&path, "row\n").unwrap();
        let known = KnownFile { stamp: FileStamp::of(&path), digest: None };
        fs::write(&path, "").unwrap();
        let check = DiskCheck { path, known, read_again: false, wants_text: true };
        let FoundFile::Present { text: Some(Ok(loaded)), .. } = check.run().found else {
            panic!("the file is there")
        };
        assert_eq!(loaded.text, "");
    }
}
