//! Processes of a run: what belongs to it, and signals to all of it.

use std::fs;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::limits::PROCESSES_MAX;

/// The state of a process, as the system reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// True for one that has ended and that its parent didn't ask for.
    pub(crate) ended: bool,
}

/// Returns this process's children that have ended, with the sessions that they belonged to.
pub fn ended_children() -> Vec<(i32, i32)> {
    let this = i32::try_from(std::process::id()).unwrap_or(0);
    let all = all().unwrap_or_default().into_iter();
    let ended = all.filter(|one| one.parent == this && one.ended);
    ended.map(|one| (one.pid, one.session)).collect()
}

/// Returns all processes; `None` without `/proc`.
pub(crate) fn all() -> Option<Vec<Status>> {
    let entries = fs::read_dir("/proc").ok()?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    Some(numbers.take(PROCESSES_MAX).filter_map(status).collect())
}

fn status(pid: i32) -> Option<Status> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    parse_status(pid, &text)
}

/// Reads `/proc/<pid>/stat`; the name in parentheses may have any characters.
fn parse_status(pid: i32, text: &str) -> Option<Status> {
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Status { pid, parent, session, ended: matches!(state, "Z" | "X") })
}

/// Sends a signal to the group of a process that isn't reaped.
pub fn signal_group(leader: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(leader) {
        // It may have ended just now.
        let _ = kill_process_group(pid, signal);
    }
}

/// Sends a signal to each of these processes.
pub fn signal_each(pids: &[i32], signal: Signal) {
    for pid in pids.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = kill_process(pid, signal);
    }
}

/// Returns the signal that a name means: `INT`, `SIGINT`, `int`, `2`.
pub fn signal_named(name: &str) -> Option<Signal> {
    let name = name.trim().to_ascii_uppercase();
    Some(match name.strip_prefix("SIG").unwrap_or(&name) {
        "HUP" | "1" => Signal::HUP,
        "INT" | "2" => Signal::INT,
        "QUIT" | "3" => Signal::QUIT,
        "KILL" | "9" => Signal::KILL,
        "USR1" | "10" => Signal::USR1,
        "USR2" | "12" => Signal::USR2,
        "TERM" | "15" => Signal::TERM,
        "CONT" | "18" => Signal::CONT,
        "STOP" | "19" => Signal::STOP,
        "TSTP" | "20" => Signal::TSTP,
        "WINCH" | "28" => Signal::WINCH,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_and_parentheses_are_read() {
        let found = parse_status(7, "7 (a) (b c) S 3 7 5 0 -1").unwrap();
        assert_eq!(found, Status { pid: 7, parent: 3, session: 5, ended: false });
        assert_eq!(parse_status(7, "7 (a"), None);
    }
}
