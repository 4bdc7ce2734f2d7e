//! Requests that show windows, from the request to an app for each window to the answer: hands what the components of the
//! core hold to `answers`.

use std::rc::Rc;

use pipemux_proto::Fault;

use crate::Core;
use crate::answers::collect::AnswerInput;
use crate::answers::pending::PendingView;
use crate::answers::window_requests::{RequestState, WindowRequests};
use crate::keys::{ProjectionKey, RequestId, SessionKey, WorkspaceKey};
use crate::processes::reply::AppReply;
use crate::verbs::require;
use crate::verbs::tasks::Task;
use crate::views::requested_window::{AnswerKind, RequestedWindow, WantedWindow};

impl Core {
    /// Returns what requests windows for a request, and its windows, if it waits for some.
    pub(crate) fn window_requests(
        &mut self,
        id: RequestId,
    ) -> Result<(WindowRequests<'_>, Option<&mut PendingView>), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let (view, prefetches) = self.tasks.view_and_prefetches(id);
        let (processes, turn) = (&mut self.processes, &mut self.turn);
        Ok((WindowRequests { id, request, workspace, prefetches, processes, turn }, view))
    }

    /// Requests windows from their apps, and answers once all have arrived or time is up.
    pub(crate) fn show_windows(
        &mut self,
        id: RequestId,
        wanted: Vec<WantedWindow>,
        kind: AnswerKind,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let mut windows = Vec::new();
        for WantedWindow { session, lod, budget } in wanted {
            if let Some(window) = workspace.window(&session) {
                let (lod, budget) = window.detail(lod, budget);
                let peek = (lod, budget) != window.detail(None, None);
                let new = RequestedWindow::new(session, window.number, lod, budget);
                windows.push(RequestedWindow { peek, ..new });
            }
        }
        let sessions: Vec<SessionKey> = windows.iter().map(|w| w.session.clone()).collect();
        let opening = matches!(kind, AnswerKind::Open { .. });
        self.set_task(
            id,
            Task::Viewing(Box::new(PendingView { windows, embeds: Vec::new(), kind })),
        );
        if sessions.is_empty() {
            return self.finish_view(id);
        }
        for session in sessions {
            self.project(id, &session, opening)?;
        }
        Ok(())
    }

    /// Requests a window of an answer from its app.
    pub(crate) fn project(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        opening: bool,
    ) -> Result<(), Fault> {
        let (mut requests, view) = self.window_requests(id)?;
        let Some(view) = view else { return Err(require::missing_task(&self.clients, id)) };
        let state = requests.request(view, session, opening);
        self.window_requested(id, session, state)
    }

    /// Handles an app's reply to a request for a window.
    pub(crate) fn project_replied(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        let (mut requests, view) = self.window_requests(id)?;
        let Some(view) = view else { return Err(require::missing_task(&self.clients, id)) };
        let state = requests.take_reply(view, session, reply);
        self.window_requested(id, session, state)
    }

    fn window_requested(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        state: RequestState,
    ) -> Result<(), Fault> {
        match state {
            RequestState::Unchanged => Ok(()),
            RequestState::Settled => self.finish_view_if_settled(id),
            RequestState::WentBack(app, versions) => {
                self.version_went_back(session, app, versions);
                self.project(id, session, false)
            }
        }
    }

    /// Handles an app's reply to a request for an embedded window.
    pub(crate) fn embed_replied(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        key: ProjectionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        let (mut requests, view) = self.window_requests(id)?;
        // The answer doesn't wait for it any more.
        let Some(view) = view else { return Ok(()) };
        let settled = requests.take_embed_reply(view, session, key, reply);
        if settled { self.finish_view_if_settled(id) } else { Ok(()) }
    }

    /// Requests the window that a run is to show ahead of time, right behind the run's last step.
    pub(crate) fn prefetch_after_step(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        deadline: u64,
    ) {
        self.tasks.prefetches.cancel(id, &mut self.processes, &mut self.turn);
        if let Ok((mut requests, _)) = self.window_requests(id) {
            requests.prefetch_after_step(session, deadline);
        }
    }

    /// Removes a window that was closed from the answers that already have it and wait for others.
    pub(crate) fn drop_closed_window(&mut self, at: &WorkspaceKey, session: &SessionKey) {
        for (id, task) in self.tasks.iter_mut() {
            let Task::Viewing(view) = task else { continue };
            if self.clients.request(*id).is_some_and(|request| request.workspace == *at) {
                view.drop_arrived(session);
            }
        }
    }

    /// Answers if no window is waited for any more.
    pub(crate) fn finish_view_if_settled(&mut self, id: RequestId) -> Result<(), Fault> {
        let Some(Task::Viewing(view)) = self.tasks.get_mut(id) else {
            return Err(require::missing_task(&self.clients, id));
        };
        if view.is_waiting() {
            return Ok(());
        }
        if self.processes.any_per_reader()
            && let Some(request) = self.clients.request(id)
            && let Some(workspace) = self.workspaces.get(&request.workspace)
            && let Some(session) = view.take_overtaken(workspace, &self.processes)
        {
            return self.project(id, &session, false);
        }
        self.finish_view(id)
    }

    /// Answers a view with the windows that have arrived so far, and says `why` others are missing. Does nothing for a
    /// request that shows no windows.
    pub(crate) fn finish_view_early(&mut self, id: RequestId, why: &str) {
        self.turn_windows_for(id);
        let (Some(request), Some(Task::Viewing(view))) =
            (self.clients.request(id), self.tasks.get_mut(id))
        else {
            return;
        };
        view.stop_waiting(self.workspaces.get(&request.workspace), why);
        let result = self.finish_view(id);
        self.fail_on_error(id, result);
    }

    /// Answers a request whose windows have all arrived, or won't.
    pub(crate) fn finish_view(&mut self, id: RequestId) -> Result<(), Fault> {
        self.turn_windows_for(id);
        let Some(Task::Viewing(view)) =
            self.tasks.take_if(id, |task| matches!(task, Task::Viewing(_)))
        else {
            return Err(require::missing_task(&self.clients, id));
        };
        let request = require::request(&self.clients, id)?;
        let is_connected = self.clients.is_connected(request.client);
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let running = self.tasks.running();
        let (runs, processes, jobs) = (&mut self.runs, &self.processes, &self.jobs);
        let now = self.turn.now;
        let input =
            AnswerInput::collect(*view, (request, is_connected), workspace, processes, running);
        let minted = input.mint(workspace, runs, processes, jobs, &mut self.turn);
        let composed = minted.compose(workspace, runs, processes, jobs, now);
        let answer = composed.commit(&mut self.workspaces, processes, &mut self.turn);
        self.end_task(id);
        answer.send(id, &mut self.clients, &mut self.turn);
        Ok(())
    }

    /// Turns the windows of apps that show each reader something else to the reader of a request. Whatever serves a
    /// request begins with it; it costs nothing as long as there is no such app.
    pub(crate) fn turn_windows_for(&mut self, id: RequestId) {
        if self.processes.any_per_reader()
            && let Some(request) = self.clients.request(id)
        {
            let (at, reader) = (request.workspace.clone(), Rc::from(&*request.call.reader));
            self.turn_windows(&at, &reader);
        }
    }

    /// Turns the windows of such apps in a workspace to a reader: see `workspaces/per_reader`.
    pub(crate) fn turn_windows(&mut self, at: &WorkspaceKey, reader: &Rc<str>) {
        if self.processes.any_per_reader()
            && let Some(workspace) = self.workspaces.get_mut(at)
        {
            let processes = &self.processes;
            workspace.turn_to_reader(reader, |session| processes.is_per_reader(session));
        }
    }
}
