//! This process: its descriptors, priority and signal mask.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use nix::libc;
use nix::sys::signal::SigSet;

/// Takes ownership of a descriptor that the kernel just created for this process.
pub(crate) fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: called only with what a system call just returned: open, and known to nobody else.
    #[allow(unsafe_code)]
    unsafe {
        OwnedFd::from_raw_fd(fd)
    }
}

/// Sets this process's priority as far as that is allowed: 0 is the default, -20 the highest.
pub(crate) fn set_priority(nice: i32) {
    // SAFETY: takes plain numbers. When it isn't allowed the priority stays as it is, which is no
    // error.
    #[allow(unsafe_code)]
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, nice);
    }
}

/// Unblocks all signals for this thread, whatever the process that started it had blocked.
///
/// # Errors
/// As `pthread_sigmask`.
pub(crate) fn unblock_signals() -> io::Result<()> {
    Ok(SigSet::empty().thread_set_mask()?)
}
