//! The view state of one session: levels of detail, and the entries in focus.
//!
//! It is kept across restarts in the session's state directory and not in the store, because other
//! sessions on the same store show it in their own way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file, state_file};
use serde::{Deserialize, Serialize};

use crate::entry::{self, Level};

/// The level of detail of each entry. The serialized names are part of the file format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewState {
    /// The id of the store that the view state belongs to.
    #[serde(rename = "store")]
    store_id: String,
    /// A search and a filter, which sessions of earlier releases kept. They are dropped: nothing is
    /// hidden.
    #[serde(skip_serializing)]
    query: String,
    #[serde(skip_serializing)]
    tag: String,
    /// The level of entries without a level of their own.
    #[serde(rename = "rest")]
    default_level: Level,
    /// The levels of entries, by key.
    levels: BTreeMap<String, Level>,
    /// The keys of the entries shown first, in display order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    focused: Vec<String>,
}

impl ViewState {
    /// Loads what a session showed of this store, and whether it showed another one before. A
    /// missing or unreadable file, or one for another store, counts as the default: no entry is
    /// lost with it.
    pub fn load(state_dir: &Path, store_id: &str) -> (Self, bool) {
        let text = regular_file::read_to_string(&file(state_dir)).ok();
        let loaded = text.and_then(|text| toml::from_str::<Self>(&text).ok());
        let other = |loaded: &Self| !loaded.store_id.is_empty() && loaded.store_id != store_id;
        let replaced = loaded.as_ref().is_some_and(other);
        let same = loaded.filter(|loaded| loaded.store_id == store_id);
        let new = || Self { store_id: store_id.into(), ..Self::default() };
        (same.unwrap_or_else(new), replaced)
    }

    /// Returns true when nothing was saved so far.
    pub fn is_missing(state_dir: &Path) -> bool {
        !file(state_dir).exists()
    }

    /// Saves it atomically.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&self, state_dir: &Path) -> Result<(), Fault> {
        let text = toml::to_string(self).map_err(|error| Fault::failed(error.to_string()))?;
        state_file::replace(&file(state_dir), text.as_bytes())
    }

    /// Drops the search and the filter of an earlier release. Returns whether there was one.
    pub fn drop_narrowing(&mut self) -> bool {
        let dropped = [std::mem::take(&mut self.query), std::mem::take(&mut self.tag)];
        dropped.iter().any(|text| !text.is_empty())
    }

    /// Returns the ids of the entries that are shown first.
    pub fn focused(&self) -> Vec<i64> {
        self.focused.iter().filter_map(|key| entry::id(key)).collect()
    }

    /// Returns whether entries are shown as gists unless they have a level of their own.
    pub fn is_focused(&self) -> bool {
        self.default_level == Level::Gist
    }

    /// Returns an entry's level.
    pub fn level(&self, id: i64) -> Level {
        self.levels.get(&entry::key(id)).copied().unwrap_or(self.default_level)
    }

    /// Sets an entry's level.
    pub fn set_level(&mut self, id: i64, level: Level) {
        if level == self.default_level {
            self.levels.remove(&entry::key(id));
        } else {
            self.levels.insert(entry::key(id), level);
        }
    }

    /// Shows these entries in full and the others as gists. Without entries, shows all as
    /// summaries.
    pub fn focus(&mut self, ids: &[i64]) {
        self.default_level = if ids.is_empty() { Level::Summary } else { Level::Gist };
        self.levels = ids.iter().map(|id| (entry::key(*id), Level::Full)).collect();
        self.focused = ids.iter().map(|id| entry::key(*id)).collect();
    }

    /// Forgets removed entries.
    pub fn forget_removed(&mut self, mut exists: impl FnMut(i64) -> bool) {
        self.levels.retain(|key, _| entry::id(key).is_some_and(&mut exists));
        self.focused.retain(|key| entry::id(key).is_some_and(&mut exists));
    }
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("shown.toml")
}
