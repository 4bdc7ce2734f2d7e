//! Looking ahead: the window that a run will show is asked for right behind its last step, and that of a new
//! session right behind its open.
//!
//! An app that does one thing after the other then answers both at once, which spares a turn of both
//! processes. One that doesn't is asked again: what it sends counts only when it is not older than the
//! step's outcome, and that it isn't open yet doesn't count.

use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::processes::requests::Purpose;
use crate::processes::session::ProcessState;
use crate::timers::Timer;
use crate::workspaces::Window;

/// A window that was asked for before it is known that it will be shown.
#[derive(Debug)]
pub struct Prefetch {
    /// The request's number.
    request: u64,
    session: SessionKey,
    /// The number that its app knows the window by.
    window: u64,
    lod: Lod,
    budget: u32,
    /// True when its app was told which version is held.
    known: bool,
}

impl Core {
    /// Asks for the window that the run is to show after the step that was just sent to `session`, if
    /// that is its last one.
    pub(crate) fn prefetch_window(&mut self, job: RequestId, session: &SessionKey, deadline: u64) {
        self.drop_prefetch(job);
        let Some(found) = self.requests.get(&job) else { return };
        let Some(live) = self.sessions.get(session) else { return };
        // What waits for the session's start, or for what it is busy with, has nothing to gain.
        if live.ready().is_none() || live.owes != 1 || live.health.silent() {
            return;
        }
        let (lod, budget) = (found.call.lod, found.call.budget);
        let window = self.workspaces.get(&found.workspace).and_then(|w| w.window(session));
        let Some(window) = window else { return };
        let (lod, budget) = window.detail(lod, budget);
        let ask = self.projection_request(window, lod, budget);
        let purpose = Purpose::Prefetch(job);
        self.request(session, Method::Project, &ask, deadline + PROJECT_MS, purpose);
        let request = self.next_request;
        if self.app_requests.get(&request).is_some_and(|p| p.purpose == Purpose::Prefetch(job)) {
            let (session, window, known) =
                (session.clone(), ask.window, ask.known_version.is_some());
            self.prefetches.insert(job, Prefetch { request, session, window, lod, budget, known });
        }
    }

    /// Asks for the window that an `open` is to show, once its session's one open was sent.
    pub(crate) fn prefetch_for_open(&mut self, job: RequestId, key: &SessionKey) {
        let Some(live) = self.sessions.get(key) else { return };
        let ProcessState::Starting { app, deadline, .. } = live.process else { return };
        if live.opens.len() != 1 || self.shared.is_shared(app) {
            return;
        }
        let Some(found) = self.requests.get(&job) else { return };
        let (lod, budget) = (found.call.lod.unwrap_or_default(), found.call.budget);
        let Some(workspace) = self.workspaces.get(&found.workspace) else { return };
        if workspace.window(key).is_some() {
            return;
        }
        let epoch = workspace.epoch;
        let window = self.next_number();
        let new = Window { lod, budget, ..Window::new(window, key.clone(), epoch) };
        let (lod, budget) = new.detail(None, None);
        let ask = self.projection_request(&new, lod, budget);
        self.send_now(key, app, Method::Project, &ask, deadline, Purpose::Prefetch(job));
        let request = self.next_request;
        if self.app_requests.contains_key(&request) {
            let (session, known) = (key.clone(), ask.known_version.is_some());
            self.prefetches.insert(job, Prefetch { request, session, window, lod, budget, known });
        }
    }

    /// The number of the window that was asked for ahead, for the window that is to be made.
    pub(crate) fn prefetched_number(&self, job: RequestId, key: &SessionKey) -> Option<u64> {
        self.prefetches.get(&job).filter(|ahead| ahead.session == *key).map(|ahead| ahead.window)
    }

    /// When this very window was asked for ahead, its answer is the one that is waited for now; gives whether
    /// its app was told which version is held.
    pub(crate) fn take_prefetched(
        &mut self,
        job: RequestId,
        session: &SessionKey,
        window: u64,
        (lod, budget): (Lod, u32),
        deadline: u64,
    ) -> Option<bool> {
        let up = self.up(session);
        let ahead = self.prefetches.get(&job)?;
        let same = ahead.session == *session
            && (ahead.window, ahead.lod, ahead.budget) == (window, lod, budget);
        let request = ahead.request;
        let pending = self.app_requests.get_mut(&request)?;
        if !same || up.is_none() || pending.app != up {
            return None;
        }
        let known = self.prefetches.remove(&job).map(|ahead| ahead.known);
        self.timers.clear(pending.deadline, Timer::AppRequest(request));
        (pending.purpose, pending.deadline) = (Purpose::Project(job), deadline);
        self.timers.set(deadline, Timer::AppRequest(request));
        known
    }

    /// Gives up what was asked for ahead, if it still is.
    pub(crate) fn drop_prefetch(&mut self, job: RequestId) {
        let Some(Prefetch { request, session, .. }) = self.prefetches.remove(&job) else { return };
        let Some(pending) = self.app_requests.get(&request) else { return };
        // One that is gone isn't told.
        let up = self.up(&session);
        let alive = pending.app.filter(|app| up == Some(*app));
        if let Some(app) = alive {
            self.cancel_request(request, app);
        }
        self.take_back(request);
    }

    /// A session's process, unless it is about to end.
    fn up(&self, session: &SessionKey) -> Option<Incarnation> {
        match self.sessions.get(session)?.process {
            ProcessState::Ready { app } | ProcessState::Starting { app, .. } => Some(app),
            _ => None,
        }
    }
}
