//! Whether an app that owes an answer is still there.
//!
//! An app is asked (`Ping`) only while it owes something, so an idle desk costs nothing. One that
//! leaves a question open is `silent`: views show its last window at once instead of waiting for it.
//! One that stays silent while nobody waits for it any more is ended, and the next touch starts it
//! anew.

use pipemux_proto::app::Empty;
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;

use crate::Core;
use crate::keys::SessionKey;
use crate::limits::{PING_MS, PONG_MS, WEDGED_MS};
use crate::processes::requests::Purpose;
use crate::timers::Timer;

/// What is known of a process's health.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Health {
    /// When it is looked at next; none: it owes nothing.
    pub look_at: Option<u64>,
    /// When it said something last.
    pub heard: u64,
    /// Since when a request of it is past its deadline while it has said nothing.
    pub silent_since: Option<u64>,
    /// True while a `Ping` has no answer.
    pub pinged: bool,
}

impl Health {
    /// True while a request that it had is past its deadline and it has said nothing since.
    pub fn silent(&self) -> bool {
        self.silent_since.is_some()
    }

    /// It said something.
    pub fn heard_from(&mut self, now: u64) {
        self.heard = now;
        self.silent_since = None;
    }

    /// It left a request open.
    pub fn miss(&mut self, now: u64) {
        self.silent_since.get_or_insert(now);
    }
}

impl Core {
    /// An app has been sent a request: it is looked after until it owes nothing.
    pub(crate) fn watch_health(&mut self, app: Incarnation) {
        let at = self.now.mono_ms + PING_MS;
        let session =
            self.session_by_incarnation.get(&app).and_then(|key| self.sessions.get_mut(key));
        let Some(session) = session else { return };
        if session.health.look_at.is_none() {
            session.health.look_at = Some(at);
            self.timers.set(at, Timer::HealthCheck(app));
        }
    }

    /// Looks whether an app still answers.
    pub(crate) fn look(&mut self, app: Incarnation) {
        let now = self.now.mono_ms;
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let waited_for = self
            .app_requests
            .values()
            .any(|pending| pending.app == Some(app) && pending.purpose != Purpose::Ping);
        let Some(session) = self.sessions.get_mut(&key) else { return };
        session.health.look_at = None;
        let health = session.health;
        if session.ready() != Some(app) || (session.owes == 0 && !health.silent()) {
            return;
        }
        let wedged = health.silent_since.is_some_and(|since| since + WEDGED_MS <= now);
        if wedged && !waited_for {
            let why = format!("it answered nothing for {} s", WEDGED_MS / 1000);
            return self.break_app(app, why);
        }
        let at = now + PING_MS;
        session.health.look_at = Some(at);
        self.timers.set(at, Timer::HealthCheck(app));
        if !health.pinged && health.heard + PING_MS <= now {
            session.health.pinged = true;
            self.send_now(&key, app, Method::Ping, &Empty {}, now + PONG_MS, Purpose::Ping);
        }
    }

    /// A `Ping` ended, in whatever way: what it says of the app's health is known from its frames.
    pub(crate) fn ping_answered(&mut self, key: &SessionKey) {
        if let Some(session) = self.sessions.get_mut(key) {
            session.health.pinged = false;
        }
    }
}
