//! Texts as rows of a terminal: inert, and as wide as the terminal is.

use pipemux_client::proto::text::{code_point, is_deceptive_in_prose};
use ratatui_core::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// A tab goes on to the next multiple of this many columns.
const TAB: usize = 4;

/// Most bytes of one character, as a reader counts them: a family of four with skin tones has 41. Without a bound, marks
/// without end on one letter would be drawn into one cell.
const CHARACTER_MAX: usize = 64;

/// What is shown of a character that can't be.
const UNSHOWN: &str = "?";

/// One row of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    pub text: String,
    /// True for a part of a Markdown heading.
    pub heading: bool,
}

/// Breaks a text into rows of at most `width` columns: at a space where there is one, else between two characters, as
/// Chinese is broken. What controls a terminal or reorders text is shown as its code point.
pub fn rows(text: &str, width: u16) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let heading = line.starts_with('#');
        rows.extend(wrap(&inert(line), width).into_iter().map(|text| Row { text, heading }));
    }
    rows
}

/// Returns a line without anything that a terminal would obey: tabs become spaces, control characters and those that
/// reorder text become code points.
pub fn inert(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars() {
        match c {
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            c if is_deceptive_in_prose(c) => {
                out.push_str(&code_point(c));
                column += code_point(c).len();
            }
            c => {
                out.push(c);
                column += columns_of(c.encode_utf8(&mut [0; 4]));
            }
        }
    }
    out
}

/// Returns how many columns an inert text takes on the terminal.
pub fn columns_of(text: &str) -> usize {
    text.graphemes(true).map(|cluster| usize::from(cluster.cell_width())).sum()
}

/// Returns what is shown of a character of an inert text, and how many columns it takes: `?` for one that is wider than
/// the whole terminal, or that has marks without end.
pub fn fitted(cluster: &str, width: usize) -> (&str, usize) {
    if cluster.len() > CHARACTER_MAX {
        return (UNSHOWN, 1);
    }
    match columns_of(cluster) {
        wide if wide > width => (UNSHOWN, 1),
        wide => (cluster, wide),
    }
}

fn wrap(line: &str, width: u16) -> Vec<String> {
    let width = usize::from(width.max(1));
    let mut rows = Vec::new();
    let (mut row, mut columns) = (String::new(), 0);
    // Where the last space of the row ends, in bytes.
    let mut space = None;
    for cluster in line.graphemes(true) {
        let (cluster, wide) = fitted(cluster, width);
        while columns + wide > width && !row.is_empty() {
            let rest = match space.filter(|end| *end < row.len() && cluster != " ") {
                Some(end) => row.split_off(end),
                None => String::new(),
            };
            row.truncate(row.trim_end_matches(' ').len());
            rows.push(std::mem::replace(&mut row, rest));
            (columns, space) = (columns_of(&row), None);
        }
        if row.is_empty() && !rows.is_empty() && cluster == " " {
            continue;
        }
        row.push_str(cluster);
        columns += wide;
        if cluster == " " {
            space = Some(row.len());
        }
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str, width: u16) -> Vec<String> {
        rows(text, width).into_iter().map(|row| row.text).collect()
    }

    #[test]
    fn rows_break_at_spaces_and_between_wide_characters() {
        assert_eq!(texts("one two three", 8), ["one two", "three"]);
        assert_eq!(texts("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(texts("规划研讨会", 5), ["规划", "研讨", "会"]);
        assert_eq!(texts("a规划b", 4), ["a规", "划b"]);
        assert_eq!(texts("", 4), [""; 0]);
        assert_eq!(texts("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(texts("规", 1), ["?"]);
        assert_eq!(texts(" abcd规x", 5), ["", "abcd", "规x"]);
        // A family is one character of two columns.
        assert_eq!(texts("👨‍👩‍👧x", 2), ["👨‍👩‍👧", "x"]);
    }

    #[test]
    fn marks_without_end_are_not_drawn_into_one_cell() {
        let tower = format!("a{}b", "\u{301}".repeat(100_000));
        assert_eq!(texts(&tower, 5), ["?b"]);
        let family = format!("{}x", "👩\u{200d}".repeat(1000));
        assert!(texts(&family, 5).concat().len() < 100, "{:?}", texts(&family, 5));
        assert_eq!(texts("e\u{301}x", 5), ["e\u{301}x"]);
    }

    #[test]
    fn terminal_sequences_are_shown_and_not_obeyed() {
        let shown = texts("a\x1b[2Jb\x07\u{9b}31m\u{202e}x\tq", 80).concat();
        assert_eq!(shown, "a\\u{001b}[2Jb\\u{0007}\\u{009b}31m\\u{202e}x   q");
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_terminal(text in "\\PC{0,80}|[a-z \u{4e00}-\u{4e20}\x00-\x1f]{0,80}", width in 1u16..40) {
            for row in rows(&text, width) {
                prop_assert!(columns_of(&row.text) <= usize::from(width), "{row:?}");
                prop_assert!(!row.text.chars().any(is_deceptive_in_prose));
            }
        }
    }
}
