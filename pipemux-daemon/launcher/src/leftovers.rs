//! What is left of apps whose daemon and launcher were both killed at once.
//!
//! Apps themselves die with their launcher; what they started and let go of doesn't, when nobody is left
//! to adopt it. It carries its mark, by which the next daemon of the same state directory finds it.

use std::time::{Duration, Instant};

use crate::mark::Origin;
use crate::processes;

/// Between two looks at what was killed.
const ROUND: Duration = Duration::from_millis(2);
/// Characters of a command line that are told.
const COMMAND_CHARS: usize = 80;

/// A process that nobody looks after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its id, for people: never signal by it.
    pub pid: i32,
    /// What it runs.
    pub command: String,
}

/// Finds processes with a mark of that state directory. `daemon` is the process that serves it now, if
/// one does: its own descendants are no leftovers. Nor is this process, or those that it descends from.
/// Linux only; none elsewhere.
pub fn find(origin: Origin, daemon: Option<i32>) -> Vec<Leftover> {
    let own = nix::unistd::getpid().as_raw();
    processes::marked(origin)
        .into_iter()
        .filter(|pid| !processes::is_below(own, *pid))
        .filter(|pid| daemon.is_none_or(|daemon| !processes::is_below(*pid, daemon)))
        .map(|pid| Leftover { pid, command: processes::command_line(pid, COMMAND_CHARS) })
        .collect()
}

/// Kills what [`find`] finds, again and again until there is nothing; returns all that was found, and
/// whether nothing is left in time.
pub fn end(origin: Origin, daemon: Option<i32>, bound: Duration) -> (Vec<Leftover>, bool) {
    let until = Instant::now() + bound;
    let mut ended: Vec<Leftover> = Vec::new();
    loop {
        let found = find(origin, daemon);
        if found.is_empty() {
            return (ended, true);
        }
        for one in found {
            processes::kill_if(one.pid, |mark| mark.is_of(origin));
            if !ended.iter().any(|other| other.pid == one.pid) {
                ended.push(one);
            }
        }
        if Instant::now() > until {
            return (ended, false);
        }
        std::thread::sleep(ROUND);
    }
}
