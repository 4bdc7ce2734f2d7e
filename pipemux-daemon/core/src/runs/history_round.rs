//! The history's account of a run: what was to be done, and what came of it.

use pipemux_proto::report::StepStatus;

use crate::limits::{ROUND_ACTION_MAX, ROUND_DETAIL_MAX, ROUND_RESULT_MAX};
use crate::persist::records::SavedRound;
use crate::runs::written_call::written_call;
use crate::runs::{Run, StepOrigin};
use crate::workspaces::Workspace;

/// Writes the round of a run that has ended. Questions and answers in between are one remark.
pub fn history_round(run: &Run, workspace: &Workspace, unix_ms: u64, exit: u8) -> SavedRound {
    let visible = || run.steps.iter().enumerate().filter(|(_, step)| !step.nested);
    let actions: Vec<String> = visible()
        .map(|(index, step)| match step.origin {
            StepOrigin::Link => format!("{} ({})", written_call(run, index, workspace), step.call),
            StepOrigin::Call => step.call.clone(),
        })
        .collect();
    let mut results = Vec::new();
    let mut details = Vec::new();
    // A nested call is part of its outer step, unless its failure is the reason of the run's end.
    let failed = |index: usize| {
        run.done.get(index).is_some_and(|outcome| outcome.status != StepStatus::Done)
    };
    let told = run.steps.iter().enumerate();
    for (index, step) in told.filter(|(index, step)| !step.nested || failed(*index)) {
        let Some(outcome) = run.done.get(index) else {
            results.push(format!("{}: not run", step.prototype.written_name()));
            continue;
        };
        let word = match outcome.status {
            StepStatus::Done => "done",
            StepStatus::Failed => "failed",
            StepStatus::Unknown => "unknown",
            StepStatus::Skipped => "cancelled",
            StepStatus::Needs => "asked",
        };
        let name = step.prototype.written_name();
        results.push(match outcome.brief.as_str() {
            "" => format!("{name} {word}"),
            brief if brief.starts_with(word) => format!("{name} {brief}"),
            brief => format!("{name} {word}: {brief}"),
        });
        details.extend(outcome.detail.clone());
    }
    let mut result = results.join("; ");
    let cancelled = run.done.last().is_some_and(|last| last.status == StepStatus::Skipped);
    if run.answers > 0 && !cancelled {
        let plural = if run.answers == 1 { "" } else { "s" };
        result += &format!(" (chosen in {} step{plural})", run.answers);
    }
    SavedRound {
        number: workspace.history.count + 1,
        unix_ms,
        reader: run.reader.clone(),
        action: clip(&actions.join("; "), ROUND_ACTION_MAX),
        result: clip(&result, ROUND_RESULT_MAX),
        detail: (!details.is_empty()).then(|| clip(&details.join("\n"), ROUND_DETAIL_MAX)),
        exit,
        sessions: sessions(run),
    }
}

/// Returns the sessions of all steps that ended, each once.
fn sessions(run: &Run) -> Vec<String> {
    let mut names = Vec::new();
    for step in run.steps.iter().take(run.done.len()) {
        let name = step.session.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn clip(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
