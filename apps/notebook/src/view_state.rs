//! What one session shows of its store: search, filter and levels of detail.
//!
//! It is kept across restarts in the session's state directory and not in the store, because other
//! sessions on the same store show it in their own way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file, state_file};
use serde::{Deserialize, Serialize};

use crate::entry::{self, Level};
use crate::format::quoted;
use crate::search::Query;
use crate::store::Selection;

/// Which entries a session shows, and how much of each. The serialized names are part of the file's
/// format.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewState {
    /// The id of the store that this belongs to.
    #[serde(rename = "store")]
    store_id: String,
    /// The search query; empty if there is none.
    pub query: String,
    /// The tag to filter by; empty if there is none.
    pub tag: String,
    /// The level of the entries that have none of their own.
    #[serde(rename = "rest")]
    default_level: Level,
    /// The levels of entries, by key.
    levels: BTreeMap<String, Level>,
}

impl ViewState {
    /// Loads what a session showed of this store, and whether it showed another one before. A missing or unreadable
    /// file, or one for another store, counts as the default: no entry is lost with it.
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

    /// Returns the selection of entries that are shown.
    pub fn selection(&self) -> Selection {
        Selection {
            query: Query::parse(&self.query),
            tag: (!self.tag.is_empty()).then(|| self.tag.clone()),
        }
    }

    /// Returns whether a search or filter is active.
    pub fn is_narrowed(&self) -> bool {
        self.selection() != Selection::default()
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

    /// Shows these entries in full and the others as gists. Without entries, shows all as summaries.
    pub fn focus(&mut self, ids: &[i64]) {
        self.default_level = if ids.is_empty() { Level::Summary } else { Level::Gist };
        self.levels = ids.iter().map(|id| (entry::key(*id), Level::Full)).collect();
    }

    /// Forgets the levels of removed entries.
    pub fn forget_removed(&mut self, mut exists: impl FnMut(i64) -> bool) {
        self.levels.retain(|key, _| entry::id(key).is_some_and(&mut exists));
    }

    /// Describes the search and the filter: `search "plan" · tag q2`. Empty if neither is active.
    pub fn describe(&self) -> String {
        let search = match self.query.is_empty() {
            true => String::new(),
            false => format!("search {}", quoted(&self.query)),
        };
        let tag = match self.tag.is_empty() {
            true => String::new(),
            false => format!("tag {}", self.tag),
        };
        let parts = [search, tag];
        parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" · ")
    }
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("shown.toml")
}
