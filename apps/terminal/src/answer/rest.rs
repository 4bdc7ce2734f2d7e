//! The output lines that no recogniser claimed: those that look like errors, and the newest ones.

use std::collections::HashSet;

use docui::tokens;
use pipemux_problems::{Entry, Report};

use super::content::{Piece, output_command};
use super::details::cut;
use crate::job::Job;
use crate::limits::{SUSPECTS_SHOWN, TAIL_FAILED, TAIL_SHOWN};

/// One or several lines that weren't recognised.
struct Unknown {
    /// The text, if it is a single line.
    text: Option<String>,
    /// Whether a line looks like an error.
    suspect: bool,
    count: u64,
}

fn unknown(report: &Report) -> Vec<Unknown> {
    // Some tools name a file in a line of its own above its problems.
    let files: HashSet<&str> = report
        .problems
        .iter()
        .filter_map(|problem| problem.place.as_ref())
        .map(|place| &*place.file)
        .collect();
    let of = |entry: &Entry| match entry {
        Entry::Line { text, problem: false, detail: false, progress: false, suspect, .. } => {
            let text = text.trim_end();
            let is_said = text.is_empty() || is_bookkeeping(text) || files.contains(text);
            (!is_said).then(|| Unknown { text: Some(cut(text)), suspect: *suspect, count: 1 })
        }
        Entry::Similar { count, known: false, .. } | Entry::LeftOut { count, .. } => {
            Some(Unknown { text: None, suspect: false, count: *count })
        }
        Entry::Similar { .. } | Entry::Line { .. } => None,
    };
    report.transcript.iter().filter_map(of).collect()
}

/// Returns how many lines nobody recognised.
pub fn count(report: &Report) -> u64 {
    unknown(report).iter().map(|unknown| unknown.count).sum()
}

/// Returns the lines that look like errors and the newest ones, with the numbers of those between
/// them, within about so many tokens.
pub fn piece(job: &Job, report: &Report, has_errors: bool, budget: u64) -> Option<Piece> {
    let lines = unknown(report);
    let all: u64 = lines.iter().map(|unknown| unknown.count).sum();
    if all == 0 {
        return None;
    }
    let tail = if has_errors { TAIL_FAILED } else { TAIL_SHOWN };
    for (suspects, tail) in [(SUSPECTS_SHOWN, tail), (SUSPECTS_SHOWN / 3, 2)] {
        let text = selected(&lines, suspects, tail);
        if tokens::estimate(&text) <= budget {
            return Some(Piece::Lines(text));
        }
    }
    let command = output_command(job, 1, report.lines);
    Some(Piece::Text(format!("… {all} more lines: {command}\n")))
}

/// Returns the first and the last ones of those that look like errors, and the newest lines.
fn selected(lines: &[Unknown], suspects: usize, tail: usize) -> String {
    let all = lines.iter().filter(|line| line.suspect).count();
    let mut text = String::new();
    // The newest lines are those behind the last fold.
    let folded = lines.iter().rposition(|line| line.text.is_none()).map_or(0, |last| last + 1);
    let newest = lines.len().saturating_sub(tail).max(folded);
    let (mut hidden, mut seen) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        seen += usize::from(line.suspect);
        let is_end = seen <= suspects / 2 || seen + suspects.div_ceil(2) > all;
        let is_shown = (line.suspect && is_end) || index >= newest;
        match line.text.as_ref().filter(|_| is_shown) {
            Some(shown) => {
                text += &gap(&mut hidden);
                text += shown;
                text.push('\n');
            }
            None => hidden += line.count,
        }
    }
    text + &gap(&mut hidden)
}

fn gap(hidden: &mut u64) -> String {
    match std::mem::take(hidden) {
        0 => String::new(),
        1 => "… 1 line\n".to_owned(),
        count => format!("… {count} lines\n"),
    }
}

/// Returns true for what tools say of their own work, which the verdict says, too.
fn is_bookkeeping(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "Finished `",
        "Running `",
        "Running unittests ",
        "Running tests",
        "Doc-tests ",
        "test session starts",
        "platform linux -- Python",
        "platform darwin -- Python",
        "rootdir: ",
        "plugins: ",
        "cachedir: ",
        "configfile: ",
        "collecting ...",
        "Test Suites: ",
        "Ran all test suites",
        "Snapshots: ",
        "Time:  ",
        "Test Files  ",
        "Start at  ",
        "Duration  ",
        "Build FAILED.",
        "Time Elapsed ",
        "Starting test execution, please wait",
        "A total of 1 test files matched",
        "The above exception was the direct cause of",
        "During handling of the above exception",
        "Interrupted: ",
    ];
    let line = line.trim_matches([' ', '=', '-', '_', '!']);
    // `1 Warning(s)`, the dots of unittest, and the package whose errors Go tells.
    let is_short = line.is_empty()
        || line.ends_with(" Warning(s)")
        || line.ends_with(" Error(s)")
        || (line.len() > 1 && line.chars().all(|c| ".FEsx".contains(c)))
        || line
            .strip_prefix("# ")
            .is_some_and(|name| name.contains(['/', '.']) && !name.contains(' '));
    // With a number behind them.
    let counted = ["running ", "collected "].iter().any(|start| {
        line.strip_prefix(start).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    is_short || counted || STARTS.iter().any(|start| line.starts_with(start))
}
