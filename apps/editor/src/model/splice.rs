//! Replacements in a text.

use serde::{Deserialize, Serialize};

/// One replacement in a text.
///
/// A list of splices is in ascending order without overlaps, and all of its positions count in the
/// text before the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The offset of the first byte.
    pub at: usize,
    /// The removed text.
    pub old: String,
    /// The inserted text.
    pub new: String,
}

impl Splice {
    /// Returns the offset of the first byte after the removed text.
    pub fn old_end(&self) -> usize {
        self.at + self.old.len()
    }

    /// Returns the number of bytes that the text grows by; negative if it shrinks.
    pub fn growth(&self) -> isize {
        self.new.len() as isize - self.old.len() as isize
    }
}

/// Returns the splices that take others back, with positions in the text after those.
pub fn inverse(splices: &[Splice]) -> Vec<Splice> {
    let mut shift: isize = 0;
    let back = |splice: &Splice| {
        let at = splice.at.saturating_add_signed(shift);
        shift += splice.growth();
        Splice { at, old: splice.new.clone(), new: splice.old.clone() }
    };
    splices.iter().map(back).collect()
}

/// Returns where each splice first alters the text, as bytes of the text after all of them.
pub fn first_differences(splices: &[Splice]) -> Vec<usize> {
    let mut shift: isize = 0;
    let first = |splice: &Splice| {
        let chars = splice.old.chars().zip(splice.new.chars());
        let equal = chars.take_while(|(old, new)| old == new);
        let equal: usize = equal.map(|(old, _)| old.len_utf8()).sum();
        let at = splice.at.saturating_add_signed(shift) + equal;
        shift += splice.growth();
        at
    };
    splices.iter().map(first).collect()
}
