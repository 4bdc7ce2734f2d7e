//! What an answer says of jobs: those that run, below the windows of their sessions, and the ends
//! that its reader hasn't been told of.

use pipemux_proto::job::{JobState, JobStatus};

use crate::answers::collect::AnswerInput;
use crate::answers::next_epoch::NextEpoch;
use crate::answers::request::AnswerRequest;
use crate::event::Now;
use crate::jobs::Jobs;
use crate::limits::JOBS_SHOWN;
use crate::runs::StepOutcome;
use crate::views::answer_window::AnswerWindow;
use crate::views::inert;
use crate::views::minter::{Minter, RenderInput};
use crate::views::requested_window::AnswerKind;

/// The part of an answer about jobs.
#[derive(Debug, Default)]
pub(super) struct JobsPart {
    /// The running jobs, as data.
    pub statuses: Vec<JobStatus>,
    /// The jobs whose progress the answer shows to the reader, with their revisions.
    pub seen: Vec<(u64, u64)>,
    /// The jobs whose end the answer reports.
    pub told: Vec<u64>,
}

/// Writes one line for each running job below its session's window. The answer of a run has no such
/// lines, since its steps report the jobs that they started.
pub(super) fn write_jobs(
    input: &AnswerInput,
    windows: &mut [AnswerWindow],
    next: &mut NextEpoch<'_>,
    jobs: &Jobs,
) -> JobsPart {
    let mut part = JobsPart::default();
    if let Some(run) = input.run() {
        let began = run.progress.done.iter().filter_map(|outcome| outcome.job.as_ref());
        for job in began.filter_map(|job| jobs.get(job.number)) {
            part.statuses.push(job.status(next.now.unix_ms));
            part.seen.push((job.number, job.rev));
        }
        part.told = run.progress.done.iter().filter_map(StepOutcome::told_job).collect();
        for (step, outcome) in run.progress.steps.iter().zip(&run.progress.done) {
            let ended = outcome.ended_jobs.iter();
            part.told.extend(ended.filter_map(|key| jobs.number_of(&step.session, key)));
        }
        return part;
    }
    if matches!(input.kind, AnswerKind::Questions { .. }) {
        return part;
    }
    for window in windows {
        let session = window.session.clone();
        let render = RenderInput::of_links(&[], next.number);
        let mut minter = Minter::new(&session, render, &mut next.workspace.anchors);
        let count = jobs.running(&session).count();
        for job in jobs.running(&session).take(JOBS_SHOWN) {
            let link = minter.cancel_link(job.number);
            let progress = match job.progress_words() {
                text if text.is_empty() => text,
                text => format!(" · {text}"),
            };
            let text = format!("job {} · {}{progress}", job.name(), job.what());
            window.jobs += &format!("{} · {link}\n", inert::line(&text));
            part.seen.push((job.number, job.rev));
            let cancel = link.split_once('(').map(|(_, link)| link.trim_end_matches(')'));
            let status = job.status(next.now.unix_ms);
            part.statuses.push(JobStatus { cancel: cancel.map(str::to_owned), ..status });
        }
        if count > JOBS_SHOWN {
            window.jobs += &format!("… {} more jobs\n", count - JOBS_SHOWN);
        }
        next.changed |= minter.has_changed();
    }
    part
}

/// Returns a line for each end of a job that the reader hasn't been told of, and that the answer's
/// run doesn't tell.
pub(super) fn job_ends(
    request: &AnswerRequest,
    part: &mut JobsPart,
    jobs: &Jobs,
    now: Now,
) -> Vec<String> {
    let reader = (request.workspace.clone(), request.reader.as_str().into());
    let mut lines = Vec::new();
    for job in jobs.untold(&reader).filter(|job| job.state != JobState::Running) {
        if !part.told.contains(&job.number) {
            part.told.push(job.number);
            lines.push(job.end_line(now.unix_ms));
        }
    }
    lines
}
