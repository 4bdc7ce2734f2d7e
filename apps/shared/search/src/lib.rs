//! Finds files, and text in them: what the editor's `find` and `replace` are built on.
//!
//! | module | holds |
//! |---|---|
//! | [`files`] | which files a list of paths, folders and globs means |
//! | [`pattern`] | what is searched for, and where a text has it |
//! | `line_matcher` | whether one line matches an expression |
//! | `candidates` | the lines that may have a match |
//! | [`counts`] | how many matches there are, and what each filter left out |
//! | [`search`] | all files at once, on several threads |
//! | [`limits`] | every bound |
//!
//! Lines count from 1, ranges are of bytes. A line ends with `\n`; `$` also matches before `\r\n`.
//! A byte order mark is not part of a text.
//!
//! **Invariant: the same answer each time.** Files are in the order of their paths, whatever the
//! threads did.
//!
//! **Invariant: counts are exact.** Each match of the text is counted once: as found, or under the
//! first filter that left it out.
#![forbid(unsafe_code)]

mod candidates;
pub mod counts;
pub mod files;
pub mod limits;
mod line_matcher;
pub mod pattern;
mod pattern_error;
mod replacement;
pub mod search;

pub use counts::{Counts, LeftOut, LeftOutLines};
pub use files::{Files, FilesError, Ignored};
pub use line_matcher::LineMatcher;
pub use pattern::{Classify, Filters, Match, Matches, Part, PartOf, Parts, Pattern};
pub use pattern_error::PatternError;
pub use search::{FileCounts, Overlay, SearchResults, SkipReason, Skipped, search};
