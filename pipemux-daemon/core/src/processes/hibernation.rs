//! Hibernation: a session that nobody uses has its state saved and its process ended; the next touch
//! wakes it, and its readers see no difference.
//!
//! The app takes part: it writes its state down when it is asked to (`Save`) and says which version
//! that is. Woken with that version, it goes on counting from it, so that ids, line numbers and what
//! readers have seen mean what they meant. An app that can't save is left running.

use pipemux_proto::app::{Busy, Empty, Saved};
use pipemux_proto::decode;
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;

use crate::Core;
use crate::clients::requests::RequestState;
use crate::event::Effect;
use crate::keys::SessionKey;
use crate::limits::{BUSY_MAX_MS, NOTICE_CHARS, SAVE_MS};
use crate::manifest::Idle;
use crate::persist::records::Record;
use crate::processes::requests::{AppReply, Purpose};
use crate::timers::Timer;
use crate::workspaces::Workspace;

/// What a session's rest depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hibernation {
    /// When it was last asked for something, or answered that.
    pub used: u64,
    /// When it is looked at next.
    pub look_at: Option<u64>,
    /// What it does outside of requests, and until when it is left alone.
    pub busy: Option<(String, u64)>,
    /// When it was asked to save its state, while that is under way.
    pub saving: Option<u64>,
    /// Set while it sleeps.
    pub asleep: Option<Asleep>,
}

/// A sleeping session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asleep {
    /// The process that it had.
    pub app: Incarnation,
    /// The version of the state that was saved; 0: not told.
    pub version: u64,
}

impl Core {
    /// A session became ready: it may rest once nobody used it for long.
    pub(crate) fn rest_later(&mut self, key: &SessionKey, app: Incarnation) {
        let now = self.now.mono_ms;
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.hibernation.used = session.hibernation.used.max(now);
        if let Idle::After(ms) = session.manifest.idle {
            self.look_at_rest(key, app, now.saturating_add(ms));
        }
    }

    fn look_at_rest(&mut self, key: &SessionKey, app: Incarnation, at: u64) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if let Some(before) = session.hibernation.look_at.replace(at) {
            self.timers.clear(before, Timer::IdleCheck(app));
        }
        self.timers.set(at, Timer::IdleCheck(app));
    }

    /// Looks whether a session may sleep now.
    pub(crate) fn rest_due(&mut self, app: Incarnation) {
        let now = self.now.mono_ms;
        let Some(key) = self.session_by_incarnation.get(&app).cloned() else { return };
        let pinned = self.is_pinned(&key);
        let waited_for = self.is_waited_for(&key);
        let exchanged = self.exchanges.quota(app).map_or(0, |quota| match quota.open {
            0 => quota.used,
            _ => now,
        });
        let Some(session) = self.sessions.get_mut(&key) else { return };
        session.hibernation.look_at = None;
        let Idle::After(ms) = session.manifest.idle else { return };
        if session.ready() != Some(app) {
            return;
        }
        let busy = session.hibernation.busy.as_ref().map_or(0, |(_, until)| *until);
        let due = session.hibernation.used.max(exchanged).saturating_add(ms).max(busy);
        if due > now {
            return self.look_at_rest(&key, app, due);
        }
        if pinned || waited_for || session.owes > 0 || session.health.silent() {
            return self.look_at_rest(&key, app, now.saturating_add(ms));
        }
        session.hibernation.saving = Some(now);
        self.send_now(&key, app, Method::Save, &Empty {}, now + SAVE_MS, Purpose::Save);
    }

    /// An app saved its state, or didn't.
    pub(crate) fn save_answered(&mut self, key: &SessionKey, answered: AppReply) {
        let now = self.now.mono_ms;
        let pinned = self.is_pinned(key);
        let Some(session) = self.sessions.get_mut(key) else { return };
        let (Some(began), Some(app)) = (session.hibernation.saving.take(), session.ready()) else {
            return;
        };
        let Idle::After(ms) = session.manifest.idle else { return };
        let saved = match answered {
            AppReply::Reply(body) => decode::<Saved>(&body).ok(),
            AppReply::Fault(_) | AppReply::Lost { .. } => None,
        };
        let busy = session.hibernation.busy.as_ref().is_some_and(|(_, until)| *until > now);
        // Asked for something meanwhile: what was saved may be out of date already.
        let wanted = session.owes > 0 || session.hibernation.used > began || busy || pinned;
        match saved.filter(|_| !wanted) {
            Some(Saved { version }) => {
                session.hibernation.asleep = Some(Asleep { app, version });
                self.save_asleep(key, version);
                self.close_app(key);
            }
            None => self.look_at_rest(key, app, now.saturating_add(ms)),
        }
    }

    /// An app works outside of requests: it is left alone for as long as it says.
    pub(crate) fn heard_busy(&mut self, key: &SessionKey, busy: Busy) {
        let now = self.now.mono_ms;
        let Some(session) = self.sessions.get_mut(key) else { return };
        session.hibernation.busy = match busy.for_ms {
            0 => None,
            ms => {
                let what = busy.what.chars().take(NOTICE_CHARS).collect();
                Some((what, now + ms.min(BUSY_MAX_MS)))
            }
        };
    }

    /// A process is gone: nothing of it rests any more, but a session that was sent to sleep does.
    pub(crate) fn forget_rest(&mut self, key: &SessionKey, app: Incarnation) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        if let Some(at) = session.hibernation.look_at.take() {
            self.timers.clear(at, Timer::IdleCheck(app));
        }
        session.hibernation.busy = None;
        session.hibernation.saving = None;
    }

    /// A session's new process is ready. Returns true when it went on where the one before it was put
    /// to sleep: what readers saw of that one is then what they saw of this one.
    pub(crate) fn woken(&mut self, key: &SessionKey, app: Incarnation, version: u64) -> bool {
        let Some(session) = self.sessions.get_mut(key) else { return false };
        let Some(asleep) = session.hibernation.asleep.take() else { return false };
        self.save_asleep(key, 0);
        let Some(session) = self.sessions.get_mut(key) else { return false };
        if asleep.version == 0 || asleep.version != version {
            return false;
        }
        session.version = version;
        for workspace in self.workspaces.values_mut() {
            workspace.hand_over(key, asleep.app, app);
            workspace.session_changed(key);
        }
        // Runs that wait for it go on with their later steps.
        for job in self.requests.values_mut() {
            if let RequestState::Running(run) = &mut job.task
                && let Some((life, _)) = run.seen.get_mut(key)
                && *life == asleep.app
            {
                *life = app;
            }
        }
        true
    }

    /// Written down, so that a later daemon wakes it as this one would.
    pub(crate) fn save_asleep(&mut self, key: &SessionKey, version: u64) {
        let workspace = key.workspace.as_deref().map(Into::into);
        let session = key.to_string();
        self.out.push(Effect::Persist(Record::Asleep { workspace, session, version }));
    }

    fn is_pinned(&self, key: &SessionKey) -> bool {
        let shows = |workspace: &Workspace| workspace.window(key).is_some_and(|w| w.pinned);
        self.workspaces.values().any(shows)
    }
}

impl Workspace {
    /// What was seen of one life of a session counts as seen of the next, which has the same state.
    fn hand_over(&mut self, key: &SessionKey, from: Incarnation, to: Incarnation) {
        let change = |app: &mut Incarnation| {
            if *app == from {
                *app = to;
            }
        };
        if let Some(window) = self.windows.get_mut(key) {
            if let Some(held) = &mut window.projection {
                change(&mut held.app);
            }
            if let Some((app, ..)) = &mut window.context.of {
                change(app);
            }
            for past in &mut window.delivered {
                change(&mut past.seen.0);
            }
        }
        for reader in self.readers.values_mut() {
            if let Some(seen) = reader.seen.get_mut(key) {
                change(&mut seen.app);
            }
            let delivered = reader.deliveries.iter_mut().flat_map(|delivery| &mut delivery.seen);
            for (_, seen) in delivered.filter(|(session, _)| session == key) {
                change(&mut seen.app);
            }
            if let Some((life, _)) = reader.kept.as_mut().and_then(|kept| kept.seen.get_mut(key)) {
                change(life);
            }
        }
        for question in self.questions.values_mut() {
            if let Some((life, _)) = question.run.seen.get_mut(key) {
                change(life);
            }
        }
    }
}
