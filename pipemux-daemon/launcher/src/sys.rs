//! The few calls that need `unsafe`.

#[cfg(target_os = "linux")]
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
#[cfg(not(target_os = "linux"))]
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
#[cfg(not(target_os = "linux"))]
use std::process::Command;
use std::process::ExitStatus;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::SigSet;
use nix::unistd::{Pid, getpid, setsid};
#[cfg(target_os = "linux")]
use nix::{
    errno::Errno,
    sched::{CloneFlags, clone},
    sys::signal::{SigHandler, SigmaskHow, Signal, kill, signal},
    unistd::chdir,
};

#[cfg(target_os = "linux")]
use crate::child::{Place, Program, Strings};
use crate::mark::Mark;
use crate::message::Limits;

/// Takes a descriptor that the kernel just made for this process.
pub(crate) fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: called only with what a system call just returned: open, and known to nobody else.
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

/// Reaps a child that ended; gives how, and what it used.
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
    // In KiB on Linux, in bytes on macOS.
    let unit = if cfg!(target_os = "linux") { 1024 } else { 1 };
    let usage = Usage {
        cpu: Duration::from_secs(seconds as u64) + Duration::from_micros(micros as u64),
        memory: used.ru_maxrss as u64 * unit,
    };
    Ok((ExitStatus::from_raw(status), usage))
}

/// What a process used in its life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Processor time.
    pub cpu: Duration,
    /// Bytes of memory, at most.
    pub memory: u64,
}

/// Sets this process's priority as far as it may: 0 is what processes have by default, -20 the highest.
pub(crate) fn set_priority(nice: i32) {
    // SAFETY: takes plain numbers. That it isn't allowed is no error: it stays as it is then.
    #[allow(unsafe_code)]
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, nice);
    }
}

/// The mark of a process; none when it has none, is gone or isn't ours to signal.
#[cfg(target_os = "linux")]
pub(crate) fn mark_of(pid: i32) -> Option<Mark> {
    let mut limit = MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: nothing is set, `limit` is valid for writes, and all zeroes is a valid `rlimit`.
    #[allow(unsafe_code)]
    let (result, limit) = unsafe {
        let result = libc::prlimit(pid, libc::RLIMIT_LOCKS, std::ptr::null(), limit.as_mut_ptr());
        (result, limit.assume_init())
    };
    if result == 0 { Mark::read(limit.rlim_cur) } else { None }
}

/// Kills a process and its group if it carries such a mark; true when it did. Never another one that came by its
/// number meanwhile.
#[cfg(target_os = "linux")]
pub(crate) fn kill_if(pid: i32, wanted: impl Fn(Mark) -> bool) -> bool {
    if !mark_of(pid).is_some_and(&wanted) {
        return false;
    }
    // SAFETY: takes plain numbers; gives a descriptor that is nobody else's, or -1.
    #[allow(unsafe_code)]
    let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    // Looked at once the handle holds the process: what is read is its mark, or the process is gone and
    // the handle signals nobody.
    let carries = mark_of(pid).is_some_and(wanted);
    if handle < 0 {
        let known = io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS);
        if carries && !known {
            // Linux before 5.3 has no handles.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        return carries;
    }
    let handle = own(handle as RawFd);
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
        // Its group at once, with what it has just forked: that is of the same life. Linux before 6.9
        // doesn't know how.
        if send(WHOLE_GROUP) != 0 {
            send(0);
        }
    }
    carries
}

/// `PIDFD_SIGNAL_PROCESS_GROUP`
#[cfg(target_os = "linux")]
const WHOLE_GROUP: libc::c_uint = 1 << 2;

/// Starts a process that becomes that program; returns its process id. The launcher stands still until it has,
/// or can't.
///
/// # Errors
/// What stands in the way; there is no process then.
#[cfg(target_os = "linux")]
pub(crate) fn start(
    program: &Program,
    places: &[Place],
    limits: Limits,
    mark: Mark,
    stack: &mut [u8],
) -> io::Result<i32> {
    let launcher = getpid();
    let failure = AtomicI32::new(0);
    // No signal is handled in the child while it has this process's memory.
    let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let child = || {
        let why = match prepare(program, places, limits, mark, launcher) {
            Ok(()) => program.execute() as i32,
            Err(error) => error.raw_os_error().unwrap_or(libc::EINVAL),
        };
        failure.store(why, Ordering::Relaxed);
        127
    };
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: the child has a stack of its own, and this process has one thread, which the kernel lets go on
    // only when the child has another program or has ended: what the child borrows outlives its use. The
    // child makes plain system calls on what is there already; it neither allocates, locks nor panics.
    #[allow(unsafe_code)]
    let child = unsafe { clone(Box::new(child), stack, flags, Some(libc::SIGCHLD)) };
    mask.thread_set_mask()?;
    let pid = child?.as_raw();
    match failure.load(Ordering::Relaxed) {
        0 => Ok(pid),
        why => {
            // It has ended: whoever waits for children must not meet it.
            reap(pid)?;
            Err(io::Error::from_raw_os_error(why))
        }
    }
}

/// Lets all signals through to this thread, whatever its starter blocked.
///
/// # Errors
/// As `pthread_sigmask`.
pub(crate) fn unblock_signals() -> io::Result<()> {
    Ok(SigSet::empty().thread_set_mask()?)
}

/// What the child does before its program: descriptors in their places, a session of its own, the limits and the
/// mark, and death with the launcher.
#[cfg(target_os = "linux")]
fn prepare(
    program: &Program,
    places: &[Place],
    limits: Limits,
    mark: Mark,
    launcher: Pid,
) -> io::Result<()> {
    // First: the limit of open files may be below what this needs.
    for (fd, place) in places {
        // SAFETY: plain numbers; what the place held before is the child's own copy.
        #[allow(unsafe_code)]
        Errno::result(unsafe { libc::dup2(*fd, *place) })?;
    }
    let mut directories = program.directories.iter();
    if !directories.any(|directory| chdir(directory.as_c_str()).is_ok()) {
        chdir(c"/")?;
    }
    // Not only a group: where the scheduler is fair to sessions, a flood of processes here leaves the launcher
    // its share.
    setsid()?;
    set_priority(0);
    limit_child(limits, mark)?;
    die_with_parent(launcher)?;
    // Whatever whoever started the daemon ignores or blocks is nothing to an app.
    for any in Signal::iterator().filter(|any| !matches!(any, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: the default is no handler of this process.
        #[allow(unsafe_code)]
        unsafe { signal(any, SigHandler::SigDfl) }?;
    }
    unblock_signals()
}

/// Lets a program take this process's place; returns only when it can't, with why.
#[cfg(target_os = "linux")]
pub(crate) fn execute(file: &CStr, args: &Strings, env: &Strings) -> Errno {
    // SAFETY: all are texts that end with zero, and arrays of such that end with null.
    #[allow(unsafe_code)]
    unsafe {
        libc::execve(file.as_ptr(), args.as_ptr(), env.as_ptr());
    }
    Errno::last()
}

/// What is done in the child between fork and exec: a session of its own, the limits and the mark, and
/// death with the launcher.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prepare(command: &mut Command, limits: Limits, mark: Mark) {
    let launcher = getpid();
    // SAFETY: between fork and exec the hook makes plain system calls; it neither allocates nor locks,
    // and this process has one thread.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            set_priority(0);
            limit_child(limits, mark)?;
            die_with_parent(launcher)
        });
    }
}

fn limit_child(limits: Limits, mark: Mark) -> io::Result<()> {
    set_limit(Resource::RLIMIT_CORE, Some(0), 0)?;
    set_limit(Resource::RLIMIT_DATA, limits.memory, 0)?;
    set_limit(Resource::RLIMIT_NOFILE, limits.files, 0)?;
    // Told by SIGXCPU first, which can be caught; a second later by SIGKILL.
    set_limit(Resource::RLIMIT_CPU, limits.cpu, 1)?;
    #[cfg(target_os = "linux")]
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_LOCKS)
        && hard >= mark.number()
    {
        // Only the soft one, so that a daemon among its descendants can mark its own apps.
        setrlimit(Resource::RLIMIT_LOCKS, mark.number(), hard)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
    Ok(())
}

/// Sets both limits, or what is allowed of them; the hard one higher by `grace`.
fn set_limit(resource: Resource, limit: Option<u64>, grace: u64) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let (_, most) = getrlimit(resource)?;
    let hard = limit.saturating_add(grace).min(most);
    Ok(setrlimit(resource, limit.min(hard), hard)?)
}

/// Lets the kernel kill the child when this thread, and so the launcher, is lost.
#[cfg(target_os = "linux")]
fn die_with_parent(launcher: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    if nix::unistd::getppid() != launcher {
        // It was lost before the call above.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Elsewhere there is no such signal: apps see their connection close.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: Pid) -> io::Result<()> {
    Ok(())
}
