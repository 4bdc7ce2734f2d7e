//! The lock that allows one daemon per state directory.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A lock that is held; dropping it removes the file and releases the lock.
#[derive(Debug)]
pub struct DaemonLock {
    file: File,
    path: PathBuf,
}

/// Acquires the lock; returns `None` when another process holds it.
///
/// # Errors
/// The file can't be opened or locked.
pub fn acquire(path: &Path) -> io::Result<Option<DaemonLock>> {
    loop {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let lock = DaemonLock { file, path: path.to_owned() };
        // The previous holder removes the file while it holds the lock. A file that was opened before that
        // and locked after it isn't the one that others find.
        if lock.is_at_its_path() {
            return Ok(Some(lock));
        }
    }
}

impl DaemonLock {
    /// Writes the socket's path as the first line of the file. A client whose variables lead elsewhere finds
    /// the daemon by it.
    ///
    /// # Errors
    /// The line can't be written.
    pub fn write_socket_path(&self, socket: &Path) -> io::Result<()> {
        let line = [socket.as_os_str().as_encoded_bytes(), b"\n"].concat();
        self.file.write_all_at(&line, 0)?;
        self.file.set_len(line.len() as u64)
    }

    fn is_at_its_path(&self) -> bool {
        let (Ok(held), Ok(found)) = (self.file.metadata(), fs::symlink_metadata(&self.path)) else {
            return false;
        };
        (held.dev(), held.ino()) == (found.dev(), found.ino())
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
    fn socket_path_replaces_the_old_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        fs::write(&path, "of a daemon that was killed, and rather long\n").unwrap();
        let lock = acquire(&path).unwrap().unwrap();
        lock.write_socket_path(Path::new("/run/a.sock")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "/run/a.sock\n");
    }

    #[test]
    fn dropped_lock_leaves_a_replaced_file_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("daemon.lock");
        let first = acquire(&path).unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        let second = acquire(&path).unwrap().unwrap();
        drop(first);
        assert!(path.exists());
        assert!(acquire(&path).unwrap().is_none());
        drop(second);
        assert!(!path.exists());
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
