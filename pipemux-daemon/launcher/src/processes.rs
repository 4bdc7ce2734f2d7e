//! The processes of this machine, as far as they concern the launcher.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use crate::mark::{Mark, Origin};
pub(crate) use crate::sys::{kill_if, mark_of};

/// How many steps up an ancestor is looked for.
const DEEPEST: usize = 1024;

/// Every process with a mark, by mark; those of the dead that nobody has reaped count, too.
pub(crate) fn count_marks() -> HashMap<Mark, u64> {
    let mut counts = HashMap::new();
    for mark in all().filter_map(mark_of) {
        *counts.entry(mark).or_default() += 1;
    }
    counts
}

/// Kills every process with such a mark, and those that they start meanwhile, for at most that long.
pub(crate) fn kill_marked(wanted: impl Fn(Mark) -> bool, bound: Duration) {
    let until = Instant::now() + bound;
    let mut killed = HashSet::new();
    loop {
        let before = killed.len();
        for pid in all() {
            if !killed.contains(&pid) && kill_if(pid, &wanted) {
                killed.insert(pid);
            }
        }
        if killed.len() == before || Instant::now() > until {
            return;
        }
    }
}

/// How many processes and threads there are on this machine, by what it says in one line.
pub(crate) fn total() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').nth(3)?.split('/').nth(1)?.parse().ok()
}

/// Every process with a mark of that origin, but for the dead that nobody has reaped.
pub(crate) fn marked(origin: Origin) -> Vec<i32> {
    let of = |pid: &i32| mark_of(*pid).is_some_and(|mark| mark.is_of(origin));
    all().filter(of).filter(|pid| stat(*pid).is_some_and(|(state, _)| state != "Z")).collect()
}

/// The own children, those that are dead and not reaped among them.
pub(crate) fn children() -> Vec<i32> {
    let mut found = Vec::new();
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return found };
    for task in tasks.flatten() {
        let Ok(text) = fs::read_to_string(task.path().join("children")) else {
            // A kernel that was built without it.
            let own = nix::unistd::getpid().as_raw();
            return all().filter(|pid| parent(*pid) == Some(own)).collect();
        };
        found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    found
}

/// True for that process and its descendants.
pub(crate) fn is_below(pid: i32, ancestor: i32) -> bool {
    // Bounded, for the tree may change meanwhile.
    std::iter::successors(Some(pid), |pid| parent(*pid)).take(DEEPEST).any(|pid| pid == ancestor)
}

/// The parent of a process.
fn parent(pid: i32) -> Option<i32> {
    stat(pid).map(|(_, parent)| parent)
}

/// A process's state and parent.
fn stat(pid: i32) -> Option<(String, i32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.to_owned(), fields.next()?.parse().ok()?))
}

/// Its command line, for people; at most so many characters.
pub(crate) fn command_line(pid: i32, most: usize) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).replace(|c: char| c.is_control(), " ");
    text.trim_end().chars().take(most).collect()
}

fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
