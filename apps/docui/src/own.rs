//! What the running run changed itself: its later steps still mean the same things.

use std::collections::HashMap;

use pipemux_proto::projection::Arg;

/// Revs of things that the steps of one run changed, from the rev that its reader saw.
#[derive(Debug, Default)]
pub(crate) struct OwnChanges {
    run_id: String,
    /// By key: the rev before the run's first change, and after its last.
    revs: HashMap<String, (u64, u64)>,
}

impl OwnChanges {
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
}
