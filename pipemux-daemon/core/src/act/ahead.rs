//! Looking ahead: the window that a run will show is asked for right behind its last step.
//!
//! An app that does one thing after the other then answers both at once, which spares a turn of both
//! processes. One that doesn't is asked again: what it sends counts only when it is not older than the
//! step's outcome.

use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Lod;

use crate::Core;
use crate::keys::{JobId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::requests::Purpose;
use crate::timers::Timer;

/// A window that was asked for before it is known that it will be shown.
#[derive(Debug)]
pub struct Ahead {
    /// The request's number.
    request: u64,
    session: SessionKey,
    lod: Lod,
    budget: u32,
}

impl Core {
    /// Asks for the window that the run is to show after the step that was just sent to `session`, if
    /// that is its last one.
    pub(super) fn look_ahead(&mut self, job: JobId, session: &SessionKey, deadline: u64) {
        self.drop_ahead(job);
        let Some(found) = self.jobs.get(&job) else { return };
        let Some(live) = self.sessions.get(session) else { return };
        // What waits for the session's start, or for what it is busy with, has nothing to gain.
        if live.ready().is_none() || live.owes != 1 || live.health.silent() {
            return;
        }
        let (lod, budget) = (found.call.lod, found.call.budget);
        let window = self.workspaces.get(&found.workspace).and_then(|w| w.window(session));
        let Some(window) = window else { return };
        let (lod, budget) = window.detail(lod, budget);
        let ask = self.ask_for(window, lod, budget);
        let purpose = Purpose::Ahead(job);
        self.request(session, Method::Project, &ask, deadline + PROJECT_MS, purpose);
        let request = self.next_request;
        if self.pending.get(&request).is_some_and(|p| p.purpose == Purpose::Ahead(job)) {
            let session = session.clone();
            self.ahead.insert(job, Ahead { request, session, lod, budget });
        }
    }

    /// True when this very window was asked for ahead: its answer is the one that is waited for now.
    pub(crate) fn take_ahead(
        &mut self,
        job: JobId,
        session: &SessionKey,
        (lod, budget): (Lod, u32),
        deadline: u64,
    ) -> bool {
        let ready = self.sessions.get(session).and_then(|live| live.ready());
        let Some(ahead) = self.ahead.get(&job) else { return false };
        let same = ahead.session == *session && (ahead.lod, ahead.budget) == (lod, budget);
        let request = ahead.request;
        let Some(pending) = self.pending.get_mut(&request) else { return false };
        if !same || ready.is_none() || pending.app != ready {
            return false;
        }
        self.ahead.remove(&job);
        self.timers.clear(pending.deadline, Timer::Request(request));
        (pending.purpose, pending.deadline) = (Purpose::Project(job), deadline);
        self.timers.set(deadline, Timer::Request(request));
        true
    }

    /// Gives up what was asked for ahead, if it still is.
    pub(crate) fn drop_ahead(&mut self, job: JobId) {
        let Some(Ahead { request, session, .. }) = self.ahead.remove(&job) else { return };
        let Some(pending) = self.pending.get(&request) else { return };
        // One that is gone isn't told.
        let up = self.sessions.get(&session).and_then(|live| live.ready());
        let alive = pending.app.filter(|app| up == Some(*app));
        if let Some(app) = alive {
            self.cancel_request(request, app);
        }
        self.take_back(request);
    }
}
