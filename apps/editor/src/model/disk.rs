//! Files on disk: read whole, written whole, compared by content.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use docui::Fault;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use crate::limits::{FILE_MAX, NEIGHBOURS_MAX, READ_PIECE, SETTLED_MS};

use super::buffer::Buffer;

/// The byte order mark of UTF-8.
pub const BOM: &[u8] = "\u{feff}".as_bytes();

/// What tells cheaply that a file is still the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    identity: (u64, u64),
    length: u64,
    times: [(i64, i64); 2],
    /// False when the file was so young that another write could leave the same times.
    settled: bool,
}

impl Stamp {
    /// Of a file as it is now; none when it isn't there.
    pub fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::from(&metadata))
    }

    /// True when the file surely is the one that was stamped.
    pub fn proves(&self, now: &Self) -> bool {
        self.settled
            && (self.identity, self.length, self.times) == (now.identity, now.length, now.times)
    }

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

/// A file's content.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The text without its byte order mark.
    pub text: String,
    /// True when a byte order mark stands before it.
    pub bom: bool,
    /// Its digest.
    pub hash: u64,
    /// Its stamp.
    pub stamp: Stamp,
}

/// Where a path leads: symlinks followed, also when there is no file yet.
///
/// # Errors
/// The directory isn't there, or the path is not text.
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

/// Reads a text file.
///
/// # Errors
/// It isn't there, is no regular file, may not be read, is too long, or is not UTF-8 text.
pub fn load(path: &Path) -> Result<Loaded, Fault> {
    let shown = path.display();
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.is_dir() {
        return Err(Fault::refused(format!("{shown} is a directory, expected a file"))
            .hint("name a file in it"));
    }
    if !metadata.is_file() {
        return Err(Fault::refused(format!("{shown} is no regular file")));
    }
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    // Room for all of it, and for seeing that there is no more.
    let room = metadata.len().min(FILE_MAX) as usize + 1;
    let mut bytes = Vec::with_capacity(room);
    let read = (&mut file).take(FILE_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > FILE_MAX {
        let limit = FILE_MAX / 1024 / 1024;
        return Err(Fault::refused(format!("{shown} is longer than the limit of {limit} MiB"))
            .hint("open a part of it: split it first"));
    }
    let mut digest = Digest::default();
    digest.take(&bytes);
    let hash = digest.finish();
    let stamp = Stamp::from(&metadata);
    if let Some(at) = memchr::memchr(0, &bytes) {
        return Err(Fault::refused(format!("{shown} is a binary file: byte {at} is NUL")));
    }
    let bom = bytes.starts_with(BOM);
    let skip = if bom { BOM.len() } else { 0 };
    let text = String::from_utf8(bytes.split_off(skip)).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Fault::refused(format!("{shown} is not UTF-8: byte {} in line {line}", at + skip))
            .hint("convert a copy: iconv -f LATIN1 -t UTF-8, and open that")
    })?;
    Ok(Loaded { text, bom, hash, stamp })
}

/// The digest of the file on disk; none when it isn't there or can't be read.
pub fn digest(path: &Path) -> Option<u64> {
    let mut out = io::BufWriter::with_capacity(READ_PIECE, Digest::default());
    io::copy(&mut File::open(path).ok()?, &mut out).ok()?;
    Some(out.into_inner().ok()?.finish())
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// In place of the one that is there, whose mode stays.
    Over,
    /// As a new file with that mode, as far as the umask allows.
    New(u32),
}

/// Writes a file so that it is either as before or as wanted, whatever happens. Returns its stamp.
///
/// # Errors
/// It is read-only, its directory can't be written, the disk is full; the file is as before.
pub fn store(path: &Path, buffer: &Buffer, how: Placing) -> Result<Stamp, Fault> {
    let failed = |error: io::Error| {
        Fault::failed(format!("{} was not written: {error}", path.display()))
            .hint("save_as('…') writes it elsewhere")
    };
    let directory = path.parent().ok_or_else(|| missing(path))?;
    let before = match how {
        Placing::New(_) => None,
        Placing::Over => Some(fs::metadata(path)).filter(
            |found| !matches!(found, Err(error) if error.kind() == io::ErrorKind::NotFound),
        ),
    };
    let before = before.transpose().map_err(failed)?;
    if before.as_ref().is_some_and(|metadata| metadata.mode() & 0o222 == 0) {
        return Err(Fault::refused(format!("{} is read-only", path.display()))
            .hint("chmod u+w it, then save(); or save_as('…')"));
    }
    let mode = match how {
        Placing::New(mode) => mode,
        Placing::Over => 0o666,
    };
    let mut temporary = tempfile::Builder::new()
        .prefix(".pipemux-")
        .permissions(fs::Permissions::from_mode(mode & 0o777))
        .tempfile_in(directory)
        .map_err(failed)?;
    let file = temporary.as_file_mut();
    let mut out = io::BufWriter::new(&mut *file);
    buffer.write(&mut out).and_then(|()| out.flush()).map_err(failed)?;
    drop(out);
    if let Some(metadata) = &before {
        // Only root may give a file away; without that right it becomes the writer's own.
        let _ = std::os::unix::fs::fchown(&*file, Some(metadata.uid()), Some(metadata.gid()));
        file.set_permissions(fs::Permissions::from_mode(metadata.mode() & 0o7777))
            .map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    let written = match how {
        Placing::New(_) => temporary.persist_noclobber(path),
        Placing::Over => temporary.persist(path),
    };
    let written = written.map_err(|error| failed(error.error))?;
    // The name must survive a power cut too; a file system that can't do it has done what it can.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(Stamp::from(&written.metadata().map_err(failed)?))
}

/// The permission bits of a file.
pub fn mode(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|metadata| metadata.mode() & 0o777)
}

/// The digest of a text, taken in however it is cut: tells contents apart; nobody gains by forging it.
/// A text is digested each time it is saved, and at each look at a file that was written just now.
#[derive(Default)]
pub struct Digest(XxHash64);

impl Digest {
    /// The digest of what was written.
    pub fn finish(&self) -> u64 {
        std::hash::Hasher::finish(&self.0)
    }

    fn take(&mut self, bytes: &[u8]) {
        std::hash::Hasher::write(&mut self.0, bytes);
    }
}

impl Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What names of files on disk are made with: it never changes, so that a later editor finds them.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = Hasher::default();
    hasher.take(bytes);
    hasher.finish()
}

/// FNV-1a with the length mixed in.
#[derive(Debug, Clone)]
pub struct Hasher {
    state: u64,
    length: u64,
}

impl Default for Hasher {
    fn default() -> Self {
        Self { state: 0xcbf2_9ce4_8422_2325, length: 0 }
    }
}

impl Hasher {
    /// The digest of what was written.
    pub fn finish(&self) -> u64 {
        (self.state ^ self.length).wrapping_mul(0x100_0000_01b3)
    }

    fn take(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        for byte in bytes {
            self.state = (self.state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
    let fault = Fault::not_found(format!("{}: no such file", path.display()));
    match neighbour(path) {
        Some(name) => fault.hint(format!("did you mean {}?", path.with_file_name(name).display())),
        None => fault,
    }
}

/// The name in the same directory that is most like the missing one.
fn neighbour(path: &Path) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Journals are found by these values, and snapshots are checked with them.
    #[test]
    fn persistent_hash_values_never_change() {
        let values = ["", "a", "/home/me/src/main.rs", "漢字"].map(|text| hash(text.as_bytes()));
        let pinned = [
            12_638_153_115_695_167_455,
            620_338_995_939_046_295,
            15_573_326_974_958_178_576,
            5_977_026_090_995_041_404,
        ];
        assert_eq!(values, pinned);
    }

    /// Manifests and records of shown texts hold these values.
    #[test]
    fn content_digest_values_never_change() {
        let digest = |text: &str| {
            let mut digest = Digest::default();
            digest.take(text.as_bytes());
            digest.finish()
        };
        let values = ["", "a", "line 1\nline 2\n", "漢字"].map(digest);
        let pinned = [
            17_241_709_254_077_376_921,
            15_154_266_338_359_012_955,
            548_288_922_372_196_398,
            1_386_998_886_388_425_973,
        ];
        assert_eq!(values, pinned);
    }
}
