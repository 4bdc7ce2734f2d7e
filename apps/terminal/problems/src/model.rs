//! What a report has: problems, test results, and what git told.

use std::fmt;

use crate::transcript::Entry;

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// What makes a command fail.
    Error,
    /// What a tool warns of.
    Warning,
    /// What a tool mentions.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// A place in a file, as the tool named it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The path as it was printed.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1 as the tool counts columns.
    pub column: Option<u32>,
    /// The directory that a relative path starts from, when the output told one (`make -C`).
    pub directory: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// What a tool complained of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The tool's name for this kind of problem: `E0308`, `TS2322`, `no-undef`,
    /// `-Wunused-variable`.
    pub code: Option<String>,
    /// Where it is, when the tool says so.
    pub place: Option<Place>,
    /// What is wrong, in one line.
    pub message: String,
    /// The lines below it, at most [`crate::limits::DETAIL_LINES`].
    pub detail: Vec<String>,
    /// The line of the output, counted from 1, that told it first.
    pub at: u64,
    /// How many times the output told it.
    pub count: u64,
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFailure {
    /// The name by which the test runner selects it, where it prints one.
    pub name: String,
    /// Where it failed: the place in the project that the failure came from.
    pub place: Option<Place>,
    /// The assertion or the exception, in one line. It is empty when the runner printed none.
    pub assertion: String,
    /// The lines that matter below it, at most [`crate::limits::DETAIL_LINES`].
    pub detail: Vec<String>,
    /// The line of the output, counted from 1, where it is told.
    pub at: u64,
}

/// How many tests ran, as the test runners counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed or could not be set up.
    pub failed: u64,
    /// Tests that were left out.
    pub skipped: u64,
}

/// How many problems there are, those that were not kept among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProblemCounts {
    /// How many problems are errors.
    pub errors: u64,
    /// How many problems are warnings.
    pub warnings: u64,
    /// Notes that stand alone.
    pub notes: u64,
}

/// What happened to a file, as git tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// It is new.
    Added,
    /// Its content or mode changed.
    Modified,
    /// It was deleted.
    Deleted,
    /// It has a new name.
    Renamed,
    /// It is a copy.
    Copied,
    /// Git doesn't know it.
    Untracked,
    /// It has conflicts.
    Unmerged,
}

/// The lines of a hunk's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The first line in the old file.
    pub old_line: u32,
    /// How many lines of the old file it has.
    pub old_count: u32,
    /// The first line in the new file.
    pub new_line: u32,
    /// How many lines of the new file it has.
    pub new_count: u32,
    /// The line of the output where it begins, counted from 1.
    pub at: u64,
}

/// A file in the output of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFile {
    /// Its path.
    pub path: String,
    /// Its former path, when it was renamed or copied.
    pub from: Option<String>,
    /// What happened to it.
    pub state: FileState,
    /// Whether the change is in the index; `None` where the command doesn't tell.
    pub staged: Option<bool>,
    /// Lines that were added, in a diff.
    pub added: u64,
    /// Lines that were removed, in a diff.
    pub removed: u64,
    /// The hunks of a diff.
    pub hunks: Vec<Hunk>,
    /// The line of the output where it is told, counted from 1.
    pub at: u64,
}

/// A commit in the output of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its hash, as long as it was printed.
    pub id: String,
    /// Who wrote it.
    pub author: Option<String>,
    /// When, as it was printed.
    pub date: Option<String>,
    /// The first line of its message.
    pub subject: String,
    /// The line of the output where it begins, counted from 1.
    pub at: u64,
}

/// What git's status, diff and log told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitReport {
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Files, in the order of the output.
    pub files: Vec<GitFile>,
    /// Commits, in the order of the output.
    pub commits: Vec<Commit>,
    /// How many files and commits were not kept.
    pub left_out: u64,
}

/// What matters of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The different problems, in the order of the output.
    pub problems: Vec<Problem>,
    /// How many problems there are, those beyond [`crate::limits::PROBLEMS_MAX`] among them.
    pub counts: ProblemCounts,
    /// The failed tests, in the order of the output.
    pub failures: Vec<TestFailure>,
    /// How many failed tests were not kept.
    pub failures_left_out: u64,
    /// The numbers of tests.
    pub tests: TestCounts,
    /// What git told.
    pub git: GitReport,
    /// The output with similar lines folded.
    pub transcript: Vec<Entry>,
    /// How many lines the output has.
    pub lines: u64,
    /// How many bytes the output has.
    pub bytes: u64,
}

impl Report {
    /// What was found, in one line: `3 errors, 2 warnings · 5 failed, 12 passed · 412 lines`.
    #[must_use]
    pub fn summary(&self) -> String {
        let counts = self.counts;
        let listed = self.failures.len() as u64 + self.failures_left_out;
        // A runner that was killed told its failures, but not how many there were.
        let failed = self.tests.failed.max(listed);
        let problems = [
            plural(counts.errors, "error"),
            plural(counts.warnings, "warning"),
            plural(counts.notes, "note"),
        ];
        let tests = [
            counted(failed, "failed"),
            counted(self.tests.passed, "passed"),
            counted(self.tests.skipped, "skipped"),
        ];
        let lines = plural(self.lines, "line").unwrap_or_else(|| "no output".to_owned());
        let parts = [join(problems), join(tests), Some(lines)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

fn plural(count: u64, word: &str) -> Option<String> {
    let ending = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{count} {word}{ending}"))
}

fn counted(count: u64, word: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} {word}"))
}

fn join(parts: [Option<String>; 3]) -> Option<String> {
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
