//! The variables that a manifest's `pass` names: their values are kept in memory, their names on disk.
//!
//! They commonly hold tokens. A value that was saved could be read from the disk, from its backups, and by whoever the
//! journal is sent to after a crash.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use pipemux_proto::client::is_passed_variable;

use crate::keys::SessionKey;
use crate::limits::ENV_MAX;
use crate::manifest::Manifest;
use crate::persist::records::SavedOpen;
use crate::processes::opens::Opens;
use crate::processes::session::Session;

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

    /// Takes over the newer values of an opener, as far as [`ENV_MAX`] bytes suffice. Returns the names of those that
    /// are new or differ.
    fn update(&mut self, newer: Self) -> Vec<String> {
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
    fn take_values(&mut self) -> PassedVariables {
        let (kept, passed) = std::mem::take(&mut self.env)
            .into_iter()
            .partition(|(name, _)| is_passed_variable(name));
        self.env = kept;
        let passed: Vec<(String, String)> = passed;
        self.passed.extend(passed.iter().map(|(name, _)| name.clone()));
        passed.into_iter().collect()
    }
}

impl Session {
    /// A session of an earlier daemon. Values that an older release saved are kept in memory from now on.
    pub(super) fn restored(
        key: SessionKey,
        manifest: Rc<Manifest>,
        mut opens: Vec<SavedOpen>,
    ) -> Self {
        let values: Vec<PassedVariables> = opens.iter_mut().map(SavedOpen::take_values).collect();
        let mut session = Self::new(key, manifest);
        session.opens = Opens::restored(opens);
        for newer in values {
            session.passed.update(newer);
        }
        session
    }

    /// The environment that its process, or an open of it, is given.
    pub(super) fn environment(&self, open: &SavedOpen) -> Vec<(String, String)> {
        let passed = self.passed.0.iter().filter(|(name, _)| self.manifest.pass.contains(name));
        let passed = passed.map(|(name, value)| (name.clone(), value.clone()));
        open.env.iter().cloned().chain(passed).collect()
    }

    /// What is to be told of the variables that its openers passed to an earlier daemon, and nobody to this one.
    pub(super) fn missing_variables(&self) -> Option<String> {
        let named = self.opens.as_slice().iter().flat_map(|open| &open.passed);
        let mut missing: Vec<&str> = named
            .filter(|name| !self.passed.0.contains_key(*name) && self.manifest.pass.contains(*name))
            .map(String::as_str)
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let key = &self.key;
        let it = if missing.len() == 1 { "its value is" } else { "their values are" };
        (!missing.is_empty()).then(|| {
            format!(
                "Started without {}: {it} kept in memory only, and the daemon was restarted; pass again: \
                 pipemux open {key} && pipemux restart {key}",
                missing.join(", ")
            )
        })
    }

    /// Takes over the variables of an opener. Returns what is to be told when the process runs with other values.
    pub fn pass_variables(&mut self, passed: PassedVariables) -> Option<String> {
        let changed = self.passed.update(passed);
        let key = &self.key;
        (self.up().is_some() && !changed.is_empty()).then(|| {
            let (names, them) =
                (changed.join(", "), if changed.len() == 1 { "it" } else { "them" });
            format!(
                "{names} changed; {key} gets {them} when it starts again: pipemux restart {key}"
            )
        })
    }
}
