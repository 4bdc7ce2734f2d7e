//! Records which state of the store views showed when the session was hibernated, so that changes
//! made meanwhile by other sessions are reported afterwards.
//!
//! A record that is left behind does no harm: at worst it makes readers look at the notebook again.

use std::path::{Path, PathBuf};

use docui::{Fault, regular_file, state_file};
use serde::{Deserialize, Serialize};

/// The state of the store that views showed last. The serialized names are part of the file's
/// format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HibernationRecord {
    #[serde(rename = "store")]
    pub store_id: String,
    /// The [`crate::store::Store::fingerprint`] of the state that views showed; empty when the
    /// store had changes that they had not shown yet.
    #[serde(rename = "mark")]
    pub fingerprint: String,
}

impl HibernationRecord {
    /// Reads the record. Returns `None` when there is none, or none that can be read.
    pub fn load(state_dir: &Path) -> Option<Self> {
        toml::from_str(&regular_file::read_to_string(&file(state_dir)).ok()?).ok()
    }

    /// Writes the record atomically.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&self, state_dir: &Path) -> Result<(), Fault> {
        let text = toml::to_string(self).map_err(|error| Fault::failed(error.to_string()))?;
        state_file::replace(&file(state_dir), text.as_bytes())
    }
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("asleep.toml")
}
