//! The changes of one file that are found but not yet made.

use std::collections::BTreeMap;

use crate::document::{Document, LineEdit};
use crate::locate::{HunkPosition, edits};
use crate::model::Hunk;
use crate::plan::outcome::{HunkOutcome, HunkState};

/// The sort key of an edit: line, insertions before removals, then order of arrival.
type Key = (usize, bool, usize);

#[derive(Default)]
pub(super) struct PendingChanges<'a> {
    /// The edits, each with the index of its hunk's outcome.
    edits: BTreeMap<Key, (usize, LineEdit<'a>)>,
    outcomes: Vec<HunkOutcome>,
    serial: usize,
    end: usize,
}

impl<'a> PendingChanges<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns the line where the most recently added hunk ends.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Adds a hunk's changes at all of its places, unless one meets a change that is there: then
    /// nothing is added.
    pub(super) fn add(
        &mut self,
        hunk: &'a Hunk<'a>,
        places: &[HunkPosition],
        document: &Document<'_>,
    ) -> bool {
        let outcomes = self.outcomes.len();
        let mut added = Vec::new();
        for place in places {
            for edit in edits(hunk, place, document.lines.len()) {
                if self.meets(&edit) {
                    for key in added {
                        self.edits.remove(&key);
                    }
                    self.outcomes.truncate(outcomes);
                    return false;
                }
                self.end = edit.at + edit.remove;
                let key = (edit.at, edit.remove > 0, self.serial);
                self.serial += 1;
                added.push(key);
                self.edits.insert(key, (self.outcomes.len(), edit));
            }
            let state = HunkState::Applied(place.tolerance);
            self.outcomes.push(HunkOutcome {
                at: hunk.at,
                first: 0,
                lines: 0,
                added: 0,
                removed: 0,
                state,
            });
        }
        true
    }

    /// Whether a change touches lines that another one removes. Those that are here don't meet each
    /// other, so only the nearest ones can.
    fn meets(&self, edit: &LineEdit<'_>) -> bool {
        let end = edit.at + edit.remove;
        let before = self.edits.range(..(edit.at, false, 0)).next_back();
        let reaches = before.is_some_and(|(_, (_, other))| other.at + other.remove > edit.at);
        let first = (edit.at, true, 0);
        let within = self.edits.range(first..).next().is_some_and(|((at, ..), _)| *at < end);
        let insertion = self.edits.range((edit.at + 1, false, 0)..).next();
        reaches || within || insertion.is_some_and(|((at, ..), _)| *at < end)
    }

    /// Makes the changes, and tells where they are afterwards.
    pub(super) fn make(mut self, document: &mut Document<'a>) -> Vec<HunkOutcome> {
        let mut grown = 0_isize;
        let mut made = Vec::with_capacity(self.edits.len());
        for (index, edit) in self.edits.into_values() {
            let outcome = &mut self.outcomes[index];
            let first = edit.at.saturating_add_signed(grown) + 1;
            if outcome.first == 0 {
                outcome.first = first;
            }
            if !edit.add.is_empty() {
                outcome.lines = first + edit.add.len() - outcome.first;
            }
            outcome.added += edit.add.len();
            outcome.removed += edit.remove;
            grown += edit.add.len().cast_signed() - edit.remove.cast_signed();
            made.push(edit);
        }
        document.apply(made);
        self.outcomes
    }
}

/// Moves outcomes by what was changed above them afterwards.
pub(super) fn shift(outcomes: &mut [HunkOutcome], made: &[HunkOutcome]) {
    let mut sorted: Vec<_> = made.iter().collect();
    sorted.sort_by_key(|outcome| outcome.first);
    let mut grown = 0;
    let steps: Vec<_> = sorted
        .iter()
        .map(|outcome| {
            let before = outcome.first.saturating_add_signed(-grown);
            grown += outcome.grown();
            (before, outcome.removed, grown)
        })
        .collect();
    for outcome in outcomes {
        // What comes right before its first line moves it; what replaces that line doesn't.
        let above = steps.partition_point(|&(first, ..)| first < outcome.first);
        let pushes = steps
            .get(above)
            .is_some_and(|&(first, removed, _)| first == outcome.first && removed == 0);
        let last = if pushes { Some(above) } else { above.checked_sub(1) };
        if let Some(&(.., grown)) = last.and_then(|last| steps.get(last)) {
            outcome.first = outcome.first.saturating_add_signed(grown).max(1);
        }
    }
}
