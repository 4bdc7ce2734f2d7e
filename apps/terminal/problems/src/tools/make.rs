//! GNU make: its own errors, and the directories that it works in.

use crate::collector::Collector;
use crate::model::Severity;
use crate::recognise::{Claim, Recogniser};
use crate::scan::{between, place, place_prefix};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Make;

impl Recogniser for Make {
    fn line(&mut self, text: &str, _within: bool, found: &mut Collector) -> Option<Claim> {
        if let Some((at, message)) = place_prefix(text) {
            // A makefile that make can't read.
            let message = message.strip_prefix(" *** ")?;
            found.problem(Severity::Error, None, Some(at), message);
            return Claim::one(Class::Problem);
        }
        let (program, message) = text.split_once(": ")?;
        let name = program.split('[').next().unwrap_or(program);
        if !matches!(name, "make" | "gmake" | "mingw32-make") {
            return None;
        }
        for (word, enters) in [("Entering directory '", true), ("Leaving directory '", false)] {
            if let Some(directory) = message.strip_prefix(word) {
                let directory = directory.trim_end_matches('\'');
                if enters {
                    found.enter(directory)
                } else {
                    found.leave(directory)
                }
                return Claim::one(Class::Progress);
            }
        }
        let message = message.strip_prefix("*** ")?;
        // A recipe that failed has told why; only a failure that nothing explains is one of make's own.
        let recipe = message.starts_with('[') && message.contains("] Error ");
        if recipe && found.has_errors() {
            return Claim::one(Class::Plain);
        }
        let at = between(message, "[", ": ").and_then(|rule| {
            let (file, line) = rule.rsplit_once(':')?;
            Some(place(file, line.parse().ok(), None))
        });
        found.problem(Severity::Error, None, at, message);
        Claim::one(Class::Problem)
    }
}
