//! Requests that show windows, from the request to an app for each window to the answer.

use pipemux_proto::Fault;

use crate::announcements::Announcements;
use crate::answers::collect::AnswerInput;
use crate::answers::pending::PendingView;
use crate::answers::per_reader::turn_windows_for;
use crate::answers::window_requests::{RequestState, WindowRequests};
use crate::clients::Clients;
use crate::feed::Feed;
use crate::jobs::Jobs;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::processes::Processes;
use crate::processes::reply::AppReply;
use crate::runs::open_runs::OpenRuns;
use crate::turn::Turn;
use crate::verbs::incarnations::version_went_back;
use crate::verbs::require;
use crate::verbs::tasks::{Task, Tasks};
use crate::views::requested_window::{AnswerKind, RequestedWindow, WantedWindow};
use crate::workspaces::Workspaces;

/// What answers with windows are made of.
pub(crate) struct WindowAnswers<'a> {
    pub turn: &'a mut Turn,
    pub clients: &'a mut Clients,
    pub tasks: &'a mut Tasks,
    pub workspaces: &'a mut Workspaces,
    pub processes: &'a mut Processes,
    /// The questions that answers show.
    pub runs: &'a mut OpenRuns,
    /// The jobs that answers tell of.
    pub jobs: &'a Jobs,
    /// Where a window that went back is told of.
    pub feed: &'a mut Feed,
}

impl WindowAnswers<'_> {
    /// Returns what requests windows for a request, and its windows, if it waits for some.
    fn requests(
        &mut self,
        id: RequestId,
    ) -> Result<(WindowRequests<'_>, Option<&mut PendingView>), Fault> {
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace_mut(self.workspaces, request)?;
        let (view, prefetches) = self.tasks.view_and_prefetches(id);
        let (processes, turn) = (&mut *self.processes, &mut *self.turn);
        Ok((WindowRequests { request, workspace, prefetches, processes, turn }, view))
    }

    /// Requests windows from their apps, and answers once all have arrived or time is up.
    pub(crate) fn show(
        &mut self,
        id: RequestId,
        wanted: Vec<WantedWindow>,
        kind: AnswerKind,
    ) -> Result<(), Fault> {
        let request = require::request(self.clients, id)?;
        let workspace = require::workspace(self.workspaces, request)?;
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
        self.tasks
            .set(id, Task::Viewing(Box::new(PendingView { windows, embeds: Vec::new(), kind })));
        if sessions.is_empty() {
            return self.finish(id);
        }
        for session in sessions {
            self.project(id, &session, opening)?;
        }
        Ok(())
    }

    /// Requests a window of an answer from its app.
    fn project(&mut self, id: RequestId, session: &SessionKey, opening: bool) -> Result<(), Fault> {
        let (mut requests, view) = self.requests(id)?;
        let Some(view) = view else { return Ok(()) };
        let state = requests.request(view, session, opening);
        self.window_requested(id, session, state)
    }

    /// Handles an app's reply to a request for a window.
    pub(crate) fn take_reply(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        let (mut requests, view) = self.requests(id)?;
        let Some(view) = view else { return Ok(()) };
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
            RequestState::Settled => self.finish_if_settled(id),
            RequestState::WentBack(app, versions) => {
                let now = self.turn.now;
                let (feed, workspaces) = (&mut *self.feed, &mut *self.workspaces);
                version_went_back(
                    &mut Announcements { feed, workspaces, now },
                    self.processes,
                    self.runs,
                    self.tasks,
                    session,
                    (app, versions),
                );
                self.project(id, session, false)
            }
        }
    }

    /// Handles an app's reply to a request for an embedded window.
    pub(crate) fn take_embed_reply(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        key: ProjectionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        let (mut requests, view) = self.requests(id)?;
        // The answer doesn't wait for it any more.
        let Some(view) = view else { return Ok(()) };
        let settled = requests.take_embed_reply(view, session, key, reply);
        if settled { self.finish_if_settled(id) } else { Ok(()) }
    }

    /// Answers if no window is waited for any more.
    fn finish_if_settled(&mut self, id: RequestId) -> Result<(), Fault> {
        let Some(Task::Viewing(view)) = self.tasks.get_mut(id) else { return Ok(()) };
        if view.is_waiting() {
            return Ok(());
        }
        if self.processes.any_per_reader()
            && let Some(request) = self.clients.request(id)
            && let Some(workspace) = self.workspaces.get(&request.workspace)
            && let Some(session) = view.take_overtaken(workspace, self.processes)
        {
            return self.project(id, &session, false);
        }
        self.finish(id)
    }

    /// Answers a view with the windows that have arrived so far, and says `why` others are missing.
    /// Does nothing for a request that shows no windows.
    pub(crate) fn finish_early(&mut self, id: RequestId, why: &str) -> Result<(), Fault> {
        turn_windows_for(self.clients, self.workspaces, self.processes, id);
        let (Some(request), Some(Task::Viewing(view))) =
            (self.clients.request(id), self.tasks.get_mut(id))
        else {
            return Ok(());
        };
        view.stop_waiting(self.workspaces.get(&request.workspace), why);
        self.finish(id)
    }

    /// Answers a request whose windows have all arrived, or won't.
    fn finish(&mut self, id: RequestId) -> Result<(), Fault> {
        turn_windows_for(self.clients, self.workspaces, self.processes, id);
        let Some(Task::Viewing(view)) =
            self.tasks.take_if(id, |task| matches!(task, Task::Viewing(_)))
        else {
            return Ok(());
        };
        let request = require::request(self.clients, id)?;
        let is_connected = self.clients.connections.is_connected(request.client);
        let workspace = require::workspace_mut(self.workspaces, request)?;
        let running = self.tasks.running();
        let (runs, processes, jobs) = (&mut *self.runs, &*self.processes, self.jobs);
        let now = self.turn.now;
        let input =
            AnswerInput::collect(*view, (request, is_connected), workspace, processes, running);
        let minted = input.mint(workspace, runs, processes, jobs, self.turn);
        let composed = minted.compose(workspace, runs, processes, jobs, now);
        let answer = composed.commit(self.workspaces, processes, self.turn);
        self.tasks.end(self.turn, self.processes, id);
        answer.send(id, self.clients, self.turn);
        Ok(())
    }
}
