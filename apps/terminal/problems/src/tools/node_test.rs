//! What `node --test` prints at a terminal.

use crate::collector::Collector;
use crate::model::Place;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{number, place_start};
use crate::tools::node::{exception, frame};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct NodeTest {
    /// The enclosing tests and suites of the next one: their indents and names.
    around: Vec<(usize, String)>,
    /// Whether the list of failed tests at the end, which repeats all of them, has begun.
    is_listed: bool,
    /// Whether the frames of a failed test were read.
    stack: bool,
    /// The place of the next test in the list.
    listed: Option<Place>,
    /// Failed tests that were told since the last count.
    failed: u64,
}

/// The greatest nesting depth at which tests are named by their enclosing suites.
const DEPTH_MAX: usize = 16;

impl Recogniser for NodeTest {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        let indent = text.len() - text.trim_start_matches(' ').len();
        let words = text.trim();
        if let Some(counts) = text.strip_prefix("ℹ ") {
            return self.count(counts, found);
        }
        if text.starts_with("✖ failing tests:") {
            found.close();
            self.is_listed = true;
            return Claim::more(Class::Progress);
        }
        if within && self.is_listed {
            // What is neither indented as the list is nor begins one of its tests is the output of
            // another command.
            let is_listed = text.is_empty()
                || text.starts_with("  ")
                || text.starts_with("test at ")
                || text.starts_with("✖ ");
            if let Some(at) = text.strip_prefix("test at ") {
                self.listed = place_start(at).map(|(place, _)| place);
            } else if let Some((name, _)) = text.strip_prefix("✖ ").and_then(timed)
                && let Some(place) = self.listed.take()
            {
                found.add_place(name, place);
            }
            if is_listed {
                return Claim::more(Class::Progress);
            }
        }
        self.is_listed = false;
        if let Some(name) = words.strip_prefix("▶ ") {
            return self.begin_or_end(indent, name);
        }
        if (words.starts_with("✔ ") || words.starts_with("﹣ ")) && timed(&words[3..]).is_some()
        {
            self.leave(indent);
            return Claim::one(Class::Progress);
        }
        if let Some((name, more)) = words.strip_prefix("✖ ").and_then(timed) {
            return self.failure(indent, name, more, found);
        }
        if within { self.body(text, found) } else { None }
    }
}

impl NodeTest {
    /// `▶ check`, and in older versions also its end: `▶ check (2.9ms)`.
    fn begin_or_end(&mut self, indent: usize, name: &str) -> Option<Claim> {
        if let Some((name, _)) = timed(name) {
            let is_known =
                self.around.iter().any(|around| (around.0, &*around.1) == (indent, name));
            self.leave(indent);
            return if is_known { Claim::one(Class::Progress) } else { None };
        }
        self.leave(indent);
        if self.around.len() < DEPTH_MAX {
            self.around.push((indent, name.to_owned()));
        }
        Claim::one(Class::Progress)
    }

    /// Removes the enclosing tests and suites that are indented at least this far.
    fn leave(&mut self, indent: usize) {
        self.around.retain(|(other, _)| *other < indent);
    }

    fn failure(
        &mut self,
        indent: usize,
        name: &str,
        more: &str,
        found: &mut Collector,
    ) -> Option<Claim> {
        let is_around = self.around.last().is_some_and(|last| (last.0, &*last.1) == (indent, name));
        self.leave(indent);
        if is_around {
            // It failed because of what is in it, which was told.
            found.close();
            return Claim::one(Class::Progress);
        }
        if more.contains("# TODO") {
            // Nobody expects it to pass. Its details belong to nothing.
            found.close();
            return Claim::more(Class::Progress);
        }
        let mut path: Vec<&str> = self.around.iter().map(|(_, name)| &**name).collect();
        path.push(name);
        found.failure(&path.join(" > "));
        self.failed += 1;
        self.stack = false;
        Claim::more(Class::Problem)
    }

    fn body(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        // A message may have empty lines; behind the stack one ends it.
        if text.is_empty() && !self.stack {
            return Claim::more(Class::Detail);
        }
        if !text.starts_with(' ') {
            return None;
        }
        let Some(failure) = found.open_failure() else {
            return text.starts_with("  ").then(|| Claim::more(Class::Detail)).flatten();
        };
        if let Some(own) = frame(text) {
            failure.place = failure.place.take().or(own);
            self.stack = true;
            return Claim::more(Class::Detail);
        }
        let words = text.trim();
        if failure.assertion.is_empty() {
            if !words.is_empty() {
                failure.assertion = said(words);
            }
            return Claim::more(Class::Problem);
        }
        if !self.stack && !words.is_empty() {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }

    /// `ℹ fail 7`: one of the lines at the end. Of failed tests those are counted that have no
    /// others in them.
    fn count(&mut self, counts: &str, found: &mut Collector) -> Option<Claim> {
        let (word, count) = counts.split_once(' ')?;
        let (count, rest) = number(count)?;
        if !(rest.is_empty() || word == "duration_ms") {
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
}

/// An exception without the code that stands in brackets, `AssertionError [ERR_ASSERTION]: late`,
/// and any other value.
pub(super) fn said(words: &str) -> String {
    match exception(words) {
        Some((name, message)) => format!("{name}: {message}"),
        None => words.trim_matches('\'').to_owned(),
    }
}

/// `takes a price (1.87378ms) # TODO` as the name and what is behind the time.
fn timed(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.rsplit_once(" (")?;
    let (time, more) = rest.split_once("ms)")?;
    let is_time = !time.is_empty() && time.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_time.then_some((name, more))
}
