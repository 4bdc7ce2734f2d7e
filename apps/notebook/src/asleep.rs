//! What a sleep needs beside the store and what is shown: which state of the store was last shown.
//!
//! A note that stays behind does no harm: taken for a later sleep's, it could only have readers look
//! again.

use std::io::Write;
use std::path::{Path, PathBuf};

use docui::Fault;
use serde::{Deserialize, Serialize};

/// The store as it was when the session fell asleep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asleep {
    /// The store's id.
    pub store: String,
    /// What [`crate::store::Store::mark`] gave for all that was shown; empty: something was not shown.
    pub mark: String,
}

impl Asleep {
    /// Reads it; none when there is none that can be read.
    pub fn read(state_dir: &Path) -> Option<Self> {
        toml::from_str(&std::fs::read_to_string(file(state_dir)).ok()?).ok()
    }

    /// Writes it down: all or nothing.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn write(&self, state_dir: &Path) -> Result<(), Fault> {
        let text = toml::to_string(self).map_err(|error| Fault::failed(error.to_string()))?;
        let write = || {
            let mut temporary = tempfile::NamedTempFile::new_in(state_dir)?;
            temporary.write_all(text.as_bytes())?;
            temporary.persist(file(state_dir)).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error: std::io::Error| {
            Fault::failed(format!("{}: {error}", file(state_dir).display()))
        })
    }
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("asleep.toml")
}
