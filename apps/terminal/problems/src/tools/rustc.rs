//! rustc and cargo as text, and panics of Rust programs.

use crate::collector::Collector;
use crate::model::Severity;
use crate::recognise::{Claim, Recogniser};
use crate::scan::{place_start, severity_prefix};
use crate::transcript::Class;

/// What cargo says of the errors above it.
const SUMMARIES: [&str; 6] = [
    "could not compile",
    "aborting due to",
    "test failed, to rerun pass",
    "build failed, waiting",
    "doctest failed, to rerun",
    "target failed:",
];
/// Steps of a build.
const STEPS: [&str; 13] = [
    "Compiling ",
    "Checking ",
    "Downloaded ",
    "Downloading ",
    "Updating ",
    "Locking ",
    "Adding ",
    "Fresh ",
    "Documenting ",
    "Building ",
    "Dirty ",
    "Blocking ",
    "Unpacking ",
];

#[derive(Debug, Clone, Default)]
pub(crate) struct Rustc {
    panicked: bool,
}

impl Recogniser for Rustc {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if within {
            return self.body(text, found);
        }
        if text.starts_with(' ') {
            return if is_step(text.trim_start()) { Claim::one(Class::Progress) } else { None };
        }
        if let Some(place) = panic_place(text) {
            found.problem(
                Severity::Error,
                Some("panic"),
                place_start(place).map(|(place, _)| place),
                "",
            );
            self.panicked = true;
            return Claim::more(Class::Problem);
        }
        self.panicked = false;
        let (severity, code, message) = header(text)?;
        if is_summary(message) {
            return Claim::one(Class::Plain);
        }
        found.problem(severity, code, None, message);
        Claim::more(Class::Problem)
    }
}

impl Rustc {
    fn body(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        if self.panicked {
            return Self::panic_body(text, found);
        }
        let trimmed = text.trim_start();
        if text.is_empty() || header(text).is_some() {
            return None;
        }
        // Only what rustc draws below a header: a source line, an arrow, a gutter, or a note.
        if let Some(arrow) = trimmed.strip_prefix("--> ") {
            let place = place_start(arrow).map(|(place, _)| found.placed(place));
            if let Some(problem) = found.open_problem()
                && problem.place.is_none()
            {
                problem.place = place;
                return Claim::more(Class::Detail);
            }
            found.detail(text);
            return Claim::more(Class::Detail);
        }
        let numbered = trimmed.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let drawn = (text.starts_with(' ') && !is_step(trimmed))
            || numbered.starts_with('|')
            || text.starts_with("...")
            || ["note:", "help:", "LL |"].iter().any(|word| text.starts_with(word));
        // Below a message without a place, cargo indents its causes after a blank line or at once.
        if !drawn {
            return None;
        }
        if trimmed != "|" {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }

    fn panic_body(text: &str, found: &mut Collector) -> Option<Claim> {
        let problem = found.open_problem()?;
        if problem.message.is_empty() && !text.is_empty() {
            text.trim().clone_into(&mut problem.message);
            return Claim::more(Class::Problem);
        }
        if text.is_empty() || text.starts_with("note: ") || text.starts_with("stack backtrace:") {
            return None;
        }
        if !(text.starts_with("  left:") || text.starts_with(" right:")) {
            return None;
        }
        found.detail(text);
        Claim::more(Class::Detail)
    }
}

fn is_step(text: &str) -> bool {
    STEPS.iter().any(|word| text.starts_with(word))
}

/// The place that `thread 'main' (12) panicked at src/main.rs:3:5:` names.
pub(super) fn panic_place(text: &str) -> Option<&str> {
    if !text.starts_with("thread '") {
        return None;
    }
    text.split_once("' panicked at ")
        .or_else(|| text.split_once(") panicked at "))
        .map(|(_, place)| place)
}

/// `error[E0308]: mismatched types`.
fn header(text: &str) -> Option<(Severity, Option<&str>, &str)> {
    for (word, severity) in [("error[", Severity::Error), ("warning[", Severity::Warning)] {
        if let Some((code, message)) =
            text.strip_prefix(word).and_then(|rest| rest.split_once("]: "))
        {
            return Some((severity, Some(code), message));
        }
    }
    let (severity, message) = severity_prefix(text)?;
    // A note belongs to what is above it, and is none without it.
    (severity != Severity::Note && !message.is_empty()).then_some((severity, None, message))
}

/// Whether a message only counts the problems above it.
pub(super) fn is_summary(message: &str) -> bool {
    SUMMARIES.iter().any(|start| message.starts_with(start))
        || (message.contains(" generated ") && message.contains("warning"))
        || (message.contains("target") && message.contains(" failed:"))
        || message.ends_with(" warning emitted")
        || message.ends_with(" warnings emitted")
}
