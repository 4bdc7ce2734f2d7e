//! Killing descendants until none is left.

use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

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

/// Kills and reaps every child, those that are adopted meanwhile too, and the given groups; returns
/// whether none is left in time. To be called by a single-threaded process, or one that spawns nothing
/// meanwhile.
///
/// Only children are signalled, with their groups: until they are reaped, which happens here, their
/// numbers can't be anyone else's. Their children become ours, and are next.
pub fn end_all(groups: &[Pid], bound: Duration) -> bool {
    let until = Instant::now() + bound;
    for group in groups {
        let _ = killpg(*group, Signal::SIGKILL);
    }
    loop {
        kill_children();
        if reap_all() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        thread::sleep(ROUND);
    }
}

/// True when there is no child at all.
fn reap_all() -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(nix::sys::wait::WaitStatus::StillAlive) => return false,
            Err(Errno::ECHILD) => return true,
            // Reaped; with `EINVAL` too: a signal that nix has no name for.
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(target_os = "linux")]
fn kill_children() {
    use nix::sys::signal::kill;
    use nix::unistd::{getpgid, getpgrp};

    for child in children() {
        let _ = kill(child, Signal::SIGKILL);
        // A whole group at once: one that forks and ends, again and again, can't slip away in between.
        match getpgid(Some(child)) {
            Ok(group) if group != getpgrp() => {
                let _ = killpg(group, Signal::SIGKILL);
            }
            _ => {}
        }
    }
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let mut found = Vec::new();
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return found };
    for task in tasks.flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        found.extend(
            text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw),
        );
    }
    found
}

#[cfg(not(target_os = "linux"))]
fn kill_children() {}
