//! One line of the code, shortened to fit, with a part of it marked.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::span::Span;
use crate::fault::SourcePosition;

/// Width of the widest line that is shown whole, in display columns.
const LINE_COLUMNS: usize = 100;
/// Width of the widest mark in a longer line, in display columns; it leaves space for some context
/// before the mark.
const MARK_COLUMNS: usize = 60;
/// Length of the longest name that a message repeats, in characters.
const NAME_CHARS: usize = 40;

/// A line of the code, to be shown above a line of carets.
pub(super) struct Excerpt {
    /// The position in the code where the mark begins.
    pub at: SourcePosition,
    /// The line, or the part of the line around the mark.
    pub line: String,
    /// The number of columns before the mark.
    pub indent: usize,
    /// The number of columns of the mark, at least 1.
    pub carets: usize,
}

/// Returns the line in which the span begins; the part of the span on later lines isn't marked.
pub(super) fn excerpt(code: &str, span: Span) -> Excerpt {
    let start = code.floor_char_boundary(span.start.min(code.len()));
    let line_start = code[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = code[start..].find('\n').map_or(code.len(), |newline| start + newline);
    let line = code[line_start..line_end].trim_end_matches('\r');
    let mark_start = (start - line_start).min(line.len());
    let mark_end = line.floor_char_boundary(span.end.saturating_sub(line_start).min(line.len()));
    let (before, rest) = line.split_at(mark_start);
    let (mark, after) = rest.split_at(mark_end.saturating_sub(mark_start));

    let [before, mark, after] = clip_around(before, mark, after);
    Excerpt {
        at: SourcePosition {
            line: count(code[..start].matches('\n').count() + 1),
            column: count(code[line_start..start].chars().count() + 1),
        },
        indent: before.width(),
        carets: mark.width().max(1),
        line: [before, mark, after].concat(),
    }
}

/// Returns a piece of the code for use in a message: on one line, and not longer than
/// [`NAME_CHARS`].
pub(super) fn clip(text: &str) -> String {
    let mut shown: String = text.chars().take(NAME_CHARS).map(printable).collect();
    if text.chars().nth(NAME_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Keeps the beginning of the mark and as much on both sides as fits.
fn clip_around(before: &str, mark: &str, after: &str) -> [String; 3] {
    // The whole line fits only if each part does, so a long line need not be measured to its end.
    let parts = [before, mark, after].map(|part| fit_columns(part.chars(), LINE_COLUMNS));
    let columns: usize = parts.iter().map(|part| part.columns).sum();
    if parts.iter().all(|part| part.whole) && columns <= LINE_COLUMNS {
        return [before, mark, after].map(|part| part.chars().map(printable).collect());
    }

    let shown_mark = fit_columns(mark.chars(), MARK_COLUMNS);
    // Two columns are reserved for the ellipses.
    let left = LINE_COLUMNS - 2 - shown_mark.columns;
    let wanted_after = if shown_mark.whole { parts[2].columns } else { 0 };
    let shown_before = fit_columns(before.chars().rev(), left - wanted_after.min(left / 2));
    let for_after = if shown_mark.whole { left - shown_before.columns } else { 0 };
    let shown_after = fit_columns(after.chars(), for_after);

    let mut first: String = shown_before.chars.into_iter().rev().collect();
    if !shown_before.whole {
        first.insert(0, '…');
    }
    let mut last: String = shown_after.chars.into_iter().collect();
    if !(shown_mark.whole && shown_after.whole) {
        last.push('…');
    }
    [first, shown_mark.chars.into_iter().collect(), last]
}

struct FittedText {
    chars: Vec<char>,
    columns: usize,
    whole: bool,
}

/// Returns as many characters as fit. A character of width zero counts as one column, so that a
/// million combining marks don't fit.
fn fit_columns(chars: impl Iterator<Item = char>, room: usize) -> FittedText {
    let mut fit_columns = FittedText { chars: Vec::new(), columns: 0, whole: true };
    for c in chars.map(printable) {
        let width = c.width().unwrap_or(1).max(1);
        if fit_columns.columns + width > room {
            fit_columns.whole = false;
            break;
        }
        fit_columns.columns += width;
        fit_columns.chars.push(c);
    }
    fit_columns
}

/// Replaces tabs by spaces, and characters that control a terminal by U+FFFD.
fn printable(c: char) -> char {
    match c {
        '\t' => ' ',
        // Line ends and the controls that change the direction of the text.
        '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}
