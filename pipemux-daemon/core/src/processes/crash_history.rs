//! The crashes of a session's processes: how long it waits for the next start, and when it stays
//! down.

use std::collections::VecDeque;

use crate::event::Now;
use crate::limits::{BACKOFF_MAX_MS, BACKOFF_MS, CRASH_WINDOW_MS, CRASHES_MAX};

/// The loss of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// The description: `killed by signal 9`.
    pub how: String,
    /// The time of the loss.
    pub at: Now,
    /// The ordinal number of the crash within [`CRASH_WINDOW_MS`], from 1.
    pub nth: usize,
}

#[derive(Debug, Default)]
pub struct CrashHistory {
    /// The times of the crashes in the last [`CRASH_WINDOW_MS`], on the monotonic clock.
    times: VecDeque<u64>,
    /// The last crash, if no reader was told of it yet.
    pub untold: Option<Crash>,
    /// The last lines of the log before the last crash.
    pub last_lines: Vec<String>,
}

impl CrashHistory {
    /// Counts a crash. Returns how many there were within the window.
    pub fn count(&mut self, now: Now) -> usize {
        self.times.push_back(now.mono_ms);
        while self.times.front().is_some_and(|at| at + CRASH_WINDOW_MS < now.mono_ms) {
            self.times.pop_front();
        }
        self.times.len()
    }

    /// The number of crashes within the window.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// True once there were so many that the session stays down.
    pub fn is_too_many(&self) -> bool {
        self.times.len() > CRASHES_MAX
    }

    /// Forgets earlier crashes, when a user asks for a fresh start.
    pub fn forgive(&mut self) {
        self.times.clear();
    }

    /// Returns when the next process may start, on the monotonic clock in milliseconds. `salt`
    /// differs between incarnations, so that sessions that crash together don't restart at the same
    /// time.
    pub fn next_start(&self, salt: u64) -> u64 {
        let last = self.times.back().copied().unwrap_or(0);
        let again = self.times.len().saturating_sub(1);
        if again == 0 {
            return last;
        }
        let wait = BACKOFF_MS.saturating_mul(1 << (again - 1).min(16)).min(BACKOFF_MAX_MS);
        let jitter = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        last + wait + jitter % (wait / 2 + 1)
    }
}
