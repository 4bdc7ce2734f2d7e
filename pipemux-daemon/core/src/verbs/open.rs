//! `open`: which session it means, how that comes to open it, and the window that shows it then.

use std::rc::Rc;

use pipemux_proto::client::{OpenArgs, ProvidersArgs, is_passed_variable};
use pipemux_proto::{Fault, SessionAddr, SessionId};

use crate::clients::client_request::ClientRequest;
use crate::foreign::{ForeignText, Opened};
use crate::intake;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::{ENV_MAX, OPENS_MAX, SESSIONS_MAX, WINDOWS_MAX};
use crate::manifest::{Manifest, Scope};
use crate::persist::records::SavedOpen;
use crate::processes::Processes;
use crate::processes::passed_variables::PassedVariables;
use crate::processes::reply::AppReply;
use crate::processes::session::ProcessState;
use crate::providers::{Providers, find_manifest};
use crate::rules::Rules;
use crate::turn::Turn;
use crate::verbs::next::{Next, Work};
use crate::verbs::providers::load_providers;
use crate::verbs::require;
use crate::verbs::tasks::{AfterLoading, AfterOpen, Opening};
use crate::workspaces::{Window, Workspace, Workspaces};

/// The step by which a session opens what a request asks for.
pub(crate) enum OpenStep {
    /// The process is about to end and opens nothing more; the next one does.
    AwaitEnd,
    /// The process is starting, and opens it last.
    Start,
    /// There is nothing more to open. The notes are for the reader who opened it.
    Attach(Vec<ForeignText>),
    /// The running process is asked to open it, too.
    Ask(SavedOpen),
}

/// Opens an app. If it isn't registered, the manifests are read again first, because its manifest
/// may be new.
pub(crate) fn open(turn: &mut Turn, providers: &Providers, id: RequestId, args: OpenArgs) -> Next {
    let args = Box::new(args);
    if providers.contains_key(&args.provider) {
        return Next::Work(Work::Open(args, AfterOpen::Show));
    }
    load_providers(turn, id, ProvidersArgs::default(), AfterLoading::Open(args))
}

/// Returns the session that an `open` means, and its app's manifest.
///
/// # Errors
/// There is no app of that name, the settings forbid it, or there is no room for another window or
/// session.
pub(crate) fn session_to_open(
    rules: &Rules,
    providers: &Providers,
    processes: &Processes,
    workspaces: &Workspaces,
    request: &ClientRequest,
    open: &OpenArgs,
) -> Result<(SessionKey, Rc<Manifest>), Fault> {
    let manifest = find_manifest(providers, &open.provider)?;
    if let Some(fault) = rules.forbids(&manifest.id) {
        return Err(fault);
    }
    let key = opened_key(open, &manifest, &request.workspace)?;
    let windows = require::workspace(workspaces, request)?.windows.len();
    check_room(windows, processes.sessions().len())?;
    Ok((key, manifest))
}

/// Has a session open something for a request. A session that there isn't is made.
///
/// # Errors
/// The session may not open it.
pub(crate) fn begin_open(
    processes: &mut Processes,
    id: RequestId,
    key: &SessionKey,
    manifest: Rc<Manifest>,
    open: &OpenArgs,
) -> Result<OpenStep, Fault> {
    let (saved, passed) = saved_open(open, &manifest);
    processes.forbidden().check_opens(key, &manifest, std::slice::from_ref(&saved))?;
    let fresh = !processes.contains(key);
    if fresh {
        processes.create(key.clone(), manifest);
    }
    let Some(session) = processes.get_mut(key) else {
        return Err(Fault::not_found(format!("no session {key}")));
    };
    if !saved.args.is_empty() && session.is_ending_for_good() {
        // Its first open was refused, or it was ended: a request to the process would be lost with
        // it.
        session.wait_until_ready(id);
        return Ok(OpenStep::AwaitEnd);
    }
    let note = session.pass_variables(passed);
    let down = session.process == ProcessState::Down && session.failed.is_none();
    let starts = fresh || (down && !saved.args.is_empty());
    // A start sends all opens of the session, and this one last. A session that was ended, and
    // whose process is about to exit, has none: its next process opens with this.
    if starts || session.opens.is_empty() && saved.args.is_empty() {
        session.opens.push(saved.clone());
    }
    if starts {
        session.opens.begin_request(id);
        return Ok(OpenStep::Start);
    }
    Ok(match saved.args.is_empty() {
        true => OpenStep::Attach(note.into_iter().map(ForeignText::from).collect()),
        false => OpenStep::Ask(saved),
    })
}

/// Handles a running session's reply to a further open. Returns the app's notes for the opener.
///
/// # Errors
/// The session didn't open it.
pub(crate) fn take_opened(
    turn: &mut Turn,
    processes: &mut Processes,
    opening: &Opening,
    reply: AppReply,
) -> Result<Vec<ForeignText>, Fault> {
    let key = &opening.session;
    match reply {
        AppReply::Reply(body) => {
            let opened = intake::read_said::<Opened>(&body, processes.speaker(key));
            let opened = opened.map_err(|error| {
                Fault::unavailable(format!("an unreadable reply of {key}: {error}"))
            })?;
            // A session that has been removed since has no next process.
            if let Some(session) = processes.get_mut(key) {
                let (saved, _) = saved_open(&opening.args, &session.manifest);
                session.opens.add(saved, OPENS_MAX);
                session.save(turn);
            }
            Ok(opened.notes)
        }
        AppReply::Fault(fault) => Err(fault),
        AppReply::Lost { delivered, why, hints, .. } => {
            let fault = if delivered { Fault::unknown(why) } else { Fault::unavailable(why) };
            Err(Fault { hints, ..fault })
        }
    }
}

/// Adds the window of a session to a workspace, under a number that no window had, unless it has
/// one. True if it hadn't.
pub(crate) fn add_window(
    processes: &Processes,
    workspace: &mut Workspace,
    reader: &str,
    number: u64,
    key: &SessionKey,
) -> bool {
    let fresh = workspace.window(key).is_none();
    if fresh {
        let actions = processes.actions_of(key);
        workspace.open_window(Window::new(number, key.clone(), workspace.epoch), actions);
        workspace.window_set_changed(reader);
    }
    fresh
}

/// Gives a window the options that an `open` names.
pub(crate) fn set_options(window: &mut Window, request: &ClientRequest, args: &OpenArgs) {
    window.lod = request.call.lod.unwrap_or(window.lod);
    window.budget = request.call.budget.or(window.budget);
    window.pinned = args.pin.unwrap_or(window.pinned);
    let placement = &mut window.placement;
    placement.priority = args.priority.unwrap_or(placement.priority);
    placement.weight = args.weight.map_or(placement.weight, |weight| weight.max(1));
}

/// Returns the session that an `open` in a workspace means.
fn opened_key(
    open: &OpenArgs,
    manifest: &Manifest,
    at: &WorkspaceKey,
) -> Result<SessionKey, Fault> {
    let session = match open.session.clone() {
        Some(session) => session,
        None => SessionAddr::DEFAULT_SESSION
            .parse::<SessionId>()
            .map_err(|error| Fault::usage(error.to_string()))?,
    };
    // The sessions of an app share the text of its name.
    let addr = SessionAddr { provider: manifest.id.clone(), session };
    let owner = (manifest.scope == Scope::Workspace).then(|| at.clone());
    Ok(SessionKey { workspace: owner, addr })
}

/// Refuses another window when a workspace has as many as it may, or the daemon as many sessions.
fn check_room(windows: usize, sessions: usize) -> Result<(), Fault> {
    if windows < WINDOWS_MAX && sessions < SESSIONS_MAX {
        return Ok(());
    }
    let why = format!("no more windows: {windows} are open here, {sessions} sessions in all");
    Err(Fault::refused(why).hint("end one that is done with; they are listed by: pipemux sessions"))
}

/// Returns what is saved of an open, and the variables that the manifest names, whose values are
/// not. Together they are what an app gets of the opener's environment, within the bound on its
/// size.
fn saved_open(open: &OpenArgs, manifest: &Manifest) -> (SavedOpen, PassedVariables) {
    let wanted =
        |name: &str| is_passed_variable(name) || manifest.pass.iter().any(|pass| pass == name);
    let mut left = ENV_MAX;
    let fits = |(name, value): &(&String, &String)| {
        let length = name.len() + value.len() + 2;
        let fits = length <= left;
        left -= if fits { length } else { 0 };
        fits
    };
    let given = open.env.iter().filter(|(name, _)| wanted(name)).filter(fits);
    let given = given.map(|(name, value)| (name.clone(), value.clone()));
    let (env, named): (Vec<_>, Vec<_>) = given.partition(|(name, _)| is_passed_variable(name));
    let passed = named.into_iter().collect::<PassedVariables>();
    let (args, cwd) = (open.args.clone(), open.cwd.clone());
    (SavedOpen { args, cwd, env, granted: Vec::new(), passed: passed.names() }, passed)
}
