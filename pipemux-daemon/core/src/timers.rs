//! What is due when: one table, one `next_timeout`.

use std::collections::BTreeSet;

use pipemux_proto::ids::Incarnation;

use crate::event::ClientId;
use crate::keys::RequestId;

/// What becomes due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A request to an app.
    AppRequest(u64),
    /// A client's request.
    ClientRequest(RequestId),
    /// A process that is started after a wait.
    Backoff(Incarnation),
    /// A process that must have greeted and opened by now.
    Start(Incarnation),
    /// A process that must have ended by now.
    Drain(Incarnation),
    /// An app that owes an answer: is it still there?
    HealthCheck(Incarnation),
    /// A session that nobody used for long: may it sleep?
    IdleCheck(Incarnation),
    /// A client that must have greeted by now.
    Greet(ClientId),
    /// A question that nobody answered.
    Question(u64),
    /// A client's request that waits for something to happen.
    Wait(RequestId),
}

/// All that becomes due, by time on the monotonic clock, in milliseconds.
#[derive(Debug, Default)]
pub struct Timers {
    due: BTreeSet<(u64, Timer)>,
}

impl Timers {
    /// Adds one.
    pub fn set(&mut self, at: u64, timer: Timer) {
        self.due.insert((at, timer));
    }

    /// Takes one back.
    pub fn clear(&mut self, at: u64, timer: Timer) {
        self.due.remove(&(at, timer));
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<u64> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Takes one that is due at `now`.
    pub fn pop(&mut self, now: u64) -> Option<Timer> {
        let first = *self.due.first()?;
        if first.0 > now {
            return None;
        }
        self.due.remove(&first);
        Some(first.1)
    }
}
