//! Texts: whether they are binary, and the places of them that a change can't be taken out of.

use std::ops::Range;

use pipemux_merge::Conflict;

use crate::limits::{BINARY_BYTES, CONFLICT_LINES_SHOWN};

/// Returns true for what git takes for binary.
pub(super) fn is_binary(text: &[u8]) -> bool {
    text.get(..BINARY_BYTES).unwrap_or(text).contains(&0)
}

/// Shows a place that was changed again since: the present lines, and those that would take their
/// place.
pub(super) fn conflict(name: &str, now: &[u8], new: &[u8], conflict: &Conflict) -> String {
    let lines = &conflict.ours;
    let place = match lines.len() {
        0 => format!("{name}, after line {}", lines.start),
        1 => format!("{name}:{}", lines.start + 1),
        _ => format!("{name}:{}-{}", lines.start + 1, lines.end),
    };
    format!("{place} now:\n{}instead of it:\n{}", some(now, lines), some(new, &conflict.theirs))
}

fn some(text: &[u8], lines: &Range<usize>) -> String {
    if lines.is_empty() {
        return "(nothing)\n".to_owned();
    }
    let all = text.split(|byte| *byte == b'\n').skip(lines.start);
    let line = |line: &[u8]| format!("{}\n", String::from_utf8_lossy(line).trim_end_matches('\r'));
    let mut some: String = all.take(lines.len().min(CONFLICT_LINES_SHOWN)).map(line).collect();
    let more = lines.len().saturating_sub(CONFLICT_LINES_SHOWN);
    if more > 0 {
        some += &format!("… {more} more lines\n");
    }
    some
}
