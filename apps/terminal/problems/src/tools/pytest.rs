//! pytest, with long, short and one-line tracebacks.

use crate::collector::Collector;
use crate::recognise::{Claim, Recogniser};
use crate::scan::{is_file_name, is_foreign, number, place_prefix};
use crate::transcript::Class;

/// The part of the output that the lines are in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    Failures,
    Summary,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Pytest {
    section: Section,
}

impl Recogniser for Pytest {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if !within {
            self.section = Section::Other;
        }
        if let Some(counts) = final_counts(text) {
            self.section = Section::Other;
            found.tests.passed += counts.0;
            found.tests.failed += counts.1;
            found.tests.skipped += counts.2;
            return Claim::one(Class::Plain);
        }
        if let Some(title) = title(text, '=') {
            found.close();
            self.section = match title {
                "FAILURES" | "ERRORS" => Section::Failures,
                "short test summary info" => Section::Summary,
                "test session starts" | "warnings summary" => Section::Other,
                _ if within => Section::Other,
                _ => return None,
            };
            let known = self.section != Section::Other;
            return if known { Claim::more(Class::Plain) } else { Claim::one(Class::Plain) };
        }
        match self.section {
            Section::Other => progress(text),
            Section::Failures => Self::failure(text, found),
            Section::Summary => Self::summary(text, found),
        }
    }
}

impl Pytest {
    fn failure(text: &str, found: &mut Collector) -> Option<Claim> {
        if let Some(name) = title(text, '_').filter(|name| !name.starts_with("_ ")) {
            found.failure(name);
            return Claim::more(Class::Problem);
        }
        let Some(failure) = found.open_failure() else { return Claim::more(Class::Plain) };
        if let Some(message) = text.strip_prefix("E  ") {
            let message = message.trim();
            if failure.assertion.is_empty() && !message.is_empty() {
                message.clone_into(&mut failure.assertion);
                return Claim::more(Class::Problem);
            }
            found.detail(text);
            return Claim::more(Class::Detail);
        }
        if let Some((place, rest)) = place_prefix(text) {
            // The innermost place that is the project's own.
            let foreign = is_foreign(&place.file);
            if rest.starts_with(' ') || rest.is_empty() {
                if failure.place.is_none() || !foreign {
                    failure.place = Some(place);
                }
                return Claim::more(Class::Detail);
            }
        }
        let source = text.starts_with('>') || title(text, '-').is_some();
        let captured = failure.detail.iter().any(|line| line.starts_with("---"));
        if source || captured {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }

    /// `FAILED test_shop.py::test_price - assert 1 == 2`: the name by which a test is selected.
    fn summary(text: &str, found: &mut Collector) -> Option<Claim> {
        let failed = text.strip_prefix("FAILED ").or_else(|| text.strip_prefix("ERROR "));
        let Some(line) = failed else {
            let other = ["SKIPPED", "XFAIL", "XPASS", "PASSED", " "];
            let known = text.is_empty() || other.iter().any(|word| text.starts_with(word));
            return if known { Claim::more(Class::Plain) } else { None };
        };
        let (id, message) = line.split_once(" - ").unwrap_or((line, ""));
        let short = match id.split_once("::") {
            Some((_, name)) => name.replace("::", "."),
            None => id.to_owned(),
        };
        let names = [
            short.clone(),
            format!("ERROR at setup of {short}"),
            format!("ERROR at teardown of {short}"),
            format!("ERROR collecting {short}"),
        ];
        if !names.iter().any(|name| found.rename_failure(name, id)) && !found.has_failure(id) {
            found.failure(id);
            if let Some(failure) = found.open_failure() {
                message.clone_into(&mut failure.assertion);
            }
            found.close();
        }
        Claim::more(Class::Problem)
    }
}

/// The title between two rulers of `ruler`: `==== FAILURES ====`.
fn title(text: &str, ruler: char) -> Option<&str> {
    let inner = text.trim_start_matches(ruler);
    let (left, right) = (text.len() - inner.len(), text.len() - text.trim_end_matches(ruler).len());
    // A long title leaves one character of the rulers.
    if left == 0 || right == 0 || inner.len() <= right + 2 || text.len() < 20 {
        return None;
    }
    inner.trim_end_matches(ruler).strip_prefix(' ')?.strip_suffix(' ')
}

/// `5 failed, 2 passed in 0.07s`, with rulers or without: passed, failed, skipped.
fn final_counts(text: &str) -> Option<(u64, u64, u64)> {
    let (counts, time) = text.trim_matches('=').trim().rsplit_once(" in ")?;
    let time = time.split(' ').next().unwrap_or(time);
    if !(time.ends_with('s') && time.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for part in counts.split(", ") {
        let (count, word) = number(part)?;
        let count = u64::from(count);
        match word {
            " passed" | " xpassed" => passed += count,
            " failed" | " error" | " errors" => failed += count,
            " skipped" | " xfailed" | " deselected" => skipped += count,
            " warning" | " warnings" | " rerun" => {}
            _ => return None,
        }
    }
    Some((passed, failed, skipped))
}

/// `test_shop.py ..F.   [100%]` and `test_shop.py::test_price PASSED [ 11%]`.
fn progress(text: &str) -> Option<Claim> {
    let line = match text.rsplit_once('[') {
        Some((line, percent)) if percent.ends_with("%]") => line.trim_end(),
        _ => return None,
    };
    let (name, outcome) = line.rsplit_once(' ').unwrap_or(("", line));
    let file = name.split("::").next().unwrap_or(name);
    let dots = outcome.chars().all(|c| ".FEsxXR".contains(c));
    let word = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"].contains(&outcome);
    let known = (dots && (name.is_empty() || is_file_name(name))) || (word && is_file_name(file));
    if known { Claim::one(Class::Progress) } else { None }
}
