//! Turns what a command prints into what matters of it: problems, failed tests, and a folded text.
//!
//! | module | holds |
//! |---|---|
//! | [`model`] | problems, test results, git's files and commits, and the report that has them |
//! | `lines` | bytes in chunks of any size as lines without escapes |
//! | `inert` | what is removed from a line or made visible, so that showing it does nothing |
//! | `recognise` | which recogniser a line belongs to |
//! | `tools` | the recognisers of compilers, linters and test runners, one file each |
//! | `git` | the recognisers of git's status, diff and log |
//! | `scan` | the small parsers that they share |
//! | `collector` | what the recognisers found so far |
//! | `transcript` | the output with similar lines folded and the middle left out |
//! | [`compare`] | what a second run of the same command fixed and broke |
//! | [`limits`] | every bound |
//!
//! Nothing here starts a process, reads a file or knows the time.
//!
//! **Invariant: no problem is folded away.** A line that tells of a problem or a failed test is in
//! the transcript as it is, up to the bounds in [`limits`], and what is beyond them is counted.
//!
//! **Invariant: the chunks don't matter.** The same bytes give the same report, however they are
//! cut.
//!
//! **Invariant: memory is bounded and time is linear** in the length of the output, whatever is in
//! it.
#![forbid(unsafe_code)]

mod collector;
pub mod compare;
mod git;
mod inert;
pub mod limits;
mod lines;
pub mod model;
mod reader;
mod recognise;
mod recogniser;
mod scan;
mod tools;
mod transcript;

pub use compare::Comparison;
pub use inert::{is_hidden, visible};
pub use model::{Place, Problem, Report, Severity, TestCounts, TestFailure};
pub use reader::OutputReader;
pub use transcript::Entry;
