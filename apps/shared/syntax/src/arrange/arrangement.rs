//! What is put where, and what is to be done to a text for that.

use std::ops::Range;

use crate::edit::{Edit, apply};
use crate::outline::Symbol;

/// Where a block goes. Ranges are whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InsertionPoint {
    /// Before lines.
    Before(Range<usize>),
    /// After lines.
    After(Range<usize>),
    /// At the start of what is between a symbol's braces, behind what must be first there.
    StartOf(Symbol),
    /// At the end of what is between a symbol's braces.
    EndOf(Symbol),
}

/// A block of whole lines that is put into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The lines, each with its ending.
    pub text: String,
    /// True if its indentation and its empty lines stay as they are.
    pub exact: bool,
}

/// What is to be done to a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// The replacements, in ascending order.
    pub edits: Vec<Edit>,
    /// Where the block is in the new text.
    pub placed: Range<usize>,
    /// The indentation that the block had and has, if it was shifted.
    pub shifted: Option<(String, String)>,
}

impl Arrangement {
    /// Returns the text with the edits made in it.
    pub fn apply(&self, text: &str) -> String {
        apply(&self.edits, text)
    }
}
