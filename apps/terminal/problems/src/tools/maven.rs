//! Maven: javac's messages as its compiler plugin prints them, surefire's tests, and why a build
//! failed.

use std::collections::HashSet;

use crate::collector::Collector;
use crate::limits::FAILURES_MAX;
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{between, number, place};
use crate::transcript::Class;

/// The block that the following lines belong to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    /// A compiler message, or the reason of a failed build.
    Problem,
    /// The exception of a failed test.
    Exception,
    /// The list of failed tests at the end.
    Results,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Maven {
    within: Within,
    /// The folder of the module that is built, as far as the output names it.
    module: Option<String>,
    /// The class of the test whose exception is being read.
    class: String,
    /// Failed tests that were told, as the list at the end names them: `CartTest.total`.
    told: HashSet<String>,
}

impl Recogniser for Maven {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        let Some((severity, rest)) = level(text) else {
            return self.below(text, within, found);
        };
        if severity == Severity::Note {
            return self.info(rest, found);
        }
        self.message(severity, rest, within, found)
    }
}

impl Maven {
    /// `[INFO] …`: the steps that Maven and its usual plugins tell of.
    fn info(&mut self, rest: &str, found: &mut Collector) -> Option<Claim> {
        const STEPS: [&str; 16] = [
            "Scanning for projects",
            "Building ",
            "---",
            "skip non existing resourceDirectory",
            "Changes detected - recompiling",
            "Compiling ",
            "Nothing to compile",
            "Copying ",
            "Using '",
            "T E S T S",
            "Running ",
            "Results:",
            "BUILD FAILURE",
            "Total time: ",
            "Finished at: ",
            "COMPILATION ",
        ];
        if let Some((_, target)) = rest.split_once(" to ")
            && rest.starts_with("Compiling ")
        {
            self.module = target.rsplit_once("/target/").map(|(module, _)| module.to_owned());
        }
        let words = rest.trim();
        if let Some(counts) = words.strip_prefix("Tests run: ") {
            self.within = Within::Nothing;
            return totals(counts, found);
        }
        let is_count = || {
            let (_, rest) = number(words)?;
            Some(matches!(rest.trim(), "error" | "errors" | "warning" | "warnings"))
        };
        let is_step = words.is_empty()
            || STEPS.iter().any(|step| words.starts_with(step))
            || is_count() == Some(true);
        self.within = Within::Nothing;
        if is_step { Claim::one(Class::Progress) } else { None }
    }

    /// `[ERROR] …` and `[WARNING] …`.
    fn message(
        &mut self,
        severity: Severity,
        rest: &str,
        within: bool,
        found: &mut Collector,
    ) -> Option<Claim> {
        let words = rest.trim();
        if let Some((at, message)) = bracketed_place(words) {
            found.problem(severity, None, Some(at), message);
            self.within = Within::Problem;
            return Claim::more(Class::Problem);
        }
        if let Some(counts) = words.strip_prefix("Tests run: ") {
            self.within = Within::Nothing;
            return totals(counts, found);
        }
        if let Some(name) = failed_test(words) {
            let (class, method) = name;
            if self.told.len() < FAILURES_MAX {
                self.told.insert(format!("{}.{method}", simple(class)));
            }
            found.failure(&format!("{class}#{method}"));
            class.clone_into(&mut self.class);
            self.within = Within::Exception;
            return Claim::more(Class::Problem);
        }
        if matches!(words, "Failures:" | "Errors:") {
            found.close();
            self.within = Within::Results;
            return Claim::more(Class::Progress);
        }
        if within && self.within == Within::Results && rest.starts_with("  ") {
            return Some(self.result(words, found));
        }
        if let Some(reason) = words.strip_prefix("Failed to execute goal ") {
            // It repeats what the compiler and the tests have told.
            if found.has_errors() {
                self.within = Within::Nothing;
                return Claim::more(Class::Progress);
            }
            let reason = reason.split_once(": ").map_or(reason, |(_, reason)| reason);
            found.problem(Severity::Error, None, None, without_help(reason));
            self.within = Within::Problem;
            return Claim::more(Class::Problem);
        }
        if is_advice(words) {
            self.within = Within::Nothing;
            return Claim::one(Class::Progress);
        }
        // What is indented below a message of the compiler, once more with the word before it.
        if within && self.within == Within::Problem && rest.starts_with("  ") {
            found.detail(rest);
            return Claim::more(Class::Detail);
        }
        None
    }

    /// Reads a line that has no bracketed word before it.
    fn below(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if let Some(reason) = text.strip_prefix("[FATAL] ") {
            found.problem(Severity::Error, None, line_and_column(reason), without_help(reason));
            self.within = Within::Problem;
            return Claim::more(Class::Problem);
        }
        if !within {
            return None;
        }
        match self.within {
            Within::Problem if text.starts_with(' ') => {
                if text.trim() != "@" {
                    found.detail(text);
                }
                Claim::more(Class::Detail)
            }
            Within::Exception => self.exception(text, found),
            // A message of several lines.
            Within::Results if !text.is_empty() => Claim::more(Class::Progress),
            _ => None,
        }
    }

    fn exception(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let failure = found.open_failure()?;
        if text.is_empty() && !failure.assertion.is_empty() {
            self.within = Within::Nothing;
            return None;
        }
        if let Some(frame) = text.trim_start().strip_prefix("at ").filter(|_| text != text.trim()) {
            if failure.place.is_none() {
                failure.place = self.frame(frame);
            }
            return Claim::more(Class::Detail);
        }
        // `java.lang.AssertionError: ` with the message below it.
        if failure.assertion.is_empty() || failure.assertion.ends_with(':') {
            let space = if failure.assertion.is_empty() { "" } else { " " };
            failure.assertion += space;
            failure.assertion += text.trim();
            return Claim::more(Class::Problem);
        }
        found.detail(text);
        Claim::more(Class::Detail)
    }

    /// The place of a frame in the test's own class:
    /// `com.example.CartTest.total(CartTest.java:14)`. Java names no folder; that of a module's
    /// tests is always the same.
    fn frame(&self, frame: &str) -> Option<Place> {
        let (path, at) = frame.strip_suffix(')')?.split_once('(')?;
        let (class, _) = path.rsplit_once('.')?;
        let (file, line) = at.split_once(':')?;
        let outer = |class: &str| class.split('$').next().unwrap_or(class).to_owned();
        if outer(class) != outer(&self.class) || !file.ends_with(".java") {
            return None;
        }
        let package = class
            .rsplit_once('.')
            .map_or(String::new(), |(package, _)| package.replace('.', "/") + "/");
        let mut at = place(&format!("src/test/java/{package}{file}"), line.parse().ok(), None);
        at.directory.clone_from(&self.module);
        Some(at)
    }

    /// `CartTest.total:14 the total expected:<2> but was:<3>`: a failed test again, or one that
    /// nothing told before.
    fn result(&mut self, words: &str, found: &mut Collector) -> Claim {
        let (name, message) = words.split_once(':').unwrap_or((words, ""));
        // A test that failed in a method that it calls: `CartTest.total->check:20`.
        let name = name.split("->").next().unwrap_or(name);
        if self.told.contains(name) || !name.contains('.') {
            return Claim { class: Class::Progress, more: true };
        }
        found.failure(&name.replacen('.', "#", 1));
        if let Some(failure) = found.open_failure() {
            let message = message.trim_start_matches(|c: char| c.is_ascii_digit());
            let message = message.trim_start_matches("->");
            message.trim().clone_into(&mut failure.assertion);
        }
        found.close();
        Claim { class: Class::Problem, more: true }
    }
}

/// `[ERROR] text`; an information counts as a note.
fn level(text: &str) -> Option<(Severity, &str)> {
    const LEVELS: [(&str, Severity); 3] = [
        ("[ERROR]", Severity::Error),
        ("[WARNING]", Severity::Warning),
        ("[INFO]", Severity::Note),
    ];
    let (rest, severity) = LEVELS
        .iter()
        .find_map(|(word, severity)| text.strip_prefix(word).map(|rest| (rest, *severity)))?;
    if rest.is_empty() { Some((severity, rest)) } else { Some((severity, rest.strip_prefix(' ')?)) }
}

/// `/p/Cart.java:[14,19] message`.
fn bracketed_place(words: &str) -> Option<(Place, &str)> {
    let (file, rest) = words.split_once(":[")?;
    let (numbers, message) = rest.split_once("] ")?;
    let (line, column) = numbers.split_once(',')?;
    let at = place(file, Some(line.parse().ok()?), Some(column.parse().ok()?));
    (!file.contains("://") && !message.is_empty()).then_some((at, message))
}

/// `… @ line 8, column 153` of a project file that can't be read: `Non-parseable POM /p/pom.xml:
/// …`.
fn line_and_column(reason: &str) -> Option<Place> {
    let file = between(reason, " POM ", ": ")?;
    let (line, rest) = number(reason.rsplit_once("@ line ")?.1)?;
    let column = rest.strip_prefix(", column ").and_then(number).map(|(column, _)| column);
    Some(place(file, Some(line), column))
}

/// `total(com.example.CartTest)  Time elapsed: 0 s  <<< FAILURE!` as its class and method.
fn failed_test(words: &str) -> Option<(&str, &str)> {
    let test = words.strip_suffix("<<< FAILURE!").or_else(|| words.strip_suffix("<<< ERROR!"))?;
    let (name, _) = test.split_once(" Time elapsed: ")?;
    let name = name.trim_end_matches([' ', '-']);
    match name.strip_suffix(')').and_then(|name| name.rsplit_once('(')) {
        Some((method, class)) => Some((class, method)),
        // A class that couldn't be set up has no method.
        None => Some(name.rsplit_once('.').unwrap_or((name, ""))),
    }
}

fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// `6, Failures: 2, Errors: 2, Skipped: 1`; with a time it is one class of several.
fn totals(counts: &str, found: &mut Collector) -> Option<Claim> {
    let mut all = [0_u64; 4];
    for (part, count) in format!("run: {counts}").split(", ").zip(&mut all) {
        let (_, value) = part.split_once(": ")?;
        *count = number(value).map(|(value, _)| value.into())?;
    }
    if !counts.contains("Time elapsed") {
        let [run, failures, errors, skipped] = all;
        found.tests.failed += failures + errors;
        found.tests.skipped += skipped;
        found.tests.passed += run.saturating_sub(failures + errors + skipped);
    }
    Claim::more(Class::Progress)
}

/// Whether a line is the advice at the end of each failed build.
fn is_advice(words: &str) -> bool {
    const ADVICE: [&str; 11] = [
        "-> [Help",
        "[Help ",
        "[ERROR] Some problems were encountered while processing",
        "To see the full stack trace of the errors",
        "Re-run Maven using the -X switch",
        "For more information about the errors",
        "Please refer to ",
        "After correcting the problems, you can resume",
        "COMPILATION ERROR",
        "COMPILATION WARNING",
        "The build could not read ",
    ];
    words.is_empty() || ADVICE.iter().any(|advice| words.starts_with(advice))
}

fn without_help(reason: &str) -> &str {
    reason.split(" -> [Help").next().unwrap_or(reason).trim()
}
