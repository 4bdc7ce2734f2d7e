//! The mark of a process, and killing processes by it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::process::own;
use crate::mark::ProcessMark;

/// `PIDFD_SIGNAL_PROCESS_GROUP`
const WHOLE_GROUP: libc::c_uint = 1 << 2;

/// Returns the mark of a process; `None` when it has none, is gone, or belongs to another user.
pub fn mark_of(pid: i32) -> Option<ProcessMark> {
    let mut limit = MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: nothing is set, `limit` is valid for writes, and all zeroes is a valid `rlimit`.
    #[allow(unsafe_code)]
    let (result, limit) = unsafe {
        let result = libc::prlimit(pid, libc::RLIMIT_LOCKS, std::ptr::null(), limit.as_mut_ptr());
        (result, limit.assume_init())
    };
    if result == 0 { ProcessMark::read(limit.rlim_cur) } else { None }
}

/// Returns a handle of a process, which becomes readable once the process has ended.
///
/// # Errors
/// There is no such process, no descriptor is left, or the system has no such handles.
pub fn process_handle(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes plain numbers; returns a descriptor that nobody else owns, or -1.
    #[allow(unsafe_code)]
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    match handle {
        -1 => Err(io::Error::last_os_error()),
        handle => Ok(own(handle as RawFd)),
    }
}

/// Kills a process and its group if its mark is `wanted`; returns whether it did. Never kills
/// another process that got the same process id meanwhile.
pub(crate) fn kill_if(pid: i32, wanted: impl Fn(ProcessMark) -> bool) -> bool {
    if !mark_of(pid).is_some_and(&wanted) {
        return false;
    }
    let handle = process_handle(pid);
    // The mark is read again now that the handle holds the process: it is either this process's
    // mark, or the process is gone and the handle signals nobody.
    let carries = mark_of(pid).is_some_and(wanted);
    let handle = match handle {
        Ok(handle) => handle,
        Err(error) => {
            if carries && error.raw_os_error() == Some(libc::ENOSYS) {
                // Linux before 5.3 has no handles for processes.
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
            }
            return carries;
        }
    };
    if carries {
        let send = |flags: libc::c_uint| {
            let info = std::ptr::null::<libc::siginfo_t>();
            // SAFETY: the descriptor is open, and no information goes along.
            #[allow(unsafe_code)]
            unsafe {
                libc::syscall(
                    libc::SYS_pidfd_send_signal,
                    handle.as_raw_fd(),
                    libc::SIGKILL,
                    info,
                    flags,
                )
            }
        };
        // The whole group at once includes what it has just forked, which belongs to the same
        // incarnation. Linux before 6.9 doesn't support that.
        if send(WHOLE_GROUP) != 0 {
            send(0);
        }
    }
    carries
}
