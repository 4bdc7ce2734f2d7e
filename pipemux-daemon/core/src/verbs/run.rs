//! `run`: checks a script as a whole, then carries it out.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::Fault;
use pipemux_proto::call;
use pipemux_proto::refs::RefKind;

use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ANSWER_BUDGET_MIN, LAST_LINE_TOKENS, RUN_BUDGET};
use crate::pipeline::closed_apps::ClosedApps;
use crate::pipeline::grants::grant_for_steps;
use crate::pipeline::parsed_script::{ParsedScript, PlannedScript, ScriptOrigin, source_of};
use crate::processes::Processes;
use crate::processes::starting::wake;
use crate::providers::Providers;
use crate::runs::caller::Caller;
use crate::runs::origin::Origin;
use crate::runs::{Run, RunInput, Step};
use crate::scripts::link::clicked_link;
use crate::scripts::ref_errors;
use crate::scripts::secrets::SecretActions;
use crate::turn::Turn;
use crate::verbs::kept_rests::without_code;
use crate::verbs::next::{Next, RunWork, SessionStart, Work};
use crate::verbs::opens::args_for;
use crate::verbs::permission::ActPermission;
use crate::verbs::questions::{Questions, show_questions};
use crate::verbs::require;
use crate::verbs::tasks::{AfterOpen, AfterStart, RefLookup, Task};
use crate::workspaces::Workspace;

/// What a client asked to run.
pub(crate) struct RunArgs {
    pub code: String,
    pub stdin: Option<Bytes>,
    pub only_queries: bool,
}

/// Runs a script. A script that is only a link clicks it.
///
/// # Errors
/// It is no script, or clicks a link where only queries may run.
pub(crate) fn run(
    questions: &mut Questions<'_>,
    id: RequestId,
    RunArgs { code, stdin, only_queries }: RunArgs,
) -> Result<Next, Fault> {
    let (_, workspace) = questions.request(id)?;
    let shown = SecretActions::in_code(workspace, &code).hidden_in_place(&code);
    let shown = shown.as_deref().unwrap_or(&code);
    let script = match ParsedScript::typed(&code, stdin.clone(), shown, only_queries) {
        Ok(script) => script,
        Err(fault) => return questions.refuse_and_keep(id, fault, &source_of(code, stdin), 0),
    };
    // A link alone may answer a question.
    let link = match script.first_steps() {
        [call::Step::Ref(link, _)] if link.kind == RefKind::Link => Some(link.clone()),
        // What a click on a token means may be a query.
        [call::Step::Ref(token, _)] if token.prefix.is_some() => {
            return Ok(Next::Work(Work::LookUp(
                RefLookup::click(token.clone()),
                SessionStart::Allowed,
            )));
        }
        [call::Step::Call(call)] => clicked_link(call).transpose()?,
        _ => None,
    };
    match link {
        Some(link) if only_queries => {
            Err(Fault::refused(format!("{link} is clicked, and only queries may run here"))
                .hint(format!("pipemux click {link}")))
        }
        Some(link) => Ok(Next::Work(Work::Click(link))),
        None => Ok(Next::Run(RunWork::Script(Box::new(script), SessionStart::Allowed))),
    }
}

/// Brings a script to its run: opens the built-in apps that it calls and that aren't open, starts
/// the sessions whose prototypes it needs and the daemon doesn't know yet, plans it, and grants the
/// folders that it names. Called again after each wait; once sessions were started for it,
/// `start` is [`SessionStart::Done`].
///
/// # Errors
/// The script can't be planned and nothing of it is kept, or a session can't be granted more.
pub(crate) fn run_script(
    questions: &mut Questions<'_>,
    processes: &mut Processes,
    providers: &Providers,
    id: RequestId,
    script: Box<ParsedScript>,
    start: SessionStart,
) -> Result<Next, Fault> {
    let (request, workspace) = questions.request(id)?;
    if let ScriptOrigin::Corrected(correction) = &script.origin
        && let Some(refused) = questions.refuse_behind_question(request, correction.kept)?
    {
        return Ok(refused);
    }
    if start == SessionStart::Allowed {
        let closed = ClosedApps { providers, workspace };
        match closed.called_by(&script.parts()) {
            Ok(None) => {}
            Ok(Some(provider)) => {
                let open = Box::new(args_for(request, provider));
                return Ok(Next::Work(Work::Open(open, AfterOpen::Script(script))));
            }
            Err(refusal) => return refuse_unplanned(questions, id, *script, refusal),
        }
        let unknown = script.unknown_sessions(workspace, processes);
        if !unknown.is_empty() {
            return Ok(Next::Work(Work::Start(unknown, AfterStart::Script(script))));
        }
    }
    let (reader, at) = (&request.call.reader, request.call.at);
    let PlannedScript { told, steps } = script.plan(workspace, processes, reader, at);
    if let (Some(told), Some(notes)) = (told, questions.clients.audit_notes(id)) {
        notes.text = told;
    }
    let steps = match steps {
        Ok(steps) => steps,
        Err(refusal) => return refuse_planned(questions, id, *script, refusal),
    };
    if let Some(step) = steps.iter().find(|step| script.only_queries() && !step.is_query()) {
        return Err(not_a_query(step));
    }
    if let ScriptOrigin::Typed { .. } = &script.origin {
        // Only here has the caller written the arguments.
        let cwd = &require::request(questions.clients, id)?.call.cwd;
        let parts = (&*questions.clients, processes);
        let sessions = grant_for_steps(questions.turn, parts, id, cwd, &steps)?;
        if !sessions.is_empty() {
            return Ok(Next::Wait(Task::Preparing { sessions, then: AfterStart::Script(script) }));
        }
    }
    match script.origin {
        ScriptOrigin::Corrected(correction) => questions.run_corrected(id, correction, steps),
        ScriptOrigin::Typed { .. } | ScriptOrigin::Clicked { .. } => {
            let source = script.into_source();
            let origin = source.map_or(Origin::Click, |source| Origin::Typed(Rc::new(source)));
            Ok(Next::Run(RunWork::Steps(steps, origin)))
        }
    }
}

/// Refuses a script because of a call whose app isn't clear, and keeps its other steps.
fn refuse_unplanned(
    questions: &mut Questions<'_>,
    id: RequestId,
    script: ParsedScript,
    (index, fault): (usize, Fault),
) -> Result<Next, Fault> {
    let ScriptOrigin::Corrected(correction) = &script.origin else {
        return refuse_planned(questions, id, script, (index, fault));
    };
    let (_, workspace) = questions.request(id)?;
    let fault = match script.without_secrets(workspace) {
        Some(_) => without_code(fault),
        None => fault,
    };
    Ok(Next::Fail(fault, Some(correction.kept)))
}

/// Refuses a script because of the step with this index, and keeps its other steps.
fn refuse_planned(
    questions: &mut Questions<'_>,
    id: RequestId,
    script: ParsedScript,
    (index, fault): (usize, Fault),
) -> Result<Next, Fault> {
    if let ScriptOrigin::Corrected(correction) = &script.origin {
        return questions.refuse_correction(id, &script, correction, (index, fault));
    }
    match script.into_source() {
        Some(source) => questions.refuse_and_keep(id, fault, &source, index),
        None => Err(fault),
    }
}

/// Starts sessions, for which a request waits.
pub(crate) fn start_sessions(
    turn: &mut Turn,
    processes: &mut Processes,
    id: RequestId,
    sessions: &[SessionKey],
) {
    for session in sessions {
        // A session that can't start has no prototypes, which the plan will report.
        let woken = wake(turn, processes, session).is_ok();
        if let Some(found) = processes.get_mut(session)
            && woken
            && found.is_starting()
        {
            found.wait_until_ready(id);
        }
    }
}

/// Starts a run of steps that were checked. While a question is open its reader may look at
/// everything; what acts waits for the answer.
///
/// # Errors
/// The steps mean an epoch that there isn't, or the request may not act.
pub(crate) fn run_steps(
    questions: &mut Questions<'_>,
    permission: ActPermission<'_>,
    id: RequestId,
    steps: Vec<Step>,
    origin: Origin,
) -> Result<Next, Fault> {
    let run = make_run(questions.clients, questions.request(id)?, steps, origin)?;
    if run.progress.only_looks() {
        return Ok(Next::Run(RunWork::Begin(run, RunInput::Begin)));
    }
    let (request, _) = questions.request(id)?;
    let mut open = questions.runs.questions_of(&request.workspace, &request.call.reader);
    let Some((number, question)) = open.next() else {
        return Ok(Next::Run(RunWork::Begin(run, RunInput::Begin)));
    };
    let numbers = std::iter::once(number).chain(open.map(|(number, _)| number)).collect();
    let message = format!("question {number} is open: {}", question.title());
    let ways = question.ways().join(" · ");
    let fault = Fault::refused(message).hint(format!("pipemux answer {ways}"));
    let waiting = questions.wait_behind(permission, id, number, &run)?;
    Ok(waiting.unwrap_or_else(|| show_questions(numbers, Some(fault))))
}

/// Makes the run of a request.
fn make_run(
    clients: &Clients,
    (request, workspace): (&ClientRequest, &Workspace),
    steps: Vec<Step>,
    origin: Origin,
) -> Result<Box<Run>, Fault> {
    let call = &request.call;
    if let Some(epoch) = call.at.filter(|epoch| *epoch > workspace.epoch) {
        let named = steps.iter().flat_map(|step| &step.args);
        let named = named.filter_map(|(_, argument)| argument.first_ref()).next();
        return Err(match named {
            Some(of) => ref_errors::not_found(&ref_errors::name(of), None),
            None => ref_errors::unissued_epoch(epoch, workspace.epoch)
                .hint("leave out --at: numbers and refs then mean what you saw last"),
        });
    }
    let (at, run_id) = (request.workspace.clone(), clients.pseudonym(call));
    let caller = Caller { cwd: call.cwd.clone(), ..Caller::new(at, &*call.reader, run_id) };
    let mut run = Run::new(caller, steps);
    run.budget = call.budget.map_or(RUN_BUDGET, |budget| {
        budget.max(ANSWER_BUDGET_MIN).saturating_sub(LAST_LINE_TOKENS)
    });
    run.take_baseline(workspace, call.at);
    run.origin = origin;
    run.hide_secrets(workspace);
    Ok(Box::new(run))
}

/// Returns the refusal of a step where only queries may run.
fn not_a_query(step: &Step) -> Fault {
    let name = step.prototype.written_name();
    let message = format!("{name} is no query, and only queries may run here: nothing ran");
    Fault::refused(message).hint("pipemux run carries out the same calls")
}
