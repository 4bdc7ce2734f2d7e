//! An output in which nothing was recognised, or that is short: as it is, or folded.

use docui::tokens;
use pipemux_problems::Entry;

use super::brief::brief;
use super::content::{Answer, Piece, output_command};
use super::details::cut;
use super::problems;
use crate::job::{Ended, Job, State};
use crate::limits::{BLANK_SHOWN, PLAIN_LINES, SUSPECTS_SHOWN};

/// Returns the whole output if it is short enough, with refs to its problems.
pub fn whole(job: &Job, ended: &Ended, budget: u64) -> Option<Answer> {
    if ended.report.lines > PLAIN_LINES as u64 {
        return None;
    }
    let mut lines: Vec<String> = Vec::new();
    let mut last = 0;
    job.each_line(1, &mut |number, text| {
        last = number;
        lines.push(cut(text.trim_end()));
        true
    })
    .ok()?;
    // What is missing on disk is in the folded text.
    if last < ended.report.lines {
        return None;
    }
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let text = without_gaps(&lines).join("\n");
    if tokens::estimate(&text) > budget {
        return None;
    }
    let mut pieces = Vec::new();
    if !text.is_empty() {
        pieces.push(Piece::Lines(text + "\n"));
    }
    problems::refs(ended, job, &mut pieces);
    Some(Answer { brief: brief(job, ended, false), pieces })
}

/// Returns the lines with many blank ones in a row as their number.
fn without_gaps(lines: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    for group in lines.chunk_by(|a, b| a.is_empty() == b.is_empty()) {
        match group.first().is_some_and(String::is_empty) && group.len() > BLANK_SHOWN {
            true => kept.push(format!("… {} blank lines", group.len())),
            false => kept.extend_from_slice(group),
        }
    }
    kept
}

/// Returns what the terminal showed at the end, if a program drew on it: its lines are no lines.
pub fn drawn(job: &Job, ended: &Ended) -> Option<Answer> {
    if !ended.report.problems.is_empty() || !ended.report.failures.is_empty() {
        return None;
    }
    let screen =
        |state: &mut State| state.screen.is_drawn().then(|| state.screen.text(state.tail()).0);
    let lines = job.with(screen)?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let pieces = if text.is_empty() { Vec::new() } else { vec![Piece::Lines(text)] };
    Some(Answer { brief: brief(job, ended, true), pieces })
}

/// Returns the folded output, with its middle left out if it is long.
pub fn folded(job: &Job, ended: &Ended, budget: u64) -> Answer {
    let entries = &ended.report.transcript;
    let mut shown = Shown::default();
    let text = |entry: &Entry| cut(entry.to_string().trim_end());
    let costs: Vec<u64> = entries.iter().map(|entry| tokens::estimate(&text(entry)) + 1).collect();
    let (mut from, mut to) = (0, entries.len());
    let whole: u64 = costs.iter().sum();
    if whole > budget {
        let take = |costs: &mut dyn Iterator<Item = &u64>, mut left: u64| {
            costs
                .take_while(|cost| {
                    let fits = **cost <= left;
                    left = left.saturating_sub(**cost);
                    fits
                })
                .count()
        };
        from = take(&mut costs.iter(), budget / 4);
        to = entries.len() - take(&mut costs[from..].iter().rev(), budget * 3 / 4);
    }
    entries[..from].iter().for_each(|entry| shown.line(text(entry)));
    let cut_off = to > from && whole > budget;
    if cut_off {
        let first = entries.get(from).map_or(1, first_line);
        let last = entries.get(to).map_or(ended.report.lines, |entry| first_line(entry) - 1);
        shown.line(format!("… {} lines: {}", last + 1 - first, output_command(job, first, last)));
        suspects(&entries[from..to], &mut shown);
    }
    entries[if cut_off { to } else { from }..].iter().for_each(|entry| shown.line(text(entry)));
    let mut pieces = vec![Piece::Lines(shown.text)];
    let is_folded = entries.iter().any(|entry| !matches!(entry, Entry::Line { .. }));
    if is_folded && !cut_off {
        pieces.push(Piece::Text(format!(
            "all of it: {}\n",
            output_command(job, 1, ended.report.lines)
        )));
    }
    Answer { brief: brief(job, ended, true), pieces }
}

/// Shows the lines of a part that is left out which look like errors, as far as there is room for
/// them.
fn suspects(entries: &[Entry], shown: &mut Shown) {
    let suspect = |entry: &Entry| match entry {
        Entry::Line { number, text, suspect: true, .. } => Some(format!("{number}: {}", cut(text))),
        _ => None,
    };
    let all: Vec<String> = entries.iter().filter_map(suspect).collect();
    all.iter().take(SUSPECTS_SHOWN).for_each(|line| shown.line(line.clone()));
    if all.len() > SUSPECTS_SHOWN {
        shown.line(format!("… {} more of them look like errors", all.len() - SUSPECTS_SHOWN));
    }
}

#[derive(Default)]
struct Shown {
    text: String,
}

impl Shown {
    fn line(&mut self, line: String) {
        self.text += &line;
        self.text.push('\n');
    }
}

fn first_line(entry: &Entry) -> u64 {
    match entry {
        Entry::Line { number, .. } => *number,
        Entry::Similar { first, .. } | Entry::LeftOut { first, .. } => *first,
    }
}
