//! Line numbers across versions: what a number that was seen means now.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::limits::LOG_MAX;

/// What a change did to lines; all counted from 0 in the text before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineChange {
    /// Lines that gave way to others: in ascending order, apart from each other.
    Splices(Vec<LineSplice>),
    /// Lines that were moved and are the same lines still.
    Move(LineMove),
}

/// Lines that gave way to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineSplice {
    /// The first line.
    pub start: usize,
    /// How many gave way. 0: the new ones stand before `start`.
    pub removed: usize,
    /// How many stand there now. As many as before: each is the old one, altered.
    pub inserted: usize,
}

/// Lines that were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineMove {
    /// The first of them.
    pub first: usize,
    /// How many.
    pub count: usize,
    /// The line that they were put before: not one of them.
    pub before: usize,
}

impl LineMove {
    /// Where the first of them stands afterwards.
    pub fn landed(&self) -> usize {
        if self.before <= self.first { self.before } else { self.before - self.count }
    }

    /// The lines that are not where they were.
    pub fn touched(&self) -> Range<usize> {
        self.first.min(self.before)..(self.first + self.count).max(self.before)
    }

    /// Where a line stands afterwards.
    pub fn map(&self, line: usize) -> usize {
        let after = self.first + self.count;
        if (self.first..after).contains(&line) {
            return line - self.first + self.landed();
        }
        let without = if line >= after { line - self.count } else { line };
        if without >= self.landed() { without + self.count } else { without }
    }
}

/// Why a number means nothing now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// The version that was seen is no longer known.
    Unknown,
    /// Someone else changed or deleted the lines; where they stood.
    Changed(Range<usize>),
    /// An earlier step of the same run deleted a line.
    Deleted,
    /// An earlier step of the same run replaced a part of the lines; by which.
    Replaced(Range<usize>),
    /// An earlier step of the same run moved some of the lines away, or others among them.
    Apart,
}

impl LineChange {
    /// The change that takes this one back.
    pub fn inverse(&self) -> Self {
        match self {
            LineChange::Move(moved) => {
                let landed = moved.landed();
                let before = if moved.before <= moved.first {
                    moved.first + moved.count
                } else {
                    moved.first
                };
                LineChange::Move(LineMove { first: landed, count: moved.count, before })
            }
            LineChange::Splices(splices) => {
                let back = after(splices)
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

    /// The lines that stand after the change where it changed something.
    pub fn places(&self) -> Vec<Range<usize>> {
        match self {
            LineChange::Move(moved) => {
                let landed = moved.landed()..moved.landed() + moved.count;
                Vec::from([landed])
            }
            LineChange::Splices(splices) => after(splices)
                .zip(splices)
                .map(|(start, splice)| start..start + splice.inserted)
                .collect(),
        }
    }

    /// By how much the text grew, in lines.
    pub fn growth(&self) -> isize {
        match self {
            LineChange::Move(_) => 0,
            LineChange::Splices(splices) => splices.iter().map(LineSplice::growth).sum(),
        }
    }

    /// The first line after everything that the change touched, before and after it.
    fn tail(&self) -> Option<(usize, usize)> {
        let before = match self {
            LineChange::Move(moved) => moved.touched().end,
            LineChange::Splices(splices) => splices.last().map(|last| last.start + last.removed)?,
        };
        Some((before, before.saturating_add_signed(self.growth())))
    }

    /// Where lines are after the change.
    fn map(&self, lines: Range<usize>, own: bool) -> Result<Range<usize>, Lost> {
        match self {
            LineChange::Splices(splices) => map_splices(splices, lines, own),
            LineChange::Move(moved) => map_move(moved, lines, own),
        }
    }

    /// Where a line is, or what stands there instead.
    pub fn drift(&self, line: usize) -> usize {
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

    fn weight(&self) -> usize {
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

/// Where each splice starts in the text after all of them.
fn after(splices: &[LineSplice]) -> impl Iterator<Item = usize> {
    splices.iter().scan(0, |shift: &mut isize, splice| {
        let start = splice.start.saturating_add_signed(*shift);
        *shift += splice.growth();
        Some(start)
    })
}

fn map_splices(
    splices: &[LineSplice],
    lines: Range<usize>,
    own: bool,
) -> Result<Range<usize>, Lost> {
    let (mut ahead, mut within) = (0, 0);
    for splice in splices.iter().take_while(|splice| splice.start < lines.end) {
        let end = splice.start + splice.removed;
        let here = splice.start.saturating_add_signed(ahead + within);
        let here = here..here + splice.inserted;
        // Lines put right before the first one, or lines before it that gave way.
        if end <= lines.start {
            ahead += splice.growth();
        } else if !own {
            return Err(Lost::Changed(here));
        } else if splice.removed == splice.inserted || splice.removed == 0 {
            within += splice.growth();
        } else if splice.inserted == 0 {
            if splice.start <= lines.start || end >= lines.end {
                return Err(Lost::Deleted);
            }
            within += splice.growth();
        } else if splice.start >= lines.start && end <= lines.end {
            within += splice.growth();
        } else {
            return Err(Lost::Replaced(here));
        }
    }
    let start = lines.start.saturating_add_signed(ahead);
    Ok(start..lines.end.saturating_add_signed(ahead + within))
}

fn map_move(moved: &LineMove, lines: Range<usize>, own: bool) -> Result<Range<usize>, Lost> {
    let block = moved.first..moved.first + moved.count;
    let contained = lines.start >= block.start && lines.end <= block.end;
    let apart = lines.end <= block.start || lines.start >= block.end;
    let start = moved.map(lines.start);
    if (contained || apart) && moved.map(lines.end - 1) + 1 == start + lines.len() {
        return Ok(start..start + lines.len());
    }
    // Another order of the same lines.
    let within = block.start >= lines.start && block.end <= lines.end;
    if own && within && (lines.start..=lines.end).contains(&moved.before) {
        return Ok(lines);
    }
    Err(if own { Lost::Apart } else { Lost::Changed(start..start + 1) })
}

/// What a reader saw, and in which run they act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen<'a> {
    /// The version; 0: none of this life of the process.
    pub version: u64,
    /// True when it was an earlier life's.
    pub lost: bool,
    /// The run.
    pub run: &'a str,
}

/// What happened to a file's line numbers, as far back as [`LOG_MAX`] reaches.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LineLog {
    entries: VecDeque<Entry>,
    weight: usize,
    /// The version as of which the entries are all there is.
    floor: u64,
    /// True when there were changes before `floor`.
    truncated: bool,
    /// True when the lines that it began with are all that readers saw in earlier lives.
    trusted: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    version: u64,
    run: String,
    change: LineChange,
}

impl LineLog {
    /// Of a file that is there since a version. `known` is false when the file was open before that,
    /// with lines that may have been others.
    pub fn new(version: u64, known: bool) -> Self {
        Self { floor: version, truncated: !known, ..Self::default() }
    }

    /// Notes that readers of earlier lives saw just the lines that this one begins with.
    pub fn trust(&mut self) {
        self.trusted = !self.truncated && self.entries.is_empty();
    }

    /// Adds a change that the run made; the version is the one after it.
    pub fn push(&mut self, version: u64, run: &str, change: LineChange) {
        self.weight += change.weight();
        self.entries.push_back(Entry { version, run: run.into(), change });
        while self.weight > LOG_MAX
            && let Some(oldest) = self.entries.pop_front()
        {
            self.weight -= oldest.change.weight();
            (self.floor, self.truncated) = (oldest.version, true);
        }
    }

    /// Where lines (from 0, not none) that a reader saw in a version are now, to a step of that run.
    ///
    /// # Errors
    /// They are not there any more, or are not the lines that were seen.
    pub fn map(&self, lines: Range<usize>, seen: Seen<'_>) -> Result<Range<usize>, Lost> {
        let since = self.since(seen)?;
        let mut lines = lines;
        for (index, entry) in since.clone().enumerate() {
            lines = entry.change.map(lines, entry.run == seen.run).map_err(|lost| {
                let now = |place: Range<usize>| drift(since.clone().skip(index + 1), place);
                match lost {
                    Lost::Changed(place) => Lost::Changed(now(place)),
                    Lost::Replaced(place) => Lost::Replaced(now(place)),
                    other => other,
                }
            })?;
        }
        Ok(lines)
    }

    /// Where a line that was seen is now, or what stands there instead.
    pub fn drift(&self, line: usize, seen: Seen<'_>) -> usize {
        let Ok(since) = self.since(seen) else { return line };
        since.fold(line, |line, entry| entry.change.drift(line))
    }

    /// By how many lines the text grew since a version; none when that isn't known.
    pub fn growth(&self, seen: Seen<'_>) -> Option<isize> {
        Some(self.since(seen).ok()?.map(|entry| entry.change.growth()).sum())
    }

    /// The first line now that stands after everything that changed since a version.
    pub fn tail(&self, seen: Seen<'_>) -> Option<usize> {
        let tail = |tail: usize, entry: &Entry| match entry.change.tail() {
            None => tail,
            Some((before, _)) if tail > before => tail.saturating_add_signed(entry.change.growth()),
            Some((_, after)) => after,
        };
        Some(self.since(seen).ok()?.fold(0, tail))
    }

    fn since(
        &self,
        seen: Seen<'_>,
    ) -> Result<impl Iterator<Item = &Entry> + Clone + use<'_>, Lost> {
        let version = if seen.lost { 0 } else { seen.version };
        let unknown = match version {
            0 => {
                self.truncated
                    || (seen.lost && !self.trusted)
                    || self.entries.iter().any(|entry| entry.run != seen.run)
            }
            _ => self.truncated && version < self.floor,
        };
        if unknown {
            return Err(Lost::Unknown);
        }
        // Versions only grow: what is older is not looked at one by one.
        let first = self.entries.partition_point(|entry| entry.version <= version);
        Ok(self.entries.range(first..))
    }
}

fn drift<'a>(entries: impl Iterator<Item = &'a Entry>, place: Range<usize>) -> Range<usize> {
    entries.fold(place, |place, entry| {
        let start = entry.change.drift(place.start);
        start..entry.change.drift(place.end).max(start)
    })
}

#[cfg(test)]
mod tests;
