//! A tree: its folder, its index, and a session's state.
//!
//! | module | purpose |
//! |---|---|
//! | `sync` | what other programs changed |
//! | `commit` | makes a change of several files as one; undo and redo |

mod commit;
mod sync;
mod take_back;

use std::collections::BTreeSet;
use std::path::Path;

use pipemux_proto::call::nearest;

pub use commit::{Committed, Interrupted};
pub use sync::Changes;

use crate::error::StoreError;
use crate::folder::{FileName, Folder, Part};
use crate::index::{Index, NodeRow};
use crate::node_file::NodeFile;
use crate::stamp::Stamp;
use crate::state::FileEdit;
use crate::state::State;

/// How many ids are compared with one that doesn't exist.
const NEAR_COMPARED: usize = 200;

/// A tree.
#[derive(Debug)]
pub struct Store {
    pub(crate) folder: Folder,
    pub(crate) index: Index,
    /// The session's state.
    pub state: State,
    /// The folder's stamp after this session's last change of it, until it can be relied on.
    unsettled: Option<Stamp>,
    /// How far the files of all nodes were compared with the index.
    swept: Option<String>,
    /// What other programs changed, until somebody takes it.
    noticed: Changes,
    /// Files whose names aren't allowed, as far as they were told.
    misnamed: BTreeSet<String>,
    /// The change during which the process ended: what it left beside its files goes with the next change.
    leftovers: Vec<FileEdit>,
    today: fn() -> String,
}

/// What opening a tree found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Opened {
    /// True when all files were read, since there was no index.
    pub rebuilt: bool,
    /// What other programs changed since the tree was last open.
    pub changes: Changes,
    /// A change that was half made when the process ended.
    pub interrupted: Option<Interrupted>,
}

impl Store {
    /// Opens the tree of the folder `.memotree` at a path, which need not exist yet, with the index and the session's
    /// state in the directory `state`. With an index that is the same as the files no file is read.
    ///
    /// # Errors
    /// The folder isn't readable, or the state isn't writable.
    pub fn open(path: &Path, state: &Path) -> Result<(Self, Opened), StoreError> {
        std::fs::create_dir_all(state).map_err(|error| StoreError::State(error.to_string()))?;
        let mut store = Self {
            folder: Folder::open(path)?,
            index: Index::open(&state.join("index.db"))?,
            state: State::open(&state.join("state.db"))?,
            unsettled: None,
            swept: None,
            noticed: Changes::default(),
            misnamed: BTreeSet::new(),
            leftovers: Vec::new(),
            today,
        };
        let interrupted = store.settle_interrupted()?;
        let (rebuilt, changes) = store.sync_folder()?;
        store.noticed = Changes::default();
        // Who opens a tree for the first time is told of no changes.
        let changes = match rebuilt {
            true => Changes { misnamed: changes.misnamed, ..Changes::default() },
            false => changes,
        };
        Ok((store, Opened { rebuilt, changes, interrupted }))
    }

    /// Sets what says which day it is, for tests.
    #[must_use]
    pub fn with_date(self, today: fn() -> String) -> Self {
        Self { today, ..self }
    }

    /// Returns the index, for queries. What it says of a node holds once [`Store::refresh`] and [`Store::verify`] have looked
    /// at the files.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the day on which a node's file came, went or was replaced last, if that is known.
    pub fn changed_day(&self) -> Option<String> {
        day(self.folder.stamp(Part::Nodes).ok()??)
    }

    /// Returns true if there is a folder `.memotree`.
    pub fn exists(&self) -> bool {
        self.folder.exists()
    }

    /// Returns what other programs changed, as far as this was noticed since it was last asked for, by whatever looked at
    /// the files.
    pub fn take_noticed(&mut self) -> Changes {
        std::mem::take(&mut self.noticed)
    }

    pub(crate) fn today(&self) -> String {
        (self.today)()
    }

    /// Returns a node.
    ///
    /// # Errors
    /// There is none of this id; the error has the nearest ones.
    pub fn node(&self, id: &str) -> Result<NodeRow, StoreError> {
        match self.index.node(id)? {
            Some(row) => Ok(row),
            None => {
                let near = self.index.ids_near(id, NEAR_COMPARED)?;
                let near = nearest(id, near.iter().map(String::as_str)).map(str::to_owned);
                Err(StoreError::NoNode { name: id.to_owned(), near: near.into_iter().collect() })
            }
        }
    }

    /// Reads a node's file. Returns also its bytes.
    ///
    /// # Errors
    /// There is none, it isn't what the index knows (the index then follows), or it isn't readable as a node.
    pub fn read(&mut self, id: &str) -> Result<(FileName, NodeFile, Vec<u8>), StoreError> {
        let row = self.node(id)?;
        let name = self.index.file_of(id)?.map_or_else(|| row.id.file_name(), |(name, _)| name);
        let file = FileName::new(Part::Nodes, name);
        let read = self.folder.read(&file)?.filter(|(bytes, _)| hash(bytes) == row.hash);
        let Some((bytes, _)) = read else {
            self.verify([id])?;
            return Err(StoreError::Changed(vec![file]));
        };
        let broken = |problem: String| StoreError::Broken { file: file.clone(), problem };
        if let Some(problem) = sync::conflict(&bytes) {
            return Err(broken(problem));
        }
        match NodeFile::parse(&bytes) {
            Ok(parsed) => Ok((file, parsed, bytes)),
            Err(error) => Err(broken(error.to_string())),
        }
    }

    /// Returns the summary and the content of a node, as it is to be shown: also of a file with conflict markers.
    ///
    /// # Errors
    /// There is no such node, or its file isn't readable.
    pub fn text(&mut self, id: &str) -> Result<(String, String), StoreError> {
        self.verify([id])?;
        let row = self.node(id)?;
        let name = self.index.file_of(id)?.map_or_else(|| row.id.file_name(), |(name, _)| name);
        let bytes = self.folder.read(&FileName::new(Part::Nodes, name))?.map(|(bytes, _)| bytes);
        let bytes = bytes.unwrap_or_default();
        match NodeFile::parse(&bytes) {
            Ok(file) if sync::conflict(&bytes).is_none() => {
                Ok((file.get("summary").unwrap_or_default(), file.content()))
            }
            // As it is: whoever mends it must see it.
            _ => Ok((String::new(), String::from_utf8_lossy(&bytes).into_owned())),
        }
    }
}

/// Returns the hash of a file's content.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    pipemux_stable_hash::hash_with_length(bytes)
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
