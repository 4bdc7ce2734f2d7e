//! Line numbers that were copied from a window together with the text.

use std::ops::Range;

use docui::{Fault, Line, Text};

use crate::model::buffer::Buffer;

/// Refuses text that begins with the numbers of the lines it is to replace. Text that comes by
/// reference was not copied from a window, so it is always accepted.
pub(super) fn refuse_gutter(
    text: &Text,
    at: &Line,
    buffer: &Buffer,
    lines: &Range<usize>,
) -> Result<(), Fault> {
    let numbers: Option<Vec<i64>> = text.text.lines().map(gutter_number).collect();
    let Some(numbers) = numbers.filter(|_| text.from.is_none()) else { return Ok(()) };
    let Some(first) = numbers.first() else { return Ok(()) };
    let starts = match at {
        Line::Number(seen) => first == seen,
        _ => *first == lines.start as i64 + 1,
    };
    let counts = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    // In a table with numbered lines, such text is meant literally.
    let table = (lines.start.saturating_sub(1)..lines.end.min(lines.start + 2))
        .any(|line| gutter_number(&buffer.line_head(line, 32).0).is_some());
    match starts && counts && !table {
        true => {
            Err(Fault::usage("text carries line numbers").hint("leave out `N<TAB>` on each line"))
        }
        false => Ok(()),
    }
}

/// True when every line begins with a number and a tab, as in a window.
pub(super) fn carries_gutter(text: &str) -> bool {
    text.lines().all(|line| gutter_number(line).is_some_and(|number| number >= 0))
}

fn gutter_number(line: &str) -> Option<i64> {
    line.split_once('\t').and_then(|(number, _)| number.parse().ok())
}
