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

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::processes::reply::ReplyTo;
use crate::processes::session::ProcessState;
use crate::verbs::tasks::Prefetch;
use crate::workspaces::Window;

impl Core {
    /// Requests the window that a run is to show after its last step, which was just sent to `session`.
    pub(crate) fn prefetch_window(&mut self, id: RequestId, session: &SessionKey, deadline: u64) {
        self.drop_prefetch(id);
        let (Some(request), Some(process)) =
            (self.clients.request(id), self.processes.get(session))
        else {
            return;
        };
        // A window gains nothing while the session starts or is busy with something else.
        if process.ready().is_none() || process.owes != 1 || process.health.silent() {
            return;
        }
        let workspace = self.workspaces.get(&request.workspace);
        let Some(window) = workspace.and_then(|workspace| workspace.window(session)) else {
            return;
        };
        let (lod, budget) = window.detail(request.call.lod, request.call.budget);
        let project = self.projection_request(window, &request.call.reader, lod, budget);
        let (turn, to) = (&mut self.turn, ReplyTo::Prefetch(id));
        let (method, deadline) = (Method::Project, deadline + PROJECT_MS);
        let sent = self.processes.request(turn, session, method, &project, deadline, to);
        self.note_prefetch(id, sent, session, &project, (lod, budget));
    }

    /// Requests the window that an `open` is to show, once the only open of its session was sent.
    pub(crate) fn prefetch_for_open(&mut self, id: RequestId, session: &SessionKey) {
        let (Some(request), Some(process)) =
            (self.clients.request(id), self.processes.get(session))
        else {
            return;
        };
        let ProcessState::Starting { app, deadline, .. } = process.process else { return };
        if process.opens.len() != 1 || self.processes.is_shared(app) {
            return;
        }
        let (lod, budget) = (request.call.lod.unwrap_or_default(), request.call.budget);
        let workspace = self.workspaces.get(&request.workspace);
        let Some(workspace) = workspace.filter(|found| found.window(session).is_none()) else {
            return;
        };
        let epoch = workspace.epoch;
        let reader = request.call.reader.clone();
        let number = self.turn.next_number();
        let window = Window::new(number, session.clone(), epoch).with_detail(lod, budget);
        let (lod, budget) = window.detail(None, None);
        let project = self.projection_request(&window, &reader, lod, budget);
        let (target, method, to) = ((session, app), Method::Project, ReplyTo::Prefetch(id));
        let turn = &mut self.turn;
        let sent =
            self.processes.request_from_starting(turn, target, method, &project, deadline, to);
        self.note_prefetch(id, sent, session, &project, (lod, budget));
    }

    /// Remembers a prefetch, if its request was sent.
    fn note_prefetch(
        &mut self,
        id: RequestId,
        sent: Option<u64>,
        session: &SessionKey,
        project: &Project,
        (lod, budget): (Lod, u32),
    ) {
        if let Some(app_request) = sent {
            let (session, window) = (session.clone(), project.window);
            let known = project.known_version.is_some();
            let prefetch = Prefetch { app_request, session, window, lod, budget, known };
            self.tasks.prefetches.insert(id, prefetch);
        }
    }

    /// Returns the number of the prefetched window of a session, for the window that is about to be made.
    pub(crate) fn prefetched_number(&self, id: RequestId, session: &SessionKey) -> Option<u64> {
        let prefetch = self.tasks.prefetches.get(&id);
        prefetch.filter(|found| found.session == *session).map(|found| found.window)
    }

    /// Makes a prefetch the request that the answer waits for, if it is of this very window. Returns true when the
    /// app was told which version the daemon holds; none when the window was not prefetched.
    pub(crate) fn take_prefetched(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        window: u64,
        (lod, budget): (Lod, u32),
        deadline: u64,
    ) -> Option<bool> {
        let prefetch = self.tasks.prefetches.get(&id)?;
        let same = prefetch.session == *session
            && (prefetch.window, prefetch.lod, prefetch.budget) == (window, lod, budget);
        let app_request = prefetch.app_request;
        let to = ReplyTo::Project(id);
        if !same || !self.processes.redirect(&mut self.turn, app_request, to, deadline) {
            return None;
        }
        self.tasks.prefetches.remove(&id).map(|prefetch| prefetch.known)
    }

    /// Cancels the prefetch of a request, if there is one.
    pub(crate) fn drop_prefetch(&mut self, id: RequestId) {
        if let Some(prefetch) = self.tasks.prefetches.remove(&id) {
            self.processes.drop_request(&mut self.turn, prefetch.app_request);
        }
    }
}
