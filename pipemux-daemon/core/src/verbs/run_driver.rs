//! Drives runs: resumes a run with its next input, and sends apps what it needs.
//!
//! A run stays with its client's request from its begin to its end and is resumed in place, so that
//! it can't get lost between two steps.

use std::rc::Rc;

use pipemux_proto::app::Invoke;
use pipemux_proto::envelope::Method;
use pipemux_proto::paths::VALUES;
use pipemux_proto::{Fault, Incarnation};

use crate::answers::per_reader::turn_windows;
use crate::answers::window_requests::WindowRequests;
use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::consents::Consents;
use crate::event::Effect;
use crate::foreign::{Done, Outcome, Started};
use crate::keys::{RequestId, SessionKey};
use crate::limits::{LOCATE_MS, REQUEST_MS};
use crate::persist::records::SavedRound;
use crate::processes::Processes;
use crate::processes::draining::break_app;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::Session;
use crate::runs::history_round::unfinished_round;
use crate::runs::{LookupReply, LookupRequest, Run, RunContext, RunInput, RunOutput, StepReply};
use crate::turn::Turn;
use crate::verbs::concurrent_changes::FileChanges;
use crate::verbs::consent::keep_consent;
use crate::verbs::jobs::job_wait_end;
use crate::verbs::next::{Next, RunWork};
use crate::verbs::permission::ActPermission;
use crate::verbs::require;
use crate::verbs::tasks::{Task, Tasks};
use crate::verbs::undo::mark_undone;
use crate::workspaces::Workspaces;

/// The client name that history shows for requests that don't name one.
const COMMAND_LINE: &str = "cli";

/// Gives a client's request a run, to begin it or to go on with it.
pub(crate) fn begin_run(
    tasks: &mut Tasks,
    request: &ClientRequest,
    mono_ms: u64,
    mut run: Box<Run>,
    input: RunInput,
) -> Next {
    run.job_wait.until = job_wait_end(request, mono_ms);
    run.job_wait.requested_ms = request.call.wait_ms;
    tasks.set(request.id, Task::Running(run));
    Next::Run(RunWork::Resume(input))
}

/// Resumes a run. Returns what it needs, once it is written down that it acts.
///
/// # Errors
/// The run may not begin to act, or its workspace is gone.
pub(crate) fn resume_run(
    turn: &mut Turn,
    (clients, tasks): (&mut Clients, &mut Tasks),
    workspaces: &mut Workspaces,
    processes: &Processes,
    permission: ActPermission<'_>,
    id: RequestId,
    mut input: RunInput,
) -> Result<Next, Fault> {
    loop {
        let Some(run) = tasks.run_mut(id) else { return Ok(Next::Nothing) };
        if processes.any_per_reader() {
            // Whoever answers a question: its refs and numbers are those of the reader who began
            // the run.
            let reader = Rc::from(&*run.caller.reader);
            turn_windows(workspaces, processes, &run.caller.workspace, &reader);
        }
        let workspace = require::workspace_of_run(workspaces, &run.caller)?;
        let context = RunContext { workspace, sessions: processes.sessions() };
        let output = run.resume(input, &context);
        let acts = run.acts_by(&output);
        let has_acted = require::request(clients, id)?.recorded;
        if acts {
            permission.check(clients, id)?;
        }
        if let RunOutput::Invoke { session, .. } = &output {
            // What ran before has its end: the next step fails, and the others aren't run.
            let request = require::request(clients, id)?;
            let held = if acts && has_acted { permission.refusal(request) } else { None };
            if let Some(fault) = held.or_else(|| permission.rules.forbids(&session.addr.provider)) {
                input = RunInput::Replied(StepReply::Outcome(Outcome::Failed(fault)));
                continue;
            }
        }
        record_progress(turn, clients, workspaces, (id, run), &output)?;
        return Ok(Next::Run(RunWork::Drive(output)));
    }
}

/// Records that a run acts and how far it has come, as the round that it becomes if the daemon
/// crashes now.
fn record_progress(
    turn: &mut Turn,
    clients: &mut Clients,
    workspaces: &Workspaces,
    (id, run): (RequestId, &mut Run),
    output: &RunOutput,
) -> Result<(), Fault> {
    if let RunOutput::Ask { .. } | RunOutput::AskAgain { .. } = output {
        let written = run.written.take().is_some();
        clients.record_begun(turn, id, None);
        if written {
            clients.record_asked(turn, id);
        }
    } else if run.is_unwritten(output) {
        let from = run.written.replace(run.progress.done.len());
        let workspace = require::workspace_of_run(workspaces, &run.caller)?;
        let round = unfinished_round(run, workspace, from.unwrap_or_default());
        let round = SavedRound { unix_ms: turn.now.unix_ms, ..round };
        match from {
            None => {
                let client = maker_of(clients, id);
                clients.record_begun(turn, id, Some(SavedRound { client, ..round }));
            }
            Some(_) => {
                let client = String::new();
                clients.record_progress(turn, id, SavedRound { client, ..round });
            }
        }
    }
    Ok(())
}

/// Returns the round that a run becomes if the daemon is lost now; none if it hasn't acted.
pub(crate) fn round_of_running(
    clients: &Clients,
    workspaces: &Workspaces,
    (id, run): (RequestId, &Run),
    unix_ms: u64,
) -> Option<SavedRound> {
    run.written?;
    let workspace = workspaces.get(&run.caller.workspace)?;
    let round = unfinished_round(run, workspace, 0);
    Some(SavedRound { client: maker_of(clients, id), unix_ms, ..round })
}

/// Returns what a request was made with.
pub(super) fn maker_of(clients: &Clients, id: RequestId) -> String {
    let client = clients.request(id).map(|request| &*request.call.client);
    client.filter(|name| !name.is_empty()).unwrap_or(COMMAND_LINE).to_owned()
}

/// Sends what a run looks up for its next step: to an app, or to be stored.
pub(crate) fn look_up(
    turn: &mut Turn,
    processes: &mut Processes,
    request: &ClientRequest,
    lookup: LookupRequest,
) {
    match lookup {
        LookupRequest::Locate { session, locate } => {
            let (soon, to) =
                (request.deadline.min(turn.mono_ms() + LOCATE_MS), ReplyTo::Locate(request.id));
            processes.request(turn, &session, Method::Locate, &locate, soon, to);
        }
        LookupRequest::Read { session, read } => {
            let to = ReplyTo::Read(request.id);
            processes.request(turn, &session, Method::AppRead, &read, request.deadline, to);
        }
        LookupRequest::Store { session, path, offset, data } => {
            let path = path.unwrap_or_else(|| {
                let state_dir = processes.state_dir_of(&session);
                // No later daemon begins in the same millisecond.
                let (began, number) = (turn.began.unix_ms, turn.next_number());
                format!("{state_dir}/{VALUES}/{began}-{number}")
            });
            turn.effects.push(Effect::StoreValue { request: request.id.0, path, offset, data });
        }
        LookupRequest::Refresh { session, key, project } => {
            let to = ReplyTo::Refresh(request.id, key);
            processes.request(turn, &session, Method::Project, &project, request.deadline, to);
        }
    }
}

/// Resumes a run after a part of a long value was written. Removes the part's file if nobody waits
/// for it any more.
pub(crate) fn value_stored(
    turn: &mut Turn,
    tasks: &Tasks,
    id: RequestId,
    stored: Result<String, String>,
) -> Next {
    if tasks.run(id).is_some() {
        return Next::Run(RunWork::Resume(RunInput::LookedUp(LookupReply::Stored(stored))));
    }
    // The request has its answer: its client went away, or its time was over.
    if let Ok(path) = stored {
        turn.effects.push(Effect::RemoveValues { paths: vec![path] });
    }
    Next::Nothing
}

/// Adds information for the app to the next step of a run: what a person allowed, and concurrent
/// changes by others.
pub(crate) fn complete_invoke(
    invoke: &mut Rc<Invoke>,
    session: &SessionKey,
    run: &Run,
    consents: &Consents,
    (changes, unix_ms): (&FileChanges<'_>, u64),
) {
    let consents = consents.keys(&run.caller.workspace, &session.addr.provider, unix_ms);
    if !consents.is_empty() {
        Rc::make_mut(invoke).consents = consents;
    }
    let changed_beside = changes.during_undone(run);
    if !changed_beside.is_empty() {
        Rc::make_mut(invoke).changed_beside = changed_beside;
    }
}

/// Sends the next step of a run to its app, and requests the window that is shown after it, if it
/// is `prefetch`ed.
pub(crate) fn send_step(
    turn: &mut Turn,
    tasks: &mut Tasks,
    workspaces: &mut Workspaces,
    processes: &mut Processes,
    request: &ClientRequest,
    (session, invoke): (&SessionKey, &Invoke),
    prefetch: bool,
) {
    let Some(run) = tasks.run_mut(request.id) else { return };
    let mut deadline = request.deadline;
    if let Some(undone) = run.origin.undone_round() {
        if undone.failed.is_some() {
            // The time for the undo may be over.
            deadline = deadline.max(turn.mono_ms() + REQUEST_MS);
        }
        // Should the daemon be lost now, the next one knows which steps ran, and of which nobody
        // knows.
        let (at, undos) = (&run.caller.workspace, undone.while_next(&run.progress.done));
        mark_undone(turn, workspaces, at, undone.number, undos);
    }
    run.file_times.sent_ms = turn.now.unix_ms;
    processes.request(turn, session, Method::Invoke, invoke, deadline, ReplyTo::Invoke(request.id));
    if !prefetch {
        return;
    }
    tasks.prefetches.cancel(request.id, processes, turn);
    if let Some(workspace) = workspaces.get_mut(&request.workspace) {
        let prefetches = &mut tasks.prefetches;
        let mut requests = WindowRequests { request, workspace, prefetches, processes, turn };
        requests.prefetch_after_step(session, deadline);
    }
}

/// Reads the result of a step's request: the app's reply, or that there will be none. Also returns
/// the step's session. `None` if nobody waits for this reply.
pub(crate) fn read_step_reply(
    turn: &mut Turn,
    (clients, tasks): (&Clients, &Tasks),
    processes: &mut Processes,
    consents: &mut Consents,
    id: RequestId,
    reply: AppReply,
) -> Option<(SessionKey, StepReply)> {
    let (session, invoke) = tasks.run(id)?.in_flight()?;
    if let Some(session) = processes.get_mut(session) {
        session.quarantine.note_reply(invoke, &reply);
    }
    let mut reply = StepReply::read(reply, processes.speaker(session));
    match &mut reply {
        StepReply::Outcome(Outcome::Failed(fault)) => {
            processes.explain_denial(session, fault);
            keep_consent(turn, consents, clients.request(id), session, fault);
        }
        StepReply::Unreadable(_) => {
            if let Some(app) = processes.get(session).and_then(Session::app) {
                let why = "its answer could not be read".into();
                break_app(turn, processes, app, why);
            }
        }
        StepReply::Outcome(_) | StepReply::Started(_) | StepReply::Lost { .. } => {}
    }
    Some((session.clone(), reply))
}

/// Returns the version of its session that a step ended with, if its app told one.
pub(crate) fn told_version(reply: &StepReply) -> Option<u64> {
    match reply {
        StepReply::Outcome(
            Outcome::Done(Done { version, .. }) | Outcome::Started(Started { version, .. }),
        ) => Some(*version),
        _ => None,
    }
}

/// Returns the process of a run's session and the version that it had before a step, if the step
/// ended with an older one. Versions only grow within the life of a process.
pub(crate) fn newer_version_before(
    run: &Run,
    processes: &Processes,
    session: &SessionKey,
    version: u64,
) -> Option<(Incarnation, u64)> {
    let app = processes.get(session)?.ready()?;
    let (seen, _) = run.baseline.now.versions.get(session)?;
    let before = *run.own_changes.expected.get(session)?;
    (*seen == app && version < before).then_some((app, before))
}
