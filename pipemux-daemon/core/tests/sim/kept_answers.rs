//! What answers say about runs that are kept.

use pipemux_proto::Code;
use pipemux_proto::client::{Answer, Body};
use pipemux_proto::report::{StepReport, StepStatus};

use crate::outcomes::last_mark;

/// Returns whether an answer says that its run is kept; `None` when it leaves kept runs as they
/// are.
pub fn keeps(answer: &Answer) -> Option<bool> {
    match &answer.body {
        Body::Text(said) if said.contains("pipemux answer go") => Some(true),
        // What an earlier run left for `go` stays when the steps that a later one left are dropped.
        Body::Text(said) if said.starts_with("dropped ") => None,
        // Nor does a run that has yet to begin, behind an open question, replace what is kept.
        Body::Text(said) if tells_of_waiting(said) => None,
        // A run that is refused before it begins doesn't replace the kept one.
        Body::Text(_) => matches!(answer.exit, 0 | 5).then_some(false),
        Body::Report(report) => {
            let last = report.steps.iter().rfind(|step| step.status != StepStatus::Skipped)?;
            let stale = last.error.as_ref().is_some_and(|error| error.code == Code::Stale);
            Some(stale || last.status == StepStatus::Unknown)
        }
        _ => None,
    }
}

/// Returns true when an answer says that further steps of its run are kept.
pub fn keeps_rest(answer: &Answer) -> bool {
    match &answer.body {
        Body::Text(said) => said.contains("kept as "),
        Body::Report(report) => report.kept.is_some(),
        _ => false,
    }
}

/// Returns true when an answer says that the steps of its run wait behind the question of an
/// earlier one.
pub fn waits_behind(answer: &Answer) -> bool {
    match &answer.body {
        Body::Text(text) => tells_of_waiting(text),
        Body::Report(report) => report.notices.iter().any(|notice| tells_of_waiting(notice)),
        _ => false,
    }
}

fn tells_of_waiting(text: &str) -> bool {
    text.contains(" behind the answer; `none` drops ")
}

/// Returns the status of each step, by its mark, if the answer is a report.
pub fn steps(answer: &Answer) -> Vec<(u64, StepStatus)> {
    let Body::Report(report) = &answer.body else { return Vec::new() };
    let step = |step: &StepReport| Some((last_mark(&step.call)?, step.status));
    report.steps.iter().filter_map(step).collect()
}
