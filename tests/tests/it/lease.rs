//! A regular file that hangs: while a lease is held on it, each `open` waits, as it does on a
//! network file system whose server is down.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::libc;

/// Makes a file hang until it is dropped. The system gives up waiting for the holder after 45
/// seconds.
pub struct Lease(File);

impl Lease {
    /// Takes the lease. Nobody may have the file open.
    pub fn take(path: &Path) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(path).expect("the file opens");
        // SAFETY: these calls pass numbers only, and the descriptor is open.
        #[allow(unsafe_code)]
        let taken = unsafe {
            let taken = libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK);
            // The signal that asks the holder to let go would end this process.
            libc::fcntl(file.as_raw_fd(), libc::F_SETOWN, 0);
            taken
        };
        assert_eq!(taken, 0, "{path:?}: {}", std::io::Error::last_os_error());
        Self(file)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // SAFETY: as above.
        #[allow(unsafe_code)]
        unsafe {
            libc::fcntl(self.0.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK);
        }
    }
}
