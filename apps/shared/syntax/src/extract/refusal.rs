//! The reasons why statements can't be extracted.

use std::ops::Range;

/// A variable whose type can't be determined from the syntax tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untyped {
    pub name: String,
    /// The line that declares the variable, from 0.
    pub line: usize,
}

/// The reason why statements can't be extracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The selection isn't whole statements of one block. `nearest` are the bytes of those that it
    /// touches.
    NotWholeStatements {
        /// The statements that the selection touches.
        nearest: Option<Range<usize>>,
    },
    /// Types are needed that the tree doesn't tell.
    NeedsTypes(Vec<Untyped>),
    /// The extraction would change the behavior of the code, or can't be expressed.
    Unsafe(String),
}

impl Refusal {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self::Unsafe(reason.into())
    }
}
