//! Files on disk: read whole, written atomically, compared by content.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use docui::Fault;
use docui::regular_file::{self, OpenError, OtherKind};
use pipemux_publish::{Durability, Place, PublishError, Stage, Staged};

use crate::limits::{FILE_MAX, NEIGHBOURS_MAX, READ_PIECE};

use super::buffer::{BOM, Buffer};
use super::digest::ContentDigest;
use super::file_stamp::FileStamp;

/// The contents of a file as read from disk.
#[derive(Debug, Clone)]
pub struct LoadedFile {
    /// The text without its byte order mark.
    pub text: String,
    /// True when the file begins with a byte order mark.
    pub bom: bool,
    /// The digest of the whole file.
    pub digest: u64,
    /// The stamp of the file before it was read.
    pub stamp: FileStamp,
    /// The file's permission bits.
    pub mode: u32,
}

impl LoadedFile {
    pub fn length(&self) -> u64 {
        let bom = if self.bom { BOM.len() } else { 0 };
        (self.text.len() + bom) as u64
    }
}

/// Returns the absolute path without symlinks, also of a file that doesn't exist yet.
///
/// # Errors
/// The directory doesn't exist, or the path is not UTF-8.
pub fn resolve(path: &Path) -> Result<PathBuf, Fault> {
    let found = match path.canonicalize() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
            match (parent, path.file_name()) {
                (Some(parent), Some(name)) if fs::symlink_metadata(path).is_err() => {
                    parent.join(name)
                }
                _ => return Err(missing(path)),
            }
        }
        Err(error) => return Err(unreadable(path, &error)),
    };
    if found.to_str().is_none() {
        return Err(Fault::refused(format!("{}: the path is not UTF-8", found.display())));
    }
    Ok(found)
}

/// Returns the absolute path without symlinks, also of a file whose folders don't exist yet.
///
/// # Errors
/// The path is not UTF-8, can't be looked at, or leads through something that is no folder or to
/// nowhere.
pub fn resolve_new(path: &Path) -> Result<PathBuf, Fault> {
    let above = path.ancestors().skip(1).find(|above| fs::symlink_metadata(above).is_ok());
    match above {
        Some(above) if !path.exists() && fs::symlink_metadata(path).is_err() => {
            let rest = path.strip_prefix(above).unwrap_or(path);
            if rest.components().any(|part| part == std::path::Component::ParentDir) {
                return Err(missing(path));
            }
            let found = above.canonicalize().map_err(|error| unreadable(above, &error))?;
            if !found.is_dir() {
                let (path, found) = (path.display(), found.display());
                return Err(Fault::refused(format!("{path}: {found} is a file, not a folder")));
            }
            match found.to_str() {
                Some(_) => Ok(found.join(rest)),
                None => Err(Fault::refused(format!("{}: the path is not UTF-8", found.display()))),
            }
        }
        _ => resolve(path),
    }
}

/// Reads a text file.
///
/// # Errors
/// The file doesn't exist, is not a regular file, can't be read, is too long, or is not UTF-8 text.
pub fn load(path: &Path) -> Result<LoadedFile, Fault> {
    let shown = path.display();
    let (mut file, metadata) = regular_file::open(path).map_err(|error| match error {
        OpenError::Kind(kind) => no_file(path, kind),
        OpenError::Io(error) => unreadable(path, &error),
    })?;
    // One byte more than the file has, so that the read ends without growing the vector.
    let room = metadata.len().min(FILE_MAX) as usize + 1;
    let mut bytes = Vec::with_capacity(room);
    let read = (&mut file).take(FILE_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > FILE_MAX {
        let limit = FILE_MAX / 1024 / 1024;
        return Err(Fault::refused(format!("{shown} is larger than the limit of {limit} MiB"))
            .hint("split the file and open one of the parts"));
    }
    let mut digest = ContentDigest::default();
    digest.update(&bytes);
    let digest = digest.finish();
    let stamp = FileStamp::from(&metadata);
    if let Some(at) = memchr::memchr(0, &bytes) {
        return Err(Fault::invalid_source_data(format!(
            "{shown} is a binary file: byte {at} is NUL"
        )));
    }
    let bom = bytes.starts_with(BOM);
    let skip = if bom { BOM.len() } else { 0 };
    let text = String::from_utf8(bytes.split_off(skip)).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Fault::invalid_source_data(format!(
            "{shown} is not UTF-8: byte {} in line {line}",
            at + skip
        ))
        .hint("convert a copy with iconv -f LATIN1 -t UTF-8 and open the copy")
    })?;
    Ok(LoadedFile { text, bom, digest, stamp, mode: metadata.mode() & 0o777 })
}

/// Reads a text file; `None` if it doesn't exist.
///
/// # Errors
/// As [`load`], except for a missing file.
pub fn load_if_exists(path: &Path) -> Result<Option<LoadedFile>, Fault> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => load(path).map(Some),
    }
}

/// Returns the digest of a file on disk; `None` if it doesn't exist, can't be read or is too long.
///
/// # Errors
/// There is something that is no regular file.
pub fn digest(path: &Path) -> Result<Option<u64>, Fault> {
    let file = match regular_file::open(path) {
        Err(OpenError::Kind(kind)) => return Err(no_file(path, kind)),
        Err(OpenError::Io(_)) => return Ok(None),
        Ok((_, metadata)) if metadata.len() > FILE_MAX => return Ok(None),
        Ok((file, _)) => file,
    };
    let mut out = io::BufWriter::with_capacity(READ_PIECE, ContentDigest::default());
    // The file may grow while it is read.
    let copied = io::copy(&mut file.take(FILE_MAX + 1), &mut out);
    let digested = copied.ok().filter(|bytes| *bytes <= FILE_MAX).and(out.into_inner().ok());
    Ok(digested.map(|digest| digest.finish()))
}

/// How to treat an existing file on write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Replaces an existing file and keeps its permissions.
    Replace,
    /// Creates a file with these permission bits, less those that the umask removes; fails if it
    /// exists.
    Create(u32),
}

/// Writes a file atomically and returns its new stamp.
///
/// # Errors
/// As [`stage`] and [`StagedFile::publish`]. The file is unchanged.
pub fn store(
    path: &Path,
    buffer: &Buffer,
    mode: WriteMode,
    expected: &[Option<u64>],
) -> Result<FileStamp, Fault> {
    stage(path, buffer, mode)?.publish(expected)
}

/// A text that was written beside its file, ready to replace it.
#[derive(Debug)]
pub struct StagedFile {
    path: PathBuf,
    staged: Staged,
}

/// Writes a text beside its file. The file is unchanged.
///
/// # Errors
/// The file is read-only, its directory can't be written, or the disk is full.
pub fn stage(path: &Path, buffer: &Buffer, mode: WriteMode) -> Result<StagedFile, Fault> {
    stage_in(&mut Stage::default(), path, buffer, mode)
}

/// Writes a text beside its file, as one of several that are published together.
///
/// # Errors
/// As [`stage`].
pub fn stage_in(
    stage: &mut Stage,
    path: &Path,
    buffer: &Buffer,
    mode: WriteMode,
) -> Result<StagedFile, Fault> {
    stage_with(stage, path, mode, |out| buffer.write_file(out))
}

/// Writes bytes beside a file that is to be made of them.
///
/// # Errors
/// As [`stage`].
pub fn stage_bytes(path: &Path, bytes: &[u8]) -> Result<StagedFile, Fault> {
    stage_with(&mut Stage::default(), path, WriteMode::Create(0o666), |out| out.write_all(bytes))
}

fn stage_with(
    stage: &mut Stage,
    path: &Path,
    mode: WriteMode,
    write: impl FnOnce(&mut io::BufWriter<&File>) -> io::Result<()>,
) -> Result<StagedFile, Fault> {
    let failed = |error: io::Error| not_written(path, &error);
    let place = match mode {
        WriteMode::Create(bits) => Place::New(bits),
        WriteMode::Replace => match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Place::New(0o666),
            Err(error) => return Err(failed(error)),
            Ok(metadata) => {
                check_writable(path, &metadata)?;
                Place::Existing
            }
        },
    };
    let staged = stage.text(path, place, Durability::Power, write).map_err(failed)?;
    Ok(StagedFile { path: path.to_owned(), staged })
}

/// Checks that a file is one that may be replaced.
fn check_writable(path: &Path, metadata: &fs::Metadata) -> Result<(), Fault> {
    if let Err(kind) = regular_file::check(metadata) {
        return Err(
            no_file(path, kind).hint("nothing was written: save_as('…') writes it elsewhere")
        );
    }
    if metadata.mode() & 0o222 == 0 {
        let command = docui::command::join(&["chmod", "u+w", &path.to_string_lossy()]);
        return Err(Fault::refused(format!("{} is read-only", path.display()))
            .hint(format!("make it writable and try again: {command}")));
    }
    Ok(())
}

impl StagedFile {
    /// Gives the text these permission bits, instead of those of its file.
    ///
    /// # Errors
    /// The system refuses.
    pub fn with_mode(self, bits: u32) -> Result<Self, Fault> {
        self.staged.set_mode(bits).map_err(|error| not_written(&self.path, &error))?;
        Ok(self)
    }

    /// Puts the text in the place of its file, if that has one of the `expected` digests, and
    /// returns the stamp. What others write meanwhile is not lost.
    ///
    /// # Errors
    /// The file has another content, another program has it open for writing, the directory can't
    /// be written, or a file is there that was to be created. The file is unchanged.
    pub fn publish(self, expected: &[Option<u64>]) -> Result<FileStamp, Fault> {
        let Self { path, staged } = self;
        let published = staged.publish(&|file| has_digest(file, expected));
        published.map(|found| FileStamp::from(&found)).map_err(|error| unpublished(&path, error))
    }
}

/// Removes a file that has one of the `expected` digests.
///
/// # Errors
/// As [`StagedFile::publish`].
pub fn remove(path: &Path, expected: &[Option<u64>]) -> Result<(), Fault> {
    let removed = pipemux_publish::remove(path, &|file| has_digest(file, expected));
    removed.map_err(|error| unpublished(path, error))
}

/// True if a file has one of these digests.
pub(crate) fn has_digest(file: &File, expected: &[Option<u64>]) -> io::Result<bool> {
    let mut digest = ContentDigest::default();
    let mut piece = vec![0; READ_PIECE];
    let mut at = 0;
    // By offsets, because the file may be looked at again.
    loop {
        let length = file.read_at(&mut piece, at)?;
        if length == 0 {
            return Ok(expected.contains(&Some(digest.finish())));
        }
        digest.update(&piece[..length]);
        at += length as u64;
        if at > FILE_MAX {
            // As `digest` has it.
            return Ok(expected.contains(&None));
        }
    }
}

/// Returns the error of a file whose place a text didn't take.
pub(super) fn unpublished(path: &Path, error: PublishError) -> Fault {
    let shown = path.display();
    match error {
        PublishError::Changed => Fault::stale(format!("{shown} was changed meanwhile"))
            .hint("nothing was changed: run the call again"),
        PublishError::Busy => {
            Fault::refused(format!("{shown} is open for writing in another program"))
                .hint("nothing was changed: run the call again once it is closed")
        }
        PublishError::Exists => Fault::refused(format!("{shown} exists by now"))
            .hint("nothing was changed: run the call again"),
        PublishError::Kept(kept) => Fault::failed(format!(
            "{shown} was written twice by others meanwhile; the older text is in {}",
            kept.display()
        )),
        PublishError::Io(error) => not_written(path, &error),
    }
}

/// Returns the error of a file that the disk refuses to take.
pub fn not_written(path: &Path, error: &io::Error) -> Fault {
    Fault::failed(format!("{} was not written: {error}", path.display()))
}

/// Returns the error of a path that leads to something else than a file.
pub fn no_file(path: &Path, kind: OtherKind) -> Fault {
    let fault = Fault::refused(format!("{} is {kind}, expected a file", path.display()));
    match kind {
        OtherKind::Directory => fault.hint("name a file in it"),
        _ => fault,
    }
}

/// Returns the permission bits of a file; `None` if it doesn't exist.
pub fn permission_bits(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|metadata| metadata.mode() & 0o777)
}

/// Returns how many hard links a file has; 0 if it doesn't exist.
pub fn hard_links(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.nlink())
}

fn unreadable(path: &Path, error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::NotFound => missing(path),
        io::ErrorKind::PermissionDenied => {
            Fault::refused(format!("{}: permission denied", path.display()))
        }
        _ => Fault::refused(format!("{} can't be read: {error}", path.display())),
    }
}

fn missing(path: &Path) -> Fault {
    if let Some(parent) = path.parent().filter(|parent| path.is_absolute() && !parent.exists()) {
        let (path, parent) = (path.display(), parent.display());
        return Fault::not_found(format!("{path}: the directory {parent} is missing"));
    }
    if let Ok(target) = fs::read_link(path) {
        let (path, target) = (path.display(), target.display());
        return Fault::not_found(format!("{path} is a link to {target}, which is missing"));
    }
    let fault = Fault::not_found(format!("{}: no such file", path.display()));
    match similar_name(path) {
        Some(name) => fault.hint(format!("did you mean {}?", path.with_file_name(name).display())),
        None => fault,
    }
}

/// Finds the name in the same directory that is most similar to a missing one.
pub fn similar_name(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let directory = match path.parent()? {
        empty if empty.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    let entries = fs::read_dir(directory).ok()?.take(NEIGHBOURS_MAX);
    let mut names: Vec<_> = entries.flatten().flat_map(|e| e.file_name().into_string()).collect();
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    similar::get_close_matches(wanted, &names, 1, 0.6).first().map(|name| (*name).to_owned())
}
