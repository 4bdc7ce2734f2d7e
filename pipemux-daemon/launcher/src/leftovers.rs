//! Finds and kills the remaining processes of apps whose daemon and launcher were both killed.
//!
//! Apps themselves die with their launcher. What they started in the background survives when
//! nobody is left to adopt it. It still carries its mark, by which the next daemon of the same
//! state directory finds it.

use std::time::{Duration, Instant};

use crate::mark::MarkOrigin;
use crate::processes;

/// Pause between two rounds of killing.
const ROUND: Duration = Duration::from_millis(2);
/// Longest command line that is reported, in characters.
const COMMAND_CHARS: usize = 80;

/// A process that isn't supervised by any launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The process id, for display only: never signal by it.
    pub pid: i32,
    pub command: String,
}

/// Finds processes with a mark of `origin`. `daemon` is the process that serves the state directory
/// now, if there is one; its descendants are no leftovers, nor are this process and its ancestors.
/// Linux only; finds nothing elsewhere.
pub fn find(origin: MarkOrigin, daemon: Option<i32>) -> Vec<Leftover> {
    let own = nix::unistd::getpid().as_raw();
    processes::with_origin(origin)
        .into_iter()
        .filter(|pid| !processes::is_descendant_or_self(own, *pid))
        .filter(|pid| daemon.is_none_or(|daemon| !processes::is_descendant_or_self(*pid, daemon)))
        .map(|pid| Leftover { pid, command: processes::command_line(pid, COMMAND_CHARS) })
        .collect()
}

/// Kills what [`find`] finds until nothing is found or `bound` has passed; returns all that was
/// found, and whether nothing is left.
pub fn end(origin: MarkOrigin, daemon: Option<i32>, bound: Duration) -> (Vec<Leftover>, bool) {
    let until = Instant::now() + bound;
    let mut ended: Vec<Leftover> = Vec::new();
    loop {
        let found = find(origin, daemon);
        if found.is_empty() {
            return (ended, true);
        }
        for leftover in found {
            processes::kill_if(leftover.pid, |mark| mark.is_of(origin));
            if !ended.iter().any(|other| other.pid == leftover.pid) {
                ended.push(leftover);
            }
        }
        if Instant::now() > until {
            return (ended, false);
        }
        std::thread::sleep(ROUND);
    }
}
