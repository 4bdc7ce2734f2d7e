//! An arrangement of items, and the edits that it needs.

use std::ops::Range;

use crate::edit::{Edit, apply};
use crate::outline::Symbol;

/// The position of a block. Ranges are whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InsertionPoint {
    /// Before lines.
    Before(Range<usize>),
    /// After lines.
    After(Range<usize>),
    /// At the start of a symbol's body, after the items that must come first in it.
    StartOf(Symbol),
    /// At the end of a symbol's body.
    EndOf(Symbol),
}

/// A block of whole lines to insert into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The lines, each with its ending.
    pub text: String,
    /// True if its indentation and its empty lines stay as they are.
    pub exact: bool,
}

/// The edits that insert a block into a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// The replacements, in ascending order.
    pub edits: Vec<Edit>,
    /// The range of the block in the new text.
    pub placed: Range<usize>,
    /// The block's indentation before and after, if it was shifted.
    pub shifted: Option<(String, String)>,
}

impl Arrangement {
    /// Returns the text with the edits made in it.
    pub fn apply(&self, text: &str) -> String {
        apply(&self.edits, text)
    }
}
