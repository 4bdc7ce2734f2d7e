//! The folder `.memotree`: reads, writes and lists its files, and nothing outside of it.
//!
//! `.memotree` itself may be a link, so that several checkouts share one tree. Inside of it no link
//! is followed that leads out. A file is replaced atomically, and only as long as it still has the
//! content that the change was made for: what another program wrote meanwhile is never lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use pipemux_publish::{Durability, Place, PublishError};
use rustix::fs::OFlags;

use crate::file_edit::{FileEdit, FileName, Part};
use crate::node_file::FILE_BYTES_MAX;
use crate::stamp::Stamp;

/// Why a file wasn't read or written. Messages name files relative to `.memotree`, never where that
/// is.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// An operating system error.
    #[error("{what}: {}", system_words(.source))]
    Io {
        /// The name of the file or folder.
        what: String,
        /// The error from the operating system.
        source: io::Error,
    },
    /// A link leads out of `.memotree`, or the entry isn't a file.
    #[error("{what}: {why}")]
    Refused {
        /// The name of the file or folder.
        what: String,
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The file is larger than a node's file may be.
    #[error("{what}: it has {bytes} bytes, at most {FILE_BYTES_MAX}")]
    TooLong {
        /// The name of the file.
        what: String,
        /// The length of the file, in bytes.
        bytes: u64,
    },
    /// Another program changed it since it was read.
    #[error("{0} was changed by another program")]
    Changed(FileName),
}

/// Says what the system refuses, in words: without the number of the error.
pub fn system_words(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "it may not be read or written by this user".to_owned(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "it is on a file system that is read-only".to_owned(),
        ErrorKind::NotADirectory => "a file is where a folder is expected".to_owned(),
        ErrorKind::InvalidData => "it isn't UTF-8 text".to_owned(),
        _ => {
            let words = error.to_string();
            words.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

const OUTSIDE: &str = "it is a link that leads out of .memotree; put the file itself there";

#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The file's name.
    pub name: String,
    /// The file's stamp; for a link, that of its target.
    pub stamp: Stamp,
}

impl Folder {
    /// Opens the folder, which need not exist yet. A link is followed.
    ///
    /// # Errors
    /// Something else is at the path.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let io = |source| FolderError::Io { what: ".memotree".to_owned(), source };
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                Ok(Self { root: fs::canonicalize(path).map_err(io)? })
            }
            Ok(_) => Err(FolderError::Refused {
                what: ".memotree".to_owned(),
                why: "it is not a folder",
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self { root: path.to_owned() }),
            Err(error) => Err(io(error)),
        }
    }

    /// Returns true if the folder exists.
    pub fn exists(&self) -> bool {
        self.root.is_dir()
    }

    /// Returns the stamp of one of the folders; `None` if there is none.
    ///
    /// # Errors
    /// It can't be read, or leads out of `.memotree`.
    pub fn stamp(&self, part: Part) -> Result<Option<Stamp>, FolderError> {
        let path = self.root.join(part.name());
        let io = |source| FolderError::Io { what: part.shown().to_owned(), source };
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(io(error)),
            Ok(metadata) if metadata.is_symlink() => {
                self.check_inside(&path, part.shown())?;
                fs::metadata(&path).map(|metadata| Some(Stamp::of(&metadata))).map_err(io)
            }
            Ok(metadata) if metadata.is_dir() => Ok(Some(Stamp::of(&metadata))),
            Ok(_) => Err(FolderError::Refused {
                what: part.shown().to_owned(),
                why: "it is not a folder",
            }),
        }
    }

    /// Lists the files of a folder; hidden ones and those whose names aren't UTF-8 are left out.
    /// `each` gets, of each, the name and its stamp, or why there is none.
    ///
    /// # Errors
    /// The folder can't be read. There being none isn't an error.
    pub fn list(
        &self,
        part: Part,
        mut each: impl FnMut(String, Result<Stamp, FolderError>),
    ) -> Result<(), FolderError> {
        if self.stamp(part)?.is_none() {
            return Ok(());
        }
        let io = |source| FolderError::Io { what: part.shown().to_owned(), source };
        for entry in fs::read_dir(self.root.join(part.name())).map_err(io)? {
            let entry = entry.map_err(io)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') {
                continue;
            }
            // Of the entry itself: a link isn't followed here.
            let file = FileName::new(part, name);
            let stamp = match entry.metadata() {
                Ok(metadata) if metadata.is_file() => Ok(Stamp::of(&metadata)),
                Ok(_) => match self.file_stamp(&file) {
                    Ok(Some(stamp)) => Ok(stamp),
                    Ok(None) => continue,
                    Err(error) => Err(error),
                },
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => Err(FolderError::Io { what: file.to_string(), source }),
            };
            each(file.name, stamp);
        }
        Ok(())
    }

    /// Returns the stamp of a file; `None` if there is none.
    ///
    /// # Errors
    /// It isn't a file, or leads out of `.memotree`.
    pub fn file_stamp(&self, file: &FileName) -> Result<Option<Stamp>, FolderError> {
        let path = self.path(file);
        let io = |source| FolderError::Io { what: file.to_string(), source };
        let metadata = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(io)?,
        };
        let metadata = if metadata.is_symlink() {
            self.check_inside(&path, &file.to_string())?;
            fs::metadata(&path).map_err(io)?
        } else {
            metadata
        };
        match metadata.is_file() {
            true => Ok(Some(Stamp::of(&metadata))),
            false => Err(FolderError::Refused { what: file.to_string(), why: "it is not a file" }),
        }
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// It can't be read, is too long, or leads out of `.memotree`.
    pub fn read(&self, file: &FileName) -> Result<Option<(Vec<u8>, Stamp)>, FolderError> {
        let io = |source| FolderError::Io { what: file.to_string(), source };
        let Some(stamp) = self.file_stamp(file)? else { return Ok(None) };
        self.stamp(file.part)?;
        // Opening something else than a file would wait for its other end.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        let mut opened =
            match OpenOptions::new().read(true).custom_flags(flags).open(self.path(file)) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                other => other.map_err(io)?,
            };
        let metadata = opened.metadata().map_err(io)?;
        if !metadata.is_file() {
            return Err(FolderError::Refused { what: file.to_string(), why: "it is not a file" });
        }
        let too_long = |bytes| FolderError::TooLong { what: file.to_string(), bytes };
        if metadata.len() > FILE_BYTES_MAX as u64 {
            return Err(too_long(metadata.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
        let limit = FILE_BYTES_MAX as u64 + 1;
        let read = Read::by_ref(&mut opened).take(limit).read_to_end(&mut bytes).map_err(io)?;
        if read as u64 == limit {
            return Err(too_long(limit));
        }
        // The stamp from before the reading: what is written meanwhile makes another one.
        Ok(Some((bytes, stamp.same_as_or_none(Stamp::of(&metadata)))))
    }

    /// Writes, creates or removes a file (`after` is its new content), provided that it has the
    /// content `before`. Returns its new stamp.
    ///
    /// # Errors
    /// It can't be written, or has another content; it is then as it was.
    pub fn replace(
        &self,
        file: &FileName,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<Option<Stamp>, FolderError> {
        let path = self.path(file);
        let io = |source| FolderError::Io { what: file.to_string(), source };
        let found = self.read(file)?.map(|(bytes, _)| bytes);
        if found.as_deref() != before {
            return Err(FolderError::Changed(file.clone()));
        }
        // A link inside of the folder: the file that it leads to is replaced, not the link.
        let path = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => fs::canonicalize(&path).map_err(io)?,
            _ => path,
        };
        let failed = |error| match error {
            PublishError::Io(source) => io(source),
            PublishError::Busy => {
                let why = "another program has it open for writing; try again once it is closed";
                FolderError::Refused { what: file.to_string(), why }
            }
            PublishError::Changed | PublishError::Exists | PublishError::Kept(_) => {
                FolderError::Changed(file.clone())
            }
        };
        let expected = |found: &File| has_content(found, before.unwrap_or_default());
        let Some(after) = after else {
            if before.is_some() {
                pipemux_publish::remove(&path, &expected).map_err(failed)?;
            }
            return Ok(None);
        };
        self.stamp(file.part)?;
        fs::create_dir_all(self.root.join(file.part.name())).map_err(io)?;
        let place = if before.is_some() { Place::Existing } else { Place::New(0o666) };
        let write = |out: &mut io::BufWriter<&File>| out.write_all(after);
        let staged = pipemux_publish::stage(&path, place, Durability::Process, write);
        staged.map_err(io)?.publish(&expected).map_err(failed)?;
        self.file_stamp(file)
    }

    /// Removes what a killed process left of a change of these files, as far as it is what the
    /// change found or made.
    pub fn remove_leftovers(&self, edits: &[FileEdit]) {
        for part in [Part::Nodes, Part::Trash, Part::Views, Part::Queries, Part::Root] {
            let mut contents = Vec::new();
            for edit in edits.iter().filter(|edit| edit.file.part == part) {
                contents.extend(edit.before.iter().chain(&edit.after));
            }
            if contents.is_empty() {
                continue;
            }
            for left in pipemux_publish::leftovers(&self.root.join(part.name())) {
                let is_ours = |found: &File| {
                    let mut found = contents.iter().map(|content| has_content(found, content));
                    found.try_fold(false, |any, is| Ok(any || is?))
                };
                // What can't be removed is in nobody's way.
                let _ = left.remove(&is_ours);
            }
        }
    }

    /// Reads `memotree.toml`; empty if there is none.
    ///
    /// # Errors
    /// It can't be read.
    pub fn read_config(&self) -> Result<String, FolderError> {
        let what = "memotree.toml".to_owned();
        let path = self.root.join(&what);
        // Opening something else than a file would wait for its other end.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
        match OpenOptions::new().read(true).custom_flags(flags).open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
            Err(source) => Err(FolderError::Io { what, source }),
            Ok(file) => {
                self.check_inside(&path, &what)?;
                if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                    return Err(FolderError::Refused { what, why: "it is not a file" });
                }
                let mut text = String::new();
                let limit = FILE_BYTES_MAX as u64;
                match file.take(limit).read_to_string(&mut text) {
                    Ok(_) => Ok(text),
                    Err(source) => Err(FolderError::Io { what, source }),
                }
            }
        }
    }

    fn path(&self, file: &FileName) -> PathBuf {
        self.root.join(file.part.name()).join(&file.name)
    }

    fn check_inside(&self, path: &Path, what: &str) -> Result<(), FolderError> {
        match fs::canonicalize(path) {
            Ok(target) if target.starts_with(&self.root) => Ok(()),
            Ok(_) => Err(FolderError::Refused { what: what.to_owned(), why: OUTSIDE }),
            Err(source) => Err(FolderError::Io { what: what.to_owned(), source }),
        }
    }
}

/// Compares by offsets, because the file may be looked at again.
fn has_content(file: &File, content: &[u8]) -> io::Result<bool> {
    if file.metadata()?.len() != content.len() as u64 {
        return Ok(false);
    }
    let mut found = vec![0; content.len()];
    match file.read_exact_at(&mut found, 0) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| found == content),
    }
}

/// Returns the time in nanoseconds since 1970.
pub(crate) fn now_ns() -> i128 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(now.as_nanos()).unwrap_or(i128::MAX)
}
