//! One journal file: appends to it, and truncates it after a failed write.
//!
//! Where the system supports it, space on the disk is reserved before it is needed. So a full disk
//! is noticed while there is still space for what must be written in any case, such as the numbers
//! of views.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limits::{BAD_MAX, JOURNAL_ROOM};

/// The identity of a file apart from its name: its device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity(u64, u64);

impl FileIdentity {
    /// Returns the identity of an open file.
    ///
    /// # Errors
    /// As `fstat`.
    pub fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|found| Self(found.dev(), found.ino()))
    }

    /// Returns the identity and the length of what is at a path; a symbolic link isn't followed.
    ///
    /// # Errors
    /// As `lstat`.
    pub fn at(path: &Path) -> io::Result<(Self, u64)> {
        fs::symlink_metadata(path).map(|found| (Self(found.dev(), found.ino()), found.len()))
    }
}

/// An open file that consists of complete records.
#[derive(Debug)]
pub struct JournalFile {
    pub handle: Arc<File>,
    pub identity: FileIdentity,
    /// The length of its complete records, in bytes.
    pub length: u64,
    /// True when a part of a record may follow them.
    has_partial_tail: bool,
    /// The length up to which disk space is reserved.
    reserved: u64,
}

impl JournalFile {
    /// Creates the file with these bytes and syncs it; replaces an existing file.
    ///
    /// # Errors
    /// As the file system's; nothing of the file is left then.
    pub fn create(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        // In append mode, so that a write after a truncation leaves no hole.
        let mut file = options.append(true).create_new(true).mode(0o600).open(path)?;
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(Self {
            identity: FileIdentity::of(&file)?,
            handle: Arc::new(file),
            length: bytes.len() as u64,
            has_partial_tail: false,
            reserved: 0,
        })
    }

    /// Appends complete records: all of the bytes, or none.
    ///
    /// # Errors
    /// As `write`.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.has_partial_tail {
            // Behind a part of a record nothing could be read.
            self.handle.set_len(self.length)?;
            self.has_partial_tail = false;
        }
        if let Err(error) = (&*self.handle).write_all(bytes) {
            self.cut();
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Reserves space on the disk if less than half of the usual reserve is left.
    ///
    /// # Errors
    /// The disk is full.
    pub fn reserve(&mut self) -> io::Result<()> {
        if self.reserved >= self.length + JOURNAL_ROOM / 2 {
            return Ok(());
        }
        let wanted = self.length + JOURNAL_ROOM;
        allocate(&self.handle, wanted)?;
        self.reserved = wanted;
        Ok(())
    }

    /// Removes the last bytes again.
    pub fn remove_last(&mut self, bytes: usize) {
        self.length = self.length.saturating_sub(bytes as u64);
        self.cut();
    }

    fn cut(&mut self) {
        self.has_partial_tail = self.handle.set_len(self.length).is_err();
        // Truncating releases the space that was reserved.
        self.reserved = 0;
    }
}

/// Reserves space for a file of that length, without changing the length that the file shows.
#[cfg(target_os = "linux")]
fn allocate(file: &File, length: u64) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};
    let length = i64::try_from(length).map_err(io::Error::other)?;
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, length) {
        Err(full @ (Errno::ENOSPC | Errno::EDQUOT)) => Err(full.into()),
        // The file system doesn't support it.
        _ => Ok(()),
    }
}

/// Reserves nothing: a full disk is noticed when a record can't be written.
#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File, _length: u64) -> io::Result<()> {
    Ok(())
}

/// Gives the new file the name of the old one, durably.
///
/// # Errors
/// As `rename`.
pub fn rename_into_place(new: &Path, path: &Path) -> io::Result<()> {
    fs::rename(new, path)?;
    if let Some(directory) = path.parent() {
        // Where directories can't be synced, the new name is durable a little later.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    Ok(())
}

/// Keeps the file under another name as well, and returns that name. What can't be read as a file
/// is moved.
///
/// # Errors
/// As `link` and `rename`.
pub fn set_aside(path: &Path, readable: bool) -> io::Result<PathBuf> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".bad-{number}"));
        PathBuf::from(name)
    };
    let free = (1..BAD_MAX).find(|number| fs::symlink_metadata(name(*number)).is_err());
    let aside = name(free.unwrap_or(BAD_MAX));
    let _ = fs::remove_file(&aside);
    if readable {
        // A second name rather than a new one: what can be read of the file must not get lost
        // before it is written again.
        fs::hard_link(path, &aside).or_else(|_| fs::copy(path, &aside).map(drop))?;
    } else {
        fs::rename(path, &aside)?;
    }
    Ok(aside)
}
