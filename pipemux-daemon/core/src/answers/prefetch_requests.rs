//! Requesting windows ahead of time: the window that a run will show is requested right behind the
//! run's last step, and the window of a new session right behind its open.
//!
//! An app that does one thing after the other then answers both at once, which saves one turn of
//! both processes. An app that does several things at once is asked again: its projection counts
//! only when it is not older than the step's outcome, and a refusal because the session isn't open
//! yet doesn't count.
//!
//! Nothing here is needed for an answer, so each function returns without a prefetch when one
//! doesn't pay.

use pipemux_proto::app::Project;
use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Lod;

use crate::answers::prefetches::Prefetch;
use crate::answers::window_requests::{WindowRequests, projection_request};
use crate::keys::SessionKey;
use crate::limits::PROJECT_MS;
use crate::processes::reply::ReplyTo;
use crate::processes::requests::request_from_starting;
use crate::processes::session::ProcessState;
use crate::workspaces::Window;

impl WindowRequests<'_> {
    /// Requests the window that a run is to show after its last step, which was just sent to
    /// `session`.
    pub(crate) fn prefetch_after_step(&mut self, session: &SessionKey, deadline: u64) {
        let Some(process) = self.processes.get(session) else { return };
        // A window gains nothing while the session starts or is busy with something else.
        if process.ready().is_none() || process.owed.count != 1 || process.health.silent() {
            return;
        }
        let Some(window) = self.workspace.window(session) else { return };
        let call = &self.request.call;
        let detail = window.detail(call.lod, call.budget);
        let project = projection_request(self.processes, window, &call.reader, detail);
        let (method, to) = (Method::Project, ReplyTo::Prefetch(self.request.id));
        let deadline = deadline + PROJECT_MS;
        let sent = self.processes.request(self.turn, session, method, &project, deadline, to);
        self.note_prefetch(sent, session, &project, detail);
    }

    /// Requests the window that an `open` is to show, once the only open of its session was sent.
    pub(crate) fn prefetch_for_open(&mut self, session: &SessionKey) {
        let Some(process) = self.processes.get(session) else { return };
        let ProcessState::Starting { app, deadline, .. } = process.process else { return };
        if process.opens.len() != 1
            || self.processes.incarnations().is_shared(app)
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
        let (what, to) = ((Method::Project, &project), ReplyTo::Prefetch(self.request.id));
        let sent = request_from_starting(self.turn, self.processes, session, what, deadline, to);
        self.note_prefetch(sent, session, &project, detail);
    }

    /// Remembers a prefetch, if its request was sent.
    fn note_prefetch(
        &mut self,
        sent: Option<u64>,
        session: &SessionKey,
        project: &Project,
        detail: (Lod, u32),
    ) {
        if let Some(app_request) = sent {
            let (session, window) = (session.clone(), project.window);
            let known = project.known_version.is_some();
            let prefetch = Prefetch { app_request, session, window, detail, known };
            self.prefetches.insert(self.request.id, prefetch);
        }
    }
}
