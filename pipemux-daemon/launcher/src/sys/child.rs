//! The steps of a child process between its start and its program.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::RawFd;
#[cfg(not(target_os = "linux"))]
use std::os::unix::process::CommandExt;
#[cfg(not(target_os = "linux"))]
use std::process::Command;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicI32, Ordering};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{Pid, getpid, setsid};
#[cfg(target_os = "linux")]
use nix::{
    errno::Errno,
    libc,
    sched::{CloneFlags, clone},
    sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, signal},
    unistd::chdir,
};

#[cfg(target_os = "linux")]
use super::confine::confine;
#[cfg(target_os = "linux")]
use super::exec::Program;
use super::process::set_priority;
#[cfg(target_os = "linux")]
use super::process::unblock_signals;
#[cfg(target_os = "linux")]
use super::wait::reap;
#[cfg(target_os = "linux")]
use crate::confine::{Confinement, StartSecret};
use crate::mark::ProcessMark;
use crate::message::Limits;

/// Size of the child's own stack, in bytes.
#[cfg(target_os = "linux")]
pub(crate) const STACK_SIZE: usize = 64 * 1024;

/// A descriptor of the launcher, and its number in the child.
#[cfg(target_os = "linux")]
pub(crate) type FdMapping = (RawFd, RawFd);

/// What a child is set up with before it becomes its program. The descriptors are the launcher's,
/// which keeps them open until the child has its program.
#[cfg(target_os = "linux")]
pub(crate) struct ChildSetup {
    pub mappings: Vec<FdMapping>,
    pub limits: Limits,
    pub mark: ProcessMark,
    pub confinement: Option<Confinement>,
    /// The descriptor to which the child writes to join its control group.
    pub cgroup: Option<RawFd>,
}

/// Starts a process that becomes the program; returns its process id. The launcher is suspended
/// until the program runs or has failed to start. The `secret` is that of the filter that this
/// thread runs under.
///
/// # Errors
/// Why the program can't be started; no process is left then.
#[cfg(target_os = "linux")]
pub(crate) fn start(
    program: &Program,
    setup: &ChildSetup,
    stack: &mut [u8],
    secret: StartSecret,
) -> io::Result<i32> {
    let launcher = getpid();
    let failure = AtomicI32::new(0);
    // The child must handle no signal while it uses this process's memory.
    let mask = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let child = || {
        let error = match prepare(program, setup, launcher) {
            Ok(()) => program.execute(secret) as i32,
            Err(error) => error.raw_os_error().unwrap_or(libc::EINVAL),
        };
        failure.store(error, Ordering::Relaxed);
        127
    };
    let flags = CloneFlags::CLONE_VM | CloneFlags::CLONE_VFORK;
    // SAFETY: the child has a stack of its own. The kernel resumes this thread only when the child
    // has another program or has ended, and the launcher's other threads wait meanwhile, so what
    // the child borrows outlives its use. The child makes plain system calls with what was
    // prepared; it doesn't allocate, lock or panic.
    #[allow(unsafe_code)]
    let child = unsafe { clone(Box::new(child), stack, flags, Some(libc::SIGCHLD)) };
    mask.thread_set_mask()?;
    let pid = child?.as_raw();
    match failure.load(Ordering::Relaxed) {
        0 => Ok(pid),
        error => {
            // The child has ended. Reaped here, it never shows up among the apps' processes.
            reap(pid)?;
            Err(io::Error::from_raw_os_error(error))
        }
    }
}

/// Prepares the child for its program: descriptors, working directory, a session of its own, limits
/// and the mark, death with the launcher, default signal handling, and its confinement.
#[cfg(target_os = "linux")]
fn prepare(program: &Program, setup: &ChildSetup, launcher: Pid) -> io::Result<()> {
    // This comes first: the limit of open files may be too low for it later.
    for (fd, target) in &setup.mappings {
        // SAFETY: plain numbers; a descriptor that `target` named before is the child's own copy.
        #[allow(unsafe_code)]
        Errno::result(unsafe { libc::dup2(*fd, *target) })?;
    }
    let mut directories = program.directories.iter();
    if !directories.any(|directory| chdir(directory.as_c_str()).is_ok()) {
        chdir(c"/")?;
    }
    // A session rather than only a group: where the scheduler is fair to sessions, a flood of
    // processes in this one leaves the launcher its share.
    setsid()?;
    set_priority(0);
    if let Some(group) = setup.cgroup {
        // SAFETY: the launcher keeps it open, and the text outlives the call.
        #[allow(unsafe_code)]
        Errno::result(unsafe { libc::write(group, c"0".as_ptr().cast(), 1) })?;
    }
    limit_child(setup.limits, setup.mark)?;
    die_with_parent(launcher)?;
    // The app must not inherit which signals the daemon's starter ignored or blocked.
    for any in Signal::iterator().filter(|any| !matches!(any, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: the default is no handler of this process.
        #[allow(unsafe_code)]
        unsafe { signal(any, SigHandler::SigDfl) }?;
    }
    unblock_signals()?;
    // This comes last: what was done above is refused from here on.
    setup.confinement.as_ref().map_or(Ok(()), confine)
}

/// Has the child, between fork and exec, take a session of its own, the limits and the mark, and
/// death with the launcher.
#[cfg(not(target_os = "linux"))]
pub(crate) fn prepare(command: &mut Command, limits: Limits, mark: ProcessMark) {
    let launcher = getpid();
    // SAFETY: between fork and exec the hook makes plain system calls; it neither allocates nor
    // locks, and this process has one thread.
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

fn limit_child(limits: Limits, mark: ProcessMark) -> io::Result<()> {
    set_limit(Resource::RLIMIT_CORE, Some(0), 0)?;
    set_limit(Resource::RLIMIT_DATA, limits.memory, 0)?;
    set_limit(Resource::RLIMIT_NOFILE, limits.files, 0)?;
    // SIGXCPU comes first and can be caught; SIGKILL follows a second later.
    set_limit(Resource::RLIMIT_CPU, limits.cpu, 1)?;
    #[cfg(target_os = "linux")]
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_LOCKS)
        && hard >= mark.number()
        && soft != mark.number()
    {
        // Only the soft limit, so that a daemon among the app's descendants can mark its own apps.
        setrlimit(Resource::RLIMIT_LOCKS, mark.number(), hard)?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
    Ok(())
}

/// Gives this process a mark while something is done, so that the children that begin then inherit
/// it.
#[cfg(target_os = "linux")]
pub(crate) fn with_mark<T>(
    mark: ProcessMark,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_LOCKS)?;
    if hard < mark.number() {
        return work();
    }
    setrlimit(Resource::RLIMIT_LOCKS, mark.number(), hard)?;
    let result = work();
    setrlimit(Resource::RLIMIT_LOCKS, soft, hard)?;
    result
}

/// Sets both limits, or as much of them as is allowed; the hard limit is higher by `grace`.
fn set_limit(resource: Resource, limit: Option<u64>, grace: u64) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let (_, max) = getrlimit(resource)?;
    let hard = limit.saturating_add(grace).min(max);
    Ok(setrlimit(resource, limit.min(hard), hard)?)
}

/// Has the kernel kill the child when this thread, and so the launcher, is lost.
#[cfg(target_os = "linux")]
fn die_with_parent(launcher: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    if nix::unistd::getppid() != launcher {
        // The launcher was lost before the call above.
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Does nothing: there is no such signal here, and apps see their connection close.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: Pid) -> io::Result<()> {
    Ok(())
}
