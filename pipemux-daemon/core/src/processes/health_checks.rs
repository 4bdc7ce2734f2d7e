//! Checks on apps that owe an answer, and ends those that are wedged.

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;

use crate::limits::{PING_MS, PONG_MS};
use crate::processes::Processes;
use crate::processes::draining::break_app;
use crate::processes::open_requests::RequestHead;
use crate::processes::reply::Purpose;
use crate::timers::Timer;
use crate::turn::Turn;

/// Milliseconds after which an app that tells things and answers nothing is asked whether it is
/// still there.
const EVENTS_PING_MS: u64 = 60_000;

/// An exchange with an app is past its deadline.
pub fn note_missed_exchange(turn: &mut Turn, processes: &mut Processes, app: Incarnation) {
    let key = processes.incarnations.session_of(app);
    if let Some(session) = key.and_then(|key| processes.sessions.get_mut(key)) {
        session.health.miss(turn.mono_ms());
        session.health.watch(turn, app);
    }
}

/// Checks whether an app still answers.
pub fn check_health(turn: &mut Turn, processes: &mut Processes, app: Incarnation) {
    let now = turn.mono_ms();
    let Processes { sessions, incarnations, requests, events, .. } = processes;
    let key = incarnations.session_of(app);
    let Some(session) = key.and_then(|key| sessions.get_mut(key)) else { return };
    session.health.check_at = None;
    let health = session.health;
    let owes = session.owed.count > 0 || health.silent() || health.missed;
    if session.ready() != Some(app) || !owes {
        return;
    }
    let wedged = health.silent_since.is_some_and(|since| since + health.patience() <= now);
    if wedged && !requests.has_from(app) {
        let why = format!("it did not answer for {} s", health.patience() / 1000);
        turn.note_log(app, format!("pipemux: {} is ended: {why}.", session.key));
        return break_app(turn, processes, app, why);
    }
    let at = now + PING_MS;
    session.health.check_at = Some(at);
    turn.set_timer(at, Timer::HealthCheck(app));
    let unheard = health.heard + PING_MS <= now || health.answered + EVENTS_PING_MS <= now;
    if !health.pinged && unheard {
        session.health.pinged = true;
        let (method, deadline) = (Method::Ping, now + PONG_MS);
        let head = RequestHead { method, deadline, purpose: Purpose::Ping };
        requests.send(turn, events, session, head, &Empty {});
    }
}
