//! Problems and failed tests as things that calls can name.

use std::collections::BTreeSet;

use docui::{Object, tokens};
use pipemux_problems::{Comparison, Entry, Place, Problem, Report, Severity, TestFailure};

use super::details::{cut, short};
use super::{Answer, Piece, REF_TOKENS, output_command, plain};
use crate::job::{Ended, Job};
use crate::limits::{DETAILED, LISTED, TAIL_SHOWN};

/// A problem or a failed test.
enum Item<'r> {
    Problem(usize, &'r Problem),
    Failure(usize, &'r TestFailure),
}

impl Item<'_> {
    fn key(&self, job: &Job) -> String {
        match self {
            Self::Problem(index, _) => format!("{}.p{index}", job.name()),
            Self::Failure(index, _) => format!("{}.t{index}", job.name()),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Problem(_, problem) => problem.place.as_ref(),
            Self::Failure(_, failure) => failure.place.as_ref(),
        }
    }

    fn label(&self) -> String {
        let place =
            self.place().map(|place| format!("{} ", short_place(place))).unwrap_or_default();
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
        }
    }

    fn object(&self, job: &Job) -> Object {
        // A backtick would have to be escaped in a label, which costs more than it says.
        Object::new(self.key(job), self.label().replace('`', "'"))
    }

    fn detail(&self) -> Vec<String> {
        match self {
            Self::Problem(_, problem) => short(&problem.detail),
            Self::Failure(_, failure) => short(&failure.detail),
        }
    }

    fn at(&self) -> u64 {
        match self {
            Self::Problem(_, problem) => problem.at,
            Self::Failure(_, failure) => failure.at,
        }
    }
}

/// Returns the object of a problem or a failed test, for a key that names one.
pub fn problem_object(job: &Job, report: &Report, part: &str) -> Option<Object> {
    let (kind, index) = part.split_at_checked(1)?;
    let index: usize = index.parse().ok()?;
    let item = match kind {
        "p" => Item::Problem(index, report.problems.get(index)?),
        "t" => Item::Failure(index, report.failures.get(index)?),
        _ => return None,
    };
    Some(item.object(job))
}

fn short_place(place: &Place) -> String {
    match place.line {
        Some(line) => format!("{}:{line}", place.file),
        None => place.file.clone(),
    }
}

/// Returns what changed since the run before: `2 fixed, 1 new, 3 still there`; empty if there was none or it had nothing.
pub fn changes(job: &Job, ended: &Ended) -> String {
    let Some(before) = &job.compared() else { return String::new() };
    if before.problems.is_empty() && before.failures.is_empty() {
        return String::new();
    }
    Comparison::of(before, &ended.report).summary()
}

/// What the run before had, too, by the lines that tell it.
fn known(job: &Job, report: &Report) -> BTreeSet<u64> {
    let Some(before) = &job.compared() else { return BTreeSet::new() };
    let comparison = Comparison::of(before, report);
    let problems = comparison.still.iter().map(|problem| problem.at);
    problems.chain(comparison.still_failing.iter().map(|failure| failure.at)).collect()
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
    of(Severity::Error).chain(failures).chain(of(Severity::Warning)).collect()
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
        shown.into_iter().partition(|item| !known.contains(&item.at()));
    let listed = new.len() + old.len();
    new.append(&mut old);
    let mut pieces = Vec::new();
    let mut left = budget;
    let mut written = 0;
    for item in new.into_iter().take(LISTED) {
        let is_known = known.contains(&item.at());
        let mark = if is_compared && !is_known { "new: " } else { "" };
        let object = item.object(job);
        let mut below = String::from("\n");
        if !is_known && !is_warning(item) && written < DETAILED {
            item.detail().iter().for_each(|line| below += &format!("  {line}\n"));
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
    if written < listed {
        let command = format!("pipemux ask 'terminal.problems(\"{}\")'", job.name());
        pieces.push(Piece::Text(format!("… {} more: {command}\n", listed - written)));
    }
    if !has_errors {
        rest(job, ended, left, &mut pieces);
    }
    Some(Answer { brief: plain::brief(job, ended, true), pieces })
}

fn is_warning(item: &Item<'_>) -> bool {
    matches!(item, Item::Problem(_, problem) if problem.severity != Severity::Error)
}

/// Adds the newest lines that belong to nothing that was recognised: what a program printed that was built and run.
fn rest(job: &Job, ended: &Ended, budget: u64, pieces: &mut Vec<Piece>) {
    let report = &ended.report;
    let text = |entry: &Entry| match entry {
        Entry::Line { text, problem: false, detail: false, progress: false, .. } => {
            let text = text.trim_end();
            (!text.is_empty() && !is_bookkeeping(text)).then(|| cut(text))
        }
        Entry::Similar { .. } | Entry::LeftOut { .. } | Entry::Line { .. } => None,
    };
    let lines: Vec<String> = report.transcript.iter().filter_map(text).collect();
    let shown = &lines[lines.len().saturating_sub(TAIL_SHOWN)..];
    if shown.is_empty() || tokens::estimate(&shown.join("\n")) > budget {
        return;
    }
    if shown.len() < lines.len() {
        let command = output_command(job, 1, report.lines);
        pieces
            .push(Piece::Text(format!("… {} more lines: {command}\n", lines.len() - shown.len())));
    }
    pieces.push(Piece::Lines(shown.join("\n") + "\n"));
}

/// Returns true for what tools say of their own work, which the verdict says, too.
fn is_bookkeeping(line: &str) -> bool {
    let line = line.trim_matches([' ', '=', '-', '_']);
    const STARTS: &[&str] = &[
        "Finished `",
        "Running `",
        "Running unittests",
        "Running tests",
        "Doc-tests ",
        "running ",
        "test result:",
        "test session starts",
        "platform ",
        "rootdir:",
        "plugins:",
        "cachedir:",
        "collected ",
        "warning: `",
        "warnings summary",
        "short test summary",
        "Ran ",
        "OK",
        "Executable ",
        "configfile:",
        "collecting",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
        || line.contains(" passed")
        || line.contains(" warning emitted")
}

/// Adds refs to the problems of an output that is shown as it is.
pub fn refs(ended: &Ended, job: &Job, pieces: &mut Vec<Piece>) {
    let placed: Vec<Item<'_>> =
        items(&ended.report).into_iter().filter(|item| item.place().is_some()).collect();
    for (index, item) in placed.iter().take(DETAILED).enumerate() {
        let label = item.place().map(short_place).unwrap_or_default();
        let space = if index > 0 { " " } else { "" };
        pieces.push(Piece::Text(space.to_owned()));
        pieces.push(Piece::Object(Object::new(item.key(job), label)));
    }
    if !placed.is_empty() {
        pieces.push(Piece::Text("\n".to_owned()));
    }
}

/// Returns all problems and failed tests with their details, and what the run before had and this one hasn't.
pub fn all_problems(job: &Job, ended: Option<&Ended>, report: &Report, budget: u64) -> Answer {
    let known = known(job, report);
    let mut pieces = Vec::new();
    let mut left = budget;
    let mut more = 0;
    let items = items(report);
    let is_compared = ended.is_some_and(|ended| !changes(job, ended).is_empty());
    for item in &items {
        let mark = match is_compared {
            true if !known.contains(&item.at()) => "new: ",
            _ => "",
        };
        let object = item.object(job);
        let mut below = format!(" line {}\n", item.at());
        item.detail().iter().for_each(|line| below += &format!("  {line}\n"));
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
            pieces.push(Piece::Text(format!("fixed: {}\n", item.label())));
        }
    }
    let brief = match ended {
        Some(ended) => plain::brief(job, ended, true),
        None => format!("runs · {}", report.summary()),
    };
    Answer { brief, pieces }
}
