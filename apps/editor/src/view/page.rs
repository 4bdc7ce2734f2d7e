//! The lines of a page, chosen by their cost in tokens.

use std::ops::Range;

use docui::tokens;

use crate::display::lines::visible_line;
use crate::model::open_file::OpenFile;

/// The bytes per token assumed when there is no shown text to measure.
const BYTES_PER_TOKEN: u64 = 4;

/// Lines as they are shown, and what they cost.
#[derive(Debug, Default)]
pub(super) struct PageLines {
    pub lines: Range<usize>,
    pub text: String,
    pub tokens: u64,
}

/// Returns at most `max` lines from the file's top line on, and some above it when the end of the
/// file leaves room.
pub(super) fn page(file: &OpenFile, max: usize, room: u64) -> PageLines {
    let all = file.buffer().line_count();
    let top = file.top_line.min(all.saturating_sub(1));
    let mut shown = lines_within(file, top..all.min(top.saturating_add(max)), room);
    if shown.lines.end < all || shown.lines.is_empty() {
        return shown;
    }
    let mut above = Vec::new();
    while shown.lines.start > 0 && shown.lines.len() < max {
        let (line, tokens) = line_with_cost(file, shown.lines.start - 1);
        if shown.tokens + tokens > room {
            break;
        }
        shown.tokens += tokens;
        shown.lines.start -= 1;
        above.push(line);
    }
    let above: String = above.into_iter().rev().collect();
    shown.text.insert_str(0, &above);
    shown
}

/// Returns as many of the lines, from the first one on, as there is room for.
pub(super) fn lines_within(file: &OpenFile, wanted: Range<usize>, room: u64) -> PageLines {
    let mut shown = PageLines { lines: wanted.start..wanted.start, ..PageLines::default() };
    for line in wanted {
        let (text, tokens) = line_with_cost(file, line);
        if shown.tokens + tokens > room {
            break;
        }
        shown.text += &text;
        shown.tokens += tokens;
        shown.lines.end += 1;
    }
    shown
}

/// Estimates the cost of bytes that aren't shown by the cost of the lines that are.
pub(super) fn estimated_cost(hidden: u64, shown: &PageLines) -> u64 {
    match shown.text.len() as u64 {
        0 => hidden / BYTES_PER_TOKEN,
        bytes => hidden.saturating_mul(shown.tokens) / bytes,
    }
}

fn line_with_cost(file: &OpenFile, line: usize) -> (String, u64) {
    let text = visible_line(file, line) + "\n";
    let tokens = tokens::estimate(&format!("{}\t{text}", line + 1));
    (text, tokens)
}
