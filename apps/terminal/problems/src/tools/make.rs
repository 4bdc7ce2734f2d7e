//! GNU make: its own errors, and the directories that it works in.

use crate::collector::Collector;
use crate::model::Severity;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{between, number, place, place_prefix, stem};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Make {
    /// The count of reported errors when a recipe last failed.
    told: u64,
    /// The recursion depth of the `make` whose recipe last failed.
    depth: u32,
}

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
        // A recipe that failed has told why; only a failure that nothing explains is one of make's
        // own. Its own errors stand above it since the recipe that failed before, or, with `-j`,
        // anywhere.
        let is_recipe = message.starts_with('[');
        if is_recipe && let Some((rule, status)) = message.split_once("] Error ") {
            let depth = program.split('[').nth(1).and_then(number).map_or(0, |(depth, _)| depth);
            let is_outer = std::mem::replace(&mut self.depth, depth) > depth && status == "2";
            let target = rule.rsplit(": ").next().unwrap_or(rule).trim_start_matches('[');
            if found.told_since(&mut self.told) || is_outer || found.has_error_in(stem(target)) {
                return Claim::one(Class::Progress);
            }
        }
        if message.starts_with("Waiting for unfinished jobs") {
            return Claim::one(Class::Progress);
        }
        let at = between(message, "[", ": ").and_then(|rule| {
            let (file, line) = rule.rsplit_once(':')?;
            Some(place(file, line.parse().ok(), None))
        });
        found.problem(Severity::Error, None, at, message);
        found.close();
        if is_recipe {
            self.told = found.told();
        }
        Claim::one(Class::Problem)
    }
}
