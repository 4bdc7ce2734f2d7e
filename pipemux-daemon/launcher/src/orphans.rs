//! Kills descendants until none is left.

use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgid, getpgrp};

use crate::mark::ProcessMark;
use crate::processes;

/// Pause between two rounds: re-parenting after a kill takes a moment.
const ROUND: Duration = Duration::from_millis(2);

/// Makes this process the parent of descendants that lose theirs. This exists on Linux only;
/// elsewhere `init` adopts them, and the launcher relies on process groups.
///
/// # Errors
/// The kernel refused.
pub fn adopt() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)
        .map_err(|error| format!("can't become subreaper: {error}"))?;
    Ok(())
}

/// Kills and reaps every child, including those adopted meanwhile, the given groups, and every
/// process with a mark that is `own`; returns whether none is left when `bound` has passed. The
/// caller must be single-threaded or must not spawn anything meanwhile.
///
/// Only children are signalled by process id, with their groups: until this function reaps them
/// nothing else can have their ids. Their own children are adopted and killed next.
pub fn end_all(groups: &[Pid], own: impl Fn(ProcessMark) -> bool, bound: Duration) -> bool {
    let until = Instant::now() + bound;
    for group in groups {
        let _ = killpg(*group, Signal::SIGKILL);
    }
    loop {
        processes::kill_marked(&own, bound);
        for child in processes::children() {
            kill_with_group(child, |_| false);
        }
        if reap_all() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        thread::sleep(ROUND);
    }
}

/// Reaps a child if it has ended; returns whether it had.
pub(crate) fn reap(pid: i32) -> bool {
    match waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG)) {
        Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD | Errno::EINTR) => false,
        // This includes `EINVAL`: a signal that nix has no name for.
        Ok(_) | Err(_) => true,
    }
}

/// Kills a child that isn't reaped, and its group unless that is this process's own or `spared`.
pub(crate) fn kill_with_group(child: i32, spared: impl Fn(i32) -> bool) {
    let child = Pid::from_raw(child);
    let _ = kill(child, Signal::SIGKILL);
    // The whole group is killed at once, so that a process that forks and exits repeatedly can't
    // escape in between.
    match getpgid(Some(child)) {
        Ok(group) if group != getpgrp() && !spared(group.as_raw()) => {
            let _ = killpg(group, Signal::SIGKILL);
        }
        _ => {}
    }
}

/// Reaps every child that has ended; returns whether no child is left.
fn reap_all() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return false,
            Err(Errno::ECHILD) => return true,
            Ok(_) | Err(_) => {}
        }
    }
}
