//! A table: its columns are as wide as their widest cells.

use std::ops::Range;

use pulldown_cmark::Alignment;

use super::look::{Line, Look, Span, Theme};
use super::marked_text::MarkedText;
use super::rows::{columns_of, inert};

/// Most columns of the terminal that a cell is filled up to: without a bound, one long cell would
/// make all others as long.
const CELL_MAX: usize = 60;

/// A table, as the positions of its cells in the text.
pub struct Table {
    /// The cells of each row, the header first.
    pub rows: Vec<Vec<Range<usize>>>,
    pub alignments: Vec<Alignment>,
}

impl Table {
    /// Returns its lines. `before` is what stands before its first one.
    pub fn lines(&self, written: &MarkedText<'_>, before: Range<usize>, theme: Theme) -> Vec<Line> {
        let cell = |cell: &Range<usize>| written.spans(trimmed(written.text, cell.clone()));
        let rows: Vec<Vec<Vec<Span>>> =
            self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let mut widths = vec![0; self.alignments.len()];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = columns(cell).min(CELL_MAX).max(*width);
            }
        }
        let before = written.spans(before);
        let mut lines = Vec::new();
        for (at, row) in rows.into_iter().enumerate() {
            let mut body = before.clone();
            for (column, mut cell) in row.into_iter().enumerate() {
                let width = widths.get(column).copied().unwrap_or_default();
                if column > 0 {
                    body.push(Span::new(format!(" {}", theme.bar()), Look::DIM));
                }
                let room = width.saturating_sub(columns(&cell));
                let left = match self.alignments.get(column) {
                    Some(Alignment::Right) => room,
                    Some(Alignment::Center) => room / 2,
                    _ => 0,
                };
                if at == 0 {
                    cell.iter_mut().for_each(|span| span.look = span.look | Look::STRONG);
                }
                body.push(Span::new(" ".repeat(left), Look::PLAIN));
                body.append(&mut cell);
                body.push(Span::new(" ".repeat(room - left), Look::PLAIN));
            }
            lines.push(Line { body, ..Line::default() });
        }
        lines
    }
}

/// Returns what a row has behind its last cell: a parser drops cells that the header doesn't have.
pub fn surplus(text: &str, last: Option<&Range<usize>>, row: Range<usize>) -> Option<Range<usize>> {
    let start = last.map_or(row.start, |cell| cell.end);
    let rest = text.get(start..row.end)?.trim_end_matches(|c: char| c == '|' || c.is_whitespace());
    let words = rest.trim_start_matches(|c: char| c == '|' || c.is_whitespace());
    let start = start + rest.len() - words.len();
    (!words.is_empty()).then(|| start..start + words.len())
}

fn columns(cell: &[Span]) -> usize {
    cell.iter().map(|span| columns_of(&inert(&span.text))).sum()
}

/// Returns a range without the spaces around what is in it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let Some(part) = text.get(range.clone()) else { return range };
    let start = range.start + part.len() - part.trim_start().len();
    start..(range.end - (part.len() - part.trim_end().len())).max(start)
}
