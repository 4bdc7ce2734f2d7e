//! Why a text is no patch.

use std::fmt;

/// Why a text is no patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line of the text, from 1; 0 for the whole of it.
    pub at: usize,
    /// What is wrong.
    pub kind: ParseErrorKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// Nothing in it looks like a patch.
    NoPatch,
    /// A patch that changes nothing.
    Empty,
    /// A bound is passed.
    TooLarge(&'static str),
    /// No file is named.
    NoFile(&'static str),
    /// It stops in the middle: this is missing.
    CutOff(&'static str),
    /// A line that doesn't belong there, and what was expected.
    Unexpected(&'static str),
    /// Something that can't be applied to a text.
    Unsupported(&'static str),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at > 0 {
            write!(f, "line {} of the patch: ", self.at)?;
        }
        match self.kind {
            ParseErrorKind::NoPatch => f.write_str(
                "no patch found; expected a unified diff, *** Begin Patch, or <<<<<<< SEARCH blocks",
            ),
            ParseErrorKind::Empty => f.write_str("the patch changes nothing"),
            ParseErrorKind::TooLarge(bound) => write!(f, "the patch has {bound}; split it"),
            ParseErrorKind::NoFile(fix) => write!(f, "no file is named; {fix}"),
            ParseErrorKind::CutOff(missing) => {
                write!(f, "{missing} is missing, the patch seems to be cut off")
            }
            ParseErrorKind::Unexpected(expected) => write!(f, "expected {expected}"),
            ParseErrorKind::Unsupported(what) => write!(f, "{what} can't be applied"),
        }
    }
}

impl std::error::Error for ParseError {}

pub(super) fn fail<T>(at: usize, kind: ParseErrorKind) -> Result<T, ParseError> {
    Err(ParseError { at, kind })
}
