//! eslint's default format: the file in a line of its own, its problems below.

use crate::collector::Collector;
use crate::model::Severity;
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{is_file_name, number, place};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Eslint {
    file: String,
}

impl Recogniser for Eslint {
    fn line(&mut self, text: &str, _within: bool, found: &mut Collector) -> Option<Claim> {
        if !text.starts_with(' ') {
            self.file.clear();
            if is_file_name(text) {
                // Whether it is a heading is known by the next line.
                text.clone_into(&mut self.file);
            }
            // The count of what stands above it.
            let is_count = text.starts_with("✖ ") && text.contains(" problem");
            return if is_count { Claim::one(Class::Progress) } else { None };
        }
        if self.file.is_empty() {
            return None;
        }
        let (line, rest) = number(text.trim_start())?;
        let (column, rest) = number(rest.strip_prefix(':')?)?;
        let rest = rest.trim_start();
        let (severity, message) = match rest.split_once(' ')? {
            ("error", message) => (Severity::Error, message),
            ("warning", message) => (Severity::Warning, message),
            _ => return None,
        };
        let (message, rule) = match message.trim().rsplit_once("  ") {
            Some((message, rule)) if !rule.contains(' ') => (message.trim(), Some(rule)),
            _ => (message.trim(), None),
        };
        let at = place(&self.file, Some(line), Some(column));
        found.problem(severity, rule, Some(at), message);
        Claim::one(Class::Problem)
    }
}
