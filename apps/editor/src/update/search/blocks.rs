//! The lines of one of several files as a block: one heading with the path and the range, then the
//! bare lines.
//!
//! A few short lines stand beside the path: `a.toml: name = "a" · version = "1.0"`. So that lines
//! can be counted, every tenth has its number, and each that doesn't follow the one before it; all
//! have where a line could be taken for a heading or a number, and where there is only one file.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::display::lines::readable;
use crate::display::wording::{count, line_numbers};
use crate::limits::{
    COLUMNS_MAX, COLUMNS_SIDE_BY_SIDE, LINES_SIDE_BY_SIDE, NUMBERED_EVERY, PIECES_IN_HEADING,
};
use crate::model::buffer::Buffer;

/// The separator of lines shown side by side.
const BESIDE: &str = " · ";

/// Notes on omitted lines, keyed by the first of them, from 0.
pub(crate) type Notes = BTreeMap<usize, String>;

/// Writes blocks of lines.
pub(crate) struct Blocks {
    /// The paths of all files, as displayed in headings.
    paths: HashSet<String>,
}

impl Blocks {
    pub(in crate::update) fn new(paths: impl IntoIterator<Item = String>) -> Self {
        Self { paths: paths.into_iter().collect() }
    }

    /// Writes some lines of a file, which count from 0, with notes in place of others.
    pub(in crate::update) fn block(
        &self,
        path: &str,
        buffer: &Buffer,
        lines: &[usize],
        notes: &Notes,
    ) -> String {
        let all = buffer.line_count();
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            let notes: String = notes.values().map(|note| format!("{note}\n")).collect();
            return match all {
                0 => format!("{path} (empty)\n{notes}"),
                all => format!("{path} ({})\n{notes}", count(all, "line")),
            };
        };
        let texts: Vec<String> = lines.iter().map(|line| shown(buffer, *line)).collect();
        let pieces = pieces(lines);
        let is_whole = pieces.len() == 1 && *first == 0 && *last + 1 == all;
        let is_ambiguous = texts.iter().any(|text| self.looks_like_heading(text));
        let numbers_all = self.paths.len() < 2 || is_ambiguous;
        if numbers_all || pieces.len() > PIECES_IN_HEADING {
            let rows = rows(lines, &texts, notes, numbers_all);
            return format!("{path} ({}):\n{rows}", count(all, "line"));
        }
        let ranges = pieces.iter().map(line_numbers).collect::<Vec<_>>().join(",");
        let heading = match is_whole {
            true => format!("{path}:{ranges}"),
            false => format!("{path}:{ranges} of {all}"),
        };
        if fit_side_by_side(&texts) && notes.is_empty() {
            // Where it is the whole file, nobody needs the range.
            let heading = if is_whole { path } else { &heading };
            return format!("{heading}: {}\n", texts.join(BESIDE));
        }
        format!("{heading}\n{}", rows(lines, &texts, notes, false))
    }

    /// True for a line that begins as a heading does.
    fn looks_like_heading(&self, text: &str) -> bool {
        let mut ends = text.match_indices([':', ' ']).map(|(at, _)| at);
        ends.any(|end| self.paths.contains(&text[..end])) || self.paths.contains(text)
    }
}

/// Writes lines that a heading stands above, and notes where they belong.
fn rows(lines: &[usize], texts: &[String], notes: &Notes, numbers_all: bool) -> String {
    let numbers_all = numbers_all || texts.iter().any(|text| looks_numbered(text));
    let apart = pieces(lines).len() > 1 || !notes.is_empty();
    let (mut rows, mut next, mut notes) = (String::new(), usize::MAX, notes.iter().peekable());
    for (line, text) in lines.iter().zip(texts) {
        while let Some((_, note)) = notes.next_if(|(at, _)| *at < line) {
            rows += &format!("{note}\n");
        }
        let is_mark = (apart && *line != next) || (line + 1).is_multiple_of(NUMBERED_EVERY);
        match numbers_all || is_mark {
            true => rows += &format!("{}\t{text}\n", line + 1),
            false => rows += &format!("{text}\n"),
        }
        next = line + 1;
    }
    notes.for_each(|(_, note)| rows += &format!("{note}\n"));
    rows
}

/// True for a line that begins as one with its number does.
fn looks_numbered(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < text.len() && rest.starts_with('\t')
}

fn shown(buffer: &Buffer, line: usize) -> String {
    let (head, more) = buffer.line_head(line, COLUMNS_MAX);
    let ellipsis = if more > 0 { "…" } else { "" };
    readable(&head) + ellipsis
}

/// Returns lines as ranges of those that follow each other.
pub(in crate::update) fn pieces(lines: &[usize]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for &line in lines {
        match pieces.last_mut().filter(|last| last.end == line) {
            Some(last) => last.end = line + 1,
            None => pieces.push(line..line + 1),
        }
    }
    pieces
}

/// True for a few short lines that lose nothing by standing side by side.
fn fit_side_by_side(texts: &[String]) -> bool {
    let columns: usize = texts.iter().map(|text| text.chars().count()).sum();
    let keeps =
        |text: &String| !text.is_empty() && text.trim() == text && !text.contains(BESIDE.trim());
    texts.len() <= LINES_SIDE_BY_SIDE && columns <= COLUMNS_SIDE_BY_SIDE && texts.iter().all(keeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(path: &str, text: &str, lines: &[usize]) -> String {
        let blocks = Blocks::new(["a.md".to_owned(), "b.md".to_owned()]);
        blocks.block(path, &Buffer::new(text, false), lines, &Notes::new())
    }

    #[test]
    fn heading_tells_the_lines_below_it() {
        let text = "one\n\nthree\nfour\nfive\nsix\n";
        assert_eq!(block("a.md", text, &[0, 1, 2]), "a.md:1-3 of 6\none\n\nthree\n");
        assert_eq!(
            block("a.md", text, &[0, 1, 3, 4]),
            "a.md:1-2,4-5 of 6\n1\tone\n\n4\tfour\nfive\n"
        );
        let all: Vec<usize> = (0..6).collect();
        assert_eq!(block("a.md", text, &all), format!("a.md:1-6\n{text}"));
        assert_eq!(block("a.md", text, &[]), "a.md (6 lines)\n");
        assert_eq!(block("a.md", "", &[]), "a.md (empty)\n");
    }

    #[test]
    fn few_short_lines_stand_beside_the_path() {
        assert_eq!(block("a.md", "x = 1\ny = 2\n", &[0, 1]), "a.md: x = 1 · y = 2\n");
        assert_eq!(block("a.md", "x = 1\ny = 2\n", &[1]), "a.md:2 of 2: y = 2\n");
        assert_eq!(block("a.md", "x:\n  y: 2\n", &[0, 1]), "a.md:1-2\nx:\n  y: 2\n");
        assert_eq!(block("a.md", "x · y\nz\n", &[0, 1]), "a.md:1-2\nx · y\nz\n");
    }

    #[test]
    fn line_that_could_be_a_heading_gets_its_number() {
        let text = "see\nb.md:1-9\n";
        assert_eq!(block("a.md", text, &[0, 1]), "a.md (2 lines):\n1\tsee\n2\tb.md:1-9\n");
        let text = "b.md: x · y\nb.md (empty)\n";
        assert_eq!(block("a.md", text, &[1]), "a.md (2 lines):\n2\tb.md (empty)\n");
        assert_eq!(block("a.md", "b.md is good\nx\n", &[0]), "a.md (2 lines):\n1\tb.md is good\n");
    }

    #[test]
    fn lines_can_be_counted() {
        let text = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
        let shown = block("a.md", text, &[0, 2, 3, 5, 7, 9, 10]);
        assert_eq!(shown, "a.md (11 lines):\n1\ta\n3\tc\nd\n6\tf\n8\th\n10\tj\nk\n");
        let all: Vec<usize> = (0..11).collect();
        let shown = block("a.md", text, &all);
        assert_eq!(shown, "a.md:1-11\na\nb\nc\nd\ne\nf\ng\nh\ni\n10\tj\nk\n");
        // Where a line has what looks like a number, all have theirs.
        let shown = block("a.md", "7\tx\n\nwords\n", &[0, 1, 2]);
        assert_eq!(shown, "a.md:1-3\n1\t7\tx\n2\t\n3\twords\n");
    }

    #[test]
    fn notes_stand_where_lines_are_left_out() {
        let blocks = Blocks::new(["a.md".to_owned(), "b.md".to_owned()]);
        let notes = Notes::from([(1, "… 2 lines".to_owned()), (4, "… the end".to_owned())]);
        let shown = blocks.block("a.md", &Buffer::new("a\nb\nc\nd\ne\n", false), &[0, 3], &notes);
        assert_eq!(shown, "a.md:1,4 of 5\n1\ta\n… 2 lines\n4\td\n… the end\n");
    }
}
