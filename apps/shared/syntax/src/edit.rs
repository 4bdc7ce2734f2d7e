//! Replacements in a text.

use std::ops::Range;

/// A replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The replaced bytes.
    pub range: Range<usize>,
    /// The inserted text.
    pub new: String,
}

/// Returns a text with edits made in it. They are in ascending order.
pub(crate) fn apply(edits: &[Edit], text: &str) -> String {
    let (mut new, mut from) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        new += &text[from..edit.range.start];
        new += &edit.new;
        from = edit.range.end;
    }
    new + &text[from..]
}
