//! Tracks whether an app that owes an answer is still alive.
//!
//! An app is asked (`Ping`) only while it owes an answer, so an idle session costs nothing. One
//! that lets a deadline pass is `silent`: views show its last window at once instead of waiting for
//! it. One that stays silent while nobody waits for it is ended, and the next touch starts it
//! again; one that still has an action to answer has longer, because it may be working. Its log
//! says both.
//!
//! What an app says unasked counts as a sign of life, too, so that work which reports its progress
//! isn't ended. It does so only for a while: a thread beside the one that answers would keep a
//! wedged app alive for ever.

use pipemux_proto::ids::Incarnation;

use crate::keys::SessionKey;
use crate::limits::{EVENTS_ALIVE_MS, PING_MS, WEDGED_MS, WORKING_MS};
use crate::timers::Timer;
use crate::turn::Turn;

/// What is known of a process's health. Times are on the monotonic clock, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Health {
    /// The time of the next check; `None` if the process owes no reply.
    pub check_at: Option<u64>,
    /// The time of the last message from the process.
    pub heard: u64,
    /// Since when a request of it is past its deadline while it has said nothing.
    pub silent_since: Option<u64>,
    /// True while a `Ping` has no answer.
    pub pinged: bool,
    /// The time of the last reply, or of the request since which one is owed.
    pub answered: u64,
    /// True once a request of it is past its deadline, until it answers anything.
    pub missed: bool,
    /// True once an action of it is past its deadline, until it answers anything.
    works: bool,
    /// True once its log says that it doesn't answer, until it does.
    noted: bool,
}

impl Health {
    /// True while a request that it had is past its deadline and it has said nothing since.
    pub fn silent(&self) -> bool {
        self.silent_since.is_some()
    }

    /// The process said something: answered, or told something unasked.
    pub fn heard_from(&mut self, now: u64, answers: bool) {
        if answers {
            (self.missed, self.works, self.noted) = (false, false, false);
            self.answered = now;
        }
        if answers || now < self.answered + EVENTS_ALIVE_MS {
            self.heard = now;
            self.silent_since = None;
        }
    }

    /// Returns how long it may be silent while nobody waits for it, in milliseconds.
    pub(super) fn patience(&self) -> u64 {
        if self.works { WORKING_MS } else { WEDGED_MS }
    }

    /// The process `app` has a request to answer: it is checked on until it owes nothing.
    pub(super) fn watch(&mut self, turn: &mut Turn, app: Incarnation) {
        if self.check_at.is_none() {
            let at = turn.mono_ms() + PING_MS;
            self.check_at = Some(at);
            if !self.missed {
                self.answered = self.answered.max(turn.mono_ms());
            }
            turn.set_timer(at, Timer::HealthCheck(app));
        }
    }

    /// It left a request open.
    pub(super) fn miss(&mut self, now: u64) {
        self.missed = true;
        self.silent_since.get_or_insert(now);
    }

    /// Notes that a request to the session's process missed its deadline: a `Ping`, or a request
    /// that may be an action (`acts`). Writes this once to the log of a process that is `ready`.
    pub(super) fn note_missed(
        &mut self,
        turn: &mut Turn,
        (key, ready): (&SessionKey, Option<Incarnation>),
        is_ping: bool,
        acts: bool,
    ) {
        let now = turn.mono_ms();
        self.works |= acts;
        if is_ping && self.heard + PING_MS > now {
            // It has no time for a `Ping`, but tells how far its work is.
            return;
        }
        self.miss(now);
        let Some(app) = ready.filter(|_| !self.noted) else { return };
        self.noted = true;
        let (seconds, patience) = ((now - self.answered.min(now)) / 1000, self.patience());
        let line = format!(
            "pipemux: {key} has not answered for {seconds} s. It is ended if it stays silent for {} s while nobody \
             waits for it; Progress, or an answer to Ping, shows that it works.",
            patience / 1000
        );
        turn.note_log(app, line);
    }
}
