//! The lock that allows one daemon per state directory.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::LOCK_RETRY_MS;

/// A lock that is held; dropping it removes the file and releases the lock.
///
/// It is on the directory itself, which nobody removes by mistake while it is in use, and on a file
/// in it, which earlier releases lock and in which clients find the socket.
#[derive(Debug)]
pub struct DaemonLock {
    /// The locked directory; `None` if the file system can't lock directories.
    directory: Option<File>,
    file: File,
    path: PathBuf,
}

/// The lock, shared by all who look after it.
pub type SharedLock = Rc<RefCell<DaemonLock>>;

/// Acquires the lock; returns `None` when another process holds it.
///
/// # Errors
/// The file can't be opened or locked.
pub fn acquire(path: &Path) -> io::Result<Option<DaemonLock>> {
    let Ok(directory) = lock_directory(path.parent().unwrap_or(Path::new("/")))? else {
        return Ok(None);
    };
    let Some(file) = lock_file(path)? else { return Ok(None) };
    Ok(Some(DaemonLock { directory, file, path: path.to_owned() }))
}

/// Acquires the lock as [`acquire`] does, and waits that long for a holder that is about to release
/// it.
///
/// # Errors
/// As [`acquire`].
pub fn acquire_within(path: &Path, wait: Duration) -> io::Result<Option<DaemonLock>> {
    let deadline = pipemux_proto::deadline::after(wait);
    loop {
        let acquired = acquire(path)?;
        if acquired.is_some() || Instant::now() >= deadline {
            return Ok(acquired);
        }
        thread::sleep(Duration::from_millis(LOCK_RETRY_MS));
    }
}

/// Another process holds the lock.
#[derive(Debug)]
struct IsHeld;

fn lock_directory(path: &Path) -> io::Result<Result<Option<File>, IsHeld>> {
    loop {
        let directory = File::open(path)?;
        match directory.try_lock() {
            Ok(()) if is_at(&directory, path) => return Ok(Ok(Some(directory))),
            // It was replaced before it was locked.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Err(IsHeld)),
            // Then the lock on the file has to suffice.
            Err(TryLockError::Error(_)) => return Ok(Ok(None)),
        }
    }
}

fn lock_file(path: &Path) -> io::Result<Option<File>> {
    loop {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The previous holder removes the file while it holds the lock. A file that was opened
        // before that and locked after it isn't the one that others find.
        if is_at(&file, path) {
            return Ok(Some(file));
        }
    }
}

/// True when an open file or directory is what the path leads to.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(found)) = (file.metadata(), fs::metadata(path)) else { return false };
    (held.dev(), held.ino()) == (found.dev(), found.ino())
}

impl DaemonLock {
    /// Writes the socket's path as the first line of the file. A client whose variables lead
    /// elsewhere finds the daemon by it.
    ///
    /// # Errors
    /// The line can't be written.
    pub fn write_socket_path(&self, socket: &Path) -> io::Result<()> {
        let line = [socket.as_os_str().as_encoded_bytes(), b"\n"].concat();
        self.file.write_all_at(&line, 0)?;
        self.file.set_len(line.len() as u64)
    }

    /// True while the path of the directory leads to the one that is locked.
    pub fn has_its_directory(&self) -> bool {
        let path = self.path.parent().unwrap_or(Path::new("/"));
        self.directory.as_ref().is_none_or(|directory| is_at(directory, path))
    }

    /// Makes the file again when it is gone, and writes the socket's path into it; returns whether
    /// it did. The directory must be its own.
    ///
    /// # Errors
    /// The file can't be made or locked; another process has locked it.
    pub fn restore(&mut self, socket: &Path) -> io::Result<bool> {
        if self.is_at_its_path() {
            return Ok(false);
        }
        let held = || io::Error::new(io::ErrorKind::WouldBlock, "another process has locked it");
        self.file = lock_file(&self.path)?.ok_or_else(held)?;
        self.write_socket_path(socket)?;
        Ok(true)
    }

    fn is_at_its_path(&self) -> bool {
        is_at(&self.file, &self.path)
    }
}

impl Drop for DaemonLock {
    fn drop(&mut self) {
        if self.is_at_its_path() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    #[test]
    fn second_holder_is_refused_and_no_file_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        let first = acquire(&path).unwrap().unwrap();
        assert!(acquire(&path).unwrap().is_none());
        drop(first);
        assert!(!path.exists());
        drop(acquire(&path).unwrap().unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn removing_the_file_lets_nobody_else_in_and_it_comes_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        let mut first = acquire(&path).unwrap().unwrap();
        assert!(!first.restore(Path::new("/run/a.sock")).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(acquire(&path).unwrap().is_none());
        assert!(first.restore(Path::new("/run/a.sock")).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "/run/a.sock\n");
        assert!(acquire(&path).unwrap().is_none() && first.has_its_directory());
        // Another directory of that name has another lock.
        fs::rename(directory.path(), directory.path().with_extension("moved")).unwrap();
        fs::create_dir(directory.path()).unwrap();
        assert!(!first.has_its_directory());
        let second = acquire(&path).unwrap().unwrap();
        drop(first);
        assert!(path.exists() && second.has_its_directory());
        fs::remove_dir_all(directory.path().with_extension("moved")).unwrap();
    }

    #[test]
    fn socket_path_replaces_the_old_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        fs::write(&path, "of a daemon that was killed, and rather long\n").unwrap();
        let lock = acquire(&path).unwrap().unwrap();
        lock.write_socket_path(Path::new("/run/a.sock")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "/run/a.sock\n");
    }

    #[test]
    fn lock_has_one_holder_while_its_file_comes_and_goes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        let (holders, taken) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        if let Some(lock) = acquire(&path).unwrap() {
                            assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                            taken.fetch_add(1, Ordering::SeqCst);
                            holders.fetch_sub(1, Ordering::SeqCst);
                            drop(lock);
                        }
                    }
                });
            }
        });
        assert!(taken.load(Ordering::SeqCst) > 0);
        assert!(!path.exists());
    }
}
