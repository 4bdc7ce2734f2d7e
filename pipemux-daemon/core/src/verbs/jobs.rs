//! Jobs in verbs: a run that waits for the end of a job that its step began, `read job:3`, the click that cancels.

use pipemux_proto::client::{Answer, Body, Format};
use pipemux_proto::command::with_options;
use pipemux_proto::envelope::Method;
use pipemux_proto::job::CancelJob;
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::{Fault, Value};

use crate::Core;
use crate::core::Shutdown;
use crate::foreign::{ForeignText, Outcome, Started, data};
use crate::jobs::Job;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ANSWER_BUDGET_MIN, CANCEL_JOB_MS, JOB_OUTPUT_TOKENS, PROJECT_MS, RUN_BUDGET};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::runs::protocol::StartedStep;
use crate::runs::step_job::StepJob;
use crate::runs::{RunInput, StepReply};
use crate::timers::Timer;
use crate::verbs::require;
use crate::verbs::tasks::{JobWait, Task};
use crate::views::inert;
use crate::views::truncate::{cut_older_lines, newest_lines};
use crate::workspaces::Delivery;

impl Core {
    /// Goes on with a run whose step began a job: at once, or when the job has ended, if the request waits for that.
    pub(super) fn step_started(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        started: Started,
    ) -> Result<(), Fault> {
        let (owner, only_looks) = match self.tasks.get(id) {
            Some(Task::Running(run)) => {
                let step = run.progress.steps.get(run.progress.next);
                let only_looks = step.is_some_and(|step| step.prototype.risk.only_looks());
                let caller = &run.caller;
                (Some((caller.workspace.clone(), caller.reader.clone())), only_looks)
            }
            _ => (None, false),
        };
        let number = self.start_job(session, started.clone(), owner);
        number.filter(|_| only_looks).into_iter().for_each(|job| self.jobs.note_only_looks(job));
        let Some(Task::Running(run)) = self.tasks.get(id) else { return Err(Self::lost_run()) };
        let until = run.job_wait.until.filter(|_| !run.cancelled).unwrap_or(0);
        match number {
            Some(number) if until > self.turn.mono_ms() && self.shutdown == Shutdown::Running => {
                self.wait_for_job(id, JobWait { number, until, started: Some(Box::new(started)) });
                Ok(())
            }
            number => self.go_on_with_job(id, started, number, false),
        }
    }

    fn go_on_with_job(
        &mut self,
        id: RequestId,
        started: Started,
        number: Option<u64>,
        waited: bool,
    ) -> Result<(), Fault> {
        let now = self.turn.now.unix_ms;
        let budget = self.clients.request(id).and_then(|request| request.call.budget);
        let budget = budget.unwrap_or(JOB_OUTPUT_TOKENS).max(ANSWER_BUDGET_MIN);
        let job = number.and_then(|number| self.jobs.get(number)).map(|job| {
            let output = if waited { job.output.to_text() } else { ForeignText::default() };
            let (older, newest) = newest_lines(data::borrowed(output.borrow()), budget.into());
            StepJob {
                number: job.number,
                name: job.name(),
                state: if waited { job.state } else { Default::default() },
                words: job.state_words(now),
                output: newest.into(),
                has_more_output: !older.is_empty() || job.output.dropped > 0 || !waited,
                waited,
            }
        });
        let step = Box::new(StartedStep { started, job });
        self.resume_run(id, RunInput::Replied(StepReply::Started(step)))
    }

    /// Has a request wait for the end of a job, until a time on the monotonic clock.
    fn wait_for_job(&mut self, id: RequestId, wait: JobWait) {
        self.turn.set_timer(wait.until, Timer::Wait(id));
        self.tasks.job_waits.insert(id, wait);
    }

    /// Returns until when a request that waits for jobs does so at most, on the monotonic clock: it is answered in time.
    pub(super) fn job_wait_end(&self, id: RequestId) -> Option<u64> {
        let request = self.clients.request(id)?;
        let wait = u64::from(request.call.wait_ms.min(WAIT_MAX_MS));
        let latest = request.deadline.saturating_sub(PROJECT_MS);
        (wait > 0).then(|| (self.turn.mono_ms() + wait).min(latest))
    }

    /// Goes on with the requests that wait for a job, which has ended.
    pub(crate) fn job_ended(&mut self, number: u64) {
        for id in self.tasks.waiting_for_job(number) {
            self.end_job_wait(id);
        }
    }

    /// Ends the waits of all requests for jobs.
    pub(super) fn end_job_waits(&mut self) {
        let all: Vec<RequestId> = self.tasks.job_waits.keys().copied().collect();
        for id in all {
            self.end_job_wait(id);
        }
    }

    /// Goes on with a request that waits for a job, whether that has ended or not. Returns false if it doesn't wait for
    /// one.
    pub(crate) fn end_job_wait(&mut self, id: RequestId) -> bool {
        let Some(wait) = self.drop_job_wait(id) else { return false };
        let result = match (self.tasks.get(id), wait.started) {
            (Some(Task::Running(_)), Some(started)) => {
                self.go_on_with_job(id, *started, Some(wait.number), true)
            }
            (Some(Task::CancellingJob), _) => self.answer_cancelled(id, wait.number),
            (Some(Task::ReadingJob), _) => self.answer_job(id, wait.number),
            _ => Err(require::missing_task(&self.clients, id)),
        };
        self.fail_on_error(id, result);
        true
    }

    /// Forgets that a request waits for a job.
    pub(crate) fn drop_job_wait(&mut self, id: RequestId) -> Option<JobWait> {
        let wait = self.tasks.job_waits.remove(&id)?;
        self.turn.clear_timer(wait.until, Timer::Wait(id));
        Some(wait)
    }

    /// Reads the output of a job, at once or when the job has ended.
    pub(crate) fn read_job(&mut self, id: RequestId, number: &str) -> Result<(), Fault> {
        let number = self.job_number(id, number)?;
        let running = self.jobs.get(number).is_some_and(Job::is_running);
        match self.job_wait_end(id) {
            Some(until) if running && until > self.turn.mono_ms() => {
                self.set_task(id, Task::ReadingJob);
                self.wait_for_job(id, JobWait { number, until, started: None });
                Ok(())
            }
            _ => self.answer_job(id, number),
        }
    }

    /// Returns the number of a job that a request may see.
    fn job_number(&self, id: RequestId, written: &str) -> Result<u64, Fault> {
        let request = require::request(&self.clients, id)?;
        let visible = |job: &&Job| {
            let owner = job.session.workspace.as_ref();
            owner.is_none_or(|owner| *owner == request.workspace)
        };
        let found: Vec<&Job> = match written.parse::<u64>() {
            Ok(number) => self.jobs.get(number).filter(visible).into_iter().collect(),
            Err(_) => self.jobs.named(written).filter(visible).collect(),
        };
        // Without its session a name means the job that is shown so.
        let shown: Vec<&Job> = found.iter().copied().filter(|job| job.name() == written).collect();
        match (found.as_slice(), shown.as_slice()) {
            ([job], _) | (_, [job]) => Ok(job.number),
            ([], _) => {
                Err(Fault::not_found(format!("no job {written} is known here"))
                    .hint("pipemux view"))
            }
            (several, _) => {
                let names: Vec<String> =
                    several.iter().map(|job| format!("job:{}", job.full_name())).collect();
                Err(Fault::usage(format!("several jobs are named {written}: {}", names.join(", "))))
            }
        }
    }

    /// Answers with the state of a job and what is kept of its output.
    fn answer_job(&mut self, id: RequestId, number: u64) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let job = self
            .jobs
            .get(number)
            .ok_or_else(|| Fault::not_found(format!("job {number} is not known any more")))?;
        let (now, output) = (self.turn.now.unix_ms, job.output.to_text());
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
        let delivery = self.deliver_end(id, number)?;
        self.answer(id, Answer { exit: 0, body, delivery, error: false });
        Ok(())
    }

    /// Cancels a job, as the click on its link asks.
    pub(super) fn cancel_job(&mut self, id: RequestId, number: u64) -> Result<(), Fault> {
        let number = self.job_number(id, &number.to_string())?;
        let deadline = require::request(&self.clients, id)?.deadline;
        let Some(job) = self.jobs.get(number).filter(|job| job.is_running()) else {
            return self.answer_cancelled(id, number);
        };
        let (session, cancel) = (job.session.clone(), CancelJob { job: job.key.clone() });
        let until = (self.turn.mono_ms() + CANCEL_JOB_MS).min(deadline.saturating_sub(PROJECT_MS));
        self.set_task(id, Task::CancellingJob);
        self.wait_for_job(id, JobWait { number, until, started: None });
        let (turn, to) = (&mut self.turn, ReplyTo::CancelJob(id));
        self.processes.request(turn, &session, Method::CancelJob, &cancel, deadline, to);
        Ok(())
    }

    /// Takes an app's word on the cancellation of a job: after a refusal there is nothing to wait for.
    pub(crate) fn cancel_replied(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let Some(Task::CancellingJob) = self.tasks.get(id) else { return Ok(()) };
        match reply {
            AppReply::Reply(_) => Ok(()),
            AppReply::Fault(fault) => Err(fault),
            // The job goes with its process, whose end says what becomes of it.
            AppReply::Lost { died: true, .. } => Ok(()),
            AppReply::Lost { why, hints, .. } => Err(Fault { hints, ..Fault::unavailable(why) }),
        }
    }

    /// Answers the click that cancels a job, which has ended or goes on.
    fn answer_cancelled(&mut self, id: RequestId, number: u64) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let job = self
            .jobs
            .get(number)
            .ok_or_else(|| Fault::not_found(format!("job {number} is not known any more")))?;
        let (now, name) = (self.turn.now.unix_ms, job.name());
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
        let delivery = self.deliver_end(id, number)?;
        self.answer(id, Answer { exit: 0, body, delivery, error: false });
        Ok(())
    }

    /// Has the end of a job, if it has ended, count as told once the answer of a request is confirmed. Returns the number
    /// of the delivery.
    fn deliver_end(&mut self, id: RequestId, number: u64) -> Result<u64, Fault> {
        if self.jobs.get(number).is_none_or(Job::is_running) {
            return Ok(0);
        }
        let request = require::request(&self.clients, id)?;
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let epoch = self.workspaces.get(&at).map_or(0, |workspace| workspace.epoch);
        let delivery = self.turn.next_local();
        let told =
            Delivery { number: delivery, epoch, told_jobs: vec![number], ..Delivery::default() };
        self.workspaces.deliver(&at, &reader, told);
        Ok(delivery)
    }
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
pub(super) fn started(reply: &mut StepReply) -> Option<Started> {
    match reply {
        StepReply::Outcome(Outcome::Started(started)) => Some(std::mem::take(started)),
        _ => None,
    }
}
