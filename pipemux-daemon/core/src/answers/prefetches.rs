//! Requesting windows ahead of time: the window that a run will show is requested right behind the run's last step,
//! and the window of a new session right behind its open.
//!
//! An app that does one thing after the other then answers both at once, which saves one turn of both processes. An
//! app that does several things at once is asked again: its projection counts only when it is not older than the
//! step's outcome, and a refusal because the session isn't open yet doesn't count.
//!
//! Nothing here is needed for an answer, so each function returns without a prefetch when one doesn't pay.

use pipemux_proto::app::Project;
use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Lod;
use rustc_hash::FxHashMap;

use crate::answers::window_requests::{WindowRequests, projection_request};
use crate::keys::{RequestId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::processes::Processes;
use crate::processes::reply::ReplyTo;
use crate::processes::session::ProcessState;
use crate::turn::Turn;
use crate::workspaces::Window;

/// A window that was requested before it is certain that an answer will show it.
#[derive(Debug)]
struct Prefetch {
    /// The number of the request to the app.
    app_request: u64,
    session: SessionKey,
    /// The number by which the app knows the window.
    window: u64,
    lod: Lod,
    /// The budget in tokens.
    budget: u32,
    /// True when the app was told which version the daemon holds.
    known: bool,
}

/// The windows that were requested ahead of time, at most one for each request of a client.
#[derive(Debug, Default)]
pub(crate) struct Prefetches {
    by_request: FxHashMap<RequestId, Prefetch>,
}

impl Prefetches {
    /// Returns the number of a request's prefetched window, for the window of the session that is about to be made.
    pub(crate) fn window_number(&self, id: RequestId, session: &SessionKey) -> Option<u64> {
        let prefetch = self.by_request.get(&id);
        prefetch.filter(|found| found.session == *session).map(|found| found.window)
    }

    /// Forgets the prefetch of a request, to which its app has replied.
    pub(crate) fn forget(&mut self, id: RequestId) {
        self.by_request.remove(&id);
    }

    /// Cancels the prefetch of a request, if there is one.
    pub(crate) fn cancel(&mut self, id: RequestId, processes: &mut Processes, turn: &mut Turn) {
        if let Some(prefetch) = self.by_request.remove(&id) {
            processes.drop_request(turn, prefetch.app_request);
        }
    }
}

impl WindowRequests<'_> {
    /// Requests the window that a run is to show after its last step, which was just sent to `session`.
    pub(crate) fn prefetch_after_step(&mut self, session: &SessionKey, deadline: u64) {
        let Some(process) = self.processes.get(session) else { return };
        // A window gains nothing while the session starts or is busy with something else.
        if process.ready().is_none() || process.owes != 1 || process.health.silent() {
            return;
        }
        let Some(window) = self.workspace.window(session) else { return };
        let call = &self.request.call;
        let detail = window.detail(call.lod, call.budget);
        let project = projection_request(self.processes, window, &call.reader, detail);
        let (method, to) = (Method::Project, ReplyTo::Prefetch(self.id));
        let deadline = deadline + PROJECT_MS;
        let sent = self.processes.request(self.turn, session, method, &project, deadline, to);
        self.note_prefetch(sent, session, &project, detail);
    }

    /// Requests the window that an `open` is to show, once the only open of its session was sent.
    pub(crate) fn prefetch_for_open(&mut self, session: &SessionKey) {
        let Some(process) = self.processes.get(session) else { return };
        let ProcessState::Starting { app, deadline, .. } = process.process else { return };
        if process.opens.len() != 1
            || self.processes.is_shared(app)
            || self.workspace.window(session).is_some()
        {
            return;
        }
        let call = &self.request.call;
        let (number, epoch) = (self.turn.next_number(), self.workspace.epoch);
        let window = Window::new(number, session.clone(), epoch)
            .with_detail(call.lod.unwrap_or_default(), call.budget);
        let detail = window.detail(None, None);
        let project = projection_request(self.processes, &window, &call.reader, detail);
        let (target, method, to) = ((session, app), Method::Project, ReplyTo::Prefetch(self.id));
        let turn = &mut *self.turn;
        let sent =
            self.processes.request_from_starting(turn, target, method, &project, deadline, to);
        self.note_prefetch(sent, session, &project, detail);
    }

    /// Remembers a prefetch, if its request was sent.
    fn note_prefetch(
        &mut self,
        sent: Option<u64>,
        session: &SessionKey,
        project: &Project,
        (lod, budget): (Lod, u32),
    ) {
        if let Some(app_request) = sent {
            let (session, window) = (session.clone(), project.window);
            let known = project.known_version.is_some();
            let prefetch = Prefetch { app_request, session, window, lod, budget, known };
            self.prefetches.by_request.insert(self.id, prefetch);
        }
    }

    /// Makes a prefetch the request that the answer waits for, if it is of this very window. Returns true when the
    /// app was told which version the daemon holds; none when the window was not prefetched.
    pub(super) fn take_prefetched(
        &mut self,
        session: &SessionKey,
        window: u64,
        (lod, budget): (Lod, u32),
        deadline: u64,
    ) -> Option<bool> {
        let prefetch = self.prefetches.by_request.get(&self.id)?;
        let same = prefetch.session == *session
            && (prefetch.window, prefetch.lod, prefetch.budget) == (window, lod, budget);
        let (app_request, to) = (prefetch.app_request, ReplyTo::Project(self.id));
        if !same || !self.processes.redirect(self.turn, app_request, to, deadline) {
            return None;
        }
        self.prefetches.by_request.remove(&self.id).map(|prefetch| prefetch.known)
    }
}
