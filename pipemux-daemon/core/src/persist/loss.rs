//! Loss of a part of the saved state: what is known of it, so that no number is used again and
//! readers are told.

use crate::persist::records::Record;

/// Records that an earlier daemon wrote and that are missing now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loss {
    /// The message for readers; `None` if nothing that was answered is missing, or if that is
    /// unknown.
    pub told: Option<String>,
    /// Bytes of records that are gone, or the most that may be where that isn't known.
    pub bytes: u64,
    /// True when whole workspaces may be unknown now.
    pub workspaces: bool,
    /// Records of acting requests made up to this time, in milliseconds since 1970, may be lost: a
    /// request that old is carried out only if its record is known. `None` if no such record is
    /// lost.
    pub acts_to: Option<u64>,
    /// The highest numbers used, if they were saved apart from the records.
    pub high_water: Option<HighWater>,
}

/// Numbers below these may have been used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HighWater {
    /// Incarnations and windows.
    pub numbers: u64,
    /// Display ids of any workspace.
    pub ids: u64,
    /// Epochs of any workspace.
    pub epochs: u64,
}

impl HighWater {
    /// Rises as far as a record says that numbers may have come.
    pub fn rise(&mut self, record: &Record) {
        let (numbers, ids, epochs) = match record {
            Record::Reserved { numbers_below } => (*numbers_below, 0, 0),
            Record::Workspace { ids_below, epochs_below, .. } => (0, *ids_below, *epochs_below),
            Record::Floor { numbers_below } => (0, *numbers_below, *numbers_below),
            _ => return,
        };
        *self = self.max(Self { numbers, ids, epochs });
    }

    /// Returns the higher of each two numbers.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            numbers: self.numbers.max(other.numbers),
            ids: self.ids.max(other.ids),
            epochs: self.epochs.max(other.epochs),
        }
    }
}

/// Numbers that are skipped whatever was lost: the most that one act may use before a record of it
/// is written.
const MARGIN: u64 = 4_096;
/// 2025-01-01T00:00:00Z, before the first daemon: milliseconds since 1970.
const FIRST_DAEMON: u64 = 1_735_689_600_000;

impl Loss {
    /// Returns how many numbers to skip beyond those known to be used. Each block of 64 ids or
    /// epochs is recorded in more than 64 bytes, so skipping one number for each lost byte skips
    /// all that may have been used.
    pub fn leap(&self) -> u64 {
        match (self.bytes, self.high_water) {
            (0, Some(_)) => 0,
            (bytes, _) => bytes.saturating_add(MARGIN),
        }
    }
}

/// The information that is kept about losses.
#[derive(Debug, Default)]
pub struct PastLosses {
    /// Ids and epochs of workspaces that aren't known begin here.
    floor: u64,
    /// The description of the damage, for `status`.
    damage: Option<String>,
    untold: bool,
}

impl PastLosses {
    /// Notes a loss; `unix_ms` is the present in milliseconds since 1970.
    ///
    /// How far a forgotten workspace had counted is unknown. Without a high-water mark its ids
    /// restart at the number of milliseconds since 2025: to have reached that, the workspace would
    /// have needed a new id every millisecond since then, or since the last such loss. With a
    /// high-water mark they restart there.
    pub fn add(&mut self, loss: Loss, unix_ms: u64) {
        let age = unix_ms.saturating_sub(FIRST_DAEMON);
        let start = match loss.high_water {
            Some(HighWater { ids, epochs, .. }) => self.floor.max(ids).max(epochs),
            None => self.floor,
        };
        let start = start.saturating_add(loss.leap());
        let unknown = loss.workspaces && loss.high_water.is_none();
        self.floor = if unknown { start.max(age) } else { start };
        self.untold = loss.told.is_some();
        self.damage = loss.told;
    }

    /// Restores where an earlier daemon had ids and epochs begin.
    pub fn restore(&mut self, floor: u64) {
        self.floor = floor;
    }

    /// The first id and the first epoch of an unknown workspace.
    pub fn first_numbers(&self) -> (u64, u64) {
        (self.floor.max(1), self.floor)
    }

    /// The description of the last loss.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Takes the message for the first new workspace, which may have been known before.
    pub fn take_news(&mut self) -> Option<String> {
        let untold = std::mem::take(&mut self.untold);
        self.damage.clone().filter(|_| untold)
    }

    /// The record of the first numbers of unknown workspaces, unless that is the start.
    pub fn snapshot(&self) -> Option<Record> {
        (self.floor > 0).then_some(Record::Floor { numbers_below: self.floor })
    }
}
