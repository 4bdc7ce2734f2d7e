//! Cleans up temporary files that killed processes left beside other files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::lease::Lease;
use crate::{Expected, FILE_NAME, FOLDER_PREFIX};

/// The file that keeps git from showing a folder, and whose lock says that somebody uses it.
pub(crate) const LOCK_NAME: &str = ".gitignore";
pub(crate) const LOCK_CONTENT: &[u8] = b"*\n";

/// Makes the file that keeps git from showing a folder. It gets its name once it has its content: a
/// process that is killed in between leaves nothing that git would show.
pub(crate) fn make_lock(folder: &Path) -> io::Result<File> {
    let path = folder.join(LOCK_NAME);
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;

        use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};

        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if let Ok(unnamed) = openat(CWD, folder, flags, Mode::RUSR | Mode::WUSR) {
            let mut file = File::from(unnamed);
            file.write_all(LOCK_CONTENT)?;
            let own = format!("/proc/self/fd/{}", file.as_raw_fd());
            if linkat(CWD, own, CWD, &path, AtFlags::SYMLINK_FOLLOW).is_ok() {
                return Ok(file);
            }
        }
    }
    // This file system has no files without a name.
    let mut file = File::create_new(path)?;
    file.write_all(LOCK_CONTENT)?;
    Ok(file)
}

/// A text staged by a process that has ended, or a file displaced by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    folder: PathBuf,
    text: PathBuf,
}

/// Finds what was left in a directory.
#[must_use]
pub fn leftovers(directory: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let named = entries.flatten().filter(|entry| {
        entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    let mut found = Vec::new();
    for folder in named.map(|entry| entry.path()).filter(|folder| lock(folder).is_some()) {
        let texts = fs::read_dir(&folder).into_iter().flatten().flatten();
        let texts = texts.filter(|entry| {
            entry.file_name().to_string_lossy().starts_with(FILE_NAME)
                && entry.file_type().is_ok_and(|kind| kind.is_file())
        });
        found.extend(texts.map(|entry| Leftover { folder: folder.clone(), text: entry.path() }));
    }
    found
}

/// Takes the lock of a folder, unless somebody uses it or it isn't one of ours.
fn lock(folder: &Path) -> Option<File> {
    let mut file = File::open(folder.join(LOCK_NAME)).ok()?;
    let mut content = Vec::new();
    let limit = LOCK_CONTENT.len() as u64 + 1;
    Read::by_ref(&mut file).take(limit).read_to_end(&mut content).ok()?;
    let is_free = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    (is_free && content == LOCK_CONTENT).then_some(file)
}

impl Leftover {
    #[must_use]
    pub fn text(&self) -> &Path {
        &self.text
    }

    /// True if the text is what is expected.
    ///
    /// # Errors
    /// It can't be read.
    pub fn is(&self, expected: Expected<'_>) -> io::Result<bool> {
        expected(&File::open(&self.text)?)
    }

    /// Removes the text and its folder, if it is what is expected, nobody writes to it, and nothing
    /// else is there. Returns whether it was removed.
    ///
    /// # Errors
    /// The system refuses.
    pub fn remove(&self, expected: Expected<'_>) -> io::Result<bool> {
        let Some(_lock) = lock(&self.folder) else { return Ok(false) };
        let text = File::open(&self.text)?;
        let Some(_lease) = Lease::take(&text) else { return Ok(false) };
        if !expected(&text)? {
            return Ok(false);
        }
        fs::remove_file(&self.text)?;
        // Other texts, and what somebody else put there, stay, and so does what keeps git from
        // showing them.
        if fs::read_dir(&self.folder)?.count() == 1 {
            fs::remove_file(self.folder.join(LOCK_NAME))?;
            fs::remove_dir(&self.folder)?;
        }
        Ok(true)
    }
}
