//! The line changes behind splices, and the splices between two texts.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffTag};

use crate::limits::{CHANGED_RANGES_NAMED, DIFF_MS};

use super::buffer::Buffer;
use super::line_change::{LineChange, LineMove, LineSplice};
use super::splice::Splice;

/// Maximum distance in lines of a moved block from its first candidate position.
const SLIDE_MAX: isize = 2;

/// Returns what splices of a text do to its lines.
pub fn line_change_of(buffer: &Buffer, splices: &[Splice]) -> LineChange {
    if splices.iter().all(|splice| is_within_one_line(buffer, splice)) {
        let mut lines: Vec<_> = splices.iter().map(|splice| buffer.line_at(splice.at)).collect();
        lines.dedup();
        let altered = |start| LineSplice { start, removed: 1, inserted: 1 };
        return LineChange::Splices(lines.into_iter().map(altered).collect());
    }
    let mut groups: Vec<(Range<usize>, Vec<&Splice>)> = Vec::new();
    for splice in splices {
        let lines = touched_lines(buffer, splice);
        match groups.last_mut() {
            Some((before, members)) if lines.start < before.end => {
                before.end = before.end.max(lines.end);
                members.push(splice);
            }
            _ => groups.push((lines, vec![splice])),
        }
    }
    let spliced = groups.into_iter().filter_map(|(lines, members)| {
        let start = buffer.line_start(lines.start);
        let old = buffer.text_of(&lines);
        let (mut new, mut from) = (String::with_capacity(old.len()), 0);
        for splice in members {
            let at = splice.at - start;
            new += &old[from..at];
            new += &splice.new;
            from = at + splice.old.len();
        }
        new += &old[from..];
        line_splice_between(lines.start, &old, &new)
    });
    LineChange::Splices(spliced.collect())
}

/// Returns the move that splices come to, if all they do is to take lines away in one place and to
/// put the same lines in another. The lines then keep their identity. `item` are lines that moved
/// for sure, from 0: where an empty line stands on both sides of them, or equal lines do, the same
/// text could come from other lines, too.
pub fn move_of(before: &Buffer, splices: &[Splice], item: &Range<usize>) -> Option<LineMove> {
    let change = line_change_of(before, splices);
    let LineChange::Splices(both) = &change else { return None };
    let [one, other] = both.as_slice() else { return None };
    let (gone, put) = if one.inserted == 0 { (one, other) } else { (other, one) };
    let count = gone.removed;
    if gone.inserted != 0 || put.removed != 0 || put.inserted != count {
        return None;
    }
    let mut after = before.clone();
    after.apply(splices);
    let (before, after) = (before.text(), after.text());
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let slides = || -SLIDE_MAX..=SLIDE_MAX;
    let starts = slides().flat_map(|a| slides().map(move |b| (a, b)));
    let moves = starts.filter_map(|(a, b)| {
        let first = gone.start.checked_add_signed(a)?;
        let target = put.start.checked_add_signed(b)?;
        let stays = target < first || target > first + count;
        let fits = first + count <= old.len() && target <= old.len();
        let whole = first <= item.start && item.end <= first + count;
        (stays && fits && whole).then_some(LineMove { first, count, before: target })
    });
    let is_it = |moved: &LineMove| {
        let block = &old[moved.first..moved.first + moved.count];
        let parts = match moved.before < moved.first {
            true => [
                &old[..moved.before],
                block,
                &old[moved.before..moved.first],
                &old[moved.first + moved.count..],
            ],
            false => [
                &old[..moved.first],
                &old[moved.first + moved.count..moved.before],
                block,
                &old[moved.before..],
            ],
        };
        let mut rest = after.as_str();
        let all = parts.into_iter().flatten().all(|line| match rest.strip_prefix(*line) {
            Some(left) => {
                rest = left;
                true
            }
            None => false,
        });
        all && rest.is_empty()
    };
    // As `diff` tells it: with the empty line below the block rather than with the one above.
    let (above, below): (Vec<LineMove>, Vec<LineMove>) =
        moves.partition(|moved| old.get(moved.first).is_none_or(|line| line.trim().is_empty()));
    below.into_iter().chain(above).find(is_it)
}

/// Returns the line splice between two texts that begin at line `start`, without the lines that are
/// equal at both ends; `None` if all lines are equal.
pub fn line_splice_between(start: usize, old: &str, new: &str) -> Option<LineSplice> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let ahead = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[ahead..], &new[ahead..]);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (removed, inserted) = (old.len() - behind, new.len() - behind);
    (removed + inserted > 0).then_some(LineSplice { start: start + ahead, removed, inserted })
}

/// Returns the splices of whole lines that turn one text into another.
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

/// Names the lines of a text that differ from another: `lines 3-5, 9`; `None` if there are none.
pub fn differing_lines(text: &str, other: &str) -> Option<String> {
    let (_, LineChange::Splices(splices)) = difference(text, other) else { return None };
    let name = |splice: &LineSplice| match splice.removed {
        0 | 1 => format!("{}", splice.start + 1),
        more => format!("{}-{}", splice.start + 1, splice.start + more),
    };
    let named: Vec<_> = splices.iter().take(CHANGED_RANGES_NAMED).map(name).collect();
    let more = if splices.len() > named.len() { ", …" } else { "" };
    let noun = match splices.as_slice() {
        [] => return None,
        [one] if one.removed < 2 => "line",
        _ => "lines",
    };
    Some(format!("{noun} {}{more}", named.join(", ")))
}

/// True when a splice neither adds nor removes a line. It does remove one when it deletes all of a
/// last line that has no newline, so the text must go on after the splice.
fn is_within_one_line(buffer: &Buffer, splice: &Splice) -> bool {
    let newline = splice.old.contains('\n') || splice.new.contains('\n');
    !newline && splice.old_end() < buffer.len()
}

/// Returns the lines that a splice may alter.
fn touched_lines(buffer: &Buffer, splice: &Splice) -> Range<usize> {
    let first = buffer.line_at(splice.at);
    let end = splice.old_end();
    let last = buffer.line_at(end);
    // A splice of whole lines leaves the line after it alone.
    let whole = match splice.new.as_str() {
        "" => splice.at == buffer.line_start(first),
        new => new.ends_with('\n'),
    };
    match end == buffer.line_start(last) && whole && last >= first {
        true => first..last,
        false => first..(last + 1).min(buffer.line_count()).max(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(at: usize, old: &str, new: &str) -> Splice {
        Splice { at, old: old.into(), new: new.into() }
    }

    #[test]
    fn block_that_moves_with_an_empty_line_is_a_move() {
        let before = Buffer::new("a\n\nb\nb2\n\nc\n", false);
        // The empty line behind it moves with it, or the one above.
        for gone in [splice(3, "b\nb2\n\n", ""), splice(2, "\nb\nb2\n", "")] {
            let splices = [splice(0, "", "b\nb2\n\n"), gone];
            let moved = LineMove { first: 2, count: 3, before: 0 };
            assert_eq!(move_of(&before, &splices, &(2..4)), Some(moved));
        }
        let splices = [splice(3, "b\nb2\n\n", ""), splice(11, "", "\nb\nb2\n")];
        let moved = LineMove { first: 1, count: 3, before: 6 };
        assert_eq!(move_of(&before, &splices, &(2..4)), Some(moved));
        let other = [splice(0, "", "B\nb2\n\n"), splice(3, "b\nb2\n\n", "")];
        assert_eq!(move_of(&before, &other, &(2..4)), None);
    }
}
