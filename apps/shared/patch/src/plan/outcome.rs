//! The changes of a patch, or the reason why there are none.

use std::path::PathBuf;

use crate::document::Splice;
use crate::matching::Tolerance;
use crate::model::Name;
use crate::nearest::Nearest;
use crate::scope::NameError;

/// The changes of a whole patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The change of each path, one per path, in the order of the patch.
    pub files: Vec<FileChange>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: PathBuf,
    /// The path that the text comes from, if it is another one.
    pub from: Option<PathBuf>,
    /// True if the text is a copy of the one at `from`.
    pub copied: bool,
    /// True if the file was moved to another path.
    pub moved_away: bool,
    /// True if there was a file or a link at `path` before.
    pub existed: bool,
    /// True if it was a link.
    pub was_link: bool,
    /// True if the result is a link, whose text is its target.
    pub link: bool,
    /// True if another file replaces this one: the patch deletes it and adds it again.
    pub rewritten: bool,
    /// The text after the change; `None` if the file is deleted.
    pub text: Option<String>,
    /// Whether the result is executable; `None` if the patch doesn't specify it.
    pub executable: Option<bool>,
    /// What leads there from the text of `from`, or of `path`; empty for a new, rewritten or
    /// deleted file.
    pub splices: Vec<Splice>,
    pub hunks: Vec<HunkOutcome>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkOutcome {
    /// The line of the patch where it begins.
    pub at: usize,
    /// The number of the first new line, or of the line that now stands where lines went, from 1.
    pub first: usize,
    /// The number of lines from the first to the last new one.
    pub lines: usize,
    /// The number of added lines.
    pub added: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// The result of placing the hunk.
    pub state: HunkState,
}

/// The result of placing a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HunkState {
    /// Applied, found like this.
    Applied(Tolerance),
    /// The new lines were already there.
    Already,
    /// Left out, as the caller chose.
    LeftOut,
}

/// The reason why there is no plan. Nothing of the patch may be applied.
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
    /// The line of the patch where the hunk begins, which identifies the hunk.
    pub at: usize,
    pub path: PathBuf,
    pub candidates: Vec<Candidate>,
    /// The tolerance with which the candidates were found.
    pub tolerance: Tolerance,
}

/// A place where a hunk fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The number of the first line that would change, or that new lines would come before, from 1;
    /// past the last line where they come at the end.
    pub line: usize,
    /// The text of that line, or of the last line.
    pub text: String,
    /// The line with less indentation above it, which tells what the place belongs to: number,
    /// text.
    pub inside: Option<(usize, String)>,
}

/// The reason why a section or a hunk can't be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the patch where it begins.
    pub at: usize,
    /// The path of the file, or its name as written in the patch.
    pub path: PathBuf,
    pub kind: ProblemKind,
}

/// The reason why a part of a patch can't be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The name points outside of the project.
    Outside,
    /// The name isn't valid for a file.
    InvalidName,
    /// The file doesn't exist.
    Missing,
    /// The file to create exists already, with a different text of this number of lines.
    Exists(usize),
    /// The file is binary or can't be read.
    Unreadable(String),
    /// The hunk's lines aren't in the file.
    Nowhere(Option<Nearest>),
    /// The hunk has no line that determines its place.
    NoContext,
    /// The hunk overlaps a change of another hunk.
    Overlap,
    /// The hunk fits in too many places to list, or the choice is not one of them.
    TooMany,
    /// The file's content differs from the one that the patch deletes.
    DeletesOther,
    /// The path is a link to this target, through which no file's text can be reached.
    IsLink(String),
    /// The path isn't a link, but the patch expects one.
    NoLink,
    /// The patch requires too much work.
    TooMuchWork,
}

impl HunkOutcome {
    /// Returns the number of lines that the file has grown by; negative if it has shrunk.
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
