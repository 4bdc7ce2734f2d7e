//! Selections and matches: ranges of a file that move with its text.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::limits::TRACKED_RANGES_MAX;

use super::buffer::Buffer;
use super::line_change::LineMove;
use super::splice::Splice;

/// The action that created a tracked range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RangeKind {
    /// Whole lines, chosen with `select`.
    Selection,
    /// A match of `find`.
    Match,
}

/// A range of text with a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrackedRange {
    /// The range's key, which is never reused.
    pub key: String,
    /// The action that created the range.
    pub kind: RangeKind,
    pub bytes: Range<usize>,
    /// A number that increases when the range's text changes.
    pub rev: u64,
    /// The reason why the range no longer exists; `None` while it exists.
    pub gone: Option<String>,
}

/// A position as a line and a byte offset within that line.
type LinePosition = (usize, usize);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TrackedRanges(VecDeque<TrackedRange>);

impl TrackedRanges {
    /// Adds a range; past [`TRACKED_RANGES_MAX`] the oldest one is forgotten.
    pub fn add(&mut self, key: String, kind: RangeKind, bytes: Range<usize>) {
        if self.0.len() >= TRACKED_RANGES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(TrackedRange { key, kind, bytes, rev: 0, gone: None });
    }

    /// Returns the range with a key, also when it no longer exists.
    pub fn get(&self, key: &str) -> Option<&TrackedRange> {
        self.0.iter().find(|range| range.key == key)
    }

    /// Returns the range with a key if it still exists.
    pub fn existing(&self, key: &str) -> Option<&TrackedRange> {
        self.get(key).filter(|range| range.gone.is_none())
    }

    /// Moves the ranges with the text. Those whose whole text is removed are marked as gone, with
    /// `why`.
    pub fn apply_splices(&mut self, splices: &[Splice], why: &str) {
        for range in self.0.iter_mut().filter(|range| range.gone.is_none()) {
            range.apply_splices(splices, why);
        }
    }

    /// Returns where each range starts and ends after a move of lines; `None` for a range that the
    /// move tears apart. `buffer` is the text before the move.
    pub(crate) fn positions_after_move(
        &self,
        buffer: &Buffer,
        moved: &LineMove,
    ) -> Vec<Option<[LinePosition; 2]>> {
        let line_position = |byte: usize| {
            let line = buffer.line_at(byte);
            (line, byte - buffer.line_start(line))
        };
        let after_move = |range: &TrackedRange| {
            let first = line_position(range.bytes.start);
            let last = line_position(range.bytes.end.checked_sub(1)?);
            let (to, end) = (moved.map(first.0), moved.map(last.0));
            let together = end.checked_sub(to) == Some(last.0 - first.0);
            let still = !moved.touched().contains(&last.0) && !moved.touched().contains(&first.0);
            (together || still).then_some([(to, first.1), (end, last.1)])
        };
        self.0.iter().map(after_move).collect()
    }

    /// Sets the ranges to what [`TrackedRanges::positions_after_move`] returned. `buffer` is the
    /// text after the move.
    pub(crate) fn set_positions(
        &mut self,
        buffer: &Buffer,
        positions: &[Option<[LinePosition; 2]>],
    ) {
        let byte =
            |(line, offset): LinePosition| (buffer.line_start(line) + offset).min(buffer.len());
        let existing = self.0.iter_mut().zip(positions).filter(|(range, _)| range.gone.is_none());
        for (range, position) in existing {
            match position {
                Some([first, last]) => {
                    range.bytes = byte(*first)..(byte(*last) + 1).min(buffer.len())
                }
                None => range.gone = Some("a move separated its lines".into()),
            }
        }
    }
}

impl TrackedRange {
    fn apply_splices(&mut self, splices: &[Splice], why: &str) {
        // Splices count in the text before all of them, so each is shifted by those before it.
        let mut shift = 0;
        for splice in splices {
            let at = splice.at.saturating_add_signed(shift);
            let (old_end, new_end) = (at + splice.old.len(), at + splice.new.len());
            let growth = splice.growth();
            shift += growth;
            let Range { start, end } = self.bytes;
            if at >= end {
                return;
            }
            if old_end <= start {
                self.bytes = start.saturating_add_signed(growth)..end.saturating_add_signed(growth);
                continue;
            }
            self.rev += 1;
            self.bytes = match (at <= start, old_end >= end) {
                (true, true) => {
                    self.gone = Some(why.to_owned());
                    return;
                }
                (true, false) => new_end..end.saturating_add_signed(growth),
                (false, true) => start..at,
                (false, false) => start..end.saturating_add_signed(growth),
            };
        }
    }
}
