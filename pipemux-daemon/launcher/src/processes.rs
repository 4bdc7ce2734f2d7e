//! The machine's processes, as far as they concern the launcher.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use crate::mark::{MarkOrigin, ProcessMark};
pub(crate) use crate::sys::{kill_if, mark_of};

/// The maximum number of visited ancestors of a process.
const ANCESTORS_MAX: usize = 1024;

/// Counts processes by mark, including those that ended and aren't reaped.
pub(crate) fn count_marks() -> HashMap<ProcessMark, u64> {
    let mut counts = HashMap::new();
    for mark in all_pids().filter_map(mark_of) {
        *counts.entry(mark).or_default() += 1;
    }
    counts
}

/// Kills every process whose mark is `wanted`, and those that they start meanwhile, for at most
/// `bound`.
pub(crate) fn kill_marked(wanted: impl Fn(ProcessMark) -> bool, bound: Duration) {
    let until = Instant::now() + bound;
    let mut killed = HashSet::new();
    loop {
        let before = killed.len();
        for pid in all_pids() {
            if !killed.contains(&pid) && kill_if(pid, &wanted) {
                killed.insert(pid);
            }
        }
        if killed.len() == before || Instant::now() > until {
            return;
        }
    }
}

/// Returns how many processes and threads the machine has; the kernel tells this in one line.
pub(crate) fn total() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').nth(3)?.split('/').nth(1)?.parse().ok()
}

/// Returns every process with a mark of that origin, without those that ended and aren't reaped.
pub(crate) fn with_origin(origin: MarkOrigin) -> Vec<i32> {
    let of = |pid: &i32| mark_of(*pid).is_some_and(|mark| mark.is_of(origin));
    all_pids()
        .filter(of)
        .filter(|pid| state_and_parent(*pid).is_some_and(|(state, _)| state != "Z"))
        .collect()
}

/// Returns this process's children, including those that ended and aren't reaped.
pub(crate) fn children() -> Vec<i32> {
    let mut found = Vec::new();
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return found };
    for task in tasks.flatten() {
        let Ok(text) = fs::read_to_string(task.path().join("children")) else {
            // A kernel that was built without this file.
            let own = nix::unistd::getpid().as_raw();
            return all_pids().filter(|pid| parent(*pid) == Some(own)).collect();
        };
        found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    found
}

/// True if `pid` is `ancestor` or one of its descendants.
pub(crate) fn is_descendant_or_self(pid: i32, ancestor: i32) -> bool {
    // Bounded, because the tree may change meanwhile.
    std::iter::successors(Some(pid), |pid| parent(*pid))
        .take(ANCESTORS_MAX)
        .any(|pid| pid == ancestor)
}

/// Returns the parent of a process.
fn parent(pid: i32) -> Option<i32> {
    state_and_parent(pid).map(|(_, parent)| parent)
}

/// Returns the state and the parent of a process.
fn state_and_parent(pid: i32) -> Option<(String, i32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name before this may contain anything.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

/// Returns the command line of a process for display, at most `max` characters of it.
pub(crate) fn command_line(pid: i32, max: usize) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace(|c: char| c.is_control(), " ");
    text.trim_end().chars().take(max).collect()
}

pub(crate) fn all_pids() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
