//! rustc and cargo as text, and panics of Rust programs.

use crate::collector::Collector;
use crate::model::Severity;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_crash, place_start, severity_prefix};
use crate::transcript::Class;

/// Phrases of cargo that sum up the errors above.
const SUMMARIES: [&str; 3] = ["aborting due to", "build failed, waiting", "target failed:"];
/// Phrases of cargo on a program that it ran: an error if nothing above reports one.
const RUNS: [&str; 3] =
    ["could not compile", "test failed, to rerun pass", "doctest failed, to rerun"];
/// Phrases that point to explanations of an error.
const EXPLANATIONS: [&str; 2] =
    ["Some errors have detailed explanations:", "For more information about "];
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

/// The most lines that are kept of the last causes, below the first one.
const CAUSE_LINES: usize = 8;

#[derive(Debug, Clone, Default)]
pub(crate) struct Rustc {
    panicked: bool,
    /// The count of reported errors when cargo last printed a summary.
    told: u64,
    causes: Causes,
}

/// The state of reading the causes that cargo prints below a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Causes {
    #[default]
    None,
    /// They may follow.
    Awaited,
    /// They may follow, and the errors above already tell of all but a crash.
    AwaitedCrash,
    /// Reading the lines that follow `Caused by:`.
    Told,
    /// As `Told`, and the reason was among the lines.
    Explained,
    /// Reading lines that repeat the errors above.
    Repeated,
}

impl Recogniser for Rustc {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if within {
            if self.causes != Causes::None {
                let claim = self.cause(text, found);
                if claim.is_none() {
                    self.causes = Causes::None;
                }
                return claim;
            }
            return self.body(text, found);
        }
        self.causes = Causes::None;
        if text.starts_with(' ') {
            return if is_step(text.trim_start()) { Claim::one(Class::Progress) } else { None };
        }
        if let Some((place, message)) = panic_place(text) {
            let place = place_start(place).map(|(place, _)| place);
            found.problem(Severity::Error, Some("panic"), place, message);
            self.panicked = true;
            return Claim::more(Class::Problem);
        }
        if is_crash(text) {
            found.problem(Severity::Error, None, None, text);
            self.panicked = true;
            return Claim::more(Class::Problem);
        }
        self.panicked = false;
        if EXPLANATIONS.iter().any(|start| text.starts_with(start)) {
            return Claim::one(Class::Progress);
        }
        let (severity, code, message) = header(text)?;
        let of_run = RUNS.iter().any(|start| message.starts_with(start));
        if of_run && (is_summary(message) || found.told_since(&mut self.told)) {
            self.told = found.told();
            self.causes = Causes::AwaitedCrash;
            return Claim::more(Class::Progress);
        }
        if is_summary(message) {
            return Claim::one(Class::Progress);
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
        // Cargo's own messages have no place, and causes below an empty line.
        if text.is_empty() && found.open_problem().is_some_and(|problem| problem.place.is_none()) {
            self.causes = Causes::Awaited;
            return Claim::more(Class::Progress);
        }
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

    /// `Caused by:` and what is indented below it.
    fn cause(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let trimmed = text.trim_start();
        if text == "Caused by:" {
            self.causes = match self.causes {
                Causes::AwaitedCrash | Causes::Repeated => Causes::Repeated,
                _ => Causes::Told,
            };
            return Claim::more(Class::Detail);
        }
        match self.causes {
            _ if text.is_empty() => Claim::more(Class::Progress),
            _ if !text.starts_with(' ') => None,
            Causes::Repeated if trimmed.contains(" (signal: ") && !found.is_crash_told() => {
                found.problem(Severity::Error, None, None, trimmed);
                self.causes = Causes::Explained;
                self.told = found.told() + 1;
                Claim::more(Class::Problem)
            }
            Causes::Repeated => Claim::more(Class::Detail),
            Causes::Told | Causes::Explained => {
                // Of what a build script printed, what says why: its last lines, or what it
                // panicked with.
                if trimmed.starts_with("--- std") || trimmed.starts_with("cargo:") {
                    return Claim::more(Class::Detail);
                }
                if self.causes == Causes::Told {
                    if trimmed.contains(" panicked at ") {
                        self.causes = Causes::Explained;
                        found.shorten_detail(1, 1);
                    } else {
                        found.shorten_detail(1, CAUSE_LINES);
                    }
                }
                found.detail(text);
                Claim::more(Class::Detail)
            }
            Causes::None | Causes::Awaited | Causes::AwaitedCrash => None,
        }
    }

    fn panic_body(text: &str, found: &mut Collector) -> Option<Claim> {
        let problem = found.open_problem()?;
        if problem.message.is_empty() && !text.is_empty() {
            text.trim().clone_into(&mut problem.message);
            return Claim::more(Class::Problem);
        }
        if is_crash(text) {
            found.detail(text);
            return Claim::more(Class::Detail);
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

/// The place that `thread 'main' (12) panicked at src/main.rs:3:5:` names. Before Rust 1.73 the
/// message stood before it: `thread 'main' panicked at 'no such thing', src/main.rs:3:5`.
pub(super) fn panic_place(text: &str) -> Option<(&str, &str)> {
    if !text.starts_with("thread '") {
        return None;
    }
    let (_, rest) =
        text.split_once("' panicked at ").or_else(|| text.split_once(") panicked at "))?;
    let old = rest.strip_prefix('\'').and_then(|rest| rest.rsplit_once("', "));
    Some(old.map_or((rest, ""), |(message, place)| (place, message)))
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

/// Whether a message only counts the problems above.
pub(super) fn is_summary(message: &str) -> bool {
    SUMMARIES.iter().any(|start| message.starts_with(start))
        || (message.starts_with("could not compile")
            && (message.contains(" due to ") || message.ends_with('.')))
        || (message.contains(" generated ") && message.contains("warning"))
        || (message.contains("target") && message.contains(" failed:"))
        || message.ends_with(" warning emitted")
        || message.ends_with(" warnings emitted")
}
