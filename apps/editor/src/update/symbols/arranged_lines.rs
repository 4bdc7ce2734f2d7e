//! Applies an arrangement of items to a text: computes the replacements, and the positions of lines
//! in the new text.

use std::ops::Range;

use pipemux_syntax::{Arrangement, Edit, Source};

use crate::display::wording::count;
use crate::model::splice::Splice;

/// Returns the lines of a range of a text, from 0.
pub(super) fn lines_in(text: &str, bytes: &Range<usize>) -> Range<usize> {
    let line =
        |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
    let first = line(bytes.start);
    first..line(bytes.end.saturating_sub(1).max(bytes.start)) + 1
}

/// Returns the byte of the new text where lines were taken out.
pub(super) fn gap_after(planned: &Arrangement, lines: &Range<usize>) -> usize {
    let mut shift: isize = 0;
    for edit in &planned.edits {
        if edit.range.start <= lines.start
            && lines.start < edit.range.end.max(edit.range.start + 1)
            && edit.range.end > lines.start
        {
            break;
        }
        if edit.range.start > lines.start {
            break;
        }
        shift += edit.new.len() as isize - edit.range.len() as isize;
    }
    let removed = planned.edits.iter().find(|edit| edit.range.contains(&lines.start));
    let at = removed.map_or(lines.start, |edit| edit.range.start);
    at.saturating_add_signed(shift)
}

/// Says to which indentation a block was shifted.
pub(super) fn shift_note(planned: &Arrangement, may_be_exact: bool) -> String {
    let Some((had, has)) = &planned.shifted else { return String::new() };
    let told = |indent: &str| match indent {
        "" => "none".to_owned(),
        indent if indent.chars().all(|c| c == '\t') => count(indent.len(), "tab"),
        indent => count(indent.chars().count(), "space"),
    };
    let off = if may_be_exact { " (indent='exact' keeps it)" } else { "" };
    let off = if may_be_exact && had == has { "" } else { off };
    format!(", indentation {} → {}{off}", told(had), told(has))
}

pub(super) fn splices(source: &Source, planned: &Arrangement) -> Vec<Splice> {
    splices_of(source, &planned.edits)
}

pub(super) fn splices_of(source: &Source, edits: &[Edit]) -> Vec<Splice> {
    let edits = edits.iter();
    edits
        .map(|edit| Splice {
            at: edit.range.start,
            old: source.text()[edit.range.clone()].to_owned(),
            new: edit.new.clone(),
        })
        .collect()
}

/// Returns lines with the line endings of another text.
pub(super) fn in_endings_of(lines: &str, text: &str) -> String {
    // A file without a line takes on the lines' own.
    let text = if text.contains('\n') { text } else { lines };
    let crlf = text.matches("\r\n").count() * 2 > text.matches('\n').count();
    let mut plain = lines.replace("\r\n", "\n");
    if !plain.ends_with('\n') {
        plain.push('\n');
    }
    if crlf { plain.replace('\n', "\r\n") } else { plain }
}
