//! The test harness of Rust, as `cargo test` prints it.

use crate::collector::Collector;
use crate::model::Place;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{number, place, place_start};
use crate::tools::rustc::panic_place;
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Libtest {
    /// Counted by line, for a harness that dies before it counts itself.
    passed: u64,
    failed: u64,
    skipped: u64,
    expects_message: bool,
    backtrace: bool,
}

impl Recogniser for Libtest {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if let Some(name) = text.strip_prefix("---- ").and_then(|rest| {
            rest.strip_suffix(" stdout ----").or_else(|| rest.strip_suffix(" stderr ----"))
        }) {
            found.failure(name);
            self.expects_message = false;
            self.backtrace = false;
            return Claim::more(Class::Problem);
        }
        // The names once more, at the end.
        if text.strip_prefix("    ").is_some_and(|name| found.has_failure(name)) {
            return Claim::one(Class::Progress);
        }
        if let Some(claim) = self.summary(text, found) {
            return Some(claim);
        }
        if within {
            return self.body(text, found);
        }
        self.result(text, found)
    }

    fn end(&mut self, found: &mut Collector) {
        self.add_counts(found);
    }
}

impl Libtest {
    /// `test tests::adds ... ok`.
    fn result(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let (name, outcome) = text.strip_prefix("test ")?.rsplit_once(" ... ")?;
        match outcome.split([',', ' ', '<']).next().unwrap_or_default() {
            "ok" => self.passed += 1,
            "ignored" => self.skipped += 1,
            "FAILED" => {
                self.failed += 1;
                // Its block follows; when the harness dies before, the name is all there is.
                found.failure(name.strip_suffix(" - should panic").unwrap_or(name));
                return Claim::one(Class::Problem);
            }
            _ => return None,
        }
        Claim::one(Class::Progress)
    }

    /// `test result: FAILED. 1 passed; 5 failed; 1 ignored; …`.
    fn summary(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        if text == "failures:" || text == "successes:" {
            return Claim::one(Class::Progress);
        }
        let counts = text.strip_prefix("test result: ")?;
        let (_, counts) = counts.split_once(". ")?;
        (self.passed, self.failed, self.skipped) = (0, 0, 0);
        for part in counts.split("; ") {
            let Some((count, word)) = number(part) else { continue };
            match word.trim() {
                "passed" => self.passed = count.into(),
                "failed" => self.failed = count.into(),
                "ignored" => self.skipped = count.into(),
                _ => {}
            }
        }
        self.add_counts(found);
        Claim::one(Class::Progress)
    }

    fn add_counts(&mut self, found: &mut Collector) {
        found.tests.passed += std::mem::take(&mut self.passed);
        found.tests.failed += std::mem::take(&mut self.failed);
        found.tests.skipped += std::mem::take(&mut self.skipped);
    }

    /// Reads a line that a failed test printed.
    fn body(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let at = |text: &str| place_start(text).map(|(place, _)| place);
        if let Some((place, message)) = panic_place(text) {
            let place = at(place).map(|place| found.placed(place));
            if let Some(failure) = found.open_failure() {
                failure.place = doc_place(&failure.name).or(place);
                if !message.is_empty() {
                    message.clone_into(&mut failure.assertion);
                }
            }
            self.expects_message = message.is_empty();
            self.backtrace = false;
            return Claim::more(Class::Detail);
        }
        if text.starts_with("stack backtrace:") {
            self.backtrace = true;
        }
        let failure = found.open_failure()?;
        if std::mem::take(&mut self.expects_message) && !text.is_empty() {
            text.trim().clone_into(&mut failure.assertion);
            return Claim::more(Class::Problem);
        }
        if let Some(place) = text.strip_prefix("note: test did not panic as expected at ") {
            failure.place = at(place);
            "test did not panic as expected".clone_into(&mut failure.assertion);
            return Claim::more(Class::Problem);
        }
        if text.starts_with("Error: ") && failure.assertion.is_empty() {
            text.clone_into(&mut failure.assertion);
            return Claim::more(Class::Problem);
        }
        let hint = text.starts_with("note: run with `RUST_BACKTRACE")
            || text.starts_with("note: Some details are omitted");
        if !self.backtrace && !hint && !text.is_empty() {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }
}

/// `src/lib.rs - f (line 12)`: the lines that an example of a doc comment tells are those of a
/// program made of it.
fn doc_place(name: &str) -> Option<Place> {
    let (file, rest) = name.split_once(" - ")?;
    let (line, _) = number(rest.rsplit_once("(line ")?.1)?;
    Some(place(file, Some(line), None))
}
