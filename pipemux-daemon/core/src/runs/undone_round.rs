//! A round of history that a run takes back: which of its undos the steps are, and where these
//! stand.

use pipemux_proto::projection::Args;
use pipemux_proto::prototype::Prototype;
use pipemux_proto::report::StepStatus;

use crate::foreign::LinkSlot;
use crate::keys::SessionKey;
use crate::runs::progress::Progress;
use crate::runs::step_outcome::StepOutcome;
use crate::scripts::step::{Step, StepOrigin, fixed};
use crate::workspaces::anchors::open_params;
use crate::workspaces::history::UndosNow;

/// A history round that a run undoes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UndoneRound {
    pub number: u64,
    /// For each step of the run, the index of the round's undo.
    pub steps: Vec<u32>,
    /// The steps of the round that can't be undone.
    pub stays: Vec<String>,
    /// The index of the step that couldn't be undone, once the run is redoing the steps before it.
    /// The steps after this index do the redoing.
    pub failed: Option<usize>,
    /// The note about newer rounds that were skipped; empty if there are none.
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

    /// Returns the calls that were taken back and not made again.
    pub fn calls_taken_back<'p>(&self, progress: &'p Progress) -> Vec<&'p str> {
        let taken = self.now(&progress.done).taken_back.len();
        progress.steps.iter().take(taken).map(|step| step.call.as_str()).collect()
    }
}

/// Returns the link with which an app offered to take a step back, or to make again what the step
/// took back. Only one that names its change is used, since any other would be about whatever came
/// last.
pub fn undo_link(outcome: &StepOutcome) -> Option<&LinkSlot> {
    let wanted = if outcome.reverts { "redo" } else { "undo" };
    let mut offered = outcome.links.iter().filter(|link| link.lasting && link.code.is_none());
    let wanted = |label: &str| label.split(' ').next() == Some(wanted);
    let named = offered.clone().find(|link| link.label.borrow().fits(wanted));
    named.or_else(|| offered.find(|link| link.label == "undo"))
}

/// Returns the step that carries out what an app offered to take `call` back with; `None` if the
/// app can't any more.
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
