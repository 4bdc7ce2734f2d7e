//! The errors of a search pattern.

/// The reason why a pattern can't be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("the text to search for is empty")]
    Empty,
    /// The pattern isn't a valid regular expression. The text gives the reason in one line.
    #[error("{0}")]
    Syntax(String),
}

impl PatternError {
    /// The last line of an error of the parser; those above it repeat the expression.
    pub(crate) fn syntax(prefix: &str, error: &grep_regex::Error) -> Self {
        let text = error.to_string();
        let reason = text.trim().lines().next_back().unwrap_or_default();
        Self::Syntax(format!("{prefix}{}", reason.trim_start_matches("error: ")))
    }
}
