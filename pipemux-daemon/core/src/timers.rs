//! Timers: one table of what is due when.

use std::collections::BTreeSet;

use pipemux_proto::ids::Incarnation;

use crate::event::ClientId;
use crate::keys::RequestId;

/// Something that becomes due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// The deadline of a request to an app.
    AppRequest(u64),
    /// The deadline of a client's request.
    ClientRequest(RequestId),
    /// The start of a process after a wait.
    Backoff(Incarnation),
    /// The deadline by which a process must have greeted and opened.
    Start(Incarnation),
    /// The deadline by which a process must have ended.
    Drain(Incarnation),
    /// A check whether an app that owes an answer is still running.
    HealthCheck(Incarnation),
    /// A check whether a session that hasn't been used for long may sleep.
    IdleCheck(Incarnation),
    /// The time at which the next sleeping session is to be woken.
    WakeSleepers,
    /// The deadline by which a client must have greeted.
    Greet(ClientId),
    /// The deadline of a question.
    Question(u64),
    /// The time at which kept steps expire.
    Kept(u64),
    /// The end of a client's wait for something to happen.
    Wait(RequestId),
    /// A job's progress report, delayed to limit the rate of reports.
    JobReport(u64),
    /// A check for changes of an app that doesn't report them itself.
    WaitCheck(RequestId),
}

/// All timers, by monotonic time in milliseconds.
#[derive(Debug, Default)]
pub struct Timers {
    due: BTreeSet<(u64, Timer)>,
}

impl Timers {
    /// Adds a timer.
    pub fn set(&mut self, at: u64, timer: Timer) {
        self.due.insert((at, timer));
    }

    /// Takes a timer back.
    pub fn clear(&mut self, at: u64, timer: Timer) {
        self.due.remove(&(at, timer));
    }

    /// Returns when the next timer is due.
    pub fn next(&self) -> Option<u64> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Takes a timer that is due at `now`.
    pub fn pop(&mut self, now: u64) -> Option<Timer> {
        let first = *self.due.first()?;
        if first.0 > now {
            return None;
        }
        self.due.remove(&first);
        Some(first.1)
    }
}
