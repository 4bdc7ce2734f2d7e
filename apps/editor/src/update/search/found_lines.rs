//! The lines with matches as they are shown: once each, equal ones together, the middle of very
//! many left out.

use std::collections::HashMap;
use std::ops::Range;

use pipemux_search::Matches;

use super::shown_lines::to_usize;
use crate::display::lines::{match_row, readable};
use crate::display::wording::{count, line_numbers};
use crate::limits::{COLUMNS_MAX, SAME_LINES_MIN};
use crate::model::buffer::Buffer;

/// The lines of matches, each once, with the range of its first match. Lines that a match goes on
/// over have none.
fn lines_of(matches: &Matches) -> Vec<(usize, Range<usize>)> {
    let mut lines: Vec<(usize, Range<usize>)> = Vec::new();
    for found in &matches.found {
        for line in to_usize(found.line) - 1..to_usize(found.last_line) {
            if lines.last().is_none_or(|(last, _)| *last < line) {
                let is_first = line + 1 == to_usize(found.line);
                lines.push((line, if is_first { found.bytes.clone() } else { 0..0 }));
            }
        }
    }
    lines
}

/// Lines that are shown with the same text.
pub(crate) struct SameLines {
    /// The lines, counted from 0.
    pub lines: Vec<usize>,
    pub text: String,
}

/// Returns the lines with matches as they are shown. Many lines that are the same are one entry,
/// where the first is.
pub(super) fn same_lines(matches: &Matches, buffer: &Buffer) -> Vec<SameLines> {
    let rows: Vec<(usize, String)> =
        lines_of(matches).iter().map(|(line, bytes)| (*line, row(buffer, *line, bytes))).collect();
    let mut lines_by_text: HashMap<&str, Vec<usize>> = HashMap::new();
    for (line, text) in &rows {
        lines_by_text.entry(text).or_default().push(*line);
    }
    let entry = |(line, text): &(usize, String)| {
        let all = &lines_by_text[text.as_str()];
        let lines = match (all.len() >= SAME_LINES_MIN, all.first() == Some(line)) {
            (true, true) => all.clone(),
            (true, false) => return None,
            (false, _) => vec![*line],
        };
        Some(SameLines { lines, text: text.clone() })
    };
    rows.iter().filter_map(entry).collect()
}

/// `… 561 more lines, up to line 39722: all=true shows them`
pub(super) fn fold_row(hidden: &[SameLines]) -> String {
    let lines: usize = hidden.iter().map(|same| same.lines.len()).sum();
    let last = hidden.last().and_then(|same| same.lines.first()).map_or(0, |line| line + 1);
    format!("… {}, up to line {last}: all=true shows them\n", count(lines, "more line"))
}

/// `4`, `4, 9-10, 14`
pub(super) fn numbers_of(lines: &[usize]) -> String {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for line in lines {
        match ranges.last_mut().filter(|last| last.end == *line) {
            Some(last) => last.end += 1,
            None => ranges.push(*line..*line + 1),
        }
    }
    ranges.iter().map(line_numbers).collect::<Vec<_>>().join(", ")
}

/// Returns a line as it is shown: whole, or what is around its match if it is long.
fn row(buffer: &Buffer, line: usize, found: &Range<usize>) -> String {
    let (head, more) = buffer.line_head(line, COLUMNS_MAX);
    match more {
        0 => readable(&head),
        _ if found.is_empty() => readable(&head) + "…",
        _ => match_row(buffer, found, false),
    }
}
