//! Hibernation: a session that nobody uses has its state saved and its process ended; the next touch
//! wakes it, and its readers see no difference.
//!
//! The app takes part: it writes its state down when it is asked to (`Save`) and says which version
//! that is. Woken with that version, it goes on counting from it, so that ids, line numbers and what
//! readers have seen mean what they meant. An app that can't save is left running.
//! One that names a time is woken then (`wake_times`). `sleep` has the steps.

use pipemux_proto::ids::Incarnation;

use crate::foreign::{Busy, ForeignText};
use crate::keys::SessionKey;
use crate::limits::BUSY_MAX_MS;
use crate::manifest::Idle;
use crate::persist::records::Record;
use crate::timers::Timer;
use crate::turn::Turn;

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

impl Hibernation {
    /// The process became ready: the session may sleep once nobody used it for long.
    pub(super) fn schedule_check(&mut self, turn: &mut Turn, app: Incarnation, idle: Idle) {
        let now = turn.mono_ms();
        self.used = self.used.max(now);
        if let Idle::After(ms) = idle {
            self.check_idle_at(turn, app, now.saturating_add(ms));
        }
    }

    /// The new process of the session `key` has the state of this version. Returns the process that
    /// was put to sleep, and the version, when the new one went on from there: what readers saw of
    /// that one is then what they saw of this one.
    pub(super) fn wake_up(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        version: Option<u64>,
    ) -> Option<(Incarnation, u64)> {
        self.due = false;
        let (asleep, wake_at) = (self.asleep.take(), self.wake_at.take());
        if asleep.is_some() || wake_at.is_some() {
            self.save(turn, key);
        }
        let asleep = asleep.filter(|asleep| asleep.version == version)?;
        Some((asleep.app, version?))
    }

    pub(super) fn check_idle_at(&mut self, turn: &mut Turn, app: Incarnation, at: u64) {
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
