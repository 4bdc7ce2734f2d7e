//! The environment of a session's process, and what its openers are told of the variables that they
//! passed.

use crate::persist::records::SavedOpen;
use crate::processes::passed_variables::PassedVariables;
use crate::processes::session::Session;

impl Session {
    /// The environment for the session's process, or for an open of it.
    pub(super) fn environment(&self, open: &SavedOpen) -> Vec<(String, String)> {
        let passed = self.passed.iter().filter(|(name, _)| self.manifest.pass.contains(name));
        let passed = passed.map(|(name, value)| (name.clone(), value.clone()));
        open.env.iter().cloned().chain(passed).collect()
    }

    /// The message on variables that openers passed to an earlier daemon but not to this one.
    pub(super) fn missing_variables(&self) -> Option<String> {
        let named = self.opens.as_slice().iter().flat_map(|open| &open.passed);
        let mut missing: Vec<&str> = named
            .filter(|name| !self.passed.contains(name) && self.manifest.pass.contains(*name))
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

    /// Takes over the variables of an opener. Returns a notice if the running process has other
    /// values.
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
