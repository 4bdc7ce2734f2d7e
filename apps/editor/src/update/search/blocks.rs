//! The lines of one of several files as a block: one heading with the path and the range, then the bare lines.
//!
//! A few short lines stand beside the path: `a.toml: name = "a" · version = "1.0"`. Lines have numbers where the heading
//! can't tell them, where a line could be taken for a heading, and where there is only one file.

use std::collections::HashSet;
use std::ops::Range;

use crate::display::lines::readable;
use crate::display::wording::{count, line_numbers};
use crate::limits::{
    COLUMNS_MAX, COLUMNS_SIDE_BY_SIDE, LINES_SIDE_BY_SIDE, PIECES_WITHOUT_NUMBERS,
};
use crate::model::buffer::Buffer;

/// What separates lines side by side.
const BESIDE: &str = " · ";

/// Writes blocks of lines.
pub(in crate::update) struct Blocks {
    /// The paths of all files, as headings show them.
    paths: HashSet<String>,
}

impl Blocks {
    pub(in crate::update) fn new(paths: impl IntoIterator<Item = String>) -> Self {
        Self { paths: paths.into_iter().collect() }
    }

    /// Writes some lines of a file, which count from 0.
    pub(in crate::update) fn block(&self, path: &str, buffer: &Buffer, lines: &[usize]) -> String {
        let all = buffer.line_count();
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
            return match all {
                0 => format!("{path} (empty)\n"),
                all => format!("{path} ({})\n", count(all, "line")),
            };
        };
        let texts: Vec<String> = lines.iter().map(|line| shown(buffer, *line)).collect();
        let pieces = pieces(lines);
        let is_whole = pieces.len() == 1 && *first == 0 && *last + 1 == all;
        let ranges = pieces.iter().map(line_numbers).collect::<Vec<_>>().join(",");
        let heading = match is_whole {
            true => format!("{path}:{ranges}"),
            false => format!("{path}:{ranges} of {all}"),
        };
        let is_ambiguous = texts.iter().any(|text| self.looks_like_heading(text));
        if self.paths.len() < 2 || pieces.len() > PIECES_WITHOUT_NUMBERS || is_ambiguous {
            let rows = lines.iter().zip(&texts);
            let rows: String = rows.map(|(line, text)| format!("{}\t{text}\n", line + 1)).collect();
            return format!("{path} ({}):\n{rows}", count(all, "line"));
        }
        if fit_side_by_side(&texts) {
            // Where it is the whole file, nobody needs the range.
            let heading = if is_whole { path } else { &heading };
            return format!("{heading}: {}\n", texts.join(BESIDE));
        }
        let rows: String = texts.iter().map(|text| format!("{text}\n")).collect();
        format!("{heading}\n{rows}")
    }

    /// True for a line that begins as a heading does.
    fn looks_like_heading(&self, text: &str) -> bool {
        let mut ends = text.match_indices([':', ' ']).map(|(at, _)| at);
        ends.any(|end| self.paths.contains(&text[..end])) || self.paths.contains(text)
    }
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
        blocks.block(path, &Buffer::new(text, false), lines)
    }

    #[test]
    fn heading_tells_the_lines_below_it() {
        let text = "one\n\nthree\nfour\nfive\nsix\n";
        assert_eq!(block("a.md", text, &[0, 1, 2]), "a.md:1-3 of 6\none\n\nthree\n");
        assert_eq!(block("a.md", text, &[0, 1, 3, 4]), "a.md:1-2,4-5 of 6\none\n\nfour\nfive\n");
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
    fn lines_in_many_pieces_have_numbers() {
        let text = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        let shown = block("a.md", text, &[0, 2, 4, 6, 8]);
        assert!(shown.starts_with("a.md (9 lines):\n1\ta\n3\tc\n"), "{shown}");
    }
}
