//! Read leases: while one holds, the kernel lets nobody open the file for writing.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for another process that has the file open for writing.
const WAIT: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(2);

/// A lease that ends when dropped; holds no file where leases don't exist.
#[derive(Debug)]
pub(crate) struct Lease<'f> {
    file: Option<&'f File>,
}

impl<'f> Lease<'f> {
    /// Takes a lease. None if somebody has the file open for writing, and still has after a short
    /// wait.
    pub(crate) fn take(file: &'f File) -> Option<Self> {
        let deadline = Instant::now() + WAIT;
        loop {
            match set(file, true) {
                Ok(()) => return Some(Self { file: Some(file) }),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // The file system has none, or the file is somebody else's.
                Err(_) => return Some(Self { file: None }),
            }
            if Instant::now() >= deadline {
                return None;
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.file {
            let _ = set(file, false);
        }
    }
}

#[cfg(target_os = "linux")]
fn set(file: &File, lease: bool) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    // Whoever wants to write has the kernel send this signal, which would end the process.
    static HANDLED: OnceLock<bool> = OnceLock::new();
    let handled = HANDLED.get_or_init(|| {
        signal_hook::flag::register(libc::SIGIO, Arc::new(AtomicBool::new(false))).is_ok()
    });
    if !handled {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let kind = if lease { libc::F_RDLCK } else { libc::F_UNLCK };
    // SAFETY: a number of an open descriptor and plain numbers; no memory is touched.
    #[expect(unsafe_code, reason = "no library has this call")]
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(not(target_os = "linux"))]
fn set(_: &File, _: bool) -> io::Result<()> {
    let _ = (AtomicBool::new(false), Arc::new(()), OnceLock::<bool>::new());
    Err(io::ErrorKind::Unsupported.into())
}
