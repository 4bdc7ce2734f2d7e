//! Whether an app that owes an answer is still there.
//!
//! An app is asked (`Ping`) only while it owes an answer, so an idle session costs nothing. One that lets a
//! deadline pass is `silent`: views show its last window at once instead of waiting for it. One that stays silent
//! while nobody waits for it is ended, and the next touch starts it again; one that still has an action to answer has
//! longer, because it may be working. Its log says both.
//!
//! What an app says unasked counts as a sign of life, too, so that work which reports its progress isn't ended. It does so
//! only for a while: a thread beside the one that answers would keep a wedged app alive for ever.

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;

use crate::keys::SessionKey;
use crate::limits::{EVENTS_ALIVE_MS, PING_MS, PONG_MS, WEDGED_MS, WORKING_MS};
use crate::processes::Processes;
use crate::processes::reply::Purpose;
use crate::timers::Timer;
use crate::turn::Turn;

/// Milliseconds after which an app that tells things and answers nothing is asked whether it is still there.
const EVENTS_PING_MS: u64 = 60_000;

/// What is known of a process's health.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Health {
    /// When it is looked at next; none: it owes nothing.
    pub check_at: Option<u64>,
    /// When it said something last.
    pub heard: u64,
    /// Since when a request of it is past its deadline while it has said nothing.
    pub silent_since: Option<u64>,
    /// True while a `Ping` has no answer.
    pub pinged: bool,
    /// When it last answered something, or began to owe an answer.
    pub answered: u64,
    /// True once a request of it is past its deadline, until it answers anything.
    pub missed: bool,
    /// True once an action of it is past its deadline, until it answers anything.
    pub works: bool,
    /// True once its log says that it doesn't answer, until it does.
    pub noted: bool,
}

impl Health {
    /// True while a request that it had is past its deadline and it has said nothing since.
    pub fn silent(&self) -> bool {
        self.silent_since.is_some()
    }

    /// It said something: answered, or told something unasked.
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
    fn patience(&self) -> u64 {
        if self.works { WORKING_MS } else { WEDGED_MS }
    }

    /// It left a request open.
    pub fn miss(&mut self, now: u64) {
        self.missed = true;
        self.silent_since.get_or_insert(now);
    }
}

impl Processes {
    /// An app has been sent a request: it is checked on until it owes nothing.
    pub fn watch_health(&mut self, turn: &mut Turn, app: Incarnation) {
        let at = turn.mono_ms() + PING_MS;
        let key = self.incarnations.session_of(app);
        let Some(session) = key.and_then(|key| self.sessions.get_mut(key)) else { return };
        if session.health.check_at.is_none() {
            session.health.check_at = Some(at);
            if !session.health.missed {
                session.health.answered = session.health.answered.max(turn.mono_ms());
            }
            turn.set_timer(at, Timer::HealthCheck(app));
        }
    }

    /// A request of an app is past its deadline; the flags say whether it is a `Ping`, and whether it is an action.
    pub(super) fn note_missed(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        (is_ping, acts): (bool, bool),
    ) {
        let now = turn.mono_ms();
        let Some(session) = self.sessions.get_mut(key) else { return };
        let health = &mut session.health;
        health.works |= acts;
        if is_ping && health.heard + PING_MS > now {
            // It has no time for a `Ping`, but tells how far its work is.
            return;
        }
        health.miss(now);
        let (seconds, patience) = ((now - health.answered.min(now)) / 1000, health.patience());
        if let Some(app) = session.ready().filter(|_| !session.health.noted) {
            session.health.noted = true;
            let line = format!(
                "pipemux: {key} has not answered for {seconds} s. It is ended if it stays silent for {} s while nobody \
                 waits for it; Progress, or an answer to Ping, shows that it works.",
                patience / 1000
            );
            turn.note_log(app, line);
        }
    }

    /// An exchange with an app is past its deadline.
    pub fn note_missed_exchange(&mut self, turn: &mut Turn, app: Incarnation) {
        let key = self.incarnations.session_of(app);
        if let Some(session) = key.and_then(|key| self.sessions.get_mut(key)) {
            session.health.miss(turn.mono_ms());
        }
        self.watch_health(turn, app);
    }

    /// Checks whether an app still answers.
    pub fn check_health(&mut self, turn: &mut Turn, app: Incarnation) {
        let now = turn.mono_ms();
        let Some(key) = self.incarnations.session_of(app).cloned() else { return };
        let waited_for = self.requests.has_from(app);
        let Some(session) = self.sessions.get_mut(&key) else { return };
        session.health.check_at = None;
        let health = session.health;
        let owes = session.owes > 0 || health.silent() || health.missed;
        if session.ready() != Some(app) || !owes {
            return;
        }
        let wedged = health.silent_since.is_some_and(|since| since + health.patience() <= now);
        if wedged && !waited_for {
            let why = format!("it did not answer for {} s", health.patience() / 1000);
            turn.note_log(app, format!("pipemux: {key} is ended: {why}."));
            return self.break_app(turn, app, why);
        }
        let at = now + PING_MS;
        session.health.check_at = Some(at);
        turn.set_timer(at, Timer::HealthCheck(app));
        let unheard = health.heard + PING_MS <= now || health.answered + EVENTS_PING_MS <= now;
        if !health.pinged && unheard {
            session.health.pinged = true;
            let ping = Method::Ping;
            self.send_now(turn, (&key, app), ping, &Empty {}, now + PONG_MS, Purpose::Ping);
        }
    }

    /// A `Ping` ended, in whatever way: what it says of the app's health is known from its frames.
    pub(super) fn ping_replied(&mut self, key: &SessionKey) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.health.pinged = false;
        }
    }
}
