//! What is expanded, and how many processes in which order: kept across restarts.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use docui::Fault;
use serde::{Deserialize, Serialize};

use crate::action::By;
use crate::detail::Resource;

/// Most processes that are listed.
pub const TOP_MAX: i64 = 100;

/// What a session shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Resources shown in detail.
    pub expanded: BTreeSet<Resource>,
    /// How many processes, 1 to [`TOP_MAX`].
    pub top: usize,
    /// What they are sorted by.
    pub by: By,
}

impl Default for Settings {
    fn default() -> Self {
        Self { expanded: BTreeSet::new(), top: 10, by: By::Cpu }
    }
}

/// The file's form; unlike [`Settings`] it may say anything.
#[derive(Serialize, Deserialize)]
#[serde(default)]
struct Saved {
    expanded: Vec<String>,
    top: i64,
    by: String,
}

impl Default for Saved {
    fn default() -> Self {
        Self { expanded: Vec::new(), top: 10, by: "cpu".into() }
    }
}

impl Settings {
    /// Reads them; what is missing or makes no sense is as at first.
    pub fn load(state_dir: &Path) -> Self {
        let text = std::fs::read_to_string(file(state_dir)).unwrap_or_default();
        let saved: Saved = toml::from_str(&text).unwrap_or_default();
        Self {
            expanded: saved.expanded.iter().filter_map(|key| Resource::from_key(key)).collect(),
            top: top(saved.top).unwrap_or(10),
            by: if saved.by == "mem" { By::Mem } else { By::Cpu },
        }
    }

    /// Writes them down: all or nothing.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&self, state_dir: &Path) -> Result<(), Fault> {
        let saved = Saved {
            expanded: self.expanded.iter().map(|resource| resource.key().into()).collect(),
            top: i64::try_from(self.top).unwrap_or(TOP_MAX),
            by: if self.by == By::Mem { "mem" } else { "cpu" }.into(),
        };
        let text = toml::to_string(&saved).map_err(|error| Fault::failed(error.to_string()))?;
        let write = || {
            let mut temporary = tempfile::NamedTempFile::new_in(state_dir)?;
            temporary.write_all(text.as_bytes())?;
            // No sync: after a power cut older settings are no loss.
            temporary.persist(file(state_dir)).map_err(|error| error.error)
        };
        write().map(drop).map_err(|error: std::io::Error| {
            Fault::failed(format!("{}: {error}", file(state_dir).display()))
        })
    }
}

/// Checks how many processes are asked for.
///
/// # Errors
/// Less than 1 or more than [`TOP_MAX`].
pub fn top(n: i64) -> Result<usize, Fault> {
    usize::try_from(n)
        .ok()
        .filter(|_| (1..=TOP_MAX).contains(&n))
        .ok_or_else(|| Fault::usage(format!("n: expected 1 to {TOP_MAX}, not {n}")))
}

fn file(state_dir: &Path) -> PathBuf {
    state_dir.join("settings.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_back() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Settings::load(dir.path()), Settings::default());
        let expanded = [Resource::Cpu, Resource::Disks].into();
        let settings = Settings { expanded, top: 3, by: By::Mem };
        settings.save(dir.path()).unwrap();
        assert_eq!(Settings::load(dir.path()), settings);
        assert!(settings.save(&dir.path().join("missing")).is_err());
    }

    #[test]
    fn garbage_counts_as_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let load = |text: &str| {
            std::fs::write(file(dir.path()), text).unwrap();
            Settings::load(dir.path())
        };
        assert_eq!(load("\0["), Settings::default());
        assert_eq!(load("top = 'x'"), Settings::default());
        assert_eq!(load("top = 100000\nby = 'size'"), Settings::default());
        let some = load("expanded = ['disks', 'nonsense']\ntop = 5");
        assert_eq!((some.expanded.len(), some.top), (1, 5));
    }
}
