//! A tree: its folder, its index, and a session's state.
//!
//! | module | purpose |
//! |---|---|
//! | `commit` | makes a change of several files as one; undo and redo |
//! | `outcome` | what became of a change |
//! | `take_back` | takes back any one change |

mod commit;
mod outcome;
mod take_back;

use std::path::Path;

pub use outcome::{Committed, Interrupted};

use crate::error::StoreError;
use crate::file_edit::{FileEdit, Part};
use crate::index::Index;
use crate::node_files::{NodeFiles, OutsideChanges};
use crate::stamp::Stamp;
use crate::state::State;

/// A memory tree with a session's state.
#[derive(Debug)]
pub struct Store {
    /// The files of the nodes and their index.
    pub files: NodeFiles,
    pub state: State,
    /// The change during which the process ended: what it left beside its files goes with the next
    /// change.
    leftovers: Vec<FileEdit>,
    today: fn() -> String,
}

/// The findings of opening a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Opened {
    /// True when all files were read, since there was no index.
    pub rebuilt: bool,
    /// What other programs changed since the tree was last open.
    pub changes: OutsideChanges,
    /// A change that was only partly written when the process ended.
    pub interrupted: Option<Interrupted>,
}

impl Store {
    /// Opens the tree of the folder `.memotree` at a path, which need not exist yet, with the index
    /// and the session's state in the directory `state`. With an index that is the same as the
    /// files no file is read.
    ///
    /// # Errors
    /// The folder isn't readable, or the state isn't writable.
    pub fn open(path: &Path, state: &Path) -> Result<(Self, Opened), StoreError> {
        std::fs::create_dir_all(state).map_err(|error| StoreError::State(error.to_string()))?;
        let mut store = Self {
            files: NodeFiles::open(path, &state.join("index.db"))?,
            state: State::open(&state.join("state.db"))?,
            leftovers: Vec::new(),
            today,
        };
        let interrupted = store.settle_interrupted()?;
        let (rebuilt, changes) = store.files.sync_folder()?;
        store.files.take_noticed();
        // Who opens a tree for the first time is told of no changes.
        let changes = match rebuilt {
            true => OutsideChanges { misnamed: changes.misnamed, ..OutsideChanges::default() },
            false => changes,
        };
        Ok((store, Opened { rebuilt, changes, interrupted }))
    }

    /// Sets what says which day it is, for tests.
    #[must_use]
    pub fn with_date(self, today: fn() -> String) -> Self {
        Self { today, ..self }
    }

    /// Returns the index, for queries. What it says of a node holds once [`NodeFiles::refresh`] and
    /// [`NodeFiles::verify`] have looked at the files.
    pub fn index(&self) -> &Index {
        &self.files.index
    }

    /// Returns the day on which a node's file came, went or was replaced last, if that is known.
    pub fn changed_day(&self) -> Option<String> {
        day(self.files.folder.stamp(Part::Nodes).ok()??)
    }

    /// Returns true if there is a folder `.memotree`.
    pub fn exists(&self) -> bool {
        self.files.folder.exists()
    }

    pub(crate) fn today(&self) -> String {
        (self.today)()
    }
}

/// Returns the day on which a file was written last, in UTC.
pub(crate) fn day(stamp: Stamp) -> Option<String> {
    let time = jiff::Timestamp::from_nanosecond(stamp.modified_ns()).ok()?;
    Some(time.strftime("%Y-%m-%d").to_string())
}

/// Returns the time to the minute, in UTC.
pub fn minute() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn today() -> String {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}
