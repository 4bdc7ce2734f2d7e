//! Jobs in verbs: a run that waits for the end of a job that its step began, `read job:3`, the
//! click that cancels.

use pipemux_proto::client::{Body, Format};
use pipemux_proto::command::with_options;
use pipemux_proto::envelope::Method;
use pipemux_proto::job::CancelJob;
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::{Fault, Value};

use crate::clients::client_request::ClientRequest;
use crate::foreign::{ForeignText, Outcome, Started, data};
use crate::jobs::{Job, Jobs};
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ANSWER_BUDGET_MIN, CANCEL_JOB_MS, JOB_OUTPUT_TOKENS, PROJECT_MS, RUN_BUDGET};
use crate::processes::Processes;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::protocol::StartedStep;
use crate::runs::step_job::StepJob;
use crate::runs::{RunInput, StepReply};
use crate::turn::Turn;
use crate::verbs::job_events::JobEvents;
use crate::verbs::next::{Next, RunWork};
use crate::verbs::require;
use crate::verbs::tasks::{JobWait, Task, Tasks};
use crate::views::inert;
use crate::views::truncate::{cut_older_lines, newest_lines};
use crate::workspaces::{Delivery, Workspaces};

/// Resumes a run whose step started a job: immediately or, if the request waits for jobs and the
/// daemon isn't about to end, when the job has ended.
///
/// # Errors
/// The request is already answered.
pub(crate) fn step_started(
    events: &mut JobEvents<'_>,
    is_stopping: bool,
    id: RequestId,
    session: &SessionKey,
    started: Started,
) -> Result<Next, Fault> {
    let Some(run) = events.tasks.run(id) else { return Ok(Next::Nothing) };
    let step = run.progress.steps.get(run.progress.next);
    let only_looks = step.is_some_and(|step| step.prototype.risk.only_looks());
    let owner = (run.caller.workspace.clone(), run.caller.reader.clone());
    let until = run.job_wait.until.filter(|_| !run.cancelled).unwrap_or(0);
    let number = events.start(session, started.clone(), Some(owner));
    if let Some(number) = number.filter(|_| only_looks) {
        events.jobs.note_only_looks(number);
    }
    match number {
        Some(number) if until > events.turn.mono_ms() && !is_stopping => {
            let wait = JobWait { number, until, started: Some(Box::new(started)) };
            events.tasks.wait_for_job(events.turn, id, wait);
            Ok(Next::Nothing)
        }
        number => {
            let request = require::request(events.clients, id)?;
            let job = number.and_then(|number| events.jobs.get(number));
            Ok(resume(request, events.turn.now.unix_ms, started, (job, false)))
        }
    }
}

/// Resumes a run whose step began a job, which the request `has_waited` for or not.
fn resume(
    request: &ClientRequest,
    unix_ms: u64,
    started: Started,
    (job, has_waited): (Option<&Job>, bool),
) -> Next {
    let budget = request.call.budget.unwrap_or(JOB_OUTPUT_TOKENS).max(ANSWER_BUDGET_MIN);
    let job = job.map(|job| {
        let output = if has_waited { job.output.to_text() } else { ForeignText::default() };
        let (older, newest) = newest_lines(data::borrowed(output.borrow()), budget.into());
        StepJob {
            number: job.number,
            name: job.name(),
            state: if has_waited { job.state } else { Default::default() },
            words: job.state_words(unix_ms),
            output: newest.into(),
            has_more_output: !older.is_empty() || job.output.dropped > 0 || !has_waited,
            waited: has_waited,
        }
    });
    let step = Box::new(StartedStep { started, job });
    Next::Run(RunWork::Resume(RunInput::Replied(StepReply::Started(step))))
}

/// Returns until when, on the monotonic clock, a request waits for jobs; the wait ends early enough
/// to answer before the request's deadline. `None` if the request doesn't wait.
pub(super) fn job_wait_end(request: &ClientRequest, mono_ms: u64) -> Option<u64> {
    let wait = u64::from(request.call.wait_ms.min(WAIT_MAX_MS));
    let latest = request.deadline.saturating_sub(PROJECT_MS);
    (wait > 0).then(|| (mono_ms + wait).min(latest))
}

/// Goes on with a request that has waited for a job, whether that has ended or not.
///
/// # Errors
/// The job isn't known any more.
pub(crate) fn end_job_wait(
    turn: &mut Turn,
    tasks: &Tasks,
    workspaces: &mut Workspaces,
    jobs: &Jobs,
    request: &ClientRequest,
    wait: JobWait,
) -> Result<Next, Fault> {
    match (tasks.get(request.id), wait.started) {
        (Some(Task::Running(_)), Some(started)) => {
            let job = jobs.get(wait.number);
            Ok(resume(request, turn.now.unix_ms, *started, (job, true)))
        }
        (Some(Task::CancellingJob), _) => {
            let job = known_job(jobs, wait.number)?;
            Ok(answer_cancelled(turn, workspaces, request, job))
        }
        (Some(Task::ReadingJob), _) => {
            let job = known_job(jobs, wait.number)?;
            Ok(answer_job(turn, workspaces, request, job))
        }
        _ => Ok(Next::Nothing),
    }
}

fn known_job(jobs: &Jobs, number: u64) -> Result<&Job, Fault> {
    jobs.get(number).ok_or_else(|| Fault::not_found(format!("job {number} is not known any more")))
}

/// Reads the output of a job, at once or when the job has ended.
///
/// # Errors
/// The request may see no such job.
pub(crate) fn read_job(
    turn: &mut Turn,
    tasks: &mut Tasks,
    workspaces: &mut Workspaces,
    jobs: &Jobs,
    request: &ClientRequest,
    written: &str,
) -> Result<Next, Fault> {
    let job = find_job(jobs, request, written)?;
    match job_wait_end(request, turn.mono_ms()) {
        Some(until) if job.is_running() && until > turn.mono_ms() => {
            tasks.wait_for_job(
                turn,
                request.id,
                JobWait { number: job.number, until, started: None },
            );
            Ok(Next::Wait(Task::ReadingJob))
        }
        _ => Ok(answer_job(turn, workspaces, request, job)),
    }
}

/// Returns the job of a number or name that a request may see.
fn find_job<'a>(jobs: &'a Jobs, request: &ClientRequest, written: &str) -> Result<&'a Job, Fault> {
    let visible = |job: &&Job| {
        let owner = job.session.workspace.as_ref();
        owner.is_none_or(|owner| *owner == request.workspace)
    };
    let found: Vec<&Job> = match written.parse::<u64>() {
        Ok(number) => jobs.get(number).filter(visible).into_iter().collect(),
        Err(_) => jobs.named(written).filter(visible).collect(),
    };
    // Without its session a name means the job that is shown so.
    let shown: Vec<&Job> = found.iter().copied().filter(|job| job.name() == written).collect();
    match (found.as_slice(), shown.as_slice()) {
        ([job], _) | (_, [job]) => Ok(job),
        ([], _) => {
            Err(Fault::not_found(format!("no job {written} is known here")).hint("pipemux view"))
        }
        (several, _) => {
            let names: Vec<String> =
                several.iter().map(|job| format!("job:{}", job.full_name())).collect();
            Err(Fault::usage(format!("several jobs are named {written}: {}", names.join(", "))))
        }
    }
}

/// Answers with the state of a job and what is kept of its output.
fn answer_job(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    request: &ClientRequest,
    job: &Job,
) -> Next {
    let (now, output) = (turn.now.unix_ms, job.output.to_text());
    let body = match request.call.format {
        Format::Json => Body::Data(job_data(job, data::exact(&output), now)),
        Format::Markdown => {
            let head = inert::line(&format!("{} · {}", job.state_words(now), job.what()));
            let budget = request.call.budget.unwrap_or(RUN_BUDGET).max(ANSWER_BUDGET_MIN);
            let dropped = match job.output.dropped {
                0 => String::new(),
                bytes => format!("… {bytes} earlier bytes of its output are not kept\n"),
            };
            let wait = match job.is_running() {
                true => format!("end and output: pipemux read job:{} --wait 60\n", job.name()),
                false => String::new(),
            };
            let wait = with_options(&wait, &request.call.hint_options);
            let shown = cut_older_lines(data::borrowed(output.borrow()), budget.into());
            let output = fenced(&shown.into());
            Body::Text(format!("{head}\n{dropped}{output}{wait}"))
        }
    };
    Next::Deliver(body, deliver_end(turn, workspaces, request, job))
}

/// Cancels a job, as the click on its link asks.
///
/// # Errors
/// The request may see no such job.
pub(crate) fn cancel_job(
    turn: &mut Turn,
    (tasks, processes): (&mut Tasks, &mut Processes),
    workspaces: &mut Workspaces,
    jobs: &Jobs,
    request: &ClientRequest,
    number: u64,
) -> Result<Next, Fault> {
    let job = find_job(jobs, request, &number.to_string())?;
    if !job.is_running() {
        return Ok(answer_cancelled(turn, workspaces, request, job));
    }
    let cancel = CancelJob { job: job.key.clone() };
    let deadline = request.deadline;
    let until = (turn.mono_ms() + CANCEL_JOB_MS).min(deadline.saturating_sub(PROJECT_MS));
    tasks.wait_for_job(turn, request.id, JobWait { number: job.number, until, started: None });
    let to = ReplyTo::CancelJob(request.id);
    processes.request(turn, &job.session, Method::CancelJob, &cancel, deadline, to);
    Ok(Next::Wait(Task::CancellingJob))
}

/// Handles an app's reply to the cancellation of a job. If the app refuses, the wait ends.
///
/// # Errors
/// The app refuses, or can't be asked.
pub(crate) fn cancel_replied(tasks: &Tasks, id: RequestId, reply: AppReply) -> Result<Next, Fault> {
    let Some(Task::CancellingJob) = tasks.get(id) else { return Ok(Next::Nothing) };
    match reply {
        AppReply::Reply(_) => Ok(Next::Nothing),
        AppReply::Fault(fault) => Err(fault),
        // The job goes with its process, whose end says what becomes of it.
        AppReply::Lost { died: true, .. } => Ok(Next::Nothing),
        AppReply::Lost { why, hints, .. } => Err(Fault { hints, ..Fault::unavailable(why) }),
    }
}

/// Answers the click that cancels a job, which has ended or goes on.
fn answer_cancelled(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    request: &ClientRequest,
    job: &Job,
) -> Next {
    let (now, name) = (turn.now.unix_ms, job.name());
    let text = match job.is_running() {
        true => format!(
            "job {name} was asked to cancel, and still runs · {} · end and output: pipemux read job:{name} \
             --wait 60",
            job.what()
        ),
        false => job.end_line(now),
    };
    let text = inert::line(&text);
    let body = match request.call.format {
        Format::Json => Body::Data(job_data(job, String::new(), now)),
        Format::Markdown => {
            Body::Text(format!("{}\n", with_options(&text, &request.call.hint_options)))
        }
    };
    Next::Deliver(body, deliver_end(turn, workspaces, request, job))
}

/// Registers the end of a job, if it has ended, to count as told when the answer of the request is
/// confirmed. Returns the number of the delivery, or 0 if the job is running.
fn deliver_end(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    request: &ClientRequest,
    job: &Job,
) -> u64 {
    if job.is_running() {
        return 0;
    }
    let at = &request.workspace;
    let epoch = workspaces.get(at).map_or(0, |workspace| workspace.epoch);
    let number = turn.next_local();
    let told = Delivery { number, epoch, told_jobs: vec![job.number], ..Delivery::default() };
    workspaces.deliver(at, &request.call.reader, told);
    number
}

/// Writes output as exact text, with everything in it inert.
fn fenced(output: &ForeignText) -> String {
    if output.is_empty() {
        return String::new();
    }
    let mut writer = inert::Writer::default();
    let fence = writer.fence("", output);
    for line in output.borrow().lines_with_ends() {
        writer.raw(inert::printable(line).trim_end_matches('\n'));
        writer.raw("\n");
    }
    writer.raw(&fence);
    writer.raw("\n");
    writer.finish()
}

fn job_data(job: &Job, output: String, unix_ms: u64) -> Value {
    let status = job.status(unix_ms);
    Value::Map(vec![
        ("number".to_owned(), status.number.into()),
        ("session".to_owned(), status.session.as_str().into()),
        ("brief".to_owned(), status.brief.as_str().into()),
        ("state".to_owned(), status.state.word().into()),
        ("text".to_owned(), status.text.as_str().into()),
        ("done".to_owned(), status.done.into()),
        ("total".to_owned(), status.total.into()),
        ("result".to_owned(), status.result.as_str().into()),
        ("ms".to_owned(), status.ms.into()),
        ("dropped".to_owned(), job.output.dropped.into()),
        ("output".to_owned(), output.into()),
    ])
}

/// Returns the job that an outcome began.
pub(crate) fn started(reply: &mut StepReply) -> Option<Started> {
    match reply {
        StepReply::Outcome(Outcome::Started(started)) => Some(std::mem::take(started)),
        _ => None,
    }
}
