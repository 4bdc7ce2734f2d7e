//! What a change of text does to its lines.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag};

use crate::limits::DIFF_MS;

use super::buffer::{Buffer, Splice};
use super::linemap::{LineChange, LineSplice};

/// What splices of a text do to its lines.
pub fn line_change(buffer: &Buffer, splices: &[Splice]) -> LineChange {
    if splices.iter().all(|splice| is_within_a_line(buffer, splice)) {
        let mut lines: Vec<_> = splices.iter().map(|splice| buffer.line_at(splice.at)).collect();
        lines.dedup();
        let altered = |start| LineSplice { start, removed: 1, inserted: 1 };
        return LineChange::Splices(lines.into_iter().map(altered).collect());
    }
    let mut groups: Vec<(Range<usize>, Vec<&Splice>)> = Vec::new();
    for splice in splices {
        let lines = touched(buffer, splice);
        match groups.last_mut() {
            Some((before, members)) if lines.start < before.end => {
                before.end = before.end.max(lines.end);
                members.push(splice);
            }
            _ => groups.push((lines, vec![splice])),
        }
    }
    let spliced = groups.into_iter().filter_map(|(lines, members)| {
        let start = buffer.start(lines.start);
        let old = buffer.text_of(&lines);
        let (mut new, mut from) = (String::with_capacity(old.len()), 0);
        for splice in members {
            let at = splice.at - start;
            new += &old[from..at];
            new += &splice.new;
            from = at + splice.old.len();
        }
        new += &old[from..];
        trimmed(lines.start, &old, &new)
    });
    LineChange::Splices(spliced.collect())
}

/// The splice of lines that two texts differ by, without the lines that they begin and end with alike.
pub fn trimmed(start: usize, old: &str, new: &str) -> Option<LineSplice> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let ahead = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[ahead..], &new[ahead..]);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (removed, inserted) = (old.len() - behind, new.len() - behind);
    (removed + inserted > 0).then_some(LineSplice { start: start + ahead, removed, inserted })
}

/// The splices that make one text of another, line by line.
pub fn difference(old: &str, new: &str) -> (Vec<Splice>, LineChange) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let deadline = Instant::now().checked_add(Duration::from_millis(DIFF_MS));
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let (mut splices, mut lines) = (Vec::new(), Vec::new());
    let mut at = 0;
    for op in ops {
        let (tag, before, after) = op.as_tag_tuple();
        let text = old[before.clone()].concat();
        if tag != DiffTag::Equal {
            let (removed, inserted) = (before.len(), after.len());
            lines.push(LineSplice { start: before.start, removed, inserted });
            splices.push(Splice { at, old: text.clone(), new: new[after].concat() });
        }
        at += text.len();
    }
    (splices, LineChange::Splices(lines))
}

/// True when a splice leaves its line a line: no newline comes or goes, and the text goes on behind it,
/// so that no last line vanishes with all of its text.
fn is_within_a_line(buffer: &Buffer, splice: &Splice) -> bool {
    let newline = splice.old.contains('\n') || splice.new.contains('\n');
    !newline && splice.at + splice.old.len() < buffer.len()
}

/// The lines that a splice stands in.
fn touched(buffer: &Buffer, splice: &Splice) -> Range<usize> {
    let first = buffer.line_at(splice.at);
    let end = splice.at + splice.old.len();
    let last = buffer.line_at(end);
    // It ends where a line begins, and what comes there begins a line too: that line stays.
    let whole = match splice.new.as_str() {
        "" => splice.at == buffer.start(first),
        new => new.ends_with('\n'),
    };
    match end == buffer.start(last) && whole && last >= first {
        true => first..last,
        false => first..(last + 1).min(buffer.lines()).max(first),
    }
}
