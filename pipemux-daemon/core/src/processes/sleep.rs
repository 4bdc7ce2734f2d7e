//! Puts sessions to sleep that nobody uses: see [`hibernation`](crate::processes::hibernation).

use pipemux_proto::app::{Saved, meant_version};
use pipemux_proto::ids::Incarnation;

use crate::intake;
use crate::keys::SessionKey;
use crate::manifest::Idle;
use crate::processes::draining::close;
use crate::processes::hibernation::Asleep;
use crate::processes::reply::AppReply;
use crate::processes::wake_times::schedule_wakes;
use crate::processes::wider_grants::finish_widening;
use crate::processes::{ProcessEvent, Processes};
use crate::turn::Turn;

/// Milliseconds that a session sleeps at least: one that wants to be woken sooner is left running.
const SLEEP_MIN_MS: u64 = 1_000;

/// The demand for a session that this component can't know by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demand {
    /// True when a window keeps it awake.
    pub pinned: bool,
    /// True when somebody waits for it to change.
    pub waited_for: bool,
    /// The time of the last exchange; the present while one is open.
    pub exchanged: u64,
}

/// It is time to check whether a session may sleep: the core says who needs it.
pub fn idle_check_due(processes: &mut Processes, app: Incarnation) {
    processes.events.push_back(ProcessEvent::IdleDue { app });
}

/// Asks an app to save its state so that it can sleep, unless somebody needs it.
pub fn hibernate_if_idle(
    turn: &mut Turn,
    processes: &mut Processes,
    app: Incarnation,
    demand: Demand,
) {
    let now = turn.mono_ms();
    let key = processes.incarnations.session_of(app);
    let Some(session) = key.and_then(|key| processes.sessions.get_mut(key)) else { return };
    session.hibernation.check_at = None;
    let Idle::After(ms) = session.manifest.idle else { return };
    if session.ready() != Some(app) {
        return;
    }
    let busy = session.hibernation.busy.as_ref().map_or(0, |(_, until)| *until);
    let used = session.hibernation.used.max(demand.exchanged);
    let due = used.saturating_add(ms).max(busy);
    if due > now {
        return session.hibernation.check_idle_at(turn, app, due);
    }
    let needed = demand.pinned || demand.waited_for || session.jobs.need_process;
    if needed || session.owed.count > 0 || session.health.silent() {
        return session.hibernation.check_idle_at(turn, app, now.saturating_add(ms));
    }
    processes.requests.ask_to_save(turn, &mut processes.events, session);
}

/// Puts a session to sleep whose app saved its state, unless it is needed again.
pub fn finish_save(
    turn: &mut Turn,
    processes: &mut Processes,
    key: &SessionKey,
    reply: AppReply,
    pinned: bool,
) {
    let now = turn.mono_ms();
    let Some(session) = processes.sessions.get_mut(key) else { return };
    let (Some(began), Some(app)) = (session.hibernation.saving.take(), session.ready()) else {
        return;
    };
    let saved = match reply {
        AppReply::Reply(body) => intake::read::<Saved>(&body).ok(),
        AppReply::Fault(_) | AppReply::Lost { .. } => None,
    };
    if !session.hibernation.widening.is_empty() {
        let current = session.owed.count == 0 && session.hibernation.used <= began;
        return finish_widening(turn, processes, key, saved, current);
    }
    let Idle::After(ms) = session.manifest.idle else { return };
    let busy = session.hibernation.busy.as_ref().is_some_and(|(_, until)| *until > now);
    // Asked for something meanwhile: what was saved may be out of date already.
    let wanted = session.owed.count > 0 || session.hibernation.used > began || busy || pinned;
    let wanted = wanted || session.jobs.need_process;
    // Not worth it: it would be started again at once.
    let soon = turn.now.unix_ms + SLEEP_MIN_MS;
    let is_soon = |saved: &Saved| saved.wake_at.is_some_and(|at| at <= soon);
    match saved.filter(|saved| !wanted && !is_soon(saved)) {
        Some(Saved { version, wake_at }) => {
            let version = meant_version(version, session.profile.minor);
            session.hibernation.asleep = Some(Asleep { app, version });
            session.hibernation.wake_at = wake_at;
            session.hibernation.save(turn, key);
            schedule_wakes(turn, processes);
            close(turn, processes, key);
        }
        None => session.hibernation.check_idle_at(turn, app, now.saturating_add(ms)),
    }
}
