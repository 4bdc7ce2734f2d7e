//! `dotnet build` and `dotnet test`.

use crate::collector::Collector;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{number, place};
use crate::tools::tsc::{bracketed, coded};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Dotnet {
    stack: bool,
}

impl Recogniser for Dotnet {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        let trimmed = text.trim_start();
        let (at, rest) = match bracketed(trimmed) {
            Some((at, rest)) => (Some(at), rest),
            // `MSBUILD : error MSB1009: …` and `/path/app.csproj : error NU1101: …`.
            None => match trimmed.split_once(" : ") {
                Some(("MSBUILD" | "CSC", rest)) => (None, rest),
                Some((file, rest)) => (Some(place(file, None, None)), rest),
                None => (None, ""),
            },
        };
        if let Some((severity, code, message)) = coded(rest) {
            // The project is named behind every message; a solution repeats a message for each.
            let message = match message.rsplit_once(" [") {
                Some((message, project)) if project.ends_with("proj]") => message,
                _ => message,
            };
            found.problem(severity, Some(code), at, message);
            return Claim::one(Class::Problem);
        }
        if let Some(test) = text.strip_prefix("  Failed ").filter(|test| test.ends_with(']')) {
            found.failure(test.rsplit_once(" [").map_or(test, |(name, _)| name));
            self.stack = false;
            return Claim::more(Class::Problem);
        }
        if text.starts_with("  Passed ") || text.starts_with("  Skipped ") {
            return if text.ends_with(']') { Claim::one(Class::Progress) } else { None };
        }
        if let Some((_, counts)) = text.split_once("!  - Failed: ") {
            return totals(&format!("Failed: {counts}"), found);
        }
        // The values that an assertion compares aren't indented.
        if !within || text.is_empty() || (self.stack && !text.starts_with("  ")) {
            return None;
        }
        self.body(trimmed, found)
    }
}

impl Dotnet {
    fn body(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let failure = found.open_failure()?;
        match text {
            "Error Message:" => {}
            "Stack Trace:" => self.stack = true,
            _ if self.stack => {
                if let Some((file, line)) = text.rsplit_once(":line ") {
                    let file = file.rsplit_once(" in ").map_or(file, |(_, file)| file);
                    let line = number(line).map(|(line, _)| line);
                    failure.place.get_or_insert(place(file, line, None));
                }
            }
            _ if failure.assertion.is_empty() => {
                text.clone_into(&mut failure.assertion);
                return Claim::more(Class::Problem);
            }
            _ => found.detail(text),
        }
        Claim::more(Class::Detail)
    }
}

/// `Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 12 ms - app.dll
/// (net9.0)`.
fn totals(counts: &str, found: &mut Collector) -> Option<Claim> {
    for part in counts.split(", ") {
        let Some((word, count)) = part.split_once(':') else { continue };
        let count = number(count.trim_start()).map_or(0, |(count, _)| u64::from(count));
        match word {
            "Failed" => found.tests.failed += count,
            "Passed" => found.tests.passed += count,
            "Skipped" => found.tests.skipped += count,
            _ => {}
        }
    }
    Claim::one(Class::Progress)
}
