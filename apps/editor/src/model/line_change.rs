//! The effect of one change on a file's line numbers. All lines count from 0.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The effect of a change on lines. All line numbers are those before the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineChange {
    /// Lines were replaced: in ascending order, without overlaps.
    Splices(Vec<LineSplice>),
    /// Lines were moved and kept their identity.
    Move(LineMove),
}

/// Lines that were replaced by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSplice {
    /// The first removed line; if none was removed, the line before which the new ones were put.
    pub start: usize,
    /// The number of removed lines.
    pub removed: usize,
    /// The number of inserted lines. If equal to `removed`, lines keep their identity.
    pub inserted: usize,
}

/// Lines that were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineMove {
    pub first: usize,
    /// The number of moved lines.
    pub count: usize,
    /// The line before which the lines were put; it is not one of the moved lines.
    pub before: usize,
}

/// The reason why lines of an earlier version have no counterpart now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmapped {
    /// The line log doesn't reach back to that version.
    UnknownVersion,
    /// The reader was informed that the line numbers are no longer valid.
    Retired,
    /// Somebody else changed or deleted the lines, which were at this range.
    ChangedByOther(Range<usize>),
    /// An earlier step of the same run deleted a line.
    DeletedByRun,
    /// An earlier step of the same run replaced part of the lines by this range.
    ReplacedByRun(Range<usize>),
    /// An earlier step of the same run moved lines out of or into the range.
    SplitByRun,
}

impl LineChange {
    /// Returns the change that takes this one back.
    pub fn inverse(&self) -> Self {
        match self {
            LineChange::Move(moved) => LineChange::Move(moved.inverse()),
            LineChange::Splices(splices) => {
                let back = starts_after(splices)
                    .zip(splices)
                    .map(|(start, splice)| LineSplice {
                        start,
                        removed: splice.inserted,
                        inserted: splice.removed,
                    })
                    .collect();
                LineChange::Splices(back)
            }
        }
    }

    /// Returns the changed lines as they are numbered after the change.
    pub fn changed_lines(&self) -> Vec<Range<usize>> {
        match self {
            LineChange::Move(moved) => {
                let destination = moved.destination()..moved.destination() + moved.count;
                Vec::from([destination])
            }
            LineChange::Splices(splices) => starts_after(splices)
                .zip(splices)
                .map(|(start, splice)| start..start + splice.inserted)
                .collect(),
        }
    }

    /// Returns the number of lines that the text grew by; negative if it shrank.
    pub fn growth(&self) -> isize {
        match self {
            LineChange::Move(_) => 0,
            LineChange::Splices(splices) => splices.iter().map(LineSplice::growth).sum(),
        }
    }

    /// Returns what is left of pieces of lines, each with the first line that it is now and the
    /// lines that it was. Lines that their own run altered in place are left; those that anybody
    /// else did aren't.
    pub(super) fn survivors(
        &self,
        pieces: &[(usize, Range<usize>)],
        same_run: bool,
    ) -> Vec<(usize, Range<usize>)> {
        let mut left: Vec<(usize, Range<usize>)> = Vec::new();
        for (now, lines) in pieces {
            let mut keep = |from: usize, end: usize, to: usize| {
                if from < end {
                    let was = lines.start + (from - now);
                    match left.last_mut() {
                        Some((start, before)) if is_next(*start, before, to, was) => {
                            before.end += end - from;
                        }
                        _ => left.push((to, was..was + (end - from))),
                    }
                }
            };
            let (mut from, end) = (*now, now + lines.len());
            match self {
                LineChange::Move(moved) => {
                    let touched = moved.touched();
                    let (block, after) = (moved.first, moved.first + moved.count);
                    for cut in [touched.start, block, after, touched.end, end] {
                        let cut = cut.clamp(from, end);
                        keep(from, cut, moved.map(from));
                        from = cut;
                    }
                }
                LineChange::Splices(splices) => {
                    let mut shift: isize = 0;
                    for splice in splices {
                        let stop = splice.start.clamp(from, end);
                        keep(from, stop, from.saturating_add_signed(shift));
                        let removed = (splice.start + splice.removed).clamp(stop, end);
                        let altered = splice.removed == splice.inserted && same_run;
                        if altered && splice.start + splice.removed > from {
                            keep(stop, removed, stop.saturating_add_signed(shift));
                        }
                        from = removed;
                        shift += splice.growth();
                    }
                    keep(from, end, from.saturating_add_signed(shift));
                }
            }
        }
        left
    }

    /// Returns where lines are after the change. Their own run may change lines within the range;
    /// anybody else may only move them as a whole.
    pub(super) fn map_range(
        &self,
        lines: Range<usize>,
        same_run: bool,
    ) -> Result<Range<usize>, Unmapped> {
        match self {
            LineChange::Splices(splices) => map_through_splices(splices, lines, same_run),
            LineChange::Move(moved) => map_through_move(moved, lines, same_run),
        }
    }

    /// Returns where a line is after the change, or what is in its place.
    pub fn nearest_line(&self, line: usize) -> usize {
        let splices = match self {
            LineChange::Move(moved) => return moved.map(line),
            LineChange::Splices(splices) => splices,
        };
        let mut shift = 0;
        for splice in splices.iter().take_while(|splice| splice.start <= line) {
            if splice.removed > 0 && line < splice.start + splice.removed {
                let offset = (line - splice.start).min(splice.inserted.saturating_sub(1));
                return (splice.start + offset).saturating_add_signed(shift);
            }
            shift += splice.growth();
        }
        line.saturating_add_signed(shift)
    }

    /// Returns the number of line log entries that the change counts as.
    pub(super) fn weight(&self) -> usize {
        match self {
            LineChange::Move(_) => 1,
            LineChange::Splices(splices) => splices.len().max(1),
        }
    }
}

impl LineSplice {
    fn growth(&self) -> isize {
        self.inserted as isize - self.removed as isize
    }
}

impl LineMove {
    /// Returns the number of the first moved line after the move.
    pub fn destination(&self) -> usize {
        if self.before <= self.first { self.before } else { self.before - self.count }
    }

    pub fn touched(&self) -> Range<usize> {
        self.first.min(self.before)..(self.first + self.count).max(self.before)
    }

    /// Returns the number of a line after the move.
    pub fn map(&self, line: usize) -> usize {
        let after = self.first + self.count;
        if (self.first..after).contains(&line) {
            return line - self.first + self.destination();
        }
        let without = if line >= after { line - self.count } else { line };
        if without >= self.destination() { without + self.count } else { without }
    }

    fn inverse(&self) -> Self {
        let before = if self.before <= self.first { self.first + self.count } else { self.first };
        Self { first: self.destination(), count: self.count, before }
    }
}

/// Returns where each splice starts in the text after all of them.
fn starts_after(splices: &[LineSplice]) -> impl Iterator<Item = usize> {
    splices.iter().scan(0, |shift: &mut isize, splice| {
        let start = splice.start.saturating_add_signed(*shift);
        *shift += splice.growth();
        Some(start)
    })
}

/// True when a line follows lines both where they are now and where they were.
fn is_next(now: usize, was: &Range<usize>, next_now: usize, next_was: usize) -> bool {
    was.end == next_was && now + was.len() == next_now
}

fn map_through_splices(
    splices: &[LineSplice],
    lines: Range<usize>,
    same_run: bool,
) -> Result<Range<usize>, Unmapped> {
    let (mut ahead, mut within) = (0, 0);
    for splice in splices.iter().take_while(|splice| splice.start < lines.end) {
        let end = splice.start + splice.removed;
        let here = splice.start.saturating_add_signed(ahead + within);
        let here = here..here + splice.inserted;
        // The splice precedes the range, or inserts lines right before its first line.
        if end <= lines.start {
            ahead += splice.growth();
        } else if !same_run {
            return Err(Unmapped::ChangedByOther(here));
        } else if splice.removed == splice.inserted || splice.removed == 0 {
            within += splice.growth();
        } else if splice.inserted == 0 {
            if splice.start <= lines.start || end >= lines.end {
                return Err(Unmapped::DeletedByRun);
            }
            within += splice.growth();
        } else if splice.start >= lines.start && end <= lines.end {
            within += splice.growth();
        } else {
            return Err(Unmapped::ReplacedByRun(here));
        }
    }
    let start = lines.start.saturating_add_signed(ahead);
    Ok(start..lines.end.saturating_add_signed(ahead + within))
}

fn map_through_move(
    moved: &LineMove,
    lines: Range<usize>,
    same_run: bool,
) -> Result<Range<usize>, Unmapped> {
    let block = moved.first..moved.first + moved.count;
    let contained = lines.start >= block.start && lines.end <= block.end;
    let disjoint = lines.end <= block.start || lines.start >= block.end;
    let start = moved.map(lines.start);
    if (contained || disjoint) && moved.map(lines.end - 1) + 1 == start + lines.len() {
        return Ok(start..start + lines.len());
    }
    // The move only reorders the lines of the range.
    let within = block.start >= lines.start && block.end <= lines.end;
    if same_run && within && (lines.start..=lines.end).contains(&moved.before) {
        return Ok(lines);
    }
    Err(if same_run { Unmapped::SplitByRun } else { Unmapped::ChangedByOther(start..start + 1) })
}
