//! `view`, and all answers that show windows: projections are requested, waited for briefly, and written as one
//! answer.

use std::collections::BTreeSet;

use pipemux_proto::Fault;
use pipemux_proto::call::nearest;
use pipemux_proto::client::{HeldWindow, Inject, ViewArgs};
use pipemux_proto::limits::HELD_MAX;
use pipemux_proto::projection::Lod;

use crate::Core;
use crate::answers::document::in_order;
use crate::answers::pending::PendingView;
use crate::keys::{RequestId, SessionKey};
use crate::scripts::ref_errors;
use crate::verbs::require;
use crate::verbs::tasks::Task;
use crate::views::held_claim::HeldClaim;
use crate::views::requested_window::{AnswerKind, RequestedWindow};
use crate::workspaces::Workspace;

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
}
