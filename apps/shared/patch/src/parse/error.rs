//! The errors of parsing a patch.

use std::fmt;

/// The reason why a text is not a valid patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line of the text, from 1; 0 for the whole text.
    pub at: usize,
    pub kind: ParseErrorKind,
}

/// The kind of problem with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// Nothing in the text looks like a patch.
    NoPatch,
    /// The patch changes nothing.
    Empty,
    /// The patch exceeds this limit.
    TooLarge(&'static str),
    /// The patch doesn't name a file.
    NoFile(&'static str),
    /// The patch is truncated: this part is missing.
    CutOff(&'static str),
    /// An unexpected line, with a description of what was expected.
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
