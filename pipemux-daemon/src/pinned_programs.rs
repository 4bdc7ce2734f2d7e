//! Programs as they were when their app was added: a program that has changed since isn't started
//! unasked.
//!
//! A file is hashed when it is first started and again only when its metadata say that it is
//! another one, so that a start costs one `stat` a file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use pipemux_core::PinnedPrograms as Pinned;
use pipemux_proto::command::command;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::os::unix::fs::OpenOptionsExt;

use crate::limits::PINNED_KNOWN_MAX;

/// The hashes of files that were started.
#[derive(Debug, Default)]
pub struct PinnedPrograms {
    known: FxHashMap<PathBuf, (Identity, String)>,
}

/// The values that identify a state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity([i64; 7]);

impl Identity {
    fn of(found: &Metadata) -> Self {
        let (device, inode, size) = (found.dev(), found.ino(), found.size());
        Self([
            device.cast_signed(),
            inode.cast_signed(),
            size.cast_signed(),
            found.mtime(),
            found.mtime_nsec(),
            found.ctime(),
            found.ctime_nsec(),
        ])
    }
}

impl PinnedPrograms {
    /// Checks that files are as they were.
    ///
    /// # Errors
    /// What has changed, and what to do.
    pub fn check(&mut self, pinned: &Pinned) -> Result<(), String> {
        for (path, wanted) in &pinned.files {
            let way = command(&["app", "add", &pinned.manifest, "--replace"]);
            match self.hash(Path::new(path)) {
                Ok(found) if found == *wanted => {}
                Ok(_) => {
                    return Err(format!(
                        "{path} has changed since the app was added, so it is not started; if the change is \
                         wanted: {way}"
                    ));
                }
                Err(error) => return Err(format!("{path} can't be checked: {error}; then: {way}")),
            }
        }
        Ok(())
    }

    fn hash(&mut self, path: &Path) -> io::Result<String> {
        let identity = Identity::of(&fs::metadata(path)?);
        if let Some((known, hash)) = self.known.get(path)
            && *known == identity
        {
            return Ok(hash.clone());
        }
        let (identity, hash) = hash_file(path)?;
        if self.known.len() >= PINNED_KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(path.to_owned(), (identity, hash.clone()));
        Ok(hash)
    }
}

/// Returns the SHA-256 of each of these files, in hexadecimal digits; of what is no regular file
/// none.
///
/// # Errors
/// A file can't be read.
pub fn pin<'p>(paths: impl IntoIterator<Item = &'p Path>) -> io::Result<BTreeMap<String, String>> {
    let mut pinned = BTreeMap::new();
    for path in paths.into_iter().filter(|path| path.is_file()) {
        if let Some(text) = path.to_str() {
            pinned.insert(text.to_owned(), hash_file(path)?.1);
        }
    }
    Ok(pinned)
}

fn hash_file(path: &Path) -> io::Result<(Identity, String)> {
    // Doesn't wait for a pipe that took the file's place.
    let mut file = File::options().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => hasher.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut text = String::new();
    for byte in hasher.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok((Identity::of(&metadata), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_program_is_refused_until_it_is_pinned_again() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("todo");
        fs::write(&program, "abc").unwrap();
        let files = pin([program.as_path(), Path::new("/no/such/file")]).unwrap();
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(files.values().collect::<Vec<_>>(), [hash]);
        let mut programs = PinnedPrograms::default();
        let mut pinned = Pinned { manifest: "/a/todo.toml".into(), files };
        assert_eq!(programs.check(&pinned), Ok(()));
        assert_eq!(programs.check(&pinned), Ok(()));
        fs::write(&program, "abd").unwrap();
        let why = programs.check(&pinned).unwrap_err();
        assert!(why.contains("has changed since the app was added, so it is not started"), "{why}");
        assert!(why.ends_with("pipemux app add /a/todo.toml --replace"), "{why}");
        pinned.files = pin([program.as_path()]).unwrap();
        assert_eq!(programs.check(&pinned), Ok(()));
        fs::remove_file(&program).unwrap();
        assert!(programs.check(&pinned).unwrap_err().contains("can't be checked"));
    }
}
