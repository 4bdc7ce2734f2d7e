//! The outcome of a step of a run.

use pipemux_proto::job::JobState;
use pipemux_proto::projection::CodePieceOf;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Blob, Fault, Incarnation};

use crate::foreign::{Done, ForeignText, LinkSlot, Piece, bounds, quote};
use crate::limits::{OUTCOME_LINKS_MAX, ROUND_DIFF_MAX};
use crate::runs::step_job::StepJob;
use crate::workspaces::anchors::StateVersion;

/// The tokens for the lines around exact text.
const FENCE_TOKENS: u64 = 4;

/// The tokens for a ref, in addition to its label.
const REF_TOKENS: u64 = 6;
/// The tokens for the words about an object's value.
const MEDIA_TOKENS: u64 = 12;

/// The text for a step that wasn't run.
const NOT_RUN: &str = "not run";

/// The outcome of a step.
#[derive(Debug, Clone)]
pub struct StepOutcome {
    pub status: StepStatus,
    /// The effect of the step, in one line.
    pub brief: ForeignText,
    /// Further lines, shown with the step.
    pub detail: Option<ForeignText>,
    /// The changes to files.
    pub diff: Option<ForeignText>,
    /// The further contents that the step shows.
    pub content: Vec<Piece>,
    /// True when what it shows tells all that it changed.
    pub complete: bool,
    /// True once an answer told of it.
    pub told: bool,
    pub value: Option<Blob>,
    /// The name of the result when another app receives it.
    pub label: Option<ForeignText>,
    /// The error, if the step failed.
    pub fault: Option<Fault>,
    /// The app's suggestions for the next action.
    pub links: Vec<LinkSlot>,
    /// True when the step took earlier changes back.
    pub reverts: bool,
    /// The state after the step, if it took effect.
    pub state: Option<StateVersion>,
    /// The job that the step started.
    pub job: Option<StepJob>,
    /// The keys of the session's jobs whose ends the outcome reports.
    pub ended_jobs: Vec<String>,
    /// The absolute paths of the changed files.
    pub changed_files: Vec<String>,
    /// The reason why the step can't be undone; empty if there is nothing to undo.
    pub no_undo: Option<ForeignText>,
}

impl StepOutcome {
    /// The outcome of a step that took effect in a process.
    pub fn done(done: Done, app: Option<Incarnation>) -> Self {
        Self {
            status: StepStatus::Done,
            brief: done.brief,
            detail: done.detail,
            diff: done.diff.map(|diff| bounds::clip(diff, ROUND_DIFF_MAX)),
            content: done.content,
            complete: done.complete,
            told: false,
            value: done.value,
            label: done.label,
            fault: None,
            links: done.links.into_iter().take(OUTCOME_LINKS_MAX).collect(),
            reverts: done.reverts,
            state: app.map(|app| (app, done.version)),
            job: None,
            ended_jobs: done.ended_jobs,
            changed_files: done.changed_files,
            no_undo: done.no_undo,
        }
    }

    /// Returns about how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Code(code) => code.text.len(),
            Piece::Object(object) => object.label.len(),
            Piece::Link(link) => link.label.len(),
            Piece::Embed(_) => 0,
        };
        let value = self.value.as_ref().map_or(0, |value| value.0.len());
        let texts = [&self.detail, &self.diff].into_iter().flatten().map(ForeignText::len);
        self.content.iter().map(piece).sum::<usize>() + value + texts.sum::<usize>()
    }

    /// Estimates the tokens of what it shows besides its brief.
    pub fn content_tokens(&self) -> u64 {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.borrow().tokens(),
            Piece::Code(code) => code.text.borrow().tokens() + FENCE_TOKENS,
            Piece::Object(object) => {
                let media = if object.media.is_some() { MEDIA_TOKENS } else { 0 };
                object.label.borrow().tokens() + REF_TOKENS + media
            }
            Piece::Link(link) => link.label.borrow().tokens() + REF_TOKENS,
            Piece::Embed(_) => 0,
        };
        self.content.iter().map(text).sum()
    }

    /// Says in the step's line what became of the job that it began. Returns the line.
    pub fn tell_job(&mut self) -> &str {
        if let Some(job) = &self.job {
            let space = if self.brief.is_empty() { "" } else { " · " };
            let words = match (job.state, job.waited) {
                (JobState::Running, false) => format!("{space}job {}", job.name),
                _ => format!("{space}{}", job.words),
            };
            bounds::append(&mut self.brief, &words);
        }
        quote::in_sentence(&self.brief)
    }

    /// Shows what the job that it began has printed.
    pub(super) fn show_job_output(&mut self) {
        let Some(job) = self.job.as_mut().filter(|job| !job.output.is_empty()) else { return };
        let text = std::mem::take(&mut job.output);
        self.content.push(Piece::Code(CodePieceOf { text, ..CodePieceOf::default() }));
    }

    /// Returns the number of the job whose end the step's line tells.
    pub fn told_job(&self) -> Option<u64> {
        self.job.as_ref().filter(|job| job.state != JobState::Running).map(|job| job.number)
    }

    /// Returns true for a step that began a job which still runs.
    pub fn is_started(&self) -> bool {
        self.status == StepStatus::Done
            && self.job.as_ref().is_some_and(|job| job.state == JobState::Running)
    }

    /// The outcome of a step that was skipped.
    pub fn skipped(brief: &str) -> Self {
        Self {
            status: StepStatus::Skipped,
            brief: brief.into(),
            detail: None,
            diff: None,
            content: Vec::new(),
            complete: false,
            told: false,
            value: None,
            label: None,
            fault: None,
            links: Vec::new(),
            reverts: false,
            state: None,
            job: None,
            ended_jobs: Vec::new(),
            changed_files: Vec::new(),
            no_undo: None,
        }
    }

    /// The outcome of a step that wasn't run because a nested or later call ended the run first.
    /// That call's outcome is reported; this one isn't.
    pub fn unreached() -> Self {
        Self { told: true, ..Self::skipped(NOT_RUN) }
    }

    /// True for a step that wasn't run.
    pub fn is_unreached(&self) -> bool {
        self.status == StepStatus::Skipped && self.brief == NOT_RUN
    }

    /// The outcome of a step that failed or whose effect is unknown.
    pub fn failed(status: StepStatus, fault: Fault) -> Self {
        Self { status, fault: Some(fault.clone()), ..Self::skipped(&fault.message) }
    }
}

/// Notes that an answer told of everything that happened so far.
pub(super) fn forget_told(done: &mut [StepOutcome]) {
    for outcome in done {
        outcome.told = true;
        outcome.content.clear();
    }
}
