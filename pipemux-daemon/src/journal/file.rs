//! One log on disk: appended to, cut back after a write that failed.
//!
//! Where the system can, reserved is taken on the disk before it is needed. So a full disk is met while there
//! is still reserved for what must be written down whatever happens, as the numbers of views.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::limits::{BAD_MAX, JOURNAL_ROOM};

/// An open log, of which every byte is a whole record's.
#[derive(Debug)]
pub struct JournalFile {
    /// The file.
    pub file: Arc<File>,
    /// Its length in bytes, as far as it is whole records.
    pub length: u64,
    /// True when a part of a record may stand behind them.
    has_partial_tail: bool,
    /// Up to here there is reserved on the disk.
    reserved: u64,
}

impl JournalFile {
    /// Makes the file anew with these bytes, synced.
    ///
    /// # Errors
    /// As the file system's; nothing of it is left then.
    pub fn create(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        // Appending, so that what was cut back after a failed write isn't left as a hole.
        let mut file = options.append(true).create_new(true).mode(0o600).open(path)?;
        if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(Self {
            file: Arc::new(file),
            length: bytes.len() as u64,
            has_partial_tail: false,
            reserved: 0,
        })
    }

    /// Appends whole records: all of the bytes, or none.
    ///
    /// # Errors
    /// As `write`.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.has_partial_tail {
            // Behind a part of a record nothing could be read.
            self.file.set_len(self.length)?;
            self.has_partial_tail = false;
        }
        if let Err(error) = (&*self.file).write_all(bytes) {
            self.cut();
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Takes reserved on the disk, when there isn't enough for more than a while.
    ///
    /// # Errors
    /// The disk is full.
    pub fn reserve(&mut self) -> io::Result<()> {
        if self.reserved >= self.length + JOURNAL_ROOM / 2 {
            return Ok(());
        }
        let wanted = self.length + JOURNAL_ROOM;
        allocate(&self.file, wanted)?;
        self.reserved = wanted;
        Ok(())
    }

    /// Takes the last bytes back.
    pub fn remove_last(&mut self, bytes: usize) {
        self.length = self.length.saturating_sub(bytes as u64);
        self.cut();
    }

    fn cut(&mut self) {
        self.has_partial_tail = self.file.set_len(self.length).is_err();
        // Room behind the end is given back by that.
        self.reserved = 0;
    }
}

/// Takes reserved for a file of that length, which its length doesn't show.
#[cfg(target_os = "linux")]
fn allocate(file: &File, length: u64) -> io::Result<()> {
    use nix::errno::Errno;
    use nix::fcntl::{FallocateFlags, fallocate};
    let length = i64::try_from(length).map_err(io::Error::other)?;
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, 0, length) {
        Err(full @ (Errno::ENOSPC | Errno::EDQUOT)) => Err(full.into()),
        // A file system that has no such thing.
        _ => Ok(()),
    }
}

/// Takes no reserved: a full disk is met when a record can't be written.
#[cfg(not(target_os = "linux"))]
fn allocate(_file: &File, _length: u64) -> io::Result<()> {
    Ok(())
}

/// Gives the new file the old one's name, for good.
///
/// # Errors
/// As `rename`.
pub fn rename_into_place(new: &Path, path: &Path) -> io::Result<()> {
    fs::rename(new, path)?;
    if let Some(directory) = path.parent() {
        // Where directories can't be synced the name lasts anyhow, a little later.
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
    Ok(())
}

/// Keeps what lies there under another name too, and gives that name. What can't be read as a file is
/// moved.
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
        // A second name, not a new one: what can be read of it must not be lost before it is written
        // anew.
        fs::hard_link(path, &aside).or_else(|_| fs::copy(path, &aside).map(drop))?;
    } else {
        fs::rename(path, &aside)?;
    }
    Ok(aside)
}
