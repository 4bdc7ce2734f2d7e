//! `view`: which windows the workspace or one of its windows shows, at once or when something has
//! changed.

use std::collections::BTreeSet;

use pipemux_proto::Fault;
use pipemux_proto::call::nearest;
use pipemux_proto::client::{HeldWindow, Inject, VerbRequest, ViewArgs};
use pipemux_proto::limits::{HELD_MAX, WAIT_MAX_MS};

use crate::answers::document::in_order;
use crate::clients::client_request::ClientRequest;
use crate::jobs::Jobs;
use crate::keys::SessionKey;
use crate::limits::JOB_PROGRESS_MS;
use crate::pipeline::closed_apps::ClosedApps;
use crate::processes::Processes;
use crate::processes::starting::wake;
use crate::providers::Providers;
use crate::scripts::ref_errors;
use crate::turn::Turn;
use crate::verbs::next::{Next, Work};
use crate::verbs::opens::args_for;
use crate::verbs::tasks::{AfterOpen, Wait};
use crate::verbs::viewed_state::{ViewedState, viewed_sessions};
use crate::views::held_claim::HeldClaim;
use crate::views::requested_window::{AnswerKind, WantedWindow};
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

/// Shows the workspace or one of its windows, at once or when it has changed.
///
/// # Errors
/// There is no such window or epoch, or what the client says that it has makes no sense.
pub(crate) fn view(
    turn: &mut Turn,
    processes: &mut Processes,
    providers: &Providers,
    jobs: &Jobs,
    (request, workspace): (&ClientRequest, &Workspace),
    view: ViewArgs,
) -> Result<Next, Fault> {
    if let Some(provider) = (ClosedApps { providers, workspace }).viewed(&view) {
        let open = Box::new(args_for(request, provider));
        return Ok(Next::Work(Work::Open(open, AfterOpen::View(Box::new(view)))));
    }
    let wait_ms = u64::from(view.wait_ms.min(WAIT_MAX_MS));
    let now = turn.now;
    let viewed = ViewedState { request, workspace, processes, jobs, now };
    if wait_ms == 0 || viewed.has_changed(&view) {
        return view_now(providers, &request.call, workspace, view);
    }
    for session in viewed_sessions(workspace, &view) {
        // An app that sleeps changes nothing, so it is woken. The answer reports an app that can't
        // be started.
        let _ = wake(turn, processes, &session);
    }
    let progress_from = now.mono_ms + JOB_PROGRESS_MS;
    let wait = Box::new(Wait::View { view, seconds: 0.0, progress_from });
    Ok(Next::Work(Work::Await { wait, wait_ms, pause_ms: 0 }))
}

/// Shows the workspace or one of its windows, without waiting for a change.
///
/// # Errors
/// Those of [`view`].
pub(crate) fn view_now(
    providers: &Providers,
    call: &VerbRequest,
    workspace: &Workspace,
    view: ViewArgs,
) -> Result<Next, Fault> {
    let (lod, budget) = (call.lod, call.budget);
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
            let registered = providers.contains_key(&addr.provider);
            let fault = Fault::not_found(format!("no window of {addr} is open here"));
            return Err(match guess {
                Some(guess) => fault.hint(format!("pipemux view {guess}")),
                None if registered => fault.hint(format!("pipemux open {addr}")),
                None => fault.hint("pipemux view").hint("pipemux apps"),
            });
        };
        let wanted = WantedWindow { session: window.session.clone(), lod, budget };
        return Ok(Next::Work(Work::Show(vec![wanted], AnswerKind::Window(since))));
    }
    let reader = &call.reader;
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
    Ok(Next::Work(Work::Show(wanted, kind)))
}
