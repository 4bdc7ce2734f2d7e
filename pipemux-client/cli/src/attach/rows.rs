//! Texts as rows of a terminal: inert, and as wide as the terminal is.

use pipemux_client::proto::text::{code_point, is_deceptive_in_prose};
use ratatui_core::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

use super::look::{Line, Look, Span};

/// The tab width: a tab extends to the next multiple of this many columns.
const TAB: usize = 4;

/// Most bytes of one character, as a reader counts them: a family of four with skin tones has 41.
/// Without a bound, marks without end on one letter would be drawn into one cell.
const CHARACTER_MAX: usize = 64;

/// The replacement for a character that can't be shown.
const UNSHOWN: &str = "?";

/// One row of a terminal; its text is inert.
pub type Row = Vec<Span>;

/// Breaks a line into rows of at most `width` columns: at a space where there is one, else between
/// two characters, as Chinese is broken. What controls a terminal or reorders text is shown as its
/// code point.
pub fn rows(line: &Line, width: u16) -> Vec<Row> {
    let width = usize::from(width.max(1));
    let (first, rest) = (inert_spans(&line.first), inert_spans(&line.rest));
    let columns = |spans: &[Span]| spans.iter().map(|span| columns_of(&span.text)).sum::<usize>();
    // Where it would take the room of the words, nothing stands before them.
    let fits = 2 * columns(&first).max(columns(&rest)) <= width;
    let [first, rest] = if fits { [first, rest] } else { [Row::new(), Row::new()] };
    let rooms = [width - columns(&first), width - columns(&rest)];
    let rows = wrap(&inert_spans(&line.body), rooms).into_iter().enumerate();
    rows.map(|(at, row)| [if at == 0 { &first[..] } else { &rest[..] }, &row].concat()).collect()
}

fn inert_spans(spans: &[Span]) -> Vec<Span> {
    let mut column = 0;
    let inert = |span: &Span| Span::new(inert_from(&span.text, &mut column), span.look);
    spans.iter().map(inert).collect()
}

/// Returns a line without anything that a terminal would obey: tabs become spaces, control
/// characters and those that reorder text become code points.
pub fn inert(line: &str) -> String {
    inert_from(line, &mut 0)
}

/// Like [`inert`], but starting at a column of the line.
fn inert_from(text: &str, column: &mut usize) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => {
                let spaces = TAB - *column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                *column += spaces;
            }
            c if is_deceptive_in_prose(c) => {
                out.push_str(&code_point(c));
                *column += code_point(c).len();
            }
            c => {
                out.push(c);
                *column += columns_of(c.encode_utf8(&mut [0; 4]));
            }
        }
    }
    out
}

/// Returns the text of a row.
pub fn text_of(row: &[Span]) -> String {
    row.iter().map(|span| span.text.as_str()).collect()
}

/// Returns how many columns an inert text takes on the terminal.
pub fn columns_of(text: &str) -> usize {
    text.graphemes(true).map(|cluster| usize::from(cluster.cell_width())).sum()
}

/// Returns what is shown of a character of an inert text, and how many columns it takes: `?` for
/// one that is wider than the whole terminal, or that has marks without end.
pub fn fitted(cluster: &str, width: usize) -> (&str, usize) {
    if cluster.len() > CHARACTER_MAX {
        return (UNSHOWN, 1);
    }
    match columns_of(cluster) {
        wide if wide > width => (UNSHOWN, 1),
        wide => (cluster, wide),
    }
}

/// Breaks an inert line into rows: the first one of so many columns, and the further ones.
fn wrap(line: &[Span], [first, further]: [usize; 2]) -> Vec<Row> {
    let mut rows = Vec::new();
    let narrower = first.min(further);
    // The characters of the row with their looks, and how many columns they take.
    let (mut row, mut columns) = (Vec::new(), 0);
    // How many of them stand up to the last space.
    let mut space = None;
    let all = line.iter().flat_map(|span| {
        span.text.graphemes(true).map(move |cluster| (fitted(cluster, narrower), span.look))
    });
    for ((cluster, wide), look) in all {
        while columns + wide > if rows.is_empty() { first } else { further } && !row.is_empty() {
            let rest = match space.filter(|end| *end < row.len() && cluster != " ") {
                Some(end) => row.split_off(end),
                None => Vec::new(),
            };
            while row.pop_if(|(cluster, _)| *cluster == " ").is_some() {}
            rows.push(joined(&std::mem::replace(&mut row, rest)));
            columns = row.iter().map(|(cluster, _)| columns_of(cluster)).sum();
            space = None;
        }
        if row.is_empty() && !rows.is_empty() && cluster == " " {
            continue;
        }
        row.push((cluster, look));
        columns += wide;
        if cluster == " " && look != Look::NUMBER {
            space = Some(row.len());
        }
    }
    rows.push(joined(&row));
    rows
}

fn joined(clusters: &[(&str, Look)]) -> Row {
    let of_one_look = clusters.chunk_by(|(_, before), (_, behind)| before == behind);
    let span = |part: &[(&str, Look)]| {
        let text: String = part.iter().map(|(cluster, _)| *cluster).collect();
        Span::new(text, part.first().map_or(Look::PLAIN, |(_, look)| *look))
    };
    of_one_look.map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str, width: u16) -> Vec<String> {
        let line = |line: &str| {
            let body = vec![Span::new(line, Look::PLAIN)];
            rows(&Line { body, ..Line::default() }, width)
        };
        text.lines().flat_map(line).map(|row| text_of(&row)).collect()
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
            for row in texts(&text, width) {
                prop_assert!(columns_of(&row) <= usize::from(width), "{row:?}");
                prop_assert!(!row.chars().any(is_deceptive_in_prose));
            }
        }
    }
}
