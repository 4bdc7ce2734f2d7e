//! Ids of changes, matches and selections.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The kind of object that an id names; the id's text begins with the kind's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// A change that can be undone.
    Change,
    /// A match of `find`.
    Match,
    /// Lines chosen with `select`.
    Selection,
}

/// Makes ids that are never reused, neither by this process nor by a later one of the same session.
#[derive(Debug, Serialize, Deserialize)]
pub struct IdGenerator {
    #[serde(rename = "launch")]
    launch_id: String,
    last: u64,
}

impl IdGenerator {
    /// Returns a generator for a process that starts without saved state.
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let launch_id = format!("{:x}-{:x}", now.as_nanos(), std::process::id());
        Self { launch_id, last: 0 }
    }

    /// Returns a new id.
    pub fn next(&mut self, kind: IdKind) -> String {
        self.last += 1;
        let kind = match kind {
            IdKind::Change => "change",
            IdKind::Match => "match",
            IdKind::Selection => "selection",
        };
        format!("{kind}-{}-{}", self.launch_id, self.last)
    }

    /// Identifies the line of processes that counts versions together: it changes with a restart
    /// that found no saved state.
    pub fn launch_id(&self) -> &str {
        &self.launch_id
    }
}

impl Default for IdGenerator {
    fn default() -> Self {
        Self::new()
    }
}
