//! The Test Anything Protocol, with node's details: what `node --test` prints into a pipe, and
//! other runners.

use crate::collector::Collector;
use crate::model::Place;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{number, place_start};
use crate::tools::node::own_place;
use crate::transcript::Class;

/// The value of the details that is being read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Value {
    #[default]
    Other,
    Error,
    Stack,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tap {
    /// True behind the line that begins such an output.
    begun: bool,
    /// The tests and suites whose results are yet to come: how far they are indented, and their
    /// names.
    around: Vec<(usize, String)>,
    /// The indent of the details that are being read.
    details: Option<usize>,
    value: Value,
    /// The location of the test, for an exception without a place.
    location: Option<Place>,
    /// Failed tests that were told since the last count.
    failed: u64,
}

/// The greatest nesting depth at which tests are named by their enclosing suites.
const DEPTH_MAX: usize = 16;

impl Recogniser for Tap {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if text.starts_with("TAP version ") {
            *self = Self { begun: true, ..Self::default() };
            return Claim::one(Class::Progress);
        }
        if !self.begun {
            return None;
        }
        let indent = text.len() - text.trim_start_matches(' ').len();
        let words = text.trim();
        if within && let Some(of) = self.details {
            return self.detail(of, indent, words, found);
        }
        if let Some(comment) = words.strip_prefix("# ") {
            return self.comment(indent, comment, found);
        }
        if let Some(result) = words.strip_prefix("not ok ") {
            return Some(self.failure(indent, result, found));
        }
        if words.strip_prefix("ok ").is_some_and(|rest| number(rest).is_some()) {
            self.leave(indent);
            found.close();
            self.details = Some(indent);
            return Claim::more(Class::Progress);
        }
        let is_plan = words.split_once("..").is_some_and(|(from, to)| {
            number(from).is_some_and(|(_, rest)| rest.is_empty()) && number(to).is_some()
        });
        if is_plan { Claim::one(Class::Progress) } else { None }
    }
}

impl Tap {
    /// `# Subtest: check`, `# pass 2`. What a test file prints is a comment, too.
    fn comment(&mut self, indent: usize, comment: &str, found: &mut Collector) -> Option<Claim> {
        if let Some(name) = comment.strip_prefix("Subtest: ") {
            self.leave(indent);
            if self.around.len() < DEPTH_MAX {
                self.around.push((indent, name.to_owned()));
            }
            return Claim::one(Class::Progress);
        }
        let (word, count) = comment.split_once(' ')?;
        let (count, rest) = number(count)?;
        if !(rest.is_empty() || word == "duration_ms") || indent > 0 {
            return None;
        }
        match word {
            "pass" => found.tests.passed += u64::from(count),
            "skipped" | "todo" => found.tests.skipped += u64::from(count),
            "fail" => found.tests.failed += std::mem::take(&mut self.failed).min(count.into()),
            "tests" | "suites" | "cancelled" | "duration_ms" => {}
            _ => return None,
        }
        Claim::one(Class::Progress)
    }

    /// Removes the enclosing tests that are indented at least this far: they have a result.
    fn leave(&mut self, indent: usize) {
        self.around.retain(|(other, _)| *other < indent);
    }

    /// `not ok 5 - total adds`.
    fn failure(&mut self, indent: usize, result: &str, found: &mut Collector) -> Claim {
        self.leave(indent);
        let name = number(result).map_or(result, |(_, rest)| rest.trim_start());
        let name = name.strip_prefix("- ").unwrap_or(name);
        self.details = Some(indent);
        (self.value, self.location) = (Value::Other, None);
        let is_expected =
            ["# TODO", "# SKIP"].iter().any(|word| name.to_ascii_uppercase().contains(word));
        found.close();
        if is_expected {
            return Claim { class: Class::Progress, more: true };
        }
        let mut path: Vec<&str> = self.around.iter().map(|(_, name)| &**name).collect();
        path.push(name);
        found.failure(&path.join(" > "));
        self.failed += 1;
        Claim { class: Class::Problem, more: true }
    }

    /// A line of the details, from `---` to `...`, of a result that is indented as far as `of`.
    fn detail(
        &mut self,
        of: usize,
        indent: usize,
        words: &str,
        found: &mut Collector,
    ) -> Option<Claim> {
        let is_inside = indent == of + 2;
        if words == "..." && is_inside {
            self.details = None;
            let location = self.location.take();
            if let Some(failure) = found.open_failure() {
                failure.place = failure.place.take().or(location);
            }
            found.close();
            return Claim::one(Class::Detail);
        }
        if !(words.is_empty() || indent >= of + 2) {
            // There were no details.
            self.details = None;
            found.close();
            return None;
        }
        let Some(failure) = found.open_failure() else { return Claim::more(Class::Detail) };
        if !is_inside || words.is_empty() {
            return self.value_line(words, found);
        }
        let (key, value) = words.split_once(':').unwrap_or((words, ""));
        let value = value.trim();
        let plain = value.trim_matches('\'');
        self.value = match key {
            "error" if value.starts_with('|') => Value::Error,
            "error" => {
                plain.replace("''", "'").clone_into(&mut failure.assertion);
                Value::Other
            }
            "stack" => Value::Stack,
            "location" => {
                self.location = place_start(plain).map(|(at, _)| at);
                Value::Other
            }
            // It failed because of what is in it, which was told.
            "failureType" if plain == "subtestsFailed" => {
                self.failed = self.failed.saturating_sub(1);
                found.discard();
                Value::Other
            }
            "name" if plain.ends_with("Error") => {
                failure.assertion = format!("{plain}: {}", failure.assertion);
                Value::Other
            }
            _ => Value::Other,
        };
        Claim::more(Class::Detail)
    }

    /// Reads a line of a multi-line value.
    fn value_line(&mut self, words: &str, found: &mut Collector) -> Option<Claim> {
        let Some(failure) = found.open_failure() else { return Claim::more(Class::Detail) };
        match self.value {
            Value::Error if words.is_empty() => {}
            Value::Error if failure.assertion.is_empty() => {
                words.clone_into(&mut failure.assertion);
            }
            Value::Error => found.detail(words),
            Value::Stack if failure.place.is_none() => failure.place = own_place(words),
            Value::Stack | Value::Other => {}
        }
        Claim::more(Class::Detail)
    }
}
