//! The result of one check.

use serde_json::{Value, json};

/// The result of a check, and the next step to take.
#[derive(Debug)]
pub struct Finding {
    /// `ok`, `bad` or `fixed`.
    state: String,
    check: String,
    text: String,
    next: String,
}

impl Finding {
    /// Creates the finding of a check that found no problem.
    pub fn ok(check: &str, text: impl Into<String>) -> Self {
        Self::new("ok", check, text, "")
    }

    /// Creates the finding of a problem, with the next step to take.
    pub fn bad(check: &str, text: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new("bad", check, text, next)
    }

    fn new(state: &str, check: &str, text: impl Into<String>, next: impl Into<String>) -> Self {
        let (state, check) = (state.to_owned(), check.to_owned());
        Self { state, check, text: text.into(), next: next.into() }
    }

    /// Parses a line that `pipemuxd doctor` prints; `None` for any other line.
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.trim_end_matches('\n').split('\t');
        let (state, check, text) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self::new(state, check, text, fields.next().unwrap_or_default()))
    }

    /// Returns true for a problem that was not fixed.
    pub fn is_bad(&self) -> bool {
        !matches!(self.state.as_str(), "ok" | "fixed")
    }

    /// Formats the finding as one line.
    pub fn line(&self) -> String {
        let Self { state, check, text, next } = self;
        let next = if next.is_empty() { String::new() } else { format!(" · next: {next}") };
        format!("{state} · {check}: {text}{next}\n")
    }

    /// Returns the finding as JSON.
    pub fn data(&self) -> Value {
        let Self { state, check, text, next } = self;
        json!({ "state": state, "check": check, "text": text, "next": next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_is_printed_as_a_line_with_its_next_step() {
        let line = "bad\tsocket directory\t/run/x has mode 0777\tpipemux doctor --fix: chmod 700\n";
        let found = Finding::parse(line).unwrap();
        assert_eq!(
            found.line(),
            "bad · socket directory: /run/x has mode 0777 · next: pipemux doctor --fix: chmod 700\n"
        );
        assert_eq!(Finding::parse("ok\tclock\tfine\t").unwrap().line(), "ok · clock: fine\n");
        assert!(Finding::parse("usage: pipemuxd serve").is_none());
    }
}
