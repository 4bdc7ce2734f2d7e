//! Tracebacks of Python programs, outside of tests.

use crate::collector::Collector;
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_foreign, number, place};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Python {
    /// Whether the exception was read; indented lines below still belong to it.
    ended: bool,
    /// Whether an exception group, whose lines have a margin, is being read.
    group: bool,
}

impl Recogniser for Python {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        if text.starts_with("Traceback (most recent call last):") {
            found.problem(Severity::Error, None, None, "");
            self.ended = false;
            return Claim::more(Class::Problem);
        }
        if text.trim_start() == "+ Exception Group Traceback (most recent call last):" {
            found.problem(Severity::Error, None, None, "");
            (self.ended, self.group) = (false, true);
            return Claim::more(Class::Problem);
        }
        if within && self.group {
            return self.grouped(text, found);
        }
        self.group = false;
        if !within {
            // A syntax error has no line that announces it.
            let place = frame(text)?;
            found.problem(Severity::Error, None, Some(place), "");
            self.ended = false;
            return Claim::more(Class::Problem);
        }
        let problem = found.open_problem()?;
        if let Some(place) = frame(text) {
            // The innermost frame that is the project's own.
            if problem.place.is_none() || !is_foreign(&place.file) {
                problem.place = Some(place);
                problem.detail.clear();
            }
            return Claim::more(Class::Detail);
        }
        if text.starts_with(' ') && !self.ended {
            found.detail(text);
            return Claim::more(Class::Detail);
        }
        if self.ended || text.is_empty() {
            return None;
        }
        let (kind, message) = exception(text)?;
        problem.code = Some(kind.to_owned());
        message.trim().clone_into(&mut problem.message);
        if problem.message.is_empty() {
            kind.clone_into(&mut problem.message);
        }
        self.ended = true;
        Claim::more(Class::Problem)
    }
}

impl Python {
    /// Reads a line behind a group's margin: a frame, the message, or a sub-exception.
    fn grouped(&mut self, text: &str, found: &mut Collector) -> Option<Claim> {
        let margin = text.trim_start();
        let inner = margin.strip_prefix('|').map(|inner| inner.strip_prefix(' ').unwrap_or(inner));
        let Some(inner) = inner else {
            return if margin.starts_with('+') { Claim::more(Class::Detail) } else { None };
        };
        let problem = found.open_problem()?;
        if let Some(place) = frame(inner) {
            if !self.ended && (problem.place.is_none() || !is_foreign(&place.file)) {
                problem.place = Some(place);
            }
            return Claim::more(Class::Detail);
        }
        if inner.starts_with([' ', '+', '|']) || inner.is_empty() {
            return Claim::more(Class::Detail);
        }
        if let Some((kind, message)) = exception(inner).filter(|_| !self.ended) {
            problem.code = Some(kind.to_owned());
            message.trim().clone_into(&mut problem.message);
            self.ended = true;
            return Claim::more(Class::Problem);
        }
        if !inner.starts_with("Traceback ") {
            found.detail(inner);
        }
        Claim::more(Class::Detail)
    }
}

/// `  File "shop.py", line 5, in load`.
pub(super) fn frame(text: &str) -> Option<Place> {
    let (file, rest) = text.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let (line, _) = number(rest)?;
    Some(place(file, Some(line), None))
}

/// `ValueError: cannot start`, and `KeyboardInterrupt` alone.
pub(super) fn exception(text: &str) -> Option<(&str, &str)> {
    let (kind, message) = text.split_once(": ").unwrap_or((text.trim_end_matches(':'), ""));
    let name = kind.rsplit('.').next().unwrap_or(kind);
    let valid = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && kind.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    valid.then_some((kind, message))
}
