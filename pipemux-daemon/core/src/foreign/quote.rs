//! Text of apps in sentences of the daemon: errors, notices, briefs of history. Such a sentence is itself made inert where
//! it is shown, since it quotes.

use crate::foreign::{ForeignStr, ForeignText};

/// Returns the text to be a hint of an error.
pub fn in_hint<'a>(text: impl Into<ForeignStr<'a>>) -> String {
    text.into().0.to_owned()
}

/// Returns several texts to be part of a sentence that is made inert as a whole.
pub fn joined(texts: &[ForeignText]) -> String {
    texts.iter().map(in_sentence).collect::<Vec<_>>().join(" · ")
}

/// Returns the text to be part of a sentence that is made inert as a whole.
pub fn in_sentence<'a>(text: impl Into<ForeignStr<'a>>) -> &'a str {
    text.into().0
}
