//! Parses patches as models write them, and says what they change: texts in, edits out.
//!
//! | module | holds |
//! |---|---|
//! | [`model`] | a patch, whatever its format was: sections, hunks, lines |
//! | `parse` | the formats: unified diffs, the `*** Begin Patch` envelope, SEARCH/REPLACE blocks |
//! | [`scope`] | which files a name in a patch may mean |
//! | `document` | a file as lines that remember where they come from |
//! | `matching` | where lines occur in a file, exactly or but for whitespace |
//! | `locate` | which of these places a hunk means |
//! | `nearest` | what a hunk that fits nowhere is nearest to |
//! | [`plan`] | what the whole patch changes: all of it or nothing |
//! | [`report`] | how outcomes, questions and refusals read |
//! | [`limits`] | every bound |
//!
//! Nothing here reads a file, keeps state, or knows of an editor.
//!
//! **Invariant: a patch is applied as a whole or not at all.** A plan exists only when every hunk
//! has its place, or is already applied.
//!
//! **Invariant: no place is guessed.** A hunk goes where its lines are; a number, a heading or the
//! order of the hunks decides between several places, and where nothing decides, the caller is told
//! all of them.
//!
//! **Invariant: bytes outside of a change stay as they are.** Context lines keep the file's own
//! whitespace and line endings, whatever the patch has.
//!
//! **Invariant: any text is accepted**, and answered with a plan, a question or a refusal, within a
//! bounded amount of work.
#![forbid(unsafe_code)]

mod document;
pub mod limits;
mod locate;
mod matching;
pub mod model;
mod nearest;
mod parse;
pub mod plan;
pub mod report;
pub mod scope;

pub use document::Splice;
pub use matching::Tolerance;
pub use model::{Attributes, Format, Patch};
pub use nearest::{Difference, Nearest};
pub use parse::{ParseError, ParseErrorKind};
pub use plan::{
    Candidate, Choice, FileChange, FileSource, HunkOutcome, HunkState, Obstacle, Plan, Problem,
    ProblemKind, Question,
};
pub use scope::PathScope;
