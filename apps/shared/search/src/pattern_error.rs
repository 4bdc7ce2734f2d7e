//! Why a pattern can't be searched for.

/// Why a pattern can't be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing to search for.
    #[error("the text to search for is empty")]
    Empty,
    /// It isn't a regular expression. The text says why, in one line.
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
