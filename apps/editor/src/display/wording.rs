//! Counts and line numbers in sentences. Line ranges count from 0 and are written from 1.

use std::ops::Range;

use docui::LineNumbers;

use crate::limits::CHANGED_RANGES_NAMED;
use crate::model::open_file::OpenFile;

/// `1 line`, `3 matches`
pub(crate) fn count(number: usize, noun: &str) -> String {
    let ending = match (number, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{number} {noun}{ending}")
}

/// `5`, `5-7`
pub(crate) fn line_numbers(lines: &Range<usize>) -> String {
    match lines.len() {
        0 | 1 => format!("{}", lines.start + 1),
        _ => format!("{}-{}", lines.start + 1, lines.end),
    }
}

/// `line 5`, `lines 5-7`
pub(crate) fn line_range(lines: &Range<usize>) -> String {
    let noun = if lines.len() <= 1 { "line" } else { "lines" };
    format!("{noun} {}", line_numbers(lines))
}

/// `line 5 is now 4`, `lines 4-412 are now 1-409`
pub(crate) fn renumbered(before: &Range<usize>, now: &Range<usize>) -> String {
    format!("{} now {}", lines_are(before), line_numbers(now))
}

/// `line 5 is now 4`, `lines 5-7 → 8-10, 12-20 → 11-19`; nothing for none.
pub(crate) fn renumbered_lines(moves: &[&(Range<usize>, usize)]) -> Option<String> {
    let now = |(lines, to): &(Range<usize>, usize)| *to..*to + lines.len();
    match moves {
        [] => None,
        [one] => Some(renumbered(&one.0, &now(one))),
        several => {
            let pair = |one: &&(Range<usize>, usize)| {
                format!("{} → {}", line_numbers(&one.0), line_numbers(&now(one)))
            };
            Some(format!("lines {}", several.iter().map(pair).collect::<Vec<_>>().join(", ")))
        }
    }
}

/// `line 5 has its old number`, `lines 5-7, 9 have their old numbers`; nothing for none.
pub(crate) fn old_numbers(lines: &[Range<usize>]) -> Option<String> {
    let lines = joined(lines);
    let all = lines.iter().map(line_numbers).collect::<Vec<_>>().join(", ");
    match lines.as_slice() {
        [] => None,
        [one] if one.len() == 1 => Some(format!("line {all} has its old number")),
        _ => Some(format!("lines {all} have their old numbers")),
    }
}

/// Joins ranges that follow each other without a gap.
fn joined(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match apart.last_mut().filter(|last| last.end == range.start) {
            Some(last) => last.end = range.end,
            None => apart.push(range.clone()),
        }
    }
    apart
}

/// Lists the line numbers of ranges, the first few: `3, 5-7 and 4 more places`
pub(crate) fn listed_ranges(ranges: &[Range<usize>]) -> String {
    let apart = joined(ranges);
    let named: Vec<_> = apart.iter().take(CHANGED_RANGES_NAMED).map(line_numbers).collect();
    let more = match apart.len() - named.len() {
        0 => String::new(),
        more => format!(" and {}", count(more, "more place")),
    };
    named.join(", ") + &more
}

/// `line 5 is`, `lines 5-7 are`
pub(crate) fn lines_are(lines: &Range<usize>) -> String {
    let verb = if lines.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", line_range(lines))
}

/// Names lines whose numbers a text shows, for the daemon.
pub(crate) fn shown_lines(file: &OpenFile, lines: &Range<usize>, version: u64) -> LineNumbers {
    LineNumbers::shown(file.key(), lines.start as u64 + 1, lines.end as u64, version)
}

/// `src/parse.rs:101-300`
pub(crate) fn range_name(file: &str, lines: &Range<usize>) -> String {
    format!("{file}:{}", line_numbers(lines))
}

/// Says which changed lines a page leaves out and how to see them; nothing when there are none.
pub(crate) fn left_out_changes(
    left_out: &[Range<usize>],
    page: &Range<usize>,
    goto: impl Fn(usize) -> String,
) -> String {
    // The next ones below the page: whoever follows the note comes to the end of the file.
    let below = left_out.iter().find(|range| range.start >= page.end);
    let Some(next) = below.or(left_out.first()) else { return String::new() };
    let lines = left_out.iter().map(ExactSizeIterator::len).sum();
    let named: Vec<String> = left_out.iter().take(CHANGED_RANGES_NAMED).map(line_numbers).collect();
    let more = if left_out.len() > named.len() { ", …" } else { "" };
    let count = count(lines, "more changed line");
    format!("… {count}: {}{more} · {}\n", named.join(", "), goto(next.start))
}

/// Says that a file's other names keep its old text, if it has so many in all.
pub fn other_names(names: u64) -> Option<String> {
    match names.checked_sub(1) {
        None | Some(0) => None,
        Some(1) => Some("its other hard link keeps the old text".to_owned()),
        Some(more) => Some(format!("its {more} other hard links keep the old text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural_are_told_apart() {
        assert_eq!([1, 2].map(|n| count(n, "line")), ["1 line", "2 lines"]);
        assert_eq!([0, 1, 2].map(|n| count(n, "match")), ["0 matches", "1 match", "2 matches"]);
        assert_eq!([line_range(&(4..5)), line_range(&(4..7))], ["line 5", "lines 5-7"]);
        assert_eq!([lines_are(&(4..5)), lines_are(&(4..7))], ["line 5 is", "lines 5-7 are"]);
        assert_eq!(renumbered(&(4..5), &(3..4)), "line 5 is now 4");
        assert_eq!(renumbered(&(3..412), &(0..409)), "lines 4-412 are now 1-409");
    }
}
