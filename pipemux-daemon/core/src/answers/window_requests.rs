//! Requests the windows of an answer from their apps, and takes what these reply.

use pipemux_proto::Incarnation;
use pipemux_proto::app::Project;
use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Lod;

use crate::answers::pending::PendingView;
use crate::answers::prefetches::Prefetches;
use crate::answers::project_reply::{AfterReply, take_reply};
use crate::clients::client_request::ClientRequest;
use crate::keys::SessionKey;
use crate::limits::{PROJECT_MS, START_MS};
use crate::processes::Processes;
use crate::processes::draining::break_app;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::Session;
use crate::turn::Turn;
use crate::views::requested_window::WindowStatus;
use crate::workspaces::{Window, Workspace};

/// The context for requesting windows for a client's request.
pub(crate) struct WindowRequests<'a> {
    pub request: &'a ClientRequest,
    pub workspace: &'a mut Workspace,
    pub prefetches: &'a mut Prefetches,
    pub processes: &'a mut Processes,
    pub turn: &'a mut Turn,
}

/// The state of a window after it was requested or its app replied.
#[must_use]
pub(crate) enum RequestState {
    /// A reply is pending, or the answer no longer waits for the window.
    Unchanged,
    /// The window is available, or won't come: the answer may be complete.
    Settled,
    /// The version of this process decreased, from the first number to the second. After this is
    /// noted, the window is to be requested again.
    WentBack(Incarnation, (u64, u64)),
}

impl WindowRequests<'_> {
    /// Requests a window from its app, or takes over the request that was sent ahead of time.
    /// `opening` is true if the session was opened just now.
    pub(crate) fn request(
        &mut self,
        view: &mut PendingView,
        session: &SessionKey,
        opening: bool,
    ) -> RequestState {
        // An answer of one window may wait for the app to start; a whole workspace doesn't wait for
        // one of its apps.
        let alone = view.windows.len() == 1;
        let Some(window) = self.workspace.window(session) else {
            view.close_window(session);
            return RequestState::Settled;
        };
        let Some(pending) = view.window_mut(session) else { return RequestState::Unchanged };
        let detail = (pending.lod, pending.budget);
        let reader = &self.request.call.reader;
        let project = projection_request(self.processes, window, reader, detail);
        let least = newest_known_version(self.processes, window);
        if window.can_be_shown_as_it_was()
            && self.processes.get(session).is_some_and(|s| s.health.silent())
        {
            // An earlier answer waited for this app, which has been silent since: the window is
            // shown as it was.
            let why = format!("{session} did not answer in time");
            let lost = AppReply::Lost { delivered: true, died: false, why, hints: Vec::new() };
            return self.take_reply(view, session, lost);
        }
        let slow = opening
            || (alone && self.processes.get(session).is_some_and(|found| found.is_starting()));
        let patience = if slow { START_MS } else { PROJECT_MS };
        let deadline = self.request.deadline.min(self.turn.now.mono_ms + patience);
        let wanted = (session, project.window, detail);
        let (processes, turn) = (&mut *self.processes, &mut *self.turn);
        let prefetched = self.prefetches.take(self.request.id, wanted, deadline, processes, turn);
        pending.known = prefetched.unwrap_or(project.known_version.is_some());
        pending.ahead = prefetched.is_some();
        pending.number = project.window;
        // A request that was sent ahead may be older than what is known now.
        pending.least = least.filter(|_| prefetched.is_none());
        if prefetched.is_none() {
            let to = ReplyTo::Project(self.request.id);
            self.processes.request(self.turn, session, Method::Project, &project, deadline, to);
        }
        RequestState::Unchanged
    }

    /// Takes an app's reply to a request for a window.
    pub(crate) fn take_reply(
        &mut self,
        view: &mut PendingView,
        session: &SessionKey,
        reply: AppReply,
    ) -> RequestState {
        let process = self.processes.get(session);
        let app = process.and_then(Session::app);
        let newest = process.map_or(0, |process| process.version);
        let pending = view.window_mut(session);
        let Some(pending) = pending.filter(|window| window.state == WindowStatus::Waiting) else {
            return RequestState::Unchanged;
        };
        let Some(window) = self.workspace.window_mut(session) else {
            view.close_window(session);
            return RequestState::Settled;
        };
        match take_reply(session, pending, window, (app, newest), reply) {
            AfterReply::Settled => {
                self.request_embeds(view, session);
                RequestState::Settled
            }
            AfterReply::RequestAgain => self.request(view, session, false),
            AfterReply::WentBack(app, versions) => RequestState::WentBack(app, versions),
            AfterReply::EndApp(app, why) => {
                break_app(self.turn, self.processes, app, why);
                RequestState::Settled
            }
        }
    }
}

/// Returns the request for a window at a level of detail and a budget.
pub(crate) fn projection_request(
    processes: &Processes,
    window: &Window,
    reader: &str,
    (lod, budget): (Lod, u32),
) -> Project {
    let app = processes.get(&window.session).and_then(Session::ready);
    let held = window
        .projection
        .as_ref()
        .filter(|held| Some(held.app) == app && held.lod == lod && held.budget == budget);
    Project {
        window: window.number,
        lod,
        // A fifth is kept in reserve for errors of the app's own estimate.
        budget: budget - budget / 5,
        known_version: held.map(|held| held.projection.version),
        reader: reader.to_owned(),
    }
}

/// Returns the process of a window's session, and the newest version that it told or showed.
fn newest_known_version(processes: &Processes, window: &Window) -> Option<(Incarnation, u64)> {
    let session = processes.get(&window.session)?;
    let app = session.ready()?;
    let held = window.projection.as_ref().map(|held| (held.app, held.projection.version));
    let counted = window.context.counted.map(|(app, version, _)| (app, version));
    let shown = [held, counted].into_iter().flatten().filter(|(of, _)| *of == app);
    let newest = shown.map(|(_, version)| version).fold(session.version, u64::max);
    Some((app, newest))
}
