//! An undo of a round is whole or not at all: when one of its steps can't be taken back, the steps
//! that it has taken back are made again with what their apps offered for that, the last one first.

use pipemux_proto::Code;
use pipemux_proto::report::StepStatus;

use crate::runs::origin::Origin;
use crate::runs::progress::Progress;
use crate::runs::protocol::RunOutput;
use crate::runs::run::Run;
use crate::runs::undone_round::{undo_link, undo_step};
use crate::scripts::context::RunContext;
use crate::scripts::step::Step;

impl Run {
    /// Goes on with a run that has ended, if it is an undo that took back a part: makes that again.
    pub(super) fn roll_back_undo(&mut self, context: &RunContext<'_>) -> RunOutput {
        if self.begin_rollback(context) {
            let output = self.advance(context);
            if !matches!(output, RunOutput::Finished) {
                return output;
            }
        }
        self.leave_only_failed_step();
        RunOutput::Finished
    }

    /// Adds the steps that make again what the undo took back. Returns false if there is nothing to
    /// be made again, or not all of it can be.
    fn begin_rollback(&mut self, context: &RunContext<'_>) -> bool {
        let stopped = self.progress.done.last().is_some_and(|last| {
            matches!(last.status, StepStatus::Failed | StepStatus::Skipped) && !self.unknown
        });
        let Origin::Undo(round) = &mut self.origin else { return false };
        if round.failed.is_some() || !stopped {
            return false;
        }
        let Some(steps) = rollback_steps(&self.progress, context).filter(|all| !all.is_empty())
        else {
            return false;
        };
        let failed = self.progress.done.len() - 1;
        round.failed = Some(failed);
        self.progress.steps.truncate(failed + 1);
        self.progress.steps.extend(steps);
        self.go_to(failed + 1);
        self.baseline.restore();
        true
    }

    /// Once all was made again, nothing is told but the step that couldn't be taken back.
    fn leave_only_failed_step(&mut self) {
        let Origin::Undo(round) = &mut self.origin else { return };
        let progress = &mut self.progress;
        let whole = round.failed.filter(|_| round.now(&progress.done).taken_back.is_empty());
        let Some(failed) = whole.filter(|_| !self.unknown) else { return };
        round.steps = round.steps.iter().copied().skip(failed).take(1).collect();
        round.failed = None;
        progress.steps = progress.steps.drain(..).skip(failed).take(1).collect();
        progress.done = progress.done.drain(..).skip(failed).take(1).collect();
        (progress.next, progress.begins_at) = (0, 0);
        for fault in progress.done.iter_mut().filter_map(|outcome| outcome.fault.as_mut()) {
            // Other steps did run, though nothing is left of them.
            fault.code = Code::Failed;
        }
        // What the other steps said of lines isn't shown.
        self.told_lines.clear();
        self.attempts = Default::default();
    }
}

/// Returns the steps that make again what the steps in front of a failed one took back; `None` if
/// an app offers none.
fn rollback_steps(progress: &Progress, context: &RunContext<'_>) -> Option<Vec<Step>> {
    let (_, before) = progress.done.split_last()?;
    let steps = progress.steps.iter().zip(before).rev().map(|(step, outcome)| {
        let (link, session) = (undo_link(outcome)?, context.sessions.get(&step.session)?);
        undo_step(&step.session, &session.prototypes, (&link.action, &link.args), &step.call)
    });
    steps.collect()
}
