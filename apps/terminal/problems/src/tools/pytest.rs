//! pytest, with long, short and one-line tracebacks.

use crate::collector::Collector;
use crate::limits::FAILURES_MAX;
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_file_name, is_foreign, number, place, place_prefix};
use crate::tools::python::{exception, frame};
use crate::transcript::Class;

/// The part of the output that the lines are in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    Failures,
    /// A failure of a `conftest.py`, before any test.
    Conftest,
    Summary,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Pytest {
    section: Section,
    /// The width of the rulers, which distinguishes them from those that tests print.
    width: usize,
    /// Places with messages that no block names, of tracebacks in one line: the names follow at the
    /// end.
    unnamed: Vec<(Place, String)>,
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
            return Claim::one(Class::Progress);
        }
        if let Some(title) = title(text, '=').filter(|title| self.is_own(title, text)) {
            found.close();
            self.width = text.chars().count();
            self.section = match title {
                "FAILURES" | "ERRORS" => Section::Failures,
                "short test summary info" => Section::Summary,
                "test session starts" | "warnings summary" => Section::Other,
                _ if within => Section::Other,
                _ => return None,
            };
            let known = self.section != Section::Other;
            return if known { Claim::more(Class::Progress) } else { Claim::one(Class::Progress) };
        }
        if text.starts_with("ImportError while loading conftest '") {
            found.problem(Severity::Error, None, None, text.trim_end_matches('.'));
            self.section = Section::Conftest;
            return Claim::more(Class::Problem);
        }
        match self.section {
            Section::Other => progress(text),
            Section::Failures => self.failure(text, found),
            Section::Conftest => Self::conftest(text, found),
            Section::Summary => self.summary(text, found),
        }
    }
}

impl Pytest {
    /// Whether a ruler is pytest's own rather than printed by a failed test.
    fn is_own(&self, title: &str, text: &str) -> bool {
        const TITLES: [&str; 12] = [
            "FAILURES",
            "ERRORS",
            "PASSES",
            "XPASSES",
            "XFAILURES",
            "short test summary info",
            "rerun test summary info",
            "warnings summary",
            "warnings summary (final)",
            "test session starts",
            "no tests ran",
            "tests coverage",
        ];
        let known =
            TITLES.contains(&title) || title.starts_with("slowest ") || title.starts_with("! ");
        self.section != Section::Failures || (known && self.is_wide(text))
    }

    /// Whether a ruler is as wide as that of its section, give or take a missing character.
    fn is_wide(&self, text: &str) -> bool {
        text.chars().count() + 2 >= self.width
    }

    /// Reads the frames and the exception of a failing `conftest.py`.
    fn conftest(text: &str, found: &mut Collector) -> Option<Claim> {
        let problem = found.open_problem()?;
        if let Some(message) = text.strip_prefix("E  ") {
            found.detail(message.trim());
            return Claim::more(Class::Problem);
        }
        if let Some((place, rest)) = place_prefix(text)
            && rest.starts_with(" in ")
        {
            if problem.place.is_none() || !is_foreign(&place.file) {
                problem.place = Some(place);
            }
            return Claim::more(Class::Detail);
        }
        if text.starts_with(' ') { Claim::more(Class::Detail) } else { None }
    }

    fn failure(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let own = |name: &&str| !name.starts_with("_ ") && self.is_wide(text);
        if let Some(name) = title(text, '_').filter(own) {
            found.failure(name);
            return Claim::more(Class::Problem);
        }
        let Some(failure) = found.open_failure() else {
            if let Some((place, message)) = place_prefix(text)
                && self.unnamed.len() < FAILURES_MAX
            {
                self.unnamed.push((place, message.trim().to_owned()));
            }
            return Claim::more(Class::Progress);
        };
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
        // As Python itself tells it, or where a fixture is asked for.
        let asked = || {
            let (file, line) = text.strip_prefix("file ")?.rsplit_once(", line ")?;
            Some(place(file, Some(number(line)?.0), None))
        };
        if let Some(own) = frame(text).or_else(asked).filter(|_| !captured && !source) {
            if failure.place.is_none() || !is_foreign(&own.file) {
                failure.place = Some(own);
            }
        } else if !captured && failure.assertion.is_empty() && failure.place.is_some() {
            let said =
                exception(text).filter(|(name, _)| name.ends_with(|c: char| c.is_alphanumeric()));
            if said.is_some() {
                text.trim().clone_into(&mut failure.assertion);
            }
        }
        if source || captured {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }

    /// `FAILED test_shop.py::test_price - assert 1 == 2`: the name by which a test is selected.
    fn summary(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let failed = text.strip_prefix("FAILED ").or_else(|| text.strip_prefix("ERROR "));
        let Some(line) = failed else {
            let other = ["SKIPPED", "XFAIL", "XPASS", "PASSED", " "];
            let known = text.is_empty() || other.iter().any(|word| text.starts_with(word));
            return if known { Claim::more(Class::Progress) } else { None };
        };
        // The parameters of a test can have a dash in them, too: the name is the one that was told
        // above.
        let splits = || {
            let at = line.match_indices(" - ").map(|(at, _)| at).take(DASHES_MAX);
            at.chain([line.len()])
        };
        if splits().any(|end| rename(&line[..end], found)) {
            return Claim::more(Class::Problem);
        }
        let is_whole = |id: &str| id.matches('[').count() <= id.matches(']').count();
        let end = splits().find(|end| is_whole(&line[..*end])).or_else(|| splits().next());
        let id = &line[..end.unwrap_or(line.len())];
        let message = line[id.len()..].strip_prefix(" - ").unwrap_or_default();
        if !found.has_failure(id) {
            found.failure(id);
            // It is cut to the width of the terminal.
            let start = message.strip_suffix("...").unwrap_or(message);
            let is_it = |(_, said): &(Place, String)| !start.is_empty() && said.starts_with(start);
            let at = self.unnamed.iter().position(is_it);
            if let Some(failure) = found.open_failure() {
                message.clone_into(&mut failure.assertion);
                failure.place = at.map(|at| self.unnamed.remove(at).0);
            }
            found.close();
        }
        Claim::more(Class::Problem)
    }
}

/// The most dashes of a line that are examined.
const DASHES_MAX: usize = 16;

/// Gives the failure that its block named by its function the name by which it is selected. False
/// when there is none.
fn rename(id: &str, found: &mut Collector) -> bool {
    let (path, parameters) =
        id.split_once('[').map_or((id, ""), |(path, _)| (path, &id[path.len()..]));
    let short = match path.split_once("::") {
        Some((_, name)) => name.replace("::", ".") + parameters,
        None => id.to_owned(),
    };
    ["", "ERROR at setup of ", "ERROR at teardown of ", "ERROR collecting "]
        .iter()
        .any(|words| found.rename_failure(&format!("{words}{short}"), id))
}

/// The title between two rulers of the character `ruler`: `==== FAILURES ====`.
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
    // Why a test was left out stands behind it.
    let line =
        line.rsplit_once(" (").filter(|_| line.ends_with(')')).map_or(line, |(line, _)| line);
    let (name, outcome) = line.rsplit_once(' ').unwrap_or(("", line));
    let file = name.split("::").next().unwrap_or(name);
    let dots = outcome.chars().all(|c| ".FEsxXR".contains(c));
    let word = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"].contains(&outcome);
    let known = (dots && (name.is_empty() || is_file_name(name))) || (word && is_file_name(file));
    if known { Claim::one(Class::Progress) } else { None }
}
