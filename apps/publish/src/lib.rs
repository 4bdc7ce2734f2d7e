//! Takes the places of files, and removes files, so that nothing is lost that others write
//! meanwhile.
//!
//! The disk belongs to everybody: while a program writes the new text of a file, another may append
//! to the old one, rewrite it or rename something over it. So a text is not renamed over its
//! file. Both change places, in one step (`RENAME_EXCHANGE`), and what was displaced is looked at
//! before it is removed:
//!
//! 1. The old file is opened and *leased*: as long as the lease holds, the kernel lets nobody open
//!    it for writing. If somebody has it open for writing, no lease is given.
//! 2. Its content is compared with what the new text was made from.
//! 3. Both files change places, and what was displaced must be the file that was leased.
//! 4. The lease is given up, so that whoever waited to write goes on, and taken again. If that
//!    fails, or the content is another one now, somebody has written to the old file: it gets its
//!    place back, and the change is refused.
//! 5. The old file stays open for a moment without a name: what a program writes to it that had
//!    found it by its path before, and opened it only now, is passed on.
//!
//! Where there are no leases (NFS, files of other users) or no exchange, each step that can be made
//! is made.
//!
//! | module | contents |
//! |---|---|
//! | `lib` | texts that are staged beside their files |
//! | `replace` | takes the place of a file, removes a file |
//! | `lease` | read leases |
//! | `attributes` | owner, mode and extended attributes |
//! | `late` | writes to files that were displaced a moment ago |
//! | `private` | PipeMux's own directories, which no app changes a file in |
//! | `leftovers` | what killed processes left beside files |
//!
//! **Invariant: until it is complete nobody but its owner can read a text.** It is staged in a
//! folder of its own that only the owner enters, and gets the mode of its file last.
//!
//! **Invariant: nothing that was left behind is shown by git.** The folder has a `.gitignore` of
//! its own, which its process holds a lock on: so it is known what nobody will finish.

mod attributes;
mod late;
mod lease;
mod leftovers;
mod private;
mod replace;

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, OFlags, flock};
use tempfile::TempDir;

pub use late::settle;
pub use leftovers::{Leftover, leftovers};
pub use replace::{remove, remove_link};

/// The prefix of the names of staging folders.
pub const FOLDER_PREFIX: &str = ".pipemux-";
/// The name of the first text in its folder, and the prefix of the names of further ones.
pub const FILE_NAME: &str = "text";

/// The reason why a file was not changed. It is intact unless the error says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The file has unexpected content, is another file, or no longer exists.
    #[error("it was changed meanwhile")]
    Changed,
    /// Another program has it open for writing.
    #[error("another program has it open for writing")]
    Busy,
    /// The path of a new file already exists.
    #[error("it exists")]
    Exists,
    /// Others wrote both the file and another one in its place at the same moment: the older of
    /// their texts is at this path.
    #[error("it was written twice meanwhile; the older text is in {}", .0.display())]
    Kept(PathBuf),
    /// An operating system error.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The destination of a staged text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Replaces an existing file's content and keeps its owner, mode and attributes.
    Existing,
    /// Creates a file with these permission bits, less those that the umask removes.
    New(u32),
}

/// The events that a published text survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: the text is written through to the disk.
    Power,
    /// The end of the process.
    Process,
}

/// Tells whether the content of a file is the one that is to be replaced or removed. It is called
/// more than once.
pub type Expected<'a> = &'a dyn Fn(&File) -> io::Result<bool>;

/// Texts that are published together. Those beside each other share a folder, so that there can be
/// many.
#[derive(Debug, Default)]
pub struct Stage {
    folders: HashMap<PathBuf, Arc<Folder>>,
    texts: usize,
}

/// A text that is on the disk beside its file, complete and synced, ready to take its place.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    text: PathBuf,
    folder: Arc<Folder>,
    place: Place,
    durability: Durability,
}

/// A folder that only its owner enters and git doesn't see; it is removed with what is in it.
#[derive(Debug)]
struct Folder {
    directory: TempDir,
    /// Held as long as somebody is going to finish what is staged.
    _lock: File,
}

/// Writes a text beside its file. The file is unchanged.
///
/// # Errors
/// The directory can't be written, the disk is full, or there is no file that [`Place::Existing`]
/// means.
pub fn stage(
    path: &Path,
    place: Place,
    durability: Durability,
    write: impl FnOnce(&mut io::BufWriter<&File>) -> io::Result<()>,
) -> io::Result<Staged> {
    Stage::default().text(path, place, durability, write)
}

impl Stage {
    /// As [`stage`].
    ///
    /// # Errors
    /// As [`stage`].
    pub fn text(
        &mut self,
        path: &Path,
        place: Place,
        durability: Durability,
        write: impl FnOnce(&mut io::BufWriter<&File>) -> io::Result<()>,
    ) -> io::Result<Staged> {
        private::refuse(path)?;
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = match self.folders.get(directory) {
            Some(folder) => folder.clone(),
            None => {
                let folder = Arc::new(Folder::new(directory)?);
                self.folders.insert(directory.to_owned(), folder.clone());
                folder
            }
        };
        let text = match self.texts {
            0 => folder.text(),
            number => folder.directory.path().join(format!("{FILE_NAME}-{number}")),
        };
        self.texts += 1;
        // The mode of a new file is what the umask leaves of it, so the system is asked by making
        // one.
        let bits = match place {
            Place::Existing => 0o600,
            Place::New(bits) => bits & 0o777,
        };
        let mut options = File::options();
        options.read(true).write(true).create_new(true).mode(bits);
        let file = options.open(&text)?;
        let mut out = io::BufWriter::new(&file);
        write(&mut out).and_then(|()| out.flush())?;
        drop(out);
        if place == Place::Existing {
            attributes::copy(&File::open(path)?, &file)?;
        }
        if durability == Durability::Power {
            file.sync_all()?;
        }
        // Open for writing, it would count as a file that somebody writes to.
        drop(file);
        Ok(Staged { path: path.to_owned(), text, folder, place, durability })
    }
}

impl Staged {
    /// Gives the text these permission bits, instead of those of its file.
    ///
    /// # Errors
    /// The system refuses.
    pub fn set_mode(&self, bits: u32) -> io::Result<()> {
        fs::set_permissions(&self.text, fs::Permissions::from_mode(bits & 0o777))
    }

    /// Puts the text in its place and returns what is there now. `expected` is asked of the file
    /// whose place it takes; of a new file nothing is.
    ///
    /// # Errors
    /// As [`PublishError`] says.
    pub fn publish(self, expected: Expected<'_>) -> Result<Metadata, PublishError> {
        let Self { path, text, folder, place, durability } = self;
        let (file, taken) = match place {
            Place::Existing => {
                let file = File::open(&text)?;
                let taken = replace::replace((&text, &file), &path, expected);
                (file, taken)
            }
            Place::New(_) => {
                // It need not be readable by its owner.
                let flags = OFlags::PATH.bits().cast_signed();
                let file = File::options().read(true).custom_flags(flags).open(&text)?;
                (file, replace::create(&text, &path))
            }
        };
        if let Err(PublishError::Kept(_)) = &taken {
            return Err(PublishError::Kept(folder.keep(&text)));
        }
        taken?;
        if durability == Durability::Power {
            // The new name must survive, too. Some file systems can't sync a directory.
            let directory = path.parent().map(File::open).transpose().ok().flatten();
            let _ = directory.map(|directory| directory.sync_all());
        }
        Ok(file.metadata()?)
    }
}

impl Folder {
    fn new(beside: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix(FOLDER_PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(beside)?;
        let lock = leftovers::make_lock(directory.path())?;
        // Where there are no locks, nothing that is left behind is known as such.
        let _ = flock(&lock, FlockOperation::LockShared);
        Ok(Self { directory, _lock: lock })
    }

    /// Returns the path of the first text.
    fn text(&self) -> PathBuf {
        self.directory.path().join(FILE_NAME)
    }

    /// Moves a text into a folder of its own, which stays, and returns its path.
    fn keep(self: &Arc<Self>, text: &Path) -> PathBuf {
        let beside = self.directory.path().parent().unwrap_or(Path::new("."));
        if let Ok(own) = Self::new(beside)
            && fs::rename(text, own.text()).is_ok()
        {
            return own.directory.keep().join(FILE_NAME);
        }
        // Then this folder stays as a whole.
        std::mem::forget(self.clone());
        text.to_owned()
    }
}

#[cfg(test)]
mod tests;
