//! Python's unittest.

use crate::collector::Collector;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_foreign, number};
use crate::tools::python::{exception, frame};
use crate::transcript::Class;

const DOUBLE: &str = "======================================================================";
const SINGLE: &str = "----------------------------------------------------------------------";

#[derive(Debug, Clone, Default)]
pub(crate) struct Unittest {
    /// Whether a traceback has begun; its first line without indent is the exception.
    traceback: bool,
    /// Whether the following lines are of a frame outside of the project.
    foreign: bool,
    ran: Option<u64>,
}

impl Recogniser for Unittest {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if text == DOUBLE {
            found.close();
            return Claim::more(Class::Progress);
        }
        if let Some(rest) = text.strip_prefix("Ran ") {
            let (ran, rest) = number(rest)?;
            if !rest.starts_with(" test") {
                return None;
            }
            self.ran = Some(ran.into());
            return Claim::one(Class::Progress);
        }
        if let Some(ran) = self.ran {
            if text.is_empty() {
                return None;
            }
            self.ran = None;
            return counts(text, ran, found);
        }
        if !within {
            return outcome(text);
        }
        let heading = text.strip_prefix("FAIL: ").or_else(|| text.strip_prefix("ERROR: "));
        if let Some(name) = heading.filter(|_| found.open_failure().is_none()) {
            found.failure(&selectable(name));
            self.traceback = false;
            return Claim::more(Class::Problem);
        }
        self.body(text, found)
    }
}

impl Unittest {
    fn body(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let failure = found.open_failure()?;
        if text == SINGLE {
            // The second one ends the last failure.
            return if self.traceback { None } else { Claim::more(Class::Detail) };
        }
        if text.starts_with("Traceback (most recent call last):") {
            self.traceback = true;
            return Claim::more(Class::Detail);
        }
        if let Some(place) = frame(text) {
            self.foreign = is_foreign(&place.file) || place.file.contains("/unittest/");
            if failure.place.is_none() || !self.foreign {
                failure.place = Some(place);
            }
            return Claim::more(Class::Detail);
        }
        if self.traceback
            && failure.assertion.is_empty()
            && !text.starts_with(' ')
            && exception(text).is_some()
        {
            text.trim().clone_into(&mut failure.assertion);
            return Claim::more(Class::Problem);
        }
        let is_frames = self.foreign && failure.assertion.is_empty() && text.starts_with("    ");
        if self.traceback && !text.is_empty() && !is_frames {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }
}

/// `test_wrong (unit_test.ShopTest.test_wrong) (i=1)` as `unit_test.ShopTest.test_wrong (i=1)`.
fn selectable(name: &str) -> String {
    let Some((method, rest)) = name.split_once(" (") else { return name.to_owned() };
    let Some((path, parameters)) = rest.split_once(')') else { return name.to_owned() };
    // What could not be imported is selected by the name in front.
    if path.starts_with("unittest.loader._FailedTest") {
        return format!("{method}{parameters}");
    }
    // Before Python 3.11 the path is the class alone.
    let path = if path.ends_with(method) { path.to_owned() } else { format!("{path}.{method}") };
    format!("{path}{parameters}")
}

/// `FAILED (failures=3, errors=1, skipped=1)` or `OK (skipped=1)`.
fn counts(text: &str, ran: u64, found: &mut Collector) -> Option<Claim> {
    if !(text.starts_with("FAILED") || text.starts_with("OK") || text.starts_with("NO TESTS")) {
        return None;
    }
    let (mut failed, mut skipped) = (0, 0);
    let inner = text.split_once('(').map_or("", |(_, inner)| inner.trim_end_matches(')'));
    for part in inner.split(", ") {
        let Some((word, count)) = part.split_once('=') else { continue };
        let count = number(count).map_or(0, |(count, _)| u64::from(count));
        match word {
            "failures" | "errors" | "unexpected successes" => failed += count,
            "skipped" | "expected failures" => skipped += count,
            _ => {}
        }
    }
    found.tests.failed += failed;
    found.tests.skipped += skipped;
    found.tests.passed += ran.saturating_sub(failed + skipped);
    Claim::one(Class::Progress)
}

/// `test_price (unit_test.ShopTest.test_price) ... ok`.
fn outcome(text: &str) -> Option<Claim> {
    let (name, outcome) = text.rsplit_once(" ... ")?;
    let known = ["ok", "FAIL", "ERROR"].contains(&outcome) || outcome.starts_with("skipped ");
    let is_test = name.contains(" (") || outcome != "ok";
    if known && is_test { Claim::one(Class::Progress) } else { None }
}
