//! Tests one line against an expression.

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::limits::PATTERN_MAX;
use crate::pattern_error::PatternError;

/// A regular expression for matching single lines.
#[derive(Debug, Clone)]
pub struct LineMatcher(RegexMatcher);

impl LineMatcher {
    /// Compiles a regular expression in the syntax of the crate `regex`.
    ///
    /// # Errors
    /// It isn't one. The message names the parameter that it was given as.
    pub fn new(parameter: &str, expression: &str) -> Result<Self, PatternError> {
        let mut builder = RegexMatcherBuilder::new();
        let builder = builder.multi_line(true).size_limit(PATTERN_MAX);
        let matcher = builder.build(expression).map(Self);
        matcher.map_err(|error| PatternError::syntax(&format!("{parameter}: "), &error))
    }

    /// True if a line matches, which is given with or without its ending.
    pub fn is_match(&self, line: &str) -> bool {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.0.is_match(line.as_bytes()).unwrap_or(false)
    }
}
