//! Sessions that are woken at a time that their app named, also when an earlier daemon put them to sleep.

use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::processes::session::ProcessState;
use crate::timers::Timer;
use crate::turn::Turn;

/// Milliseconds before a session that didn't start at its time is tried again.
const WAKE_RETRY_MS: u64 = 1_000;
/// Milliseconds after which the clock is looked at again while a session is to be woken later.
const WAKE_RECHECK_MS: u64 = 60_000;

impl Processes {
    /// Sets the timer for the next session that is to be woken.
    pub fn schedule_wakes(&mut self, turn: &mut Turn) {
        let times = self.sessions.values().filter_map(|session| session.hibernation.wake_at);
        // A daemon that goes down starts nothing: the next one wakes them.
        let next = times.min().filter(|_| !self.stopping).map(|at| {
            let left = at.saturating_sub(turn.now.unix_ms);
            // The clock may be set, and the machine may sleep: the monotonic clock knows nothing of either.
            turn.mono_ms() + left.min(WAKE_RECHECK_MS)
        });
        self.set_wake_timer(turn, next);
    }

    /// Starts the sessions whose time has come.
    pub fn wake_sleepers(&mut self, turn: &mut Turn) {
        self.wake_timer = None;
        let now = turn.now.unix_ms;
        let is_due = |at: Option<u64>| at.is_some_and(|at| at <= now);
        let due = self.sessions.iter().filter(|(_, session)| is_due(session.hibernation.wake_at));
        let due: Vec<SessionKey> = due.map(|(key, _)| key.clone()).collect();
        let mut starting = false;
        for key in due {
            let Some(session) = self.sessions.get_mut(&key) else { continue };
            if session.process == ProcessState::Down {
                session.hibernation.due = true;
            }
            match self.wake(turn, &key) {
                Ok(()) => starting = true,
                Err(_) => self.give_up_waking(turn, &key),
            }
        }
        match starting {
            // A process that is just ending, or ends while it starts, is tried again.
            true => {
                let at = turn.mono_ms() + WAKE_RETRY_MS;
                self.set_wake_timer(turn, Some(at));
            }
            false => self.schedule_wakes(turn),
        }
    }

    /// A session can't be started: it is left to those who ask for it.
    fn give_up_waking(&mut self, turn: &mut Turn, key: &SessionKey) {
        if let Some(session) = self.sessions.get_mut(key).filter(|_| !self.stopping) {
            (session.hibernation.wake_at, session.hibernation.due) = (None, false);
            session.hibernation.save(turn, key);
        }
    }

    fn set_wake_timer(&mut self, turn: &mut Turn, at: Option<u64>) {
        if let Some(before) = std::mem::replace(&mut self.wake_timer, at) {
            turn.clear_timer(before, Timer::WakeSleepers);
        }
        if let Some(at) = at {
            turn.set_timer(at, Timer::WakeSleepers);
        }
    }
}
