//! Going on after a part of the saved state was lost: no number goes back, and readers are told.

use crate::Core;
use crate::event::Now;
use crate::persist::records::Record;
use crate::workspaces::FirstNumbers;

/// What an earlier daemon wrote down and this one doesn't have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loss {
    /// What readers are told of it; none when nothing that was answered is missing, or nobody can say.
    pub told: Option<String>,
    /// Bytes of records that are gone, or at most so many where that isn't known.
    pub bytes: u64,
    /// True when whole workspaces may be unknown now.
    pub workspaces: bool,
}

/// Numbers that are passed over whatever was lost: what one act may use before a record of it is written.
const MARGIN: u64 = 4_096;
/// 2025-01-01T00:00:00Z, before the first daemon: milliseconds since 1970.
const BEGINNING: u64 = 1_735_689_600_000;

impl Core {
    /// The daemon that wrote the records was killed: its apps died with it, whatever they had not saved.
    /// FeedEntry when each is back. To be called before any event.
    pub fn earlier_daemon_was_lost(&mut self) {
        self.processes.note_daemon_crash();
    }

    /// Passes over all numbers that the lost records may have reserved. To be called before any event.
    ///
    /// Each block of 64 ids or epochs was written down by a record of more than 64 bytes, so as many
    /// numbers are passed over as bytes are gone. Of a workspace that isn't known any more nothing tells
    /// how far it came: its ids begin at the milliseconds since 2025. To come so far it would have had to
    /// show a new thing every millisecond, since then or since the last such loss.
    pub fn lost(&mut self, loss: Loss, now: Now) {
        let leap = loss.bytes.saturating_add(MARGIN);
        self.turn.numbers.skip(leap);
        self.workspaces.skip_lost_numbers(leap);
        if let Some(text) = &loss.told {
            for workspace in self.workspaces.values_mut() {
                workspace.notify(text.clone(), now);
            }
        }
        let age = now.unix_ms.saturating_sub(BEGINNING);
        let start = self.lost.floor.saturating_add(leap);
        self.lost.floor = if loss.workspaces { start.max(age) } else { start };
        self.lost.untold = loss.told.is_some();
        self.lost.damage = loss.told;
    }
}

/// What the core keeps of it.
#[derive(Debug, Default)]
pub struct Lost {
    /// Where ids and epochs of workspaces that aren't known begin.
    pub floor: u64,
    /// What was told, for `status`.
    pub damage: Option<String>,
    untold: bool,
}

impl Lost {
    /// The first id and the epoch of a workspace that isn't known.
    pub fn first_numbers(&self) -> FirstNumbers {
        FirstNumbers { id: self.floor.max(1), epoch: self.floor }
    }

    /// What the first new workspace is told: it may have been known before.
    pub fn news(&mut self) -> Option<String> {
        let untold = std::mem::take(&mut self.untold);
        self.damage.clone().filter(|_| untold)
    }

    /// The record of where unknown workspaces begin, unless that is the beginning.
    pub fn to_saved(&self) -> Option<Record> {
        (self.floor > 0).then_some(Record::Floor { numbers_below: self.floor })
    }
}
