//! The verdict on a command, in one line.

use pipemux_problems::{Comparison, Report};

use crate::job::{Ended, Job};

/// Returns the verdict with what was counted: `exit 101 after 8.4 s · 3 errors · 412 lines`.
pub fn brief(job: &Job, ended: &Ended, lines: bool) -> String {
    let mut brief = ended.verdict();
    for part in [counts(&ended.report, lines), changes(job, ended)] {
        if !part.is_empty() {
            brief += &format!(" · {part}");
        }
    }
    let failure = job.with(|state| state.spill.failure().map(str::to_owned));
    if let Some(failure) = failure {
        brief += &format!(" · not all of the output could be kept: {failure}");
    }
    brief
}

fn counts(report: &Report, lines: bool) -> String {
    let summary = report.summary();
    match summary.rsplit_once(" · ") {
        _ if lines || report.lines == 0 => summary,
        Some((counts, _)) => counts.to_owned(),
        None => String::new(),
    }
}

/// Returns what changed since the run before: `2 fixed, 1 new, 3 still there`; empty if there was
/// none or it had nothing.
pub fn changes(job: &Job, ended: &Ended) -> String {
    let Some(before) = &job.compared() else { return String::new() };
    if before.problems.is_empty() && before.failures.is_empty() {
        return String::new();
    }
    Comparison::of(before, &ended.report).summary()
}
