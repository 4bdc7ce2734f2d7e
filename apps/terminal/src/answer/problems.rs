//! Problems and failed tests, and what git told of, as things that calls can name.

use std::path::Path;

use docui::{Object, tokens};
use pipemux_problems::model::{Commit, GitFile, Hunk};
use pipemux_problems::{Comparison, Place, Problem, Report, Severity, TestFailure};

use super::details::{cut, short};
use super::{Answer, Piece, REF_TOKENS, git, plain, rest};
use crate::job::{Ended, Job};
use crate::limits::{DETAILED, LISTED, REST_TOKENS};
use crate::model::below;

/// What an output tells of that calls can name.
pub(super) enum Item<'r> {
    Problem(usize, &'r Problem),
    Failure(usize, &'r TestFailure),
    /// A file that git told of.
    File(usize, &'r GitFile),
    /// A hunk of such a file.
    Hunk(usize, usize, &'r GitFile, &'r Hunk),
    Commit(usize, &'r Commit),
}

impl Item<'_> {
    fn key(&self, job: &Job) -> String {
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
    fn place(&self, job: &Job) -> Option<String> {
        let shown = |place: &Place| short_place(place, &job.order.cwd);
        match self {
            Self::Problem(_, problem) => problem.place.as_ref().map(shown),
            Self::Failure(_, failure) => failure.place.as_ref().map(shown),
            Self::File(_, file) => Some(file.path.clone()),
            Self::Hunk(_, _, file, hunk) => Some(format!("{}:{}", file.path, hunk.new_line.max(1))),
            Self::Commit(..) => None,
        }
    }

    fn label(&self, job: &Job) -> String {
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
            Self::File(_, file) => cut(&git::file_label(file)),
            Self::Hunk(..) => cut(place.trim_end()),
            Self::Commit(_, commit) => cut(&git::commit_label(commit)),
        }
    }

    pub(super) fn object(&self, job: &Job) -> Object {
        // A backtick would have to be escaped in a label, which costs more than it says.
        Object::new(self.key(job), self.label(job).replace('`', "'"))
    }

    /// Returns the lines below it, quoted: no line that a program prints can pass for one of the
    /// answer's own.
    fn quoted(&self) -> String {
        self.detail().iter().map(|line| format!("> {line}\n")).collect()
    }

    fn detail(&self) -> Vec<String> {
        match self {
            Self::Problem(_, problem) => short(&problem.detail),
            Self::Failure(_, failure) => short(&failure.detail),
            Self::File(..) | Self::Hunk(..) | Self::Commit(..) => Vec::new(),
        }
    }

    fn at(&self) -> u64 {
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

/// Returns what changed since the run before: `2 fixed, 1 new, 3 still there`; empty if there was
/// none or it had nothing.
pub fn changes(job: &Job, ended: &Ended) -> String {
    let Some(before) = &job.compared() else { return String::new() };
    if before.problems.is_empty() && before.failures.is_empty() {
        return String::new();
    }
    Comparison::of(before, &ended.report).summary()
}

/// Returns a test of what the run before had, too.
fn known(job: &Job, report: &Report) -> impl Fn(&Item<'_>) -> bool + use<> {
    let before = job.compared();
    let (problems, failures) =
        before.map(|before| Comparison::known(&before, report)).unwrap_or_default();
    move |item| match item {
        Item::Problem(index, _) => problems.contains(index),
        Item::Failure(index, _) => failures.contains(index),
        // What git tells isn't compared.
        Item::File(..) | Item::Hunk(..) | Item::Commit(..) => false,
    }
}

/// Returns how many errors and failed tests, and how many warnings and notes, were counted and not
/// kept.
fn not_kept(report: &Report) -> (u64, u64) {
    let kept = |errors: bool| {
        let alike = |problem: &&Problem| (problem.severity == Severity::Error) == errors;
        report.problems.iter().filter(alike).count() as u64
    };
    let counts = report.counts;
    (
        counts.errors.saturating_sub(kept(true)) + report.failures_left_out,
        (counts.warnings + counts.notes).saturating_sub(kept(false)),
    )
}

/// Returns errors, failed tests and what is less, the most important first.
fn items(report: &Report) -> Vec<Item<'_>> {
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

/// Returns the problems and failed tests with what matters of them; none if nothing was recognised.
pub fn listed(job: &Job, ended: &Ended, budget: u64) -> Option<Answer> {
    let report = &ended.report;
    let tests = report.tests;
    let items = items(report);
    if items.is_empty() && tests.passed + tests.failed + tests.skipped == 0 {
        return None;
    }
    let has_errors = items.iter().any(|item| !is_warning(item));
    // What a command that failed warns of is asked for when its errors are mended.
    let shown: Vec<&Item<'_>> =
        items.iter().filter(|item| !has_errors || !is_warning(item)).collect();
    let known = known(job, report);
    let is_compared = !changes(job, ended).is_empty();
    let (mut new, mut old): (Vec<&Item<'_>>, Vec<&Item<'_>>) =
        shown.into_iter().partition(|item| !known(item));
    let (errors_not_kept, less_not_kept) = not_kept(report);
    let not_kept = errors_not_kept + if has_errors { 0 } else { less_not_kept };
    let listed = (new.len() + old.len()) as u64 + not_kept;
    new.append(&mut old);
    let mut pieces = Vec::new();
    // What isn't recognised has its room, however many problems there are.
    let mut left = budget.saturating_sub(REST_TOKENS.min(budget / 4));
    let mut written = 0;
    for item in new.into_iter().take(LISTED) {
        let is_known = known(item);
        let mark = if is_compared && !is_known { "new: " } else { "" };
        let object = item.object(job);
        let mut below = String::from("\n");
        if !is_known && !is_warning(item) && written < DETAILED {
            below += &item.quoted();
        }
        let price = tokens::estimate(object.label()) + tokens::estimate(&below) + REF_TOKENS;
        if price > left {
            break;
        }
        left -= price;
        written += 1;
        if !mark.is_empty() {
            pieces.push(Piece::Text(mark.to_owned()));
        }
        pieces.push(Piece::Object(object));
        pieces.push(Piece::Text(below));
    }
    if (written as u64) < listed {
        let command = format!("pipemux ask 'terminal.problems(\"{}\")'", job.name());
        pieces.push(Piece::Text(format!("… {} more: {command}\n", listed - written as u64)));
    }
    let room = left + REST_TOKENS.min(budget / 4);
    pieces.extend(rest::piece(job, report, has_errors, room));
    Some(Answer { brief: plain::brief(job, ended, true), pieces })
}

fn is_warning(item: &Item<'_>) -> bool {
    matches!(item, Item::Problem(_, problem) if problem.severity != Severity::Error)
}

/// Adds refs to the problems of an output that is shown as it is.
pub fn refs(ended: &Ended, job: &Job, pieces: &mut Vec<Piece>) {
    let mut all = items(&ended.report);
    if all.is_empty() {
        all = git::places(&ended.report);
    }
    let placed: Vec<Item<'_>> = all.into_iter().filter(|item| item.place(job).is_some()).collect();
    for (index, item) in placed.iter().take(DETAILED).enumerate() {
        let label = item.place(job).unwrap_or_default();
        let space = if index > 0 { " " } else { "" };
        pieces.push(Piece::Text(space.to_owned()));
        pieces.push(Piece::Object(Object::new(item.key(job), label)));
    }
    if !placed.is_empty() {
        pieces.push(Piece::Text("\n".to_owned()));
    }
}

/// Returns all problems and failed tests with their details, and what the run before had and this
/// one hasn't.
pub fn all_problems(job: &Job, ended: Option<&Ended>, report: &Report, budget: u64) -> Answer {
    let known = known(job, report);
    let mut pieces = Vec::new();
    let mut left = budget;
    let mut more = 0;
    let mut items = items(report);
    items.extend(git::items(report));
    let is_compared = ended.is_some_and(|ended| !changes(job, ended).is_empty());
    for item in &items {
        let mark = match is_compared {
            true if !known(item) => "new: ",
            _ => "",
        };
        let object = item.object(job);
        let mut below = format!(" line {}\n", item.at());
        below += &item.quoted();
        let price = tokens::estimate(object.label()) + tokens::estimate(&below) + REF_TOKENS;
        if price > left || more > 0 {
            more += 1;
            continue;
        }
        left -= price;
        pieces.extend([Piece::Text(mark.to_owned()), Piece::Object(object), Piece::Text(below)]);
    }
    if more > 0 {
        pieces.push(Piece::Text(format!("… {more} more: --budget {}\n", budget.saturating_mul(2))));
    }
    let (errors_not_kept, less_not_kept) = not_kept(report);
    if errors_not_kept + less_not_kept > 0 {
        let command = format!("pipemux ask 'terminal.find(\"error\", job=\"{}\")'", job.name());
        let count = errors_not_kept + less_not_kept;
        pieces.push(Piece::Text(format!("… {count} further ones were only counted: {command}\n")));
    }
    if let Some(before) = job.compared().filter(|_| is_compared) {
        let comparison = Comparison::of(&before, report);
        let fixed = comparison
            .fixed
            .iter()
            .enumerate()
            .map(|(index, problem)| Item::Problem(index, problem));
        let tests = comparison.fixed_tests.iter().enumerate();
        let fixed = fixed.chain(tests.map(|(index, failure)| Item::Failure(index, failure)));
        for item in fixed.take(LISTED) {
            pieces.push(Piece::Text(format!("fixed: {}\n", item.label(job))));
        }
    }
    let brief = match ended {
        Some(ended) => plain::brief(job, ended, true),
        None => format!("runs · {}", report.summary()),
    };
    Answer { brief, pieces }
}
