//! Looking ahead: the window that a run will show is asked for right behind its last step, and that of a new
//! session right behind its open.
//!
//! An app that does one thing after the other then answers both at once, which spares a turn of both
//! processes. One that doesn't is asked again: what it sends counts only when it is not older than the
//! step's outcome, and that it isn't open yet doesn't count.

use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Lod;

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::processes::reply::ReplyTo;
use crate::processes::session::ProcessState;
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
        let Some(found) = self.clients.request(job) else { return };
        let Some(live) = self.processes.get(session) else { return };
        // What waits for the session's start, or for what it is busy with, has nothing to gain.
        if live.ready().is_none() || live.owes != 1 || live.health.silent() {
            return;
        }
        let (lod, budget) = (found.call.lod, found.call.budget);
        let window = self.workspaces.get(&found.workspace).and_then(|w| w.window(session));
        let Some(window) = window else { return };
        let (lod, budget) = window.detail(lod, budget);
        let ask = self.projection_request(window, lod, budget);
        let purpose = ReplyTo::Prefetch(job);
        let deadline = deadline + PROJECT_MS;
        let method = Method::Project;
        let sent = self.processes.request(&mut self.turn, session, method, &ask, deadline, purpose);
        if let Some(request) = sent {
            let (session, window, known) =
                (session.clone(), ask.window, ask.known_version.is_some());
            self.tasks
                .prefetches
                .insert(job, Prefetch { request, session, window, lod, budget, known });
        }
    }

    /// Asks for the window that an `open` is to show, once its session's one open was sent.
    pub(crate) fn prefetch_for_open(&mut self, job: RequestId, key: &SessionKey) {
        let Some(live) = self.processes.get(key) else { return };
        let ProcessState::Starting { app, deadline, .. } = live.process else { return };
        if live.opens.len() != 1 || self.processes.is_shared(app) {
            return;
        }
        let Some(found) = self.clients.request(job) else { return };
        let (lod, budget) = (found.call.lod.unwrap_or_default(), found.call.budget);
        let Some(workspace) = self.workspaces.get(&found.workspace) else { return };
        if workspace.window(key).is_some() {
            return;
        }
        let epoch = workspace.epoch;
        let window = self.turn.next_number();
        let new = Window::new(window, key.clone(), epoch).with_detail(lod, budget);
        let (lod, budget) = new.detail(None, None);
        let ask = self.projection_request(&new, lod, budget);
        let (target, method, purpose) = ((key, app), Method::Project, ReplyTo::Prefetch(job));
        let turn = &mut self.turn;
        let sent =
            self.processes.request_from_starting(turn, target, method, &ask, deadline, purpose);
        if let Some(request) = sent {
            let (session, known) = (key.clone(), ask.known_version.is_some());
            self.tasks
                .prefetches
                .insert(job, Prefetch { request, session, window, lod, budget, known });
        }
    }

    /// The number of the window that was asked for ahead, for the window that is to be made.
    pub(crate) fn prefetched_number(&self, job: RequestId, key: &SessionKey) -> Option<u64> {
        self.tasks
            .prefetches
            .get(&job)
            .filter(|prefetch| prefetch.session == *key)
            .map(|prefetch| prefetch.window)
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
        let prefetch = self.tasks.prefetches.get(&job)?;
        let same = prefetch.session == *session
            && (prefetch.window, prefetch.lod, prefetch.budget) == (window, lod, budget);
        let request = prefetch.request;
        let to = ReplyTo::Project(job);
        if !same || !self.processes.redirect(&mut self.turn, request, to, deadline) {
            return None;
        }
        self.tasks.prefetches.remove(&job).map(|prefetch| prefetch.known)
    }

    /// Gives up what was asked for ahead, if it still is.
    pub(crate) fn drop_prefetch(&mut self, job: RequestId) {
        if let Some(prefetch) = self.tasks.prefetches.remove(&job) {
            self.processes.drop_request(&mut self.turn, prefetch.request);
        }
    }
}
