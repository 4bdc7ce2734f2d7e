//! Killing descendants until none is left.

use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgid, getpgrp};

use crate::mark::Origin;
use crate::processes;

/// Between two rounds: a killed process needs a moment to become its children's former parent.
const ROUND: Duration = Duration::from_millis(2);

/// Makes this process the parent of descendants that lose theirs. Linux only; elsewhere they go to
/// `init`, and process groups have to do.
///
/// # Errors
/// The kernel refused.
pub fn adopt() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    nix::sys::prctl::set_child_subreaper(true)
        .map_err(|error| format!("can't become subreaper: {error}"))?;
    Ok(())
}

/// Kills and reaps every child, those that are adopted meanwhile too, the given groups, and every process
/// with a mark of `origin`; returns whether none is left in time. To be called by a single-threaded
/// process, or one that spawns nothing meanwhile.
///
/// Only children are signalled by their number, with their groups: until they are reaped, which happens
/// here, their numbers can't be anyone else's. Their children become ours, and are next.
pub fn end_all(groups: &[Pid], origin: Option<Origin>, bound: Duration) -> bool {
    let until = Instant::now() + bound;
    for group in groups {
        let _ = killpg(*group, Signal::SIGKILL);
    }
    loop {
        if let Some(origin) = origin {
            processes::kill_marked(|mark| mark.is_of(origin), bound);
        }
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

/// Reaps a child if it has ended; true when it had.
pub(crate) fn reap(pid: i32) -> bool {
    match waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG)) {
        Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD | Errno::EINTR) => false,
        // With `EINVAL` too: a signal that nix has no name for.
        Ok(_) | Err(_) => true,
    }
}

/// Kills a child that isn't reaped, and its group unless that is this process's own or spared.
pub(crate) fn kill_with_group(child: i32, spared: impl Fn(i32) -> bool) {
    let child = Pid::from_raw(child);
    let _ = kill(child, Signal::SIGKILL);
    // A whole group at once: one that forks and ends, again and again, can't slip away in between.
    match getpgid(Some(child)) {
        Ok(group) if group != getpgrp() && !spared(group.as_raw()) => {
            let _ = killpg(group, Signal::SIGKILL);
        }
        _ => {}
    }
}

/// True when there is no child at all.
fn reap_all() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return false,
            Err(Errno::ECHILD) => return true,
            Ok(_) | Err(_) => {}
        }
    }
}
