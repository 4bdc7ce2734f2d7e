//! Hibernation: a session that nobody uses has its state saved and its process ended; the next
//! touch wakes it, and its readers see no difference.
//!
//! The app takes part: it writes its state down when it is asked to (`Save`) and says which version
//! that is. Woken with that version, it goes on counting from it, so that ids, line numbers and
//! what readers have seen mean what they meant. An app that can't save is left running. One that
//! names a time is woken then (`wake_times`). `sleep` has the steps.

use pipemux_proto::ids::Incarnation;

use crate::foreign::{Busy, ForeignText};
use crate::keys::SessionKey;
use crate::limits::BUSY_MAX_MS;
use crate::manifest::Idle;
use crate::persist::records::Record;
use crate::timers::Timer;
use crate::turn::Turn;

/// The state by which it is decided whether a session sleeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hibernation {
    /// The time of the last request to the session, or of the reply to it.
    pub used: u64,
    /// The time of the next check whether the session may sleep.
    pub check_at: Option<u64>,
    /// The activity outside of requests, and the time until which the session is left alone.
    pub busy: Option<(ForeignText, u64)>,
    /// The time of the request to save the state, while the request is pending.
    pub saving: Option<u64>,
    /// The paths that its next process is granted besides, while it is being replaced for that.
    pub widening: Vec<String>,
    /// The number of save requests that were made to widen the grants.
    pub saves: u32,
    /// Set while it sleeps.
    pub asleep: Option<Asleep>,
    /// The time at which the session is to be woken, in milliseconds since 1970.
    pub wake_at: Option<u64>,
    /// True when it is started because that time has come.
    pub due: bool,
}

/// A sleeping session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asleep {
    /// The incarnation of the session's last process.
    pub app: Incarnation,
    /// The version of the saved state, if the app named one.
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

    /// Records that the new process of the session `key` restored this version. If it resumed the
    /// hibernated state, returns the hibernated process and the version: what readers saw of that
    /// process then counts as seen of the new one.
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

    /// Records that the app works outside of requests and is left alone for that time.
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

    /// Records whether the session `key` is hibernated, so that a later daemon wakes it like this
    /// one would.
    pub(super) fn save(&self, turn: &mut Turn, key: &SessionKey) {
        turn.persist(self.record(key));
    }

    /// The record of whether the session `key` sleeps, and of the version of its state.
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
