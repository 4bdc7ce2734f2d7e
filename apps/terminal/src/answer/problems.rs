//! Problems and failed tests, listed with what matters of them.

use docui::{Object, tokens};
use pipemux_problems::{Comparison, Problem, Report, Severity};

use super::brief::{brief, changes};
use super::content::{Answer, Piece, REF_TOKENS};
use super::item::{Item, git_items, git_places, problem_items};
use super::rest;
use crate::job::{Ended, Job};
use crate::limits::{DETAILED, LISTED, REST_TOKENS};

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

/// Returns the problems and failed tests with what matters of them; none if nothing was recognised.
pub fn listed(job: &Job, ended: &Ended, budget: u64) -> Option<Answer> {
    let report = &ended.report;
    let tests = report.tests;
    let items = problem_items(report);
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
    Some(Answer { brief: brief(job, ended, true), pieces })
}

fn is_warning(item: &Item<'_>) -> bool {
    matches!(item, Item::Problem(_, problem) if problem.severity != Severity::Error)
}

/// Adds refs to the problems of an output that is shown as it is.
pub fn refs(ended: &Ended, job: &Job, pieces: &mut Vec<Piece>) {
    let mut all = problem_items(&ended.report);
    if all.is_empty() {
        all = git_places(&ended.report);
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
    let mut items = problem_items(report);
    items.extend(git_items(report));
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
        Some(ended) => brief(job, ended, true),
        None => format!("runs · {}", report.summary()),
    };
    Answer { brief, pieces }
}
