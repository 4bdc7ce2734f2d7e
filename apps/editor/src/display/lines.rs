//! Lines and matches as they are shown: clipped, with invisible characters made visible. The text
//! itself is not changed.

use std::ops::Range;

use docui::{code_point, is_deceptive_in_prose};

use crate::limits::{COLUMNS_MAX, EXCERPT_ENDS, EXCERPT_LINES, OPTION_COLUMNS_MAX};
use crate::model::buffer::Buffer;
use crate::model::open_file::OpenFile;

/// Returns a line without its ending. A long line is clipped around its latest change.
pub(crate) fn visible_line(file: &OpenFile, line: usize) -> String {
    let buffer = file.buffer();
    let (text, more) = buffer.line_head(line, COLUMNS_MAX);
    if more > 0
        && let Some(byte) = file.first_change_in(line)
    {
        let context = buffer.line_context(&(byte..byte), COLUMNS_MAX / 2);
        if context.skipped_before > 0 {
            let text = readable(&format!("{}{}", context.before, context.after));
            let ahead = format!("(+{} chars) …", thousands(context.skipped_before));
            return match context.skipped_after {
                0 => ahead + &text,
                after => format!("{ahead}{text}… (+{} chars)", thousands(after)),
            };
        }
    }
    let mut text = readable(&text);
    if more > 0 {
        text += &format!("… (+{} chars)", thousands(more));
    }
    text
}

/// Returns a line that isn't in a file any more, clipped.
pub(crate) fn readable_line(line: &str) -> String {
    match line.char_indices().nth(COLUMNS_MAX) {
        None => readable(line),
        Some((end, _)) => {
            let more = line[end..].chars().count();
            format!("{}… (+{} chars)", readable(&line[..end]), thousands(more))
        }
    }
}

/// Returns the lines around a range with their numbers, as they are now.
pub(crate) fn excerpt(file: &OpenFile, around: &Range<usize>) -> String {
    let line = |line: usize| format!("{}\t{}", line + 1, visible_line(file, line));
    excerpt_lines(file, around).map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the lines of a range with their numbers, as they are now: of a long one both ends.
pub(crate) fn excerpt_of(file: &OpenFile, lines: &Range<usize>) -> String {
    let row = |line: usize| format!("{}\t{}", line + 1, visible_line(file, line));
    let rows = |lines: Range<usize>| lines.map(row).collect::<Vec<_>>().join("\n");
    match lines.len() <= EXCERPT_LINES {
        true => rows(lines.clone()),
        false => {
            let (head, tail) = (lines.start + EXCERPT_ENDS, lines.end - EXCERPT_ENDS);
            format!("{}\n…\n{}", rows(lines.start..head), rows(tail..lines.end))
        }
    }
}

/// Returns the lines that an excerpt around a range shows.
pub(crate) fn excerpt_lines(file: &OpenFile, around: &Range<usize>) -> Range<usize> {
    let start = around.start.saturating_sub(2);
    start..(around.end + 2).min(start + EXCERPT_LINES).min(file.buffer().line_count()).max(start)
}

/// Returns the line around a match, short enough for one row. With `mark`, the match is put in
/// `«»`.
pub(crate) fn match_row(buffer: &Buffer, found: &Range<usize>, mark: bool) -> String {
    let context = buffer.line_context(found, OPTION_COLUMNS_MAX);
    let marks = if mark { 2 } else { 0 };
    // An ellipsis at either end tells that the line goes on.
    let room = OPTION_COLUMNS_MAX - marks - 2;
    let inside: String = context.inside.chars().take(room).collect();
    let (before, after) = match context.skipped_before {
        0 => (context.before.trim_start(), context.after.trim_end()),
        _ => (context.before.as_str(), context.after.trim_end()),
    };
    let room = room - inside.chars().count();
    let ahead = before.chars().count();
    let shown: String = after.chars().take(room - ahead.min(room / 2)).collect();
    let cut = ahead.saturating_sub(room - shown.chars().count());
    let before: String = before.chars().skip(cut).collect();
    let inside_cut = inside.len() < context.inside.len() || context.inside_omitted > 0;
    let ellipsis = |cut: bool| if cut { "…" } else { "" };
    let (open, close) = if mark { ("«", "»") } else { ("", "") };
    readable(&format!(
        "{}{before}{open}{inside}{close}{shown}{}",
        ellipsis(cut > 0 || context.skipped_before > 0),
        ellipsis(inside_cut || shown.len() < after.len() || context.skipped_after > 0),
    ))
}

/// Returns text with characters that would change how it is shown as their code points, as calls
/// take them: `\u{001b}`. Tabs stay.
pub(crate) fn readable(text: &str) -> String {
    let mut readable = String::with_capacity(text.len());
    for c in text.chars() {
        match c == '\n' || is_deceptive_in_prose(c) {
            true => readable += &code_point(c),
            false => readable.push(c),
        }
    }
    readable
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
