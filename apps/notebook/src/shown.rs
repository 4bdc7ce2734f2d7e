//! What one session shows of its store: search, filter and folding, kept across restarts.
//!
//! It lies in the session's state directory and not in the store: folding an entry here is nobody
//! else's affair.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use docui::Fault;
use serde::{Deserialize, Serialize};

use crate::entry::{self, Level};
use crate::store::Selection;
use crate::words::Query;

/// What is shown, and how much of each entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shown {
    /// The id of the store that this is about.
    store: String,
    /// The search; empty: none.
    pub query: String,
    /// The tag of the filter; empty: none.
    pub tag: String,
    /// The level of entries that have none of their own.
    rest: Level,
    /// By key.
    levels: BTreeMap<String, Level>,
}

impl Shown {
    /// Reads what a session showed. Another store's, or what can't be read, counts as nothing: no
    /// note is lost with it.
    pub fn load(state_dir: &Path, store: &str) -> Self {
        std::fs::read_to_string(file(state_dir))
            .ok()
            .and_then(|text| toml::from_str::<Self>(&text).ok())
            .filter(|shown| shown.store == store)
            .unwrap_or_else(|| Self { store: store.into(), ..Self::default() })
    }

    /// Writes it down: all or nothing.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&self, state_dir: &Path) -> Result<(), Fault> {
        let text = toml::to_string(self).map_err(|error| Fault::failed(error.to_string()))?;
        let write = || {
            let mut temporary = tempfile::NamedTempFile::new_in(state_dir)?;
            temporary.write_all(text.as_bytes())?;
            // No sync: after a power cut an older folding is no loss.
            temporary.persist(file(state_dir)).map_err(|error| error.error)
        };
        write().map(drop).map_err(|error: std::io::Error| {
            Fault::failed(format!("{}: {error}", file(state_dir).display()))
        })
    }

    /// Which entries are shown.
    pub fn selection(&self) -> Selection {
        Selection {
            query: Query::parse(&self.query),
            tag: (!self.tag.is_empty()).then(|| self.tag.clone()),
        }
    }

    /// True when some entries may be left out.
    pub fn is_narrowed(&self) -> bool {
        self.selection() != Selection::default()
    }

    /// True when entries are shown as gists unless they say otherwise.
    pub fn is_focused(&self) -> bool {
        self.rest == Level::Gist
    }

    /// An entry's level.
    pub fn level(&self, id: i64) -> Level {
        self.levels.get(&entry::key(id)).copied().unwrap_or(self.rest)
    }

    /// Sets an entry's level.
    pub fn set_level(&mut self, id: i64, level: Level) {
        if level == self.rest {
            self.levels.remove(&entry::key(id));
        } else {
            self.levels.insert(entry::key(id), level);
        }
    }

    /// Shows these in full and the others as gists; none of them: all as summaries.
    pub fn focus(&mut self, ids: &[i64]) {
        self.rest = if ids.is_empty() { Level::Summary } else { Level::Gist };
        self.levels = ids.iter().map(|id| (entry::key(*id), Level::Full)).collect();
    }

    /// Forgets entries that are no more.
    pub fn retain(&mut self, mut is_there: impl FnMut(i64) -> bool) {
        self.levels.retain(|key, _| entry::id(key).is_some_and(&mut is_there));
    }

    /// The search and the filter in words: `search "plan" · tag q2`; empty: all is shown.
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

/// A text in quotes, in one line and not longer than a title.
pub fn quoted(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(60) {
        Some((at, _)) => format!("\"{}…\"", &flat[..at]),
        None => format!("\"{flat}\""),
    }
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("shown.toml")
}
