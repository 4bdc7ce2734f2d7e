//! Checks a message for what its author should mend: what the daemon would cut, drop or show
//! otherwise than it was meant, and what contradicts the app's own prototypes.
//!
//! A message with such a flaw is valid: [`intake`](crate::intake) takes it in and makes the best of
//! it, and readers are told nothing. Its author wants to know. `pipemux app check` reports what is
//! found here, and so does the daemon for an app whose manifest says `dev = true`.
//!
//! | module | looks at |
//! |---|---|
//! | `greeting` | what an app can do |
//! | `outcome` | what became of an action |
//! | `window` | what a window shows |

mod greeting;
mod lints;
mod outcome;
mod types;
mod window;

use pipemux_proto::app::Opened;
use pipemux_proto::job::JobReport;

use crate::limits::{BRIEF_CHARS, JOBS_RUNNING_MAX, NOTES_MAX, NOTICE_CHARS, PROGRESS_CHARS};

pub use greeting::hello;
pub use lints::Lint;
use lints::Lints;
pub use outcome::{fault, outcome};
pub use window::projection;

/// Returns the flaws of a reply to an `AppOpen`.
pub fn opened(opened: &Opened) -> Vec<Lint> {
    let mut lints = Lints::default();
    lints.count("notes", opened.notes.len(), NOTES_MAX);
    for (at, note) in opened.notes.iter().enumerate() {
        lints.line(&format!("notes[{at}]"), note, NOTICE_CHARS);
    }
    lints.count("jobs", opened.jobs.len(), JOBS_RUNNING_MAX);
    lints.0
}

/// Returns the flaws of what a job reports.
pub fn job_report(report: &JobReport) -> Vec<Lint> {
    let mut lints = Lints::default();
    lints.job_key("job", &report.job);
    lints.line("text", report.text.as_deref().unwrap_or_default(), PROGRESS_CHARS);
    lints.line("brief", &report.brief, BRIEF_CHARS);
    if !report.brief.is_empty() && report.state.is_none() {
        lints.add(
            "brief",
            "brief",
            "is the result, which comes with `state`: use `text` until then",
        );
    }
    lints.0
}

#[cfg(test)]
mod tests;
