//! Files that are no text. They are shown by what they are, and read and passed on whole; nothing
//! edits them.

use std::io::Read;
use std::path::{Path, PathBuf};

use docui::blocking::Task;
use docui::{Fault, Handle, Media, media, regular_file};
use serde::{Deserialize, Serialize};

use crate::limits::{BINARY_MAX, DISK_CHECK, FILE_MAX};

use super::file_stamp::FileStamp;
use super::stable_hash::stable_hash;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BinaryFile {
    path: PathBuf,
    media: Media,
    /// Changes with the content.
    rev: u64,
    /// True while there is no file any more.
    missing: bool,
    /// The file's bytes; `None` if not read yet or more than [`BINARY_MAX`].
    #[serde(skip)]
    bytes: Option<Vec<u8>>,
    #[serde(skip)]
    stamp: Option<FileStamp>,
}

impl BinaryFile {
    /// Reads a file that may be a binary one: one that has a NUL in what is read of it. Returns
    /// `None` if it is none, or too long for the editor in any case. This may wait for a disk.
    pub fn read(path: &Path) -> Option<Self> {
        let (file, has_nul) = Self::load(path)?;
        (has_nul && file.media.bytes <= FILE_MAX).then_some(file)
    }

    /// Names a file that is read by the next check.
    pub fn unread(path: PathBuf) -> Self {
        let media = Media { media_type: media::UNKNOWN.into(), ..Media::default() };
        Self { path, media, rev: 0, missing: false, bytes: None, stamp: None }
    }

    /// Returns the file, and whether it has a NUL.
    fn load(path: &Path) -> Option<(Self, bool)> {
        let (mut file, metadata) = regular_file::open(path).ok()?;
        let mut bytes = Vec::new();
        (&mut file).take(BINARY_MAX + 1).read_to_end(&mut bytes).ok()?;
        let media = Media { bytes: metadata.len().max(bytes.len() as u64), ..media::of(&bytes) };
        let is_whole = bytes.len() as u64 <= BINARY_MAX;
        let has_nul = memchr::memchr(0, &bytes).is_some();
        let file = Self {
            path: path.to_owned(),
            media,
            rev: stable_hash(&bytes),
            missing: false,
            bytes: is_whole.then_some(bytes),
            stamp: Some(FileStamp::from(&metadata)),
        };
        Some((file, has_nul))
    }

    /// Returns the file's path without symlinks.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn media(&self) -> &Media {
        &self.media
    }

    /// Changes with the content.
    pub fn rev(&self) -> u64 {
        self.rev
    }

    /// True while there is no file any more.
    pub fn is_missing(&self) -> bool {
        self.missing
    }

    /// Returns the bytes.
    ///
    /// # Errors
    /// There are too many, or the disk hasn't given them.
    pub fn bytes(&self) -> Result<&[u8], Fault> {
        self.bytes.as_deref().ok_or_else(|| {
            let path = self.path.display();
            match self.media.bytes > BINARY_MAX {
                true => Fault::refused(format!(
                    "{path} has {} bytes, at most {BINARY_MAX} are read: use its path",
                    self.media.bytes
                )),
                false => Fault::failed(format!("the disk of {path} did not answer yet")),
            }
        })
    }
}

/// The open binary files and the running check of them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BinaryFiles {
    files: Vec<BinaryFile>,
    #[serde(skip)]
    check: Option<Task<Vec<BinaryFile>>>,
}

impl BinaryFiles {
    /// Iterates over the files in the order in which they were opened.
    pub fn iter(&self) -> impl Iterator<Item = &BinaryFile> {
        self.files.iter()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a file, or replaces what was known of it.
    pub fn put(&mut self, file: BinaryFile) {
        match self.files.iter_mut().find(|known| known.path == file.path) {
            Some(known) => *known = file,
            None => self.files.push(file),
        }
    }

    /// Removes a file. Returns whether it was there.
    pub fn remove(&mut self, path: &Path) -> bool {
        let before = self.files.len();
        self.files.retain(|file| file.path != path);
        self.files.len() < before
    }

    /// Takes in what other programs did to the files, as far as their disks answer. Returns true if
    /// that changed what is shown.
    pub fn check(&mut self, handle: &Handle) -> bool {
        if self.files.is_empty() {
            return false;
        }
        if self.check.is_none() {
            let files = self.files.iter().map(|file| BinaryFile { bytes: None, ..file.clone() });
            let known: Vec<(BinaryFile, bool)> =
                files.zip(self.files.iter().map(|file| file.bytes.is_some())).collect();
            self.check = Task::start(handle, move || {
                known.into_iter().filter_map(|(file, is_read)| changed(file, is_read)).collect()
            })
            .ok();
        }
        let Some(found) = self.check.as_mut().and_then(|task| task.wait(DISK_CHECK)) else {
            return false;
        };
        self.check = None;
        let mut is_changed = false;
        for found in found {
            if let Some(known) = self.files.iter_mut().find(|known| known.path == found.path) {
                is_changed |= (known.rev, known.missing) != (found.rev, found.missing);
                *known = found;
            }
        }
        is_changed
    }
}

/// Returns a file as it is now, if that is another one than it was.
fn changed(file: BinaryFile, is_read: bool) -> Option<BinaryFile> {
    let now = FileStamp::of(&file.path);
    match (&file.stamp, &now) {
        (_, None) if file.missing => return None,
        (_, None) => return Some(BinaryFile { missing: true, stamp: None, ..file }),
        (Some(then), Some(now)) if then.proves_unchanged(now) && !file.missing => {
            let has_all = is_read || file.media.bytes > BINARY_MAX;
            if has_all {
                return None;
            }
        }
        _ => {}
    }
    BinaryFile::load(&file.path).map(|(file, _)| file)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn file_with_a_nul_is_binary_and_its_changes_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.bin");
        fs::write(&path, "text").unwrap();
        assert!(BinaryFile::read(&path).is_none());
        fs::write(&path, b"a\0b").unwrap();
        let mut files = BinaryFiles::default();
        files.put(BinaryFile::read(&path).unwrap());
        let handle = Handle::default();
        while files.check.is_some() || files.check(&handle) {}
        assert_eq!(files.iter().next().unwrap().bytes().unwrap(), b"a\0b");
        fs::write(&path, b"a\0bc").unwrap();
        while !files.check(&handle) {}
        assert_eq!(files.iter().next().unwrap().bytes().unwrap(), b"a\0bc");
        fs::remove_file(&path).unwrap();
        while !files.check(&handle) {}
        assert!(files.iter().next().unwrap().is_missing());
        assert!(files.remove(&path) && files.is_empty());
    }

    #[test]
    fn file_that_was_named_only_is_read_by_the_first_check() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.bin");
        fs::write(&path, b"a\0b").unwrap();
        let mut files = BinaryFiles::default();
        files.put(BinaryFile::unread(path));
        while !files.check(&Handle::default()) {}
        assert_eq!(files.iter().next().unwrap().media().bytes, 3);
    }
}
