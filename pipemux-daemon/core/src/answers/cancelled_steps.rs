//! Steps whose call was cancelled: a step that is with an app goes on, and its outcome is in an
//! answer that nobody reads. So the next answers of the same reader say that it still runs, and
//! then how it ended.

use crate::foreign::quote;
use crate::keys::WorkspaceKey;
use crate::processes::Processes;
use crate::runs::{Run, Step, StepOutcome};
use crate::text::clip;

/// Characters of a call that such a line shows.
const CALL_SHOWN: usize = 80;

/// Returns a line for each cancelled step of a reader that is still with an app.
pub(super) fn steps_still_running<'r>(
    running: impl Iterator<Item = &'r Run>,
    workspace: &WorkspaceKey,
    reader: &str,
) -> Vec<String> {
    let own =
        running.filter(|run| run.caller.workspace == *workspace && *run.caller.reader == *reader);
    let cancelled = own.filter(|run| run.cancelled && !run.progress.only_queries());
    let line = |run: &Run| {
        let (session, _) = run.in_flight()?;
        let call = call_of(run.progress.steps.get(run.progress.done.len())?);
        Some(format!(
            "{call} still runs, though its call was cancelled · look: pipemux view {session}"
        ))
    };
    cancelled.filter_map(line).collect()
}

/// Returns a line for each step of a run that took effect or failed in its app, for the reader who
/// didn't get the run's answer.
pub(super) fn outcomes_of_cancelled(run: &Run, processes: &Processes) -> Vec<String> {
    let ended = run.progress.steps.iter().zip(&run.progress.done).filter(|(step, outcome)| {
        !step.is_query() && (outcome.state.is_some() || outcome.job.is_some())
    });
    let line = |(step, outcome): (&Step, &StepOutcome)| {
        let call = call_of(step);
        if let Some(job) = &outcome.job {
            return format!("{call}, whose call was cancelled, is job {}", job.name);
        }
        let word = if outcome.fault.is_some() { "failed" } else { "is done" };
        // Only the words of apps that come with PipeMux are taken for its own.
        let brief = match processes.speaker(&step.session).built_in {
            true => quote::in_sentence(outcome.brief.borrow()),
            false => "",
        };
        let colon = if brief.is_empty() { "" } else { ": " };
        format!("{call}, whose call was cancelled, {word}{colon}{brief}")
    };
    ended.map(line).collect()
}

/// Returns a step as it was called, cut to a few words.
fn call_of(step: &Step) -> String {
    match step.holds_secret() {
        true => step.prototype.written_name().to_owned(),
        false => clip(&step.call, CALL_SHOWN).into_owned(),
    }
}
