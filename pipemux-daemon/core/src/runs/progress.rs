//! How far a run has come: its steps, and how those that were begun ended.
//!
//! Invariant: an outcome has the index of its step, so that `done` is never longer than `steps`.

use pipemux_proto::prototype::Risk;
use pipemux_proto::report::StepStatus;

use crate::keys::SessionKey;
use crate::limits::{CONTENT_BUDGET_MIN, SHORT_RESULT_TOKENS};
use crate::runs::step_outcome::StepOutcome;
use crate::scripts::step::{Argument, MissingArgument, Step};

/// The steps of a run and its progress through them.
#[derive(Debug, Clone)]
pub struct Progress {
    /// All steps, in execution order.
    pub steps: Vec<Step>,
    /// The index of the step that is next or in progress.
    pub next: usize,
    /// The outcome of each step that was begun.
    pub done: Vec<StepOutcome>,
    /// The index of the first step that this run carries out itself. An earlier run carried out the
    /// ones before it.
    pub begins_at: usize,
}

impl Progress {
    /// Steps of which none was begun.
    pub fn new(steps: Vec<Step>) -> Self {
        Self { steps, next: 0, done: Vec::new(), begins_at: 0 }
    }

    /// True when the remaining steps change nothing but the view, and need no input.
    pub fn only_looks(&self) -> bool {
        self.steps[self.next..].iter().all(|step| step.prototype.risk.only_looks())
            && self.ambiguous_target().is_none()
            && self.missing_argument().is_none()
    }

    /// True when a later step takes a step's result.
    pub fn passes_on(&self, index: usize) -> bool {
        fn takes(argument: &Argument, index: usize) -> bool {
            match argument {
                Argument::Result(of) => *of == index,
                _ => argument.parts().any(|part| takes(part, index)),
            }
        }
        let mut all = self.steps.iter().flat_map(|step| &step.args);
        all.any(|(_, argument)| takes(argument, index))
    }

    /// True once a step took effect. Read-only calls inside another call's arguments don't count:
    /// their value went to a step that didn't run.
    pub fn took_effect(&self) -> bool {
        let mut ended = self.steps.iter().zip(&self.done);
        ended.any(|(step, outcome)| outcome.status == StepStatus::Done && !step.only_reads())
    }

    /// Returns the index of the step that the reader wrote: the outer step of a nested call, or the
    /// step itself.
    pub fn outer_step(&self, index: usize) -> usize {
        let inner = self.steps.iter().skip(index).take_while(|step| step.nested).count();
        (index + inner).min(self.steps.len().saturating_sub(1))
    }

    /// True when every step is a query.
    pub fn only_queries(&self) -> bool {
        self.steps.iter().all(Step::is_query)
    }

    /// True if all remaining steps are queries or nested calls that change nothing.
    pub(super) fn leaves_only_queries(&self) -> bool {
        let mut left = self.steps.iter().skip(self.next);
        left.all(Step::only_reads)
    }

    /// Returns the token budget for the content of the next step's outcome: what the previous steps
    /// left, less a reserve for short results of later queries.
    pub(super) fn content_budget(&self, budget: u32) -> u32 {
        let spent = |outcome: &StepOutcome| outcome.content_tokens();
        let spent: u64 = self.done.iter().map(spent).sum();
        let left = u64::from(budget).saturating_sub(spent);
        let later = self.steps.iter().skip(self.next + 1);
        let later = later.filter(|step| step.is_query() && !step.nested).count() as u64;
        let reserved = later.saturating_mul(SHORT_RESULT_TOKENS.into());
        let left = left.saturating_sub(reserved).max(left / (later + 1));
        u32::try_from(left).unwrap_or(u32::MAX).max(CONTENT_BUDGET_MIN)
    }

    /// Returns true if a step only changed what a session's window shows, as `goto` does.
    pub fn turns_window(&self, session: &SessionKey) -> bool {
        let mut ended = self.steps.iter().zip(&self.done);
        ended.any(|(step, outcome)| {
            let turns = step.prototype.risk == Risk::Safe && !step.nested;
            turns && step.session == *session && outcome.status == StepStatus::Done
        })
    }

    /// Returns true if the answer must show a session's window, because the outcome of one of its
    /// steps doesn't report everything that changed.
    pub fn leaves_untold(&self, session: &SessionKey) -> bool {
        let of_session = |(step, _): &(&Step, &StepOutcome)| step.session == *session;
        let mut ended = self.steps.iter().zip(&self.done).filter(of_session);
        ended.any(|(step, outcome)| !step.is_query() && !outcome.complete)
    }

    /// True when the run took earlier changes back.
    pub fn reverts(&self) -> bool {
        self.done.iter().any(|outcome| outcome.reverts)
    }

    /// True when a step was given an argument that is never printed, logged or kept.
    pub fn holds_secret(&self) -> bool {
        self.steps.iter().any(Step::holds_secret)
    }

    /// The index of the first step whose session is ambiguous.
    pub(super) fn ambiguous_target(&self) -> Option<usize> {
        let ambiguous =
            |(index, step): (usize, &Step)| (!step.candidates.is_empty()).then_some(index);
        self.steps.iter().enumerate().skip(self.next).find_map(ambiguous)
    }

    /// The first argument that is missing: the step's index, the argument's index, and what is
    /// missing.
    pub(super) fn missing_argument(&self) -> Option<(usize, usize, &MissingArgument)> {
        let steps = self.steps.iter().enumerate().skip(self.next);
        let mut all = steps.flat_map(|(step, of)| {
            of.args.iter().enumerate().filter_map(move |(index, (_, argument))| match argument {
                Argument::Missing(missing) => Some((step, index, missing)),
                _ => None,
            })
        });
        all.next()
    }

    /// Returns which step of its script a step belongs to, from 0: calls inside of others belong to
    /// theirs.
    pub fn written_index(&self, index: usize) -> usize {
        let outer = self.outer_step(index);
        self.steps.iter().take(outer).filter(|step| !step.nested).count()
    }
}
