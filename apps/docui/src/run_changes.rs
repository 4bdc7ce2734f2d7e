//! The changes that the current run made itself, so that its later steps are not refused as stale.
//!
//! All steps of a run name the revs that the reader saw before the run. When a step changes an
//! object, a later step on the same object would look stale. This module remembers which changes of
//! rev were the run's own.

use std::collections::HashMap;
use std::path::Path;

use pipemux_proto::projection::Arg;
use pipemux_proto::{Fault, decode, encode};
use serde::{Deserialize, Serialize};

use crate::{regular_file, state_file};

/// The file in a session's state directory that keeps the changes while the session hibernates.
const FILE_NAME: &str = "docui.asleep";

/// The revs of the objects that the steps of one run changed.
///
/// The names of the fields are part of the file's format.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunChanges {
    run_id: String,
    /// By key: the rev before the run's first change, and the rev after its last.
    revs: HashMap<String, (u64, u64)>,
}

/// The content of [`FILE_NAME`].
#[derive(Debug, Serialize, Deserialize)]
struct SavedRunChanges<T> {
    /// The version of the app's state that was saved at the same time.
    version: u64,
    #[serde(rename = "own")]
    run_changes: T,
}

impl RunChanges {
    /// Saves the changes together with the version of the state that they belong to.
    ///
    /// # Errors
    /// The file can't be written. The previous file, if any, is unchanged.
    pub(crate) fn save(&self, state_dir: &Path, version: u64) -> Result<(), Fault> {
        let bytes = encode(&SavedRunChanges { version, run_changes: self });
        let bytes = bytes.map_err(|error| Fault::failed(error.to_string()))?;
        state_file::replace(&state_dir.join(FILE_NAME), &bytes)
    }

    /// Loads saved changes. Returns `None` when there are none for that version of the state.
    pub(crate) fn load(state_dir: &Path, version: u64) -> Option<Self> {
        if version == 0 {
            return None;
        }
        let bytes = regular_file::read(&state_dir.join(FILE_NAME)).ok()?;
        let saved: SavedRunChanges<Self> = decode(&bytes).ok()?;
        (saved.version == version).then_some(saved.run_changes)
    }

    /// Returns true when an object went from the rev that was seen to its current rev by this run's
    /// steps alone.
    pub(crate) fn explain(&self, run_id: &str, key: &str, seen: u64, now: u64) -> bool {
        self.run_id == run_id && self.revs.get(key) == Some(&(seen, now))
    }

    /// Records what one step did to the objects in its arguments. `before` and `after` give their
    /// revs. If somebody else changed an object between two steps, the run's earlier change of it
    /// is dropped.
    pub(crate) fn record(
        &mut self,
        run_id: &str,
        before: &[(String, Option<u64>)],
        after: impl Fn(&str) -> Option<u64>,
    ) {
        if self.run_id != run_id {
            self.run_id = run_id.to_owned();
            self.revs.clear();
        }
        for (key, before) in before {
            // An object that the step created or removed has no rev to compare.
            let (Some(before), Some(after)) = (*before, after(key)) else { continue };
            if before == after {
                continue;
            }
            match self.revs.get_mut(key) {
                Some((_, last)) if *last == before => *last = after,
                _ => {
                    self.revs.insert(key.clone(), (before, after));
                }
            }
        }
    }
}

/// Returns the keys of all objects that the arguments refer to.
pub(crate) fn ref_keys<'a>(args: impl IntoIterator<Item = &'a Arg>) -> Vec<String> {
    let mut keys = Vec::new();
    for arg in args {
        match arg {
            Arg::Ref(found) => keys.push(found.key.clone()),
            Arg::List(items) => keys.extend(ref_keys(items)),
            Arg::Record(fields) => keys.extend(ref_keys(fields.values())),
            Arg::Value(_) | Arg::Copied(_) => {}
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_an_unbroken_chain_of_own_changes_explains_a_rev() {
        let mut changes = RunChanges::default();
        let step = |changes: &mut RunChanges, run: &str, before: u64, after: u64| {
            changes.record(run, &[("k".to_owned(), Some(before))], |_| Some(after));
        };
        step(&mut changes, "r1", 1, 2);
        step(&mut changes, "r1", 2, 3);
        assert!(changes.explain("r1", "k", 1, 3));
        assert!(!changes.explain("r2", "k", 1, 3), "another run");
        assert!(!changes.explain("r1", "k", 1, 4), "changed since by somebody else");
        // Somebody else changed it from 3 to 5 in between.
        step(&mut changes, "r1", 5, 6);
        assert!(!changes.explain("r1", "k", 1, 6));
        step(&mut changes, "r2", 6, 7);
        assert!(changes.explain("r2", "k", 6, 7) && !changes.explain("r1", "k", 1, 3));
    }

    #[test]
    fn saved_changes_load_for_their_own_version_only() {
        let dir = tempfile::tempdir().unwrap();
        let mut changes = RunChanges::default();
        changes.record("r1", &[("k".to_owned(), Some(1))], |_| Some(2));
        assert!(RunChanges::load(dir.path(), 7).is_none());
        changes.save(dir.path(), 7).unwrap();
        for (version, expected) in [(0, false), (6, false), (7, true), (8, false)] {
            let loaded = RunChanges::load(dir.path(), version);
            let explained = loaded.is_some_and(|changes| changes.explain("r1", "k", 1, 2));
            assert_eq!(explained, expected, "{version}");
        }
        fs::write(dir.path().join(FILE_NAME), "garbage").unwrap();
        assert!(RunChanges::load(dir.path(), 7).is_none());
    }
}
