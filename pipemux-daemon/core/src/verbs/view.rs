//! `view`, and all answers that show windows: projections are requested, waited for briefly, and written as one
//! answer.

use std::collections::BTreeSet;

use pipemux_proto::app::Project;
use pipemux_proto::call::nearest;
use pipemux_proto::client::{HeldWindow, Inject, ViewArgs};
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::HELD_MAX;
use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, Incarnation};

use crate::Core;
use crate::answers::document::in_order;
use crate::answers::pending::PendingView;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{PROJECT_MS, START_MS};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::ref_errors;
use crate::verbs::end_pending_views::closed_meanwhile;
use crate::verbs::project_reply::{AfterReply, take_reply};
use crate::verbs::require;
use crate::verbs::tasks::Task;
use crate::views::held::HeldClaim;
use crate::views::requested_window::{AnswerKind, RequestedWindow, WindowStatus};
use crate::workspaces::{Window, Workspace};

/// Refuses what a client says it has of windows where that makes no sense.
fn check_held(workspace: &Workspace, view: &ViewArgs) -> Result<(), Fault> {
    let count = view.held.len();
    if count > HELD_MAX {
        return Err(Fault::usage(format!("{count} versions of windows (limit {HELD_MAX})")));
    }
    if count > 0 && (view.since.is_some() || view.wait_ms > 0) {
        return Err(Fault::usage("--have goes without --since and --wait"));
    }
    let mut seen = BTreeSet::new();
    let mut names = view.held.iter().map(|held| HeldClaim::find(workspace, held).name);
    match names.find(|name| !seen.insert(name.clone())) {
        Some(name) => Err(Fault::usage(format!("--have names `{name}` twice"))),
        None => Ok(()),
    }
}

/// True for a session that a reader acted on or was shown.
fn is_used(workspace: &Workspace, reader: &str, session: &SessionKey) -> bool {
    let name = session.addr.to_string();
    let mut own = workspace.history.rounds.iter().filter(|round| round.reader == reader);
    workspace.seen(reader, session).is_some() || own.any(|round| round.sessions.contains(&name))
}

/// A window that an answer is to show, with the detail that the request asks for.
#[derive(Debug, Clone)]
pub(crate) struct WantedWindow {
    /// The session that the window shows.
    pub session: SessionKey,
    /// The level of detail in this answer; none for the window's own.
    pub lod: Option<Lod>,
    /// The budget in this answer; none for the window's own.
    pub budget: Option<u32>,
}

impl Core {
    /// Shows the workspace or one of its windows, without waiting for a change.
    pub(super) fn view_now(&mut self, id: RequestId, view: ViewArgs) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let (lod, budget) = (request.call.lod, request.call.budget);
        let workspace = require::workspace(&self.workspaces, request)?;
        let since = view.since;
        check_held(workspace, &view)?;
        let is_held = |session: &SessionKey| {
            let names = |held: &HeldWindow| HeldClaim::find(workspace, held).session;
            view.held.iter().any(|held| names(held).as_ref() == Some(session))
        };
        if let Some(epoch) = since.filter(|epoch| *epoch > workspace.epoch) {
            let newest = workspace.epoch;
            let hint = format!("pipemux view --since e{newest}");
            return Err(ref_errors::unissued_epoch(epoch, newest).hint(hint));
        }
        if let Some(addr) = view.session {
            let Some(window) = workspace.windows.named(&addr).next() else {
                let names: Vec<String> =
                    workspace.windows.iter().map(|window| window.session.to_string()).collect();
                let guess = nearest(&addr.to_string(), names.iter().map(String::as_str));
                let registered = self.providers.contains_key(&addr.provider);
                let fault = Fault::not_found(format!("no window of {addr} is open here"));
                return Err(match guess {
                    Some(guess) => fault.hint(format!("pipemux view {guess}")),
                    None if registered => fault.hint(format!("pipemux open {addr}")),
                    None => fault.hint("pipemux view").hint("pipemux apps"),
                });
            };
            let wanted = WantedWindow { session: window.session.clone(), lod, budget };
            return self.show_windows(id, vec![wanted], AnswerKind::Window(since));
        }
        let reader = &request.call.reader;
        let is_used = |session: &SessionKey| is_used(workspace, reader, session);
        let used_any = workspace.windows.iter().any(|window| is_used(&window.session));
        let wanted = match view.inject {
            // Its windows are those that runs show, so that what a run showed isn't shown again.
            Some(Inject { reset }) => in_order(workspace, None)
                .filter(|(session, _)| !reset || is_used(session) || !used_any || is_held(session))
                .map(|(session, _)| WantedWindow { session, lod: None, budget: None })
                .collect(),
            None => in_order(workspace, budget)
                .map(|(session, share)| {
                    // A version is of what a window shows at its own budget.
                    let budget = Some(share).filter(|_| view.held.is_empty());
                    WantedWindow { session, lod, budget }
                })
                .collect(),
        };
        let kind = match view.inject {
            Some(Inject { reset }) => AnswerKind::Injection { reset },
            None => AnswerKind::Workspace(since),
        };
        self.show_windows(id, wanted, kind)
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
        let details: Vec<(SessionKey, Lod, u32)> =
            windows.iter().map(|w| (w.session.clone(), w.lod, w.budget)).collect();
        let opening = matches!(kind, AnswerKind::Open { .. });
        self.set_task(
            id,
            Task::Viewing(Box::new(PendingView { windows, embeds: Vec::new(), kind })),
        );
        if details.is_empty() {
            return self.finish_view(id);
        }
        for (session, lod, budget) in details {
            self.project(id, &session, lod, budget, opening)?;
        }
        Ok(())
    }

    /// Requests a window from its app, or takes over the request that was sent ahead of time.
    pub(super) fn project(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        lod: Lod,
        budget: u32,
        opening: bool,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let Some(window) = workspace.window(session) else {
            return self.settle_closed_window(id, session);
        };
        let project = self.projection_request(window, &request.call.reader, lod, budget);
        let least = self.newest_known_version(window);
        if window.can_be_shown_as_it_was()
            && self.processes.get(session).is_some_and(|s| s.health.silent())
        {
            // An earlier answer waited for this app, which has been silent since: the window is shown as it was.
            let why = format!("{session} did not answer in time");
            let lost = AppReply::Lost { delivered: true, died: false, why, hints: Vec::new() };
            return self.project_replied(id, session, lost);
        }
        // An answer of one window may wait for the app to start; a whole workspace doesn't wait for one of its apps.
        let alone =
            matches!(self.tasks.get(id), Some(Task::Viewing(view)) if view.windows.len() == 1);
        let slow = opening || (alone && self.processes.is_starting(session));
        let patience = if slow { START_MS } else { PROJECT_MS };
        let deadline = request.deadline.min(self.turn.now.mono_ms + patience);
        let prefetched = self.take_prefetched(id, session, project.window, (lod, budget), deadline);
        if let Some(Task::Viewing(view)) = self.tasks.get_mut(id)
            && let Some(window) = view.windows.iter_mut().find(|w| w.session == *session)
        {
            window.known = prefetched.unwrap_or(project.known_version.is_some());
            window.ahead = prefetched.is_some();
            window.number = project.window;
            // A request that was sent ahead may be older than what is known now.
            window.least = least.filter(|_| prefetched.is_none());
        }
        if prefetched.is_none() {
            let (turn, to) = (&mut self.turn, ReplyTo::Project(id));
            self.processes.request(turn, session, Method::Project, &project, deadline, to);
        }
        Ok(())
    }

    /// Returns the request for a window that is sent to its app.
    pub(crate) fn projection_request(
        &self,
        window: &Window,
        reader: &str,
        lod: Lod,
        budget: u32,
    ) -> Project {
        let app = self.processes.get(&window.session).and_then(|session| session.ready());
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
    fn newest_known_version(&self, window: &Window) -> Option<(Incarnation, u64)> {
        let session = self.processes.get(&window.session)?;
        let app = session.ready()?;
        let held = window.projection.as_ref().map(|held| (held.app, held.projection.version));
        let counted = window.context.counted.map(|(app, version, _)| (app, version));
        let shown = [held, counted].into_iter().flatten().filter(|(of, _)| *of == app);
        let newest = shown.map(|(_, version)| version).fold(session.version, u64::max);
        Some((app, newest))
    }

    /// Handles an app's reply to a request for a window.
    pub(crate) fn project_replied(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        let process = self.processes.get(session);
        let app = process.and_then(|process| process.app());
        let newest = process.map_or(0, |process| process.version);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let Some(Task::Viewing(view)) = self.tasks.get_mut(id) else {
            return Err(require::missing_task(&self.clients, id));
        };
        let pending = view.windows.iter_mut().find(|window| window.session == *session);
        let Some(pending) = pending.filter(|window| window.state == WindowStatus::Waiting) else {
            // The answer doesn't wait for this window any more.
            return Ok(());
        };
        let Some(window) = workspace.window_mut(session) else {
            return self.settle_closed_window(id, session);
        };
        match take_reply(session, pending, window, (app, newest), reply) {
            AfterReply::Settled => {
                self.request_embeds(id, session)?;
                self.finish_view_if_settled(id)
            }
            AfterReply::RequestAgain => {
                let (lod, budget) = (pending.lod, pending.budget);
                self.project(id, session, lod, budget, false)
            }
            AfterReply::WentBack(app, versions) => {
                self.version_went_back(session, app, versions);
                let Some(Task::Viewing(view)) = self.tasks.get(id) else {
                    return Err(require::missing_task(&self.clients, id));
                };
                let pending = view.windows.iter().find(|window| window.session == *session);
                let Some((lod, budget)) = pending.map(|window| (window.lod, window.budget)) else {
                    return self.finish_view_if_settled(id);
                };
                self.project(id, session, lod, budget, false)
            }
            AfterReply::EndApp(app, why) => {
                self.processes.break_app(&mut self.turn, app, why);
                self.finish_view_if_settled(id)
            }
        }
    }

    /// Stops waiting for a window that was closed meanwhile.
    fn settle_closed_window(&mut self, id: RequestId, session: &SessionKey) -> Result<(), Fault> {
        if let Some(Task::Viewing(view)) = self.tasks.get_mut(id) {
            for window in view.windows.iter_mut().filter(|window| window.session == *session) {
                window.state = closed_meanwhile(session);
            }
        }
        self.finish_view_if_settled(id)
    }

    /// Answers if no window is waited for any more.
    pub(super) fn finish_view_if_settled(&mut self, id: RequestId) -> Result<(), Fault> {
        let waiting = match self.tasks.get(id) {
            Some(Task::Viewing(view)) => {
                view.windows.iter().any(|window| window.state == WindowStatus::Waiting)
                    || view.embeds.iter().any(|embed| embed.state == WindowStatus::Waiting)
            }
            _ => return Err(require::missing_task(&self.clients, id)),
        };
        if waiting || self.request_overtaken(id)? { Ok(()) } else { self.finish_view(id) }
    }
}
