//! Sessions that are woken at a time that their app named, also when an earlier daemon put them to
//! sleep.

use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::processes::session::ProcessState;
use crate::processes::starting::wake;
use crate::processes::wake_timer::WakeTimer;
use crate::turn::Turn;

/// Milliseconds before a session that didn't start at its time is tried again.
const WAKE_RETRY_MS: u64 = 1_000;
/// Milliseconds after which the clock is looked at again while a session is to be woken later.
const WAKE_RECHECK_MS: u64 = 60_000;

/// Sets the timer for the next session that is to be woken.
pub fn schedule_wakes(turn: &mut Turn, processes: &mut Processes) {
    let times = processes.sessions.values().filter_map(|session| session.hibernation.wake_at);
    // A daemon that goes down starts nothing: the next one wakes them.
    let next = times.min().filter(|_| !processes.stopping).map(|at| {
        let left = at.saturating_sub(turn.now.unix_ms);
        // The clock may be set, and the machine may sleep: the monotonic clock knows nothing of
        // either.
        turn.mono_ms() + left.min(WAKE_RECHECK_MS)
    });
    processes.wake_timer.set(turn, next);
}

/// Starts the sessions whose time has come.
pub fn wake_sleepers(turn: &mut Turn, processes: &mut Processes) {
    processes.wake_timer = WakeTimer::default();
    let now = turn.now.unix_ms;
    let is_due = |at: Option<u64>| at.is_some_and(|at| at <= now);
    let due = processes.sessions.iter().filter(|(_, session)| is_due(session.hibernation.wake_at));
    let due: Vec<SessionKey> = due.map(|(key, _)| key.clone()).collect();
    let mut starting = false;
    for key in due {
        let Some(session) = processes.sessions.get_mut(&key) else { continue };
        if session.process == ProcessState::Down {
            session.hibernation.due = true;
        }
        match wake(turn, processes, &key) {
            Ok(()) => starting = true,
            Err(_) => give_up_waking(turn, processes, &key),
        }
    }
    match starting {
        // A process that is just ending, or ends while it starts, is tried again.
        true => {
            let at = turn.mono_ms() + WAKE_RETRY_MS;
            processes.wake_timer.set(turn, Some(at));
        }
        false => schedule_wakes(turn, processes),
    }
}

/// A session can't be started: it is left to those who ask for it.
fn give_up_waking(turn: &mut Turn, processes: &mut Processes, key: &SessionKey) {
    let session = processes.sessions.get_mut(key).filter(|_| !processes.stopping);
    if let Some(session) = session {
        (session.hibernation.wake_at, session.hibernation.due) = (None, false);
        session.hibernation.save(turn, key);
    }
}
