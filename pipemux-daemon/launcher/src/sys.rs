//! The few calls that need `unsafe`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process::Command;

use nix::libc;

/// Takes a descriptor that the kernel just made for this process.
pub(crate) fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: called only with what `recvmsg` returned: open, and known to nobody else.
    #[allow(unsafe_code)]
    unsafe {
        OwnedFd::from_raw_fd(fd)
    }
}

/// A child that ended and isn't reaped: its process id can't be anyone else's until it is.
///
/// `nix` has no such call on macOS, and on Linux it can't tell the process id of a child that a
/// real-time signal ended.
///
/// # Errors
/// As `waitid`; having no children is `None`.
pub(crate) fn next_dead() -> io::Result<Option<i32>> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is valid for writes; all zeroes is a valid `siginfo_t`, so it may be read whether
    // or not the call filled it. Zeroed or filled by `waitid`, `si_pid` is the field in use.
    #[allow(unsafe_code)]
    let (result, pid) = unsafe {
        let result = libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags);
        (result, info.assume_init().si_pid())
    };
    match result {
        0 => Ok((pid != 0).then_some(pid)),
        _ => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ECHILD) => Ok(None),
            error => Err(error),
        },
    }
}

/// Lets the kernel kill the child when this thread, and so the launcher, is lost.
#[cfg(target_os = "linux")]
pub(crate) fn die_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    use nix::sys::prctl::set_pdeathsig;
    use nix::sys::signal::Signal;
    use nix::unistd::{getpid, getppid};

    let launcher = getpid();
    // SAFETY: between fork and exec the hook makes two plain system calls; it neither allocates nor
    // locks, and this process has one thread.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(Signal::SIGKILL)?;
            if getppid() != launcher {
                // It was lost before the call above.
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            Ok(())
        });
    }
}

/// Elsewhere there is no such signal: apps see their connection close.
#[cfg(not(target_os = "linux"))]
pub(crate) fn die_with_parent(_: &mut Command) {}
