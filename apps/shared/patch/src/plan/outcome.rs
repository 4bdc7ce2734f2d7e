//! What a patch changes, or why it changes nothing.

use std::path::PathBuf;

use crate::document::Splice;
use crate::matching::Tolerance;
use crate::model::Name;
use crate::nearest::Nearest;
use crate::scope::NameError;

/// All that a patch changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What becomes of each path, once for each, in the order of the patch.
    pub files: Vec<FileChange>,
}

/// What becomes of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The path.
    pub path: PathBuf,
    /// Where its text comes from, if that is another path.
    pub from: Option<PathBuf>,
    /// Whether its text is a copy of the one at `from`.
    pub copied: bool,
    /// Whether nothing is here afterwards because it is elsewhere.
    pub moved_away: bool,
    /// Whether there was a file or a link at `path` before.
    pub existed: bool,
    /// Whether that was a link.
    pub was_link: bool,
    /// Whether a link is there afterwards. Its text is where it leads.
    pub link: bool,
    /// Whether another file comes in its place: the patch deletes it and adds it again.
    pub rewritten: bool,
    /// Its text afterwards; `None` if the file goes.
    pub text: Option<String>,
    /// Whether it is a program afterwards; `None` if the patch doesn't say.
    pub executable: Option<bool>,
    /// What leads there from the text of `from`, or of `path`; empty for a new, rewritten or deleted
    /// file.
    pub splices: Vec<Splice>,
    /// What became of each hunk.
    pub hunks: Vec<HunkOutcome>,
}

/// What became of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkOutcome {
    /// The line of the patch where it begins.
    pub at: usize,
    /// The number of the first new line, or of the line that now stands where lines went, from 1.
    pub first: usize,
    /// How many lines there are from the first to the last new one.
    pub lines: usize,
    /// How many lines came.
    pub added: usize,
    /// How many lines went.
    pub removed: usize,
    /// How it was found.
    pub state: HunkState,
}

/// How a hunk was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkState {
    /// Applied, found like this.
    Applied(Tolerance),
    /// Its new lines were there before.
    Already,
    /// Left out, as the caller chose.
    LeftOut,
}

/// Why there is no plan. Nothing of the patch is to be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Some hunks fit in several places.
    Ask(Vec<Question>),
    /// Something can't be applied.
    Refused(Vec<Problem>),
}

/// A hunk that fits in several places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The line of the patch where it begins; it names the hunk.
    pub at: usize,
    /// The file.
    pub path: PathBuf,
    /// The places.
    pub candidates: Vec<Candidate>,
    /// How they were found.
    pub tolerance: Tolerance,
}

/// A place where a hunk fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The number of the first line that would change, or that new lines would come before, from 1; past the
    /// last line where they come at the end.
    pub line: usize,
    /// That line, or the last one.
    pub text: String,
    /// The line with less indentation above it, which tells what the place belongs to: number, text.
    pub inside: Option<(usize, String)>,
}

/// Why a section or a hunk can't be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the patch where it begins.
    pub at: usize,
    /// The file: its path, or its name as the patch has it.
    pub path: PathBuf,
    /// The reason.
    pub kind: ProblemKind,
}

/// Why something can't be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The name leads out of the project.
    Outside,
    /// The name can't be a file's.
    InvalidName,
    /// There is no such file.
    Missing,
    /// The file to be made is there already, with another text of so many lines.
    Exists(usize),
    /// It is no text, or can't be read.
    Unreadable(String),
    /// The hunk's lines are nowhere in the file.
    Nowhere(Option<Nearest>),
    /// The hunk has no line that says where it goes.
    NoContext,
    /// The hunk changes what another hunk changes.
    Overlap,
    /// The hunk fits in more places than are told apart, or the choice is none of them.
    TooMany,
    /// The file isn't what the patch deletes.
    DeletesOther,
    /// It is a link that leads there, and no file's text can be reached by it.
    IsLink(String),
    /// It is no link, but the patch is about one.
    NoLink,
    /// The patch takes too much work.
    TooMuchWork,
}

impl HunkOutcome {
    /// By how many lines the file has grown.
    pub(crate) fn grown(&self) -> isize {
        self.added.cast_signed() - self.removed.cast_signed()
    }
}

impl Problem {
    pub(super) fn of_name(at: usize, name: &Name, error: NameError) -> Self {
        let kind = match error {
            NameError::Outside => ProblemKind::Outside,
            NameError::Invalid => ProblemKind::InvalidName,
        };
        Self { at, path: PathBuf::from(name.first()), kind }
    }
}
