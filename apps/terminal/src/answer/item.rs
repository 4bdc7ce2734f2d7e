//! What an output tells of that calls can name: problems, failed tests, and what git told of.

use std::path::Path;

use docui::Object;
use pipemux_problems::model::{Commit, FileState, GitFile, Hunk};
use pipemux_problems::{Place, Problem, Report, Severity, TestFailure};

use super::details::{cut, short};
use crate::display::below;
use crate::job::Job;

/// Characters of a commit's hash that are shown.
const HASH_SHOWN: usize = 10;

/// An item of an output that calls can name.
pub(super) enum Item<'r> {
    Problem(usize, &'r Problem),
    Failure(usize, &'r TestFailure),
    /// A file in git's output.
    File(usize, &'r GitFile),
    /// A hunk of a file in git's output.
    Hunk(usize, usize, &'r GitFile, &'r Hunk),
    Commit(usize, &'r Commit),
}

impl Item<'_> {
    pub(super) fn key(&self, job: &Job) -> String {
        let job = job.name();
        match self {
            Self::Problem(index, _) => format!("{job}.p{index}"),
            Self::Failure(index, _) => format!("{job}.t{index}"),
            Self::File(index, _) => format!("{job}.f{index}"),
            Self::Hunk(file, index, ..) => format!("{job}.f{file}h{index}"),
            Self::Commit(index, _) => format!("{job}.m{index}"),
        }
    }

    /// Returns where it is, as it is shown: `src/a.rs:31`.
    pub(super) fn place(&self, job: &Job) -> Option<String> {
        let shown = |place: &Place| short_place(place, &job.order.cwd);
        match self {
            Self::Problem(_, problem) => problem.place.as_ref().map(shown),
            Self::Failure(_, failure) => failure.place.as_ref().map(shown),
            Self::File(_, file) => Some(file.path.clone()),
            Self::Hunk(_, _, file, hunk) => Some(format!("{}:{}", file.path, hunk.new_line.max(1))),
            Self::Commit(..) => None,
        }
    }

    pub(super) fn label(&self, job: &Job) -> String {
        let place = self.place(job).map(|place| format!("{place} ")).unwrap_or_default();
        match self {
            Self::Problem(_, problem) => {
                let code = problem.code.as_ref().map(|code| format!("{code} ")).unwrap_or_default();
                let times =
                    if problem.count > 1 { format!(" ×{}", problem.count) } else { String::new() };
                cut(&format!("{} {code}{place}{}{times}", problem.severity, problem.message))
            }
            Self::Failure(_, failure) => {
                let mut label = format!("failed {} {place}{}", failure.name, failure.assertion);
                label.truncate(label.trim_end().len());
                cut(&label)
            }
            Self::File(_, file) => cut(&file_label(file)),
            Self::Hunk(..) => cut(place.trim_end()),
            Self::Commit(_, commit) => cut(&commit_label(commit)),
        }
    }

    pub(super) fn object(&self, job: &Job) -> Object {
        // A backtick would have to be escaped in a label, which costs more than it says.
        Object::new(self.key(job), self.label(job).replace('`', "'"))
    }

    /// Returns the lines below it, quoted: no line that a program prints can pass for one of the
    /// answer's own.
    pub(super) fn quoted(&self) -> String {
        self.detail().iter().map(|line| format!("> {line}\n")).collect()
    }

    fn detail(&self) -> Vec<String> {
        match self {
            Self::Problem(_, problem) => short(&problem.detail),
            Self::Failure(_, failure) => short(&failure.detail),
            Self::File(..) | Self::Hunk(..) | Self::Commit(..) => Vec::new(),
        }
    }

    pub(super) fn at(&self) -> u64 {
        match self {
            Self::Problem(_, problem) => problem.at,
            Self::Failure(_, failure) => failure.at,
            Self::File(_, file) => file.at,
            Self::Hunk(_, _, _, hunk) => hunk.at,
            Self::Commit(_, commit) => commit.at,
        }
    }
}

/// Returns the object that a key names: a problem, a failed test, or what git told of.
pub fn problem_object(job: &Job, report: &Report, part: &str) -> Option<Object> {
    let (kind, index) = part.split_at_checked(1)?;
    let (index, hunk) = match index.split_once('h') {
        Some((index, hunk)) if kind == "f" => (index, Some(hunk.parse::<usize>().ok()?)),
        _ => (index, None),
    };
    let index: usize = index.parse().ok()?;
    let item = match kind {
        "p" => Item::Problem(index, report.problems.get(index)?),
        "t" => Item::Failure(index, report.failures.get(index)?),
        "m" => Item::Commit(index, report.git.commits.get(index)?),
        "f" => {
            let file = report.git.files.get(index)?;
            match hunk {
                Some(hunk) => Item::Hunk(index, hunk, file, file.hunks.get(hunk)?),
                None => Item::File(index, file),
            }
        }
        _ => return None,
    };
    Some(item.object(job))
}

/// Returns a place as it is shown, relative to the directory of the command if it is below it.
fn short_place(place: &Place, cwd: &Path) -> String {
    let file = below(Path::new(&place.file), cwd).display();
    match place.line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_string(),
    }
}

/// Returns errors, failed tests and what is less, the most important first.
pub(super) fn problem_items(report: &Report) -> Vec<Item<'_>> {
    let of = |severity: Severity| {
        let problems = report.problems.iter().enumerate();
        problems
            .filter(move |(_, problem)| problem.severity == severity)
            .map(|(index, problem)| Item::Problem(index, problem))
    };
    let failures =
        report.failures.iter().enumerate().map(|(index, failure)| Item::Failure(index, failure));
    let less = of(Severity::Warning).chain(of(Severity::Note));
    of(Severity::Error).chain(failures).chain(less).collect()
}

/// Returns what git told of: each file before its hunks.
pub(super) fn git_items(report: &Report) -> Vec<Item<'_>> {
    let files = report.git.files.iter().enumerate().flat_map(|(at, file)| {
        let hunks = file.hunks.iter().enumerate();
        let hunks = hunks.map(move |(index, hunk)| Item::Hunk(at, index, file, hunk));
        std::iter::once(Item::File(at, file)).chain(hunks)
    });
    let commits = report.git.commits.iter().enumerate();
    commits.map(|(index, commit)| Item::Commit(index, commit)).chain(files).collect()
}

/// Returns the hunks and the files without any: where there is something to look at.
pub(super) fn git_places(report: &Report) -> Vec<Item<'_>> {
    let is_place = |item: &Item<'_>| match item {
        Item::File(_, file) => file.hunks.is_empty() && file.state != FileState::Deleted,
        Item::Hunk(_, _, file, _) => file.state != FileState::Deleted,
        _ => false,
    };
    git_items(report).into_iter().filter(is_place).collect()
}

/// Describes a file: `modified src/a.rs +2 -1`, `staged: renamed b.txt from a.txt`.
fn file_label(file: &GitFile) -> String {
    let state = match file.state {
        FileState::Added => "added",
        FileState::Modified => "modified",
        FileState::Deleted => "deleted",
        FileState::Renamed => "renamed",
        FileState::Copied => "copied",
        FileState::Untracked => "untracked",
        FileState::Unmerged => "unmerged",
    };
    let staged = if file.staged == Some(true) { "staged: " } else { "" };
    let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
    let lines = match file.added + file.removed {
        0 => String::new(),
        _ => format!(" +{} -{}", file.added, file.removed),
    };
    format!("{staged}{state} {}{from}{lines}", file.path)
}

/// Describes a commit: `9fceb02d0a Mend the sum`.
fn commit_label(commit: &Commit) -> String {
    let hash: String = commit.id.chars().take(HASH_SHOWN).collect();
    format!("{hash} {}", commit.subject)
}
