//! Hibernation: a session that nobody uses has its state saved and its process ended; the next touch
//! wakes it, and its readers see no difference.
//!
//! The app takes part: it writes its state down when it is asked to (`Save`) and says which version
//! that is. Woken with that version, it goes on counting from it, so that ids, line numbers and what
//! readers have seen mean what they meant. An app that can't save is left running.
//! One that names a time is woken then (`wake_times`).

use pipemux_proto::app::{Empty, Saved, meant_version};
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;

use crate::foreign::{Busy, ForeignText};
use crate::intake;
use crate::keys::SessionKey;
use crate::limits::{BUSY_MAX_MS, SAVE_MS};
use crate::manifest::Idle;
use crate::persist::records::Record;
use crate::processes::reply::{AppReply, Purpose};
use crate::processes::session::Session;
use crate::processes::{ProcessEvent, Processes};
use crate::timers::Timer;
use crate::turn::Turn;

/// Milliseconds that a session sleeps at least: one that wants to be woken sooner is left running.
const SLEEP_MIN_MS: u64 = 1_000;

/// Whether a session may sleep, or does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hibernation {
    /// When it was last asked for something, or answered that.
    pub used: u64,
    /// When it is next checked whether it may sleep.
    pub check_at: Option<u64>,
    /// What it does outside of requests, and until when it is left alone.
    pub busy: Option<(ForeignText, u64)>,
    /// When it was asked to save its state, while that is under way.
    pub saving: Option<u64>,
    /// The paths that its next process is granted besides, while it is being replaced for that.
    pub widening: Vec<String>,
    /// How often it was asked to save its state for that.
    pub saves: u32,
    /// Set while it sleeps.
    pub asleep: Option<Asleep>,
    /// When it is to be woken though nobody asks for it, in milliseconds since 1970.
    pub wake_at: Option<u64>,
    /// True when it is started because that time has come.
    pub due: bool,
}

/// A sleeping session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asleep {
    /// The process that it had.
    pub app: Incarnation,
    /// The version of the state that was saved, if the app named one.
    pub version: Option<u64>,
}

/// Who else needs a session, as far as this component can't know it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demand {
    /// True when a window keeps it awake.
    pub pinned: bool,
    /// True when somebody waits for it to change.
    pub waited_for: bool,
    /// When it last took part in an exchange; the present while one is open.
    pub exchanged: u64,
}

impl Processes {
    /// It is time to check whether a session may sleep: the core says who needs it.
    pub fn idle_check_due(&mut self, app: Incarnation) {
        self.events.push_back(ProcessEvent::IdleDue { app });
    }

    /// Asks an app to save its state so that it can sleep, unless somebody needs it.
    pub fn hibernate_if_idle(&mut self, turn: &mut Turn, app: Incarnation, demand: Demand) {
        let now = turn.mono_ms();
        let Some(key) = self.incarnations.session_of(app).cloned() else { return };
        let Some(session) = self.sessions.get_mut(&key) else { return };
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
        if needed || session.owes > 0 || session.health.silent() {
            return session.hibernation.check_idle_at(turn, app, now.saturating_add(ms));
        }
        session.hibernation.saving = Some(now);
        self.send_now(turn, (&key, app), Method::Save, &Empty {}, now + SAVE_MS, Purpose::Save);
    }

    /// Puts a session to sleep whose app saved its state, unless it is needed again.
    pub fn finish_save(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        reply: AppReply,
        pinned: bool,
    ) {
        let now = turn.mono_ms();
        let Some(session) = self.sessions.get_mut(key) else { return };
        let (Some(began), Some(app)) = (session.hibernation.saving.take(), session.ready()) else {
            return;
        };
        let saved = match reply {
            AppReply::Reply(body) => intake::read::<Saved>(&body).ok(),
            AppReply::Fault(_) | AppReply::Lost { .. } => None,
        };
        if !session.hibernation.widening.is_empty() {
            let current = session.owes == 0 && session.hibernation.used <= began;
            return self.finish_widening(turn, key, saved, current);
        }
        let Idle::After(ms) = session.manifest.idle else { return };
        let busy = session.hibernation.busy.as_ref().is_some_and(|(_, until)| *until > now);
        // Asked for something meanwhile: what was saved may be out of date already.
        let wanted = session.owes > 0 || session.hibernation.used > began || busy || pinned;
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
                self.schedule_wakes(turn);
                self.close(turn, key);
            }
            None => session.hibernation.check_idle_at(turn, app, now.saturating_add(ms)),
        }
    }
}

impl Session {
    /// It became ready: it may sleep once nobody used it for long.
    pub(super) fn schedule_idle_check(&mut self, turn: &mut Turn, app: Incarnation) {
        let now = turn.mono_ms();
        self.hibernation.used = self.hibernation.used.max(now);
        if let Idle::After(ms) = self.manifest.idle {
            self.hibernation.check_idle_at(turn, app, now.saturating_add(ms));
        }
    }

    /// Its new process has the state of this version. Returns the process that was put to sleep when the
    /// new one went on from there: what readers saw of that one is then what they saw of this one.
    pub(super) fn wake_up(&mut self, turn: &mut Turn, version: Option<u64>) -> Option<Incarnation> {
        let hibernation = &mut self.hibernation;
        hibernation.due = false;
        let (asleep, wake_at) = (hibernation.asleep.take(), hibernation.wake_at.take());
        if asleep.is_some() || wake_at.is_some() {
            hibernation.save(turn, &self.key);
        }
        let asleep = asleep?;
        if asleep.version != version {
            return None;
        }
        self.version = version?;
        Some(asleep.app)
    }
}

impl Hibernation {
    fn check_idle_at(&mut self, turn: &mut Turn, app: Incarnation, at: u64) {
        if let Some(before) = self.check_at.replace(at) {
            turn.clear_timer(before, Timer::IdleCheck(app));
        }
        turn.set_timer(at, Timer::IdleCheck(app));
    }

    /// The app works outside of requests: it is left alone for as long as it says.
    pub(super) fn note_busy(&mut self, now: u64, busy: Busy) {
        self.busy = match busy.for_ms {
            0 => None,
            ms => Some((busy.what, now + ms.min(BUSY_MAX_MS))),
        };
    }

    /// The process is gone, and with it its checks; a session that was put to sleep stays asleep.
    pub(super) fn process_ended(&mut self, turn: &mut Turn, app: Incarnation) {
        if let Some(at) = self.check_at.take() {
            turn.clear_timer(at, Timer::IdleCheck(app));
        }
        self.busy = None;
        self.saving = None;
        self.widening.clear();
    }

    /// Writes down whether the session `key` sleeps, so that a later daemon wakes it as this one would.
    pub(super) fn save(&self, turn: &mut Turn, key: &SessionKey) {
        turn.persist(self.record(key));
    }

    /// The record of whether the session `key` sleeps, and in the state of which version.
    pub(super) fn record(&self, key: &SessionKey) -> Record {
        let version = self.asleep.and_then(|asleep| asleep.version);
        Record::Asleep {
            workspace: key.workspace.as_deref().map(Into::into),
            session: key.to_string(),
            version: version.unwrap_or(0),
            at_zero: version == Some(0),
            wake_at: self.wake_at,
        }
    }
}
