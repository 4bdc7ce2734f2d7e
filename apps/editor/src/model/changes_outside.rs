//! Changed lines that the page doesn't show: a few of them are shown below it, the others are
//! named.

use std::ops::Range;

use crate::limits::CHANGED_LINES_SHOWN;

/// The lines outside of the page that the latest change altered and that weren't shown yet, in
/// their order.
#[derive(Debug, Default)]
pub struct ChangesOutside {
    /// The changed lines that are shown below the page.
    pub shown: Vec<Range<usize>>,
    /// The changed lines that are only named.
    pub left_out: Vec<Range<usize>>,
}

impl ChangesOutside {
    /// Divides the lines outside of a page by [`CHANGED_LINES_SHOWN`]; `all` is how many lines the
    /// file has.
    pub fn of(changed: &[Range<usize>], page: &Range<usize>, all: usize) -> Self {
        let mut outside = Self::default();
        let mut left = CHANGED_LINES_SHOWN;
        for changed in changed {
            let before = changed.start..changed.end.min(page.start).min(all);
            let after = changed.start.max(page.end)..changed.end.min(all);
            for part in [before, after] {
                let middle = part.end.min(part.start.saturating_add(left));
                left -= middle.saturating_sub(part.start);
                append(&mut outside.shown, part.start..middle);
                append(&mut outside.left_out, part.start.max(middle)..part.end);
            }
        }
        outside
    }
}

/// Appends lines to ranges in their order; those that follow the last range become part of it.
pub fn append(ranges: &mut Vec<Range<usize>>, lines: Range<usize>) {
    match ranges.last_mut() {
        _ if lines.is_empty() => {}
        Some(last) if last.end == lines.start => last.end = lines.end,
        _ => ranges.push(lines),
    }
}
