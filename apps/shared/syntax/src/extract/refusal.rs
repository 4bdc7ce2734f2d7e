//! Why statements can't be extracted.

use std::ops::Range;

/// A variable whose type the tree doesn't tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untyped {
    /// The variable.
    pub name: String,
    /// The line that declares it, from 0.
    pub line: usize,
}

/// Why statements can't be extracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The selection isn't whole statements of one block. `nearest` are the bytes of those that it touches.
    NotWholeStatements {
        /// The statements that the selection touches.
        nearest: Option<Range<usize>>,
    },
    /// Types are needed that the tree doesn't tell.
    NeedsTypes(Vec<Untyped>),
    /// The extraction would change what the code does, or can't be expressed.
    Unsafe(String),
}

impl Refusal {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Self::Unsafe(reason.into())
    }
}
