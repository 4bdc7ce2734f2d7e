//! What a session shows: expanded resources, and how many processes in which order. Kept across
//! restarts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use docui::{Fault, regular_file, state_file};
use serde::{Deserialize, Serialize};

use crate::action::By;
use crate::limits::TOP_MAX;
use crate::resource::Resource;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The resources that are shown in detail.
    pub expanded: BTreeSet<Resource>,
    /// The number of listed processes, 1 to [`TOP_MAX`].
    pub top: usize,
    /// The figure that processes are sorted by.
    pub by: By,
}

impl Default for Settings {
    fn default() -> Self {
        Self { expanded: BTreeSet::new(), top: 10, by: By::Cpu }
    }
}

/// The content of the settings file. Unlike in [`Settings`], any value may occur.
#[derive(Serialize, Deserialize)]
#[serde(default)]
struct SavedSettings {
    expanded: Vec<String>,
    top: i64,
    by: String,
}

impl Default for SavedSettings {
    fn default() -> Self {
        Self { expanded: Vec::new(), top: 10, by: "cpu".into() }
    }
}

impl Settings {
    /// Loads the settings. What is missing or invalid gets its default.
    pub fn load(state_dir: &Path) -> Self {
        let text = regular_file::read_to_string(&file(state_dir)).unwrap_or_default();
        let saved: SavedSettings = toml::from_str(&text).unwrap_or_default();
        Self {
            expanded: saved.expanded.iter().filter_map(|key| Resource::from_key(key)).collect(),
            top: top(saved.top).unwrap_or(10),
            by: if saved.by == "mem" { By::Mem } else { By::Cpu },
        }
    }

    /// Saves the settings atomically.
    ///
    /// # Errors
    /// The state directory can't be written.
    pub fn save(&self, state_dir: &Path) -> Result<(), Fault> {
        let saved = SavedSettings {
            expanded: self.expanded.iter().map(|resource| resource.key().into()).collect(),
            top: i64::try_from(self.top).unwrap_or(TOP_MAX),
            by: if self.by == By::Mem { "mem" } else { "cpu" }.into(),
        };
        let text = toml::to_string(&saved).map_err(|error| Fault::failed(error.to_string()))?;
        state_file::replace(&file(state_dir), text.as_bytes())
    }
}

/// Converts the number of processes that a reader asks for.
///
/// # Errors
/// The number is less than 1 or more than [`TOP_MAX`].
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
    fn saved_settings_are_loaded_again() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Settings::load(dir.path()), Settings::default());
        let expanded = [Resource::Cpu, Resource::Disks].into();
        let settings = Settings { expanded, top: 3, by: By::Mem };
        settings.save(dir.path()).unwrap();
        assert_eq!(Settings::load(dir.path()), settings);
        assert!(settings.save(&dir.path().join("missing")).is_err());
    }

    /// `tests/saved/settings.toml` is as version 0.1 saved it. It must stay readable by every later
    /// version.
    #[test]
    fn settings_of_version_0_1_are_loaded() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/saved");
        let expanded = Resource::ALL.into();
        assert_eq!(Settings::load(&dir), Settings { expanded, top: 3, by: By::Mem });
    }

    #[test]
    fn invalid_settings_get_their_defaults() {
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
