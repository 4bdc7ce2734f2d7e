//! What the running run changed itself: its later steps still mean the same things.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use pipemux_proto::projection::Arg;
use pipemux_proto::{Fault, decode, encode};
use serde::{Deserialize, Serialize};

/// The file in a session's state directory that holds them while the session sleeps.
const NAME: &str = "docui.asleep";

/// Revs of things that the steps of one run changed, from the rev that its reader saw.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct OwnChanges {
    run_id: String,
    /// By key: the rev before the run's first change, and after its last.
    revs: HashMap<String, (u64, u64)>,
}

/// What is written down before a sleep.
#[derive(Debug, Serialize, Deserialize)]
struct Asleep<T> {
    /// The version of the state that was saved with it.
    version: u64,
    own: T,
}

impl OwnChanges {
    /// Writes them down, with the version of the state that they belong to.
    ///
    /// # Errors
    /// They can't be written; what was written before is as it was.
    pub(crate) fn save(&self, state_dir: &Path, version: u64) -> Result<(), Fault> {
        let (path, fresh) = (state_dir.join(NAME), state_dir.join(format!("{NAME}.new")));
        let bytes = encode(&Asleep { version, own: self });
        let bytes = bytes.map_err(|error| Fault::failed(error.to_string()))?;
        let written = fs::write(&fresh, bytes).and_then(|()| fs::rename(&fresh, &path));
        written.map_err(|error| Fault::failed(format!("{}: {error}", path.display())))
    }

    /// Reads them again; none when they were not written for that version.
    pub(crate) fn load(state_dir: &Path, version: u64) -> Option<Self> {
        if version == 0 {
            return None;
        }
        let wanted = |asleep: &Asleep<Self>| asleep.version == version;
        let bytes = fs::read(state_dir.join(NAME)).ok()?;
        decode(&bytes).ok().filter(wanted).map(|asleep: Asleep<Self>| asleep.own)
    }

    /// True when nothing but this run's own steps led from the rev that was seen to the present one.
    pub(crate) fn explain(&self, run_id: &str, key: &str, seen: u64, now: u64) -> bool {
        self.run_id == run_id && self.revs.get(key) == Some(&(seen, now))
    }

    /// Notes what a step did to the things that it was given. `before` and `after` are their revs; one
    /// that somebody else changed in between is no longer this run's.
    pub(crate) fn note(
        &mut self,
        run_id: &str,
        before: &[(String, Option<u64>)],
        after: impl Fn(&str) -> Option<u64>,
    ) {
        if self.run_id != run_id {
            self.run_id = run_id.to_owned();
            self.revs.clear();
        }
        for (key, was) in before {
            let (Some(was), Some(is)) = (*was, after(key)) else { continue };
            if was == is {
                continue;
            }
            match self.revs.get_mut(key) {
                Some((_, last)) if *last == was => *last = is,
                _ => {
                    self.revs.insert(key.clone(), (was, is));
                }
            }
        }
    }
}

/// The keys that arguments refer to.
pub(crate) fn keys<'a>(args: impl IntoIterator<Item = &'a Arg>) -> Vec<String> {
    let mut all = Vec::new();
    for arg in args {
        match arg {
            Arg::Ref(found) => all.push(found.key.clone()),
            Arg::List(items) => all.extend(keys(items)),
            Arg::Value(_) | Arg::Copied(_) => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unbroken_chain_of_own_changes_explains_a_rev() {
        let mut own = OwnChanges::default();
        let step = |own: &mut OwnChanges, run: &str, was: u64, is: u64| {
            own.note(run, &[("k".to_owned(), Some(was))], |_| Some(is));
        };
        step(&mut own, "r1", 1, 2);
        step(&mut own, "r1", 2, 3);
        assert!(own.explain("r1", "k", 1, 3));
        assert!(!own.explain("r2", "k", 1, 3), "another run");
        assert!(!own.explain("r1", "k", 1, 4), "changed since by somebody else");
        // Somebody else changed it from 3 to 5 in between.
        step(&mut own, "r1", 5, 6);
        assert!(!own.explain("r1", "k", 1, 6));
        step(&mut own, "r2", 6, 7);
        assert!(own.explain("r2", "k", 6, 7) && !own.explain("r1", "k", 1, 3));
    }

    #[test]
    fn what_a_run_changed_is_its_own_after_a_sleep_of_that_version_only() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut own = OwnChanges::default();
        own.note("r1", &[("k".to_owned(), Some(1))], |_| Some(2));
        assert!(OwnChanges::load(dir.path(), 7).is_none());
        own.save(dir.path(), 7).expect("saved");
        for (version, there) in [(0, false), (6, false), (7, true), (8, false)] {
            let found = OwnChanges::load(dir.path(), version);
            assert_eq!(found.is_some_and(|own| own.explain("r1", "k", 1, 2)), there, "{version}");
        }
        fs::write(dir.path().join(NAME), "garbage").expect("written");
        assert!(OwnChanges::load(dir.path(), 7).is_none());
    }
}
