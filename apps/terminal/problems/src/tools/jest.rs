//! jest.

use crate::collector::Collector;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_file_name, is_foreign, number, place_start};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Jest {
    file: String,
}

impl Recogniser for Jest {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        let heading = |word: &str| {
            let rest = text.strip_prefix(word)?;
            let file = without_times(rest);
            is_file_name(file).then_some(file)
        };
        if heading("PASS ").or_else(|| heading(" PASS  ")).is_some() {
            found.close();
            return Claim::one(Class::Progress);
        }
        if let Some(file) = heading("FAIL ").or_else(|| heading(" FAIL  ")) {
            found.close();
            file.clone_into(&mut self.file);
            return Claim::more(Class::Progress);
        }
        if let Some(counts) = text.strip_prefix("Tests: ") {
            return totals(counts, found);
        }
        if let Some(name) = text.strip_prefix("  ● ") {
            if self.file.is_empty() || name.starts_with("Console") {
                return None;
            }
            // A test is named by its file, too: two files can have a test of the same name.
            found.failure(&if name == "Test suite failed to run" {
                self.file.clone()
            } else {
                format!("{} › {name}", self.file)
            });
            return Claim::more(Class::Problem);
        }
        if !within || text.starts_with("Test Suites: ") || text.starts_with("Summary of all") {
            return None;
        }
        body(text, found)
    }
}

fn body(text: &str, found: &mut Collector) -> Option<Claim> {
    let Some(failure) = found.open_failure() else {
        return if text.is_empty() || text.starts_with("  ") {
            let outcome = ['✓', '✕', '○'].iter().any(|mark| text.trim_start().starts_with(*mark));
            Claim::more(if outcome { Class::Progress } else { Class::Plain })
        } else {
            None
        };
    };
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Claim::more(Class::Detail);
    }
    if !text.starts_with(' ') {
        return None;
    }
    if let Some(frame) = trimmed.strip_prefix("at ") {
        let named = frame.strip_suffix(')').and_then(|frame| frame.split_once(" ("));
        let inner = named.map_or(frame, |(_, inner)| inner);
        let inner = inner.strip_prefix("async ").unwrap_or(inner);
        if let Some((place, _)) = place_start(inner)
            && failure.place.is_none()
            && !is_foreign(&place.file)
        {
            failure.place = Some(place);
        }
        return Claim::more(Class::Detail);
    }
    if failure.assertion.is_empty() {
        trimmed.clone_into(&mut failure.assertion);
        return Claim::more(Class::Problem);
    }
    // Of the excerpt from the file only the line that failed.
    let excerpt = trimmed.split('|').next().is_some_and(|gutter| {
        trimmed.contains('|') && gutter.trim().chars().all(|c| c.is_ascii_digit())
    });
    if !excerpt {
        found.detail(text);
    }
    Claim::more(Class::Detail)
}

/// The file of a heading, which may have how long it took and what memory it took behind it:
/// `a.test.js (5.1 s)`.
fn without_times(heading: &str) -> &str {
    let mut file = heading;
    while let Some((before, inner)) = file.strip_suffix(')').and_then(|file| file.rsplit_once(" ("))
        && inner.starts_with(|c: char| c.is_ascii_digit())
    {
        file = before;
    }
    file
}

/// `       3 failed, 1 skipped, 1 passed, 5 total`.
fn totals(counts: &str, found: &mut Collector) -> Option<Claim> {
    if !counts.ends_with(" total") {
        return None;
    }
    for part in counts.trim().split(", ") {
        let Some((count, word)) = number(part) else { continue };
        add(word.trim(), count.into(), found);
    }
    Claim::one(Class::Progress)
}

/// Adds the number of tests with an outcome.
pub(super) fn add(word: &str, count: u64, found: &mut Collector) {
    match word {
        "failed" => found.tests.failed += count,
        "passed" => found.tests.passed += count,
        "skipped" | "todo" | "pending" => found.tests.skipped += count,
        _ => {}
    }
}
