//! The tests of Go as text and as `go test -json`, and panics. Messages of the compiler have the
//! general form.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use crate::collector::Collector;
use crate::limits::{FAILURES_MAX, PENDING_LINES};
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{indent, place_prefix, place_start};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Go {
    /// What tests printed, with `-v`: the names of the tests and the lines, which come before the
    /// outcomes.
    pending: Vec<(String, String)>,
    running: String,
    /// The last failed top-level test since the newest one began.
    last_failed: String,
    /// Whether the newest line was a JSON message.
    message: bool,
    panicked: bool,
    /// The count of reported errors when the last outcome of a package came.
    told: u64,
    /// The package of the newest message, and those of which a message told a failure: messages of
    /// packages mix.
    package: String,
    failed_packages: HashSet<String>,
    /// The newest unrecognised lines, for a package that fails without a failed test.
    loose: VecDeque<String>,
}

impl Recogniser for Go {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        self.message = text.starts_with('{');
        if text.starts_with("{\"Time\":") || text.starts_with("{\"Action\":") {
            let event: Value = serde_json::from_str(text).ok()?;
            let output = event.get("Output").and_then(Value::as_str);
            let package = event.get("Package").and_then(Value::as_str).unwrap_or_default();
            package.clone_into(&mut self.package);
            let Some(output) = output else { return Claim::more(Class::Progress) };
            let mut clean = String::new();
            let output = output.trim_end().as_bytes();
            crate::inert::parts(output, &mut |part, _| clean.push_str(part));
            let claim = self.text(&clean, true, found);
            let class = claim.map_or(Class::Progress, |claim| claim.class);
            return Claim::more(class);
        }
        let claim = self.text(text, within, found);
        if claim.is_none() && !text.is_empty() {
            let mut line = match self.loose.len() < LOOSE_LINES {
                true => String::new(),
                false => self.loose.pop_front().unwrap_or_default(),
            };
            line.clear();
            line.push_str(&text[..text.floor_char_boundary(LOOSE_BYTES)]);
            self.loose.push_back(line);
        }
        claim
    }
}

/// The most unrecognised lines that are kept, and the most bytes of each.
const LOOSE_LINES: usize = 4;
const LOOSE_BYTES: usize = 240;

impl Go {
    fn text(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        let trimmed = text.trim_start();
        if let Some(name) = ["=== RUN   ", "=== CONT  ", "=== NAME  ", "=== PAUSE "]
            .iter()
            .find_map(|word| trimmed.strip_prefix(word))
        {
            found.close();
            // The outcomes of a test's parts come when all of them have ended.
            if !name.contains('/') && trimmed.starts_with("=== RUN") {
                self.pending.clear();
                self.last_failed.clear();
            }
            name.clone_into(&mut self.running);
            return Claim::more(Class::Progress);
        }
        if let Some(outcome) = trimmed.strip_prefix("--- ") {
            return self.outcome(outcome, found);
        }
        if let Some(message) = text.strip_prefix("panic: ") {
            return self.panic(message, found);
        }
        if text.starts_with("ok  \t") || text.starts_with("?   \t") {
            self.loose.clear();
            return Claim::one(Class::Progress);
        }
        if text == "FAIL" {
            return Claim::one(Class::Progress);
        }
        if let Some(package) = text.strip_prefix("FAIL\t") {
            return self.package(package, found);
        }
        if !within {
            return None;
        }
        if self.panicked {
            return self.stack(text, found);
        }
        let Some(failure) = found.open_failure() else {
            // Nobody knows yet whether this test fails.
            if !self.running.is_empty() && indent(text) >= 4 {
                if self.pending.len() < PENDING_LINES {
                    self.pending.push((self.running.clone(), text.to_owned()));
                }
                return Claim::more(Class::Progress);
            }
            return None;
        };
        if indent(text) < 4 {
            return None;
        }
        log_line(failure, text);
        found.detail(text);
        Claim::more(Class::Detail)
    }

    /// A package that failed: its tests, or why it wasn't built, stand above. If none does, it
    /// ended before its tests did.
    fn package(&mut self, package: &str, found: &mut Collector) -> Option<Claim> {
        found.close();
        let explained = found.told_since(&mut self.told)
            || (package.ends_with(" failed]") && found.has_errors());
        let explained = match self.message {
            true => self.failed_packages.contains(&self.package) || package.ends_with(" failed]"),
            false => explained,
        };
        let loose = std::mem::take(&mut self.loose);
        if explained {
            return Claim::one(Class::Progress);
        }
        found.problem(Severity::Error, None, None, &format!("FAIL {}", package.replace('\t', " ")));
        loose.iter().for_each(|line| found.detail(line));
        found.close();
        self.told = found.told();
        Claim::one(Class::Problem)
    }

    fn note_failed_package(&mut self) {
        if self.message && self.failed_packages.len() < FAILURES_MAX {
            self.failed_packages.insert(self.package.clone());
        }
    }

    fn outcome(&mut self, outcome: &str, found: &mut Collector) -> Option<Claim> {
        let (word, name) = outcome.split_once(": ")?;
        let name = name.split(" (").next().unwrap_or(name);
        match word {
            "PASS" => found.tests.passed += 1,
            "SKIP" => found.tests.skipped += 1,
            // In messages, the outcomes of a test's parts come before its own.
            "FAIL" if self.message && self.had_failed_part(name) => {}
            "FAIL" => {
                self.note_failed_package();
                self.fail(name, found);
                return Claim::more(Class::Problem);
            }
            _ => return None,
        }
        if !is_parent(found, name) {
            found.close();
        }
        Claim::more(Class::Progress)
    }

    fn had_failed_part(&self, name: &str) -> bool {
        self.last_failed.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'))
    }

    fn fail(&mut self, name: &str, found: &mut Collector) {
        // A test that failed only because one of its parts did is no failure of its own.
        let parent = is_parent(found, name);
        if parent {
            found.discard();
        } else {
            found.tests.failed += 1;
        }
        found.failure(name);
        name.clone_into(&mut self.last_failed);
        self.panicked = false;
        let pending = std::mem::take(&mut self.pending);
        let (own, others): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|(test, _)| test == name);
        self.pending = others;
        for (_, line) in own {
            if let Some(failure) = found.open_failure() {
                log_line(failure, &line);
            }
            found.detail(&line);
        }
    }

    fn panic(&mut self, message: &str, found: &mut Collector) -> Option<Claim> {
        self.panicked = true;
        self.note_failed_package();
        let message = message.split(" [recovered").next().unwrap_or(message);
        if let Some(failure) = found.open_failure() {
            failure.assertion = format!("panic: {message}");
            failure.place = None;
        } else {
            found.problem(Severity::Error, Some("panic"), None, message);
        }
        Claim::more(Class::Problem)
    }

    /// Reads the stack below a panic: the first frame outside of Go itself is the place.
    fn stack(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let known = text.is_empty()
            || text.starts_with('\t')
            || text.starts_with("goroutine ")
            || text.starts_with("created by ")
            || text.starts_with("[signal ")
            || text.starts_with("panic(")
            || (text.ends_with(')') && text.contains('('))
            || text.starts_with("exit status ");
        if !known {
            self.panicked = false;
            return None;
        }
        let own = |place: &Place| {
            !["/src/testing/", "/src/runtime/", "/pkg/mod/"]
                .iter()
                .any(|dir| place.file.contains(dir))
        };
        let frame =
            text.strip_prefix('\t').and_then(place_start).map(|(place, _)| place).filter(own);
        if let Some(frame) = frame {
            if let Some(failure) = found.open_failure() {
                failure.place.get_or_insert(frame);
            } else if let Some(problem) = found.open_problem() {
                problem.place.get_or_insert(frame);
            }
        }
        Claim::more(Class::Detail)
    }
}

/// Whether the open failure has no details of its own, and its test contains this one.
fn is_parent(found: &mut Collector, name: &str) -> bool {
    found.open_failure().is_some_and(|failure| {
        failure.assertion.is_empty()
            && name.strip_prefix(&*failure.name).is_some_and(|rest| rest.starts_with('/'))
    })
}

/// `    shop_test.go:8: Price(3) = 30, want 31`: the last one is what ended the test, or as good as
/// any.
fn log_line(failure: &mut crate::model::TestFailure, text: &str) {
    if let Some((place, message)) = place_prefix(text.trim_start()) {
        message.trim().clone_into(&mut failure.assertion);
        failure.place = Some(place);
    }
}
