//! Selections and matches: places in a file that move with its text.

use std::collections::VecDeque;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::limits::MARKS_MAX;

use super::buffer::{Buffer, Splice};
use super::linemap::LineMove;

/// What a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkKind {
    /// Whole lines, chosen with `select`.
    Selection,
    /// A match of `find`.
    Match,
}

/// A place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mark {
    /// Its key, never used again.
    pub key: String,
    /// What it is.
    pub kind: MarkKind,
    /// Where it is, in bytes.
    pub bytes: Range<usize>,
    /// Grows when its text changes.
    pub rev: u64,
    /// How its text went, once it did.
    pub gone: Option<String>,
}

/// The places of one file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Marks(VecDeque<Mark>);

impl Marks {
    /// Adds a place; past [`MARKS_MAX`] the oldest is forgotten.
    pub fn add(&mut self, key: String, kind: MarkKind, bytes: Range<usize>) {
        if self.0.len() >= MARKS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(Mark { key, kind, bytes, rev: 0, gone: None });
    }

    /// The place of that key, also when its text is gone.
    pub fn get(&self, key: &str) -> Option<&Mark> {
        self.0.iter().find(|mark| mark.key == key)
    }

    /// Moves the places with the text; `why` is what will be said of those whose text goes.
    pub fn follow(&mut self, splices: &[Splice], why: &str) {
        for mark in self.0.iter_mut().filter(|mark| mark.gone.is_none()) {
            mark.follow(splices, why);
        }
    }

    /// Where each place is after lines are moved, by the buffer before that: line and byte in it, for
    /// start and end.
    pub(crate) fn moved(
        &self,
        buffer: &Buffer,
        moved: &LineMove,
    ) -> Vec<Option<[(usize, usize); 2]>> {
        let spot = |byte: usize| {
            let line = buffer.line_at(byte);
            (line, byte - buffer.start(line))
        };
        let place = |mark: &Mark| {
            let (first, last) = (spot(mark.bytes.start), spot(mark.bytes.end.checked_sub(1)?));
            let (to, end) = (moved.map(first.0), moved.map(last.0));
            let together = end.checked_sub(to) == Some(last.0 - first.0);
            let still = !moved.touched().contains(&last.0) && !moved.touched().contains(&first.0);
            (together || still).then_some([(to, first.1), (end, last.1)])
        };
        self.0.iter().map(place).collect()
    }

    /// Puts the places where [`Marks::moved`] said, in the buffer after the move.
    pub(crate) fn settle(&mut self, buffer: &Buffer, places: &[Option<[(usize, usize); 2]>]) {
        for (mark, place) in self.0.iter_mut().zip(places).filter(|(mark, _)| mark.gone.is_none()) {
            let byte =
                |(line, offset): (usize, usize)| (buffer.start(line) + offset).min(buffer.len());
            match place {
                Some([first, last]) => {
                    mark.bytes = byte(*first)..(byte(*last) + 1).min(buffer.len())
                }
                None => mark.gone = Some("its lines were moved apart".into()),
            }
        }
    }
}

impl Mark {
    fn follow(&mut self, splices: &[Splice], why: &str) {
        // The splices count in the text before all of them, so each is shifted by those before it.
        let mut shift = 0;
        for splice in splices {
            let at = splice.at.saturating_add_signed(shift);
            let (old_end, new_end) = (at + splice.old.len(), at + splice.new.len());
            let growth = splice.new.len() as isize - splice.old.len() as isize;
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
