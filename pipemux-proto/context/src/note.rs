//! The notes in a document about content that it leaves out.

use crate::size::Size;
use crate::source::RenderSource;

/// Characters of a reason that are shown.
const REASON_CHARS: usize = 100;

/// Returns a text as one line without control characters, cut to a number of characters.
pub(crate) fn one_line(text: &str, chars: usize) -> String {
    let mut line: String = String::new();
    for (count, c) in text.trim().chars().enumerate() {
        if count == chars {
            line.push('…');
            break;
        }
        line.push(if c.is_control() { ' ' } else { c });
    }
    line
}

/// Cuts the longest text made by `write` that fits in `room`: of `reason` as many characters as
/// possible.
pub(crate) fn fit_reason(
    reason: &str,
    room: Size,
    write: impl Fn(&str) -> String,
) -> Option<String> {
    let mut chars = REASON_CHARS;
    loop {
        let line = write(&one_line(reason, chars));
        if Size::of_lines(&line).fits_in(room) {
            return Some(line);
        }
        if chars == 0 {
            return None;
        }
        chars /= 2;
    }
}

/// Says about how many lines were cut: by its magnitude, so that readers aren't told again whenever
/// the number changes.
pub fn about(hidden: u64) -> String {
    match hidden.checked_ilog10() {
        None | Some(0) => "a few".to_owned(),
        Some(digits) => format!("over {}", 10_u64.saturating_pow(digits).saturating_sub(1)),
    }
}

/// Says that lines of a source were cut.
pub(crate) fn cut_note(source: &RenderSource, hidden: u64) -> String {
    let (about, name) = (about(hidden), one_line(source.name(), REASON_CHARS));
    with_call(format!("cut: {about} lines of {name}"), source)
}

/// Says that there was no room for a source.
pub(crate) fn no_room_note(source: &RenderSource) -> String {
    with_call(format!("no room for {}", one_line(source.name(), REASON_CHARS)), source)
}

fn with_call(text: String, source: &RenderSource) -> String {
    match source.call.as_str() {
        "" => text + "\n",
        call => format!("{text}: {call}\n"),
    }
}

/// Keeps the first notes that fit in `room`, and counts the others.
pub(crate) fn fit_notes(notes: Vec<String>, room: Size) -> (Vec<String>, Size) {
    let more = |count: usize| match count {
        1 => "… and 1 more source\n".to_owned(),
        count => format!("… and {count} more sources\n"),
    };
    let all: Vec<Size> = notes.iter().map(|note| Size::of_lines(note)).collect();
    let sum = |sizes: &[Size]| sizes.iter().fold(Size::ZERO, |sum, size| sum.plus(*size));
    let whole = sum(&all);
    if whole.fits_in(room) {
        return (notes, whole);
    }
    let total = notes.len();
    for kept in (0..total).rev() {
        let last = more(total - kept);
        let size = sum(&all[..kept]).plus(Size::of_lines(&last));
        if size.fits_in(room) {
            let mut fitting = notes;
            fitting.truncate(kept);
            fitting.push(last);
            return (fitting, size);
        }
    }
    (Vec::new(), Size::ZERO)
}
