//! What a report has: problems, test results, and what git told.

use std::fmt;

use crate::transcript::Entry;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A problem that makes the command fail.
    Error,
    /// A problem that a tool warns about.
    Warning,
    /// A problem that a tool only mentions.
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

/// A place in a file, as the tool reported it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The path as it was printed.
    pub file: String,
    /// The line, counted from 1.
    pub line: Option<u32>,
    /// The column, counted from 1 as the tool counts columns.
    pub column: Option<u32>,
    /// The directory that a relative path starts from, if the output named one (`make -C`).
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

/// A problem that a tool reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub severity: Severity,
    /// The tool's name for this kind of problem: `E0308`, `TS2322`, `no-undef`,
    /// `-Wunused-variable`.
    pub code: Option<String>,
    /// The place of the problem, if the tool reported one.
    pub place: Option<Place>,
    /// The description of the problem, in one line.
    pub message: String,
    /// The lines below the message, at most [`crate::limits::DETAIL_LINES`].
    pub detail: Vec<String>,
    /// The first line of the output that reports the problem, counted from 1.
    pub at: u64,
    /// The number of times that the output reports the problem.
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFailure {
    /// The name by which the test runner selects the test, where it prints one.
    pub name: String,
    /// The place in the project that the failure came from.
    pub place: Option<Place>,
    /// The assertion or the exception, in one line. It is empty when the runner printed none.
    pub assertion: String,
    /// The lines that matter below the name, at most [`crate::limits::DETAIL_LINES`].
    pub detail: Vec<String>,
    /// The line of the output that reports the failure, counted from 1.
    pub at: u64,
}

/// The numbers of tests, as the test runners counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed or could not be set up.
    pub failed: u64,
    /// Tests that were left out.
    pub skipped: u64,
}

/// The numbers of problems, including those that were not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProblemCounts {
    pub errors: u64,
    pub warnings: u64,
    /// Notes that stand alone.
    pub notes: u64,
}

/// The state of a file, as git reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    Added,
    /// The file's content or mode changed.
    Modified,
    Deleted,
    Renamed,
    /// The file is a copy of another one.
    Copied,
    /// Git doesn't know it.
    Untracked,
    /// The file has conflicts.
    Unmerged,
}

/// The line ranges in a hunk's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The hunk's first line in the old file.
    pub old_line: u32,
    /// The number of lines that the hunk has in the old file.
    pub old_count: u32,
    /// The hunk's first line in the new file.
    pub new_line: u32,
    /// The number of lines that the hunk has in the new file.
    pub new_count: u32,
    /// The line of the output where the hunk begins, counted from 1.
    pub at: u64,
}

/// A file in git's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFile {
    pub path: String,
    /// The file's former path, if it was renamed or copied.
    pub from: Option<String>,
    pub state: FileState,
    /// Whether the change is in the index; `None` if the command doesn't show that.
    pub staged: Option<bool>,
    /// Lines that were added, in a diff.
    pub added: u64,
    /// Lines that were removed, in a diff.
    pub removed: u64,
    /// The hunks, in a diff.
    pub hunks: Vec<Hunk>,
    /// The line of the output that reports the file, counted from 1.
    pub at: u64,
}

/// A commit in git's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// The commit's hash, shortened if it was printed so.
    pub id: String,
    pub author: Option<String>,
    /// The date, as it was printed.
    pub date: Option<String>,
    /// The first line of the commit message.
    pub subject: String,
    /// The line of the output where the commit begins, counted from 1.
    pub at: u64,
}

/// The information from the output of git's status, diff and log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitReport {
    pub branch: Option<String>,
    /// Files, in the order of the output.
    pub files: Vec<GitFile>,
    /// Commits, in the order of the output.
    pub commits: Vec<Commit>,
    /// The number of files and commits that were not kept.
    pub left_out: u64,
}

/// The relevant contents of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The different problems, in the order of the output.
    pub problems: Vec<Problem>,
    /// The numbers of problems, including those beyond [`crate::limits::PROBLEMS_MAX`].
    pub counts: ProblemCounts,
    /// The failed tests, in the order of the output.
    pub failures: Vec<TestFailure>,
    /// The number of failed tests that were not kept.
    pub failures_left_out: u64,
    pub tests: TestCounts,
    /// The information from git's output.
    pub git: GitReport,
    /// The output with similar lines folded.
    pub transcript: Vec<Entry>,
    pub lines: u64,
    pub bytes: u64,
}

impl Report {
    /// A one-line summary: `3 errors, 2 warnings · 5 failed, 12 passed · 412 lines`.
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
