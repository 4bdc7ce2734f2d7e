//! Detects blocks that moved unchanged.

use std::collections::HashMap;
use std::ops::Range;

use similar::{DiffOp, DiffTag};

use crate::limits::{
    EXCHANGE_HUNKS_MAX, EXCHANGE_LINES_MAX, EXCHANGE_REACH, MOVED_LINES_MIN, SLIDE_MAX,
};

/// Lines that were taken out in one place and put in another, as they were numbered and as they
/// are, from 0.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub from: Range<usize>,
    pub to: Range<usize>,
}

/// Returns what is left of a comparison without the blocks that moved, and these.
///
/// Where equal lines stand beside a block, a comparison may as well begin it some lines earlier or
/// later. It moved if that makes both places the same; it then begins where a block does.
pub(super) fn without_moves(
    ops: &[DiffOp],
    old: &[&str],
    new: &[&str],
) -> (Vec<DiffOp>, Vec<Moved>) {
    let changed = ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    let (mut left, mut moves) = (Vec::new(), Vec::new());
    let all: Vec<DiffOp> = changed.copied().collect();
    let mut next = 0;
    while let Some(op) = all.get(next) {
        match exchange_from(next, &all, old, new) {
            Some((end, moved)) => {
                moves.push(moved);
                next = end;
            }
            None => {
                left.push(*op);
                next += 1;
            }
        }
    }
    let mut at = 0;
    while let Some(op) = left.get(at) {
        let found = (op.tag() == DiffTag::Delete && op.old_range().len() >= MOVED_LINES_MIN)
            .then(|| target_of(op, &left, &Sides { ops, old, new }))
            .flatten();
        match found {
            Some((target, moved)) => {
                moves.push(moved);
                left.remove(at.max(target));
                left.remove(at.min(target));
                at -= usize::from(target < at);
            }
            None => at += 1,
        }
    }
    (left, moves)
}

/// Returns the two neighbouring blocks that change places in the changes from `first` on, as the
/// smaller one that moved past the other, and the index of the next change.
///
/// Lines that both blocks have, such as `#[test]`, make a comparison of a part of each with a part
/// of the other.
fn exchange_from(
    first: usize,
    all: &[DiffOp],
    old: &[&str],
    new: &[&str],
) -> Option<(usize, Moved)> {
    // Only the same lines in another order can be an exchange.
    let mut lines: HashMap<&str, isize> = HashMap::new();
    let mut several = 0;
    let mut count = |line, by: isize| {
        let number = lines.entry(line).or_default();
        several -= usize::from(*number != 0);
        *number += by;
        several += usize::from(*number != 0);
        several == 0
    };
    let above = first.checked_sub(1).map_or(0, |above| all[above].old_range().end);
    for (index, op) in all.iter().enumerate().skip(first).take(EXCHANGE_HUNKS_MAX) {
        let removed = old[op.old_range()].iter().map(|line| (*line, 1));
        let added = new[op.new_range()].iter().map(|line| (*line, -1));
        let same = removed.chain(added).map(|(line, by)| count(line, by)).last();
        if same != Some(true) {
            continue;
        }
        let below = all.get(index + 1).map_or(old.len(), |below| below.old_range().start);
        let from = (all[first].old_range().start, all[first].new_range().start);
        let end = op.old_range().end;
        let room = (from.0 - above, below - end);
        let moved = exchanged((from.0..end, from.1), room, old, new)?;
        return Some((index + 1, moved));
    }
    None
}

/// Returns what moved if some lines, with as many as there is room for above and below, are two
/// blocks in turn that changed places.
fn exchanged(
    (lines, start): (Range<usize>, usize),
    (above, below): (usize, usize),
    old: &[&str],
    new: &[&str],
) -> Option<Moved> {
    if lines.len() > EXCHANGE_LINES_MAX {
        return None;
    }
    let begins_block = |at: usize| (is_blank(old[at]), at > 0 && !is_blank(old[at - 1]));
    let mut best = None;
    for up in 0..=above.min(EXCHANGE_REACH) {
        for down in 0..=below.min(EXCHANGE_REACH) {
            let (first, end, start) = (lines.start - up, lines.end + down, start - up);
            let Some(after) = new.get(start..start + (end - first)) else { continue };
            let before = &old[first..end];
            for cut in MOVED_LINES_MIN.min(before.len())..before.len() {
                let (one, other) = before.split_at(cut);
                if other.first() != after.first()
                    || *other != after[..other.len()]
                    || *one != after[other.len()..]
                {
                    continue;
                }
                let moved = match one.len() <= other.len() {
                    true => (first..first + cut, start + other.len()),
                    false => (first + cut..end, start),
                };
                if moved.0.len() < MOVED_LINES_MIN {
                    continue;
                }
                let rank = (begins_block(first), begins_block(first + cut), up + down);
                let is_better = best.as_ref().is_none_or(|(other, _)| rank < *other);
                if is_better {
                    best = Some((rank, moved));
                }
            }
        }
    }
    best.map(|(_, (from, to))| Moved { to: to..to + from.len(), from })
}

/// Two texts, and what their comparison found.
struct Sides<'a> {
    ops: &'a [DiffOp],
    old: &'a [&'a str],
    new: &'a [&'a str],
}

impl Sides<'_> {
    /// Returns the lines that can have been taken out to the same effect as these.
    fn taken_out(&self, op: &DiffOp) -> Vec<Range<usize>> {
        let room = self.room(op, DiffOp::old_range, self.old.len());
        slides(&op.old_range(), self.old, &room)
    }

    /// Returns the lines that can have been put to the same effect as these.
    fn put(&self, op: &DiffOp) -> Vec<Range<usize>> {
        let room = self.room(op, DiffOp::new_range, self.new.len());
        slides(&op.new_range(), self.new, &room)
    }

    /// Returns the lines around a change up to the changes next to it.
    fn room(&self, op: &DiffOp, lines: fn(&DiffOp) -> Range<usize>, all: usize) -> Range<usize> {
        let changed = || self.ops.iter().filter(|other| other.tag() != DiffTag::Equal);
        let above = changed().take_while(|other| *other != op).last();
        let below = changed().skip_while(|other| *other != op).nth(1);
        above.map_or(0, |other| lines(other).end)..below.map_or(all, |other| lines(other).start)
    }
}

/// Returns the change among these that put a block, and the bounds of the block in both places.
fn target_of(gone: &DiffOp, left: &[DiffOp], sides: &Sides<'_>) -> Option<(usize, Moved)> {
    let Sides { old, new, .. } = *sides;
    let put = left.iter().enumerate().filter(|(_, op)| {
        op.tag() == DiffTag::Insert && op.new_range().len() == gone.old_range().len()
    });
    let from = sides.taken_out(gone);
    let texts: HashMap<String, &Range<usize>> =
        from.iter().rev().map(|lines| (old[lines.clone()].concat(), lines)).collect();
    let mut best: Option<(usize, Moved)> = None;
    for (index, op) in put {
        for to in sides.put(op) {
            let Some(from) = texts.get(&new[to.clone()].concat()) else { continue };
            let better = match &best {
                Some((_, other)) => rank(from, old) < rank(&other.from, old),
                None => true,
            };
            if better {
                best = Some((index, Moved { from: (*from).clone(), to }));
            }
        }
    }
    // At the end of a file the empty line between it and its neighbour is on its other side.
    best.or_else(|| {
        let block = |lines: &[&str]| lines.concat().trim_matches('\n').to_owned();
        let from = from.first()?;
        let text = block(&old[from.clone()]);
        let is_it =
            |op: &DiffOp| op.tag() == DiffTag::Insert && block(&new[op.new_range()]) == text;
        let index = left.iter().position(is_it)?;
        let to = left[index].new_range();
        Some((index, Moved { from: filled(from, old), to: filled(&to, new) }))
    })
}

/// Returns the lines without empty ones at both ends.
fn filled(lines: &Range<usize>, text: &[&str]) -> Range<usize> {
    let is_filled = |line: &usize| !is_blank(text[*line]);
    let start = lines.clone().find(is_filled).unwrap_or(lines.start);
    let end = lines.clone().rev().find(is_filled).map_or(lines.end, |last| last + 1);
    start..end
}

/// Returns the lines of a text that can be taken out, or put, to the same effect as these.
fn slides(lines: &Range<usize>, text: &[&str], room: &Range<usize>) -> Vec<Range<usize>> {
    let mut all = vec![lines.clone()];
    let (mut start, mut end) = (lines.start, lines.end);
    while all.len() <= SLIDE_MAX && start > room.start && text[start - 1] == text[end - 1] {
        (start, end) = (start - 1, end - 1);
        all.push(start..end);
    }
    (start, end) = (lines.start, lines.end);
    while all.len() <= 2 * SLIDE_MAX && end < room.end && text[start] == text[end] {
        (start, end) = (start + 1, end + 1);
        all.push(start..end);
    }
    all.sort_by_key(|lines| rank(lines, text));
    all
}

/// Says how little lines look like a block: one begins behind an empty line.
fn rank(lines: &Range<usize>, text: &[&str]) -> (bool, bool, usize) {
    let starts = lines.start == 0 || is_blank(text[lines.start - 1]);
    (is_blank(text[lines.start]), !starts, lines.start)
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}
