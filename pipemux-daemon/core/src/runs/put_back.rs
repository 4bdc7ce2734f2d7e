//! An undo of a round is whole or not at all: when one of its steps can't be taken back, the steps that it has taken back
//! are made again with what their apps offered for that, the last one first.

use pipemux_proto::Code;
use pipemux_proto::projection::Args;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::report::StepStatus;

use crate::foreign::LinkSlot;
use crate::keys::SessionKey;
use crate::runs::{Run, RunContext, RunOutput, Step, StepOrigin, StepOutcome, fixed};
use crate::workspaces::anchors::open_params;
use crate::workspaces::history::UndosNow;

/// A round of history that a run takes back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoneRound {
    /// Its number.
    pub number: u64,
    /// For each step of the run, which of the round's undos it is.
    pub steps: Vec<u32>,
    /// The steps of the round that have no undo.
    pub stays: Vec<String>,
    /// The index of the step that couldn't be taken back, once the steps before it are being made again. The steps behind it
    /// do that.
    pub failed: Option<usize>,
    /// What is said of newer rounds that were passed over; empty when none were.
    pub skipped: String,
}

impl UndoneRound {
    /// Returns where the round's undos stand, by how the run's steps ended.
    pub fn now(&self, done: &[StepOutcome]) -> UndosNow {
        let turn = self.failed.unwrap_or(self.steps.len());
        let ended = self.steps.iter().zip(done).take(turn);
        let ended = ended.filter(|(_, outcome)| outcome.status == StepStatus::Done);
        let mut taken_back: Vec<u32> = ended.map(|(step, _)| *step).collect();
        let again = done.iter().skip(turn + 1).filter(|outcome| {
            // What may have been made again is left to be taken back.
            matches!(outcome.status, StepStatus::Done | StepStatus::Unknown)
        });
        let made_again = taken_back.split_off(taken_back.len().saturating_sub(again.count()));
        UndosNow { taken_back, made_again, unsure: Vec::new() }
    }

    /// Returns where the round's undos stand while the run's next step is with its app.
    pub fn while_next(&self, done: &[StepOutcome]) -> UndosNow {
        let mut now = self.now(done);
        let next = match self.failed {
            Some(_) => now.taken_back.pop().inspect(|step| now.made_again.push(*step)),
            None => self.steps.get(done.len()).copied(),
        };
        UndosNow { unsure: next.into_iter().collect(), ..now }
    }
}

/// Returns the link with which an app offered to take a step back, or to make again what the step took back. Only one that
/// names its change is used, since any other would be about whatever came last.
pub fn undo_link(outcome: &StepOutcome) -> Option<&LinkSlot> {
    let wanted = if outcome.reverts { "redo" } else { "undo" };
    let mut offered = outcome.links.iter().filter(|link| link.lasting && link.code.is_none());
    let wanted = |label: &str| label.split(' ').next() == Some(wanted);
    let named = offered.clone().find(|link| link.label.borrow().fits(wanted));
    named.or_else(|| offered.find(|link| link.label == "undo"))
}

/// Returns the step that carries out what an app offered to take `call` back with; `None` if the app can't any more.
pub fn undo_step(
    session: &SessionKey,
    prototypes: &[Prototype],
    (action, args): (&str, &Args),
    call: &str,
) -> Option<Step> {
    let prototype = prototypes.iter().find(|prototype| prototype.name == action)?;
    open_params(prototype, args).next().is_none().then_some(())?;
    Some(Step {
        session: session.clone(),
        candidates: Vec::new(),
        prototype: prototype.clone(),
        args: fixed(args),
        call: call.to_owned(),
        origin: StepOrigin::Call,
        nested: false,
    })
}

impl Run {
    /// True while the run makes again what it had taken back.
    pub(super) fn puts_back(&self) -> bool {
        self.undoes.as_ref().is_some_and(|undone| undone.failed.is_some())
    }

    /// True when no other step is to begin, since nobody waits for the run: what an undo has taken back is made again first.
    pub(super) fn is_called_off(&self) -> bool {
        self.was_cancelled() && !self.puts_back()
    }

    /// Goes on with a run that has ended, if it is an undo that took back a part: makes that again.
    pub(super) fn make_whole(&mut self, context: &RunContext<'_>) -> RunOutput {
        if self.begin_putting_back(context) {
            let output = self.advance(context);
            if !matches!(output, RunOutput::Finished) {
                return output;
            }
        }
        self.leave_only_failed_step();
        RunOutput::Finished
    }

    /// Adds the steps that make again what the undo took back. Returns false if there is nothing to be made again, or not
    /// all of it can be.
    fn begin_putting_back(&mut self, context: &RunContext<'_>) -> bool {
        let stopped = self.done.last().is_some_and(|last| {
            matches!(last.status, StepStatus::Failed | StepStatus::Skipped) && !self.unknown
        });
        let may_go_back = self.undoes.is_some() && !self.puts_back() && stopped;
        let Some((_, before)) = self.done.split_last().filter(|_| may_go_back) else {
            return false;
        };
        let again = self.steps.iter().zip(before).rev().map(|(step, outcome)| {
            let (link, session) = (undo_link(outcome)?, context.sessions.get(&step.session)?);
            undo_step(&step.session, &session.prototypes, (&link.action, &link.args), &step.call)
        });
        let again = again.collect::<Option<Vec<Step>>>();
        let Some(again) = again.filter(|again| !again.is_empty()) else { return false };
        let failed = before.len();
        if let Some(undone) = &mut self.undoes {
            undone.failed = Some(failed);
        }
        self.steps.truncate(failed + 1);
        self.steps.extend(again);
        self.next = failed + 1;
        self.answered = None;
        self.looked_up = Default::default();
        if let Some(baseline) = self.saved_baseline.take() {
            self.replace_baseline(baseline);
        }
        true
    }

    /// Once all was made again, nothing is told but the step that couldn't be taken back.
    fn leave_only_failed_step(&mut self) {
        let Some(undone) = &mut self.undoes else { return };
        let whole = undone.failed.filter(|_| undone.now(&self.done).taken_back.is_empty());
        let Some(failed) = whole.filter(|_| !self.unknown) else { return };
        undone.steps = undone.steps.iter().copied().skip(failed).take(1).collect();
        undone.failed = None;
        self.steps = self.steps.drain(..).skip(failed).take(1).collect();
        self.done = self.done.drain(..).skip(failed).take(1).collect();
        (self.next, self.begins_at) = (0, 0);
        // What the other steps said of lines isn't shown.
        self.told_lines.clear();
        self.rebased.clear();
        self.sent_before.clear();
        for fault in self.done.iter_mut().filter_map(|outcome| outcome.fault.as_mut()) {
            // Other steps did run, though nothing is left of them.
            fault.code = Code::Failed;
        }
    }

    /// Returns the calls of a round that an undo has taken back.
    pub fn half_undone(&self) -> Vec<&str> {
        let taken =
            self.undoes.as_ref().map_or(0, |undone| undone.now(&self.done).taken_back.len());
        self.steps.iter().take(taken).map(|step| step.call.as_str()).collect()
    }
}
