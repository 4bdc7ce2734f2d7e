//! The variables that a manifest's `pass` names: their values are kept in memory, their names on
//! disk.
//!
//! They commonly hold tokens. A value that was saved could be read from the disk, from its backups,
//! and by whoever the journal is sent to after a crash.

use std::collections::BTreeMap;
use std::fmt;

use pipemux_proto::client::is_passed_variable;

use crate::limits::ENV_MAX;
use crate::persist::records::SavedOpen;

/// Variables of a session's openers with their values; the newest opener's count.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PassedVariables(BTreeMap<String, String>);

impl fmt::Debug for PassedVariables {
    /// Writes the names only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(String, String)> for PassedVariables {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(variables: T) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl PassedVariables {
    /// Returns the names of the variables.
    pub fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Updates the variables with an opener's newer values, up to [`ENV_MAX`] bytes. Returns the
    /// names of new or changed variables.
    pub(super) fn update(&mut self, newer: Self) -> Vec<String> {
        let mut changed = Vec::new();
        for (name, value) in newer.0 {
            if self.0.get(&name) == Some(&value) {
                continue;
            }
            let others = self.0.iter().filter(|(known, _)| **known != name);
            let used: usize = others.map(|(known, value)| known.len() + value.len() + 2).sum();
            if used + name.len() + value.len() + 2 <= ENV_MAX {
                changed.push(name.clone());
                self.0.insert(name, value);
            }
        }
        changed
    }
}

impl SavedOpen {
    /// Moves the values out that an older release saved, and leaves their names.
    pub(super) fn take_values(&mut self) -> PassedVariables {
        let (kept, passed) = std::mem::take(&mut self.env)
            .into_iter()
            .partition(|(name, _)| is_passed_variable(name));
        self.env = kept;
        let passed: Vec<(String, String)> = passed;
        self.passed.extend(passed.iter().map(|(name, _)| name.clone()));
        passed.into_iter().collect()
    }
}
