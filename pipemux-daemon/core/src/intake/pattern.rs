//! Patterns of fields: regular expressions that apps send.

use regex_lite::{Regex, RegexBuilder};

use crate::limits::PATTERN_MAX;

/// Bytes that the program of a pattern may take.
const PATTERN_PROGRAM_MAX: usize = 64 * 1024;

/// Compiles a pattern that a whole text has to match.
///
/// # Errors
/// It is too long, or no regular expression.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > PATTERN_MAX {
        return Err(format!("a pattern of {} bytes (limit {PATTERN_MAX})", pattern.len()));
    }
    // It is shown as it is, in one line.
    if pattern.contains(char::is_control) {
        return Err("a pattern with control characters: write \\n for a line break".into());
    }
    let mut builder = RegexBuilder::new(&format!("^(?:{pattern})$"));
    builder.size_limit(PATTERN_PROGRAM_MAX);
    builder.build().map_err(|error| format!("the pattern {pattern:?} is none: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_cost_too_much_are_none() {
        for wrong in ["(", "a\nb", "(a{1000}){1000}", &"a".repeat(PATTERN_MAX + 1)] {
            assert!(compile(wrong).is_err());
        }
    }
}
