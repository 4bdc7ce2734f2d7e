//! Children that ended: found, reaped, and what they used.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use nix::libc;

/// The resource usage of a process during its lifetime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Processor time.
    pub cpu: Duration,
    /// Peak resident memory, in bytes.
    pub memory: u64,
}

/// Returns a child that ended and isn't reaped; until it is, nothing else can have its process id.
///
/// `nix` has no such call on macOS, and on Linux it can't name the process id of a child that a
/// real-time signal ended.
///
/// # Errors
/// As `waitid`; having no children is `None`.
pub(crate) fn next_dead() -> io::Result<Option<i32>> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is valid for writes. All zeroes is a valid `siginfo_t`, so it may be read
    // whether or not the call filled it. Both zeroed and filled by `waitid`, `si_pid` is the field
    // in use.
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

/// Reaps a child that ended; returns how it ended and what it used.
///
/// # Errors
/// As `wait4`.
pub(crate) fn reap(pid: i32) -> io::Result<(ExitStatus, Usage)> {
    let mut status = 0;
    let mut used = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both are valid for writes, and all zeroes is a valid `rusage`.
    #[allow(unsafe_code)]
    let (result, used) = unsafe {
        let result = libc::wait4(pid, &raw mut status, 0, used.as_mut_ptr());
        (result, used.assume_init())
    };
    if result != pid {
        return Err(io::Error::last_os_error());
    }
    let seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec;
    let micros = used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    // Linux reports KiB, macOS bytes.
    let unit = if cfg!(target_os = "linux") { 1024 } else { 1 };
    let usage = Usage {
        cpu: Duration::from_secs(seconds as u64) + Duration::from_micros(micros as u64),
        memory: used.ru_maxrss as u64 * unit,
    };
    Ok((ExitStatus::from_raw(status), usage))
}
