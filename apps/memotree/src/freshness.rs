//! Finds the version since which a node's text differs from what a reader saw.
//!
//! A replaced text must be the one that the caller had seen. Who changed it isn't refused, nor is
//! who never looked.

use std::collections::HashMap;

use docui::Context;

/// Nodes that are remembered. Of more, those that changed first are forgotten: undo brings back
/// what is replaced.
const REMEMBERED_MAX: usize = 10_000;

/// The nodes that changed during the life of this process.
#[derive(Debug, Default)]
pub struct Freshness {
    /// Nodes that other programs changed, and that no version has told of yet.
    unversioned: Vec<String>,
    changed: HashMap<String, Changed>,
}

#[derive(Debug)]
struct Changed {
    version: u64,
    /// The reader who made the change; `None` for another program.
    by: Option<String>,
}

impl Freshness {
    /// Notes that other programs changed nodes.
    pub fn outside(&mut self, ids: impl IntoIterator<Item = String>) {
        self.unversioned.extend(ids);
    }

    /// Notes that a version of the state is shown that has all changes so far.
    pub fn settle(&mut self, version: u64) {
        for id in std::mem::take(&mut self.unversioned) {
            self.changed.insert(id, Changed { version, by: None });
        }
        self.forget_oldest();
    }

    /// Notes that an action changed nodes.
    pub fn inside(&mut self, ids: impl IntoIterator<Item = String>, context: &Context) {
        let version = context.next_version();
        for id in ids {
            let by = Some(context.reader.clone());
            self.changed.insert(id, Changed { version, by });
        }
        self.forget_oldest();
    }

    /// Returns true if somebody else changed a node since the caller looked.
    pub fn is_stale(&self, id: &str, context: &Context) -> bool {
        let Some(Changed { version, by }) = self.changed.get(id) else { return false };
        let looked = context.seen_version > 0 || context.seen_lost;
        looked && *version > context.seen_version && by.as_deref() != Some(&context.reader)
    }

    fn forget_oldest(&mut self) {
        if self.changed.len() > REMEMBERED_MAX {
            let mut versions: Vec<u64> = self.changed.values().map(|one| one.version).collect();
            versions.sort_unstable();
            let middle = versions[versions.len() / 2];
            self.changed.retain(|_, one| one.version > middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(reader: &str, seen_version: u64, version: u64) -> Context {
        Context { reader: reader.into(), seen_version, version, ..Context::default() }
    }

    #[test]
    fn only_the_change_of_somebody_else_makes_a_node_stale() {
        let mut freshness = Freshness::default();
        freshness.inside(["a".to_owned()], &context("ann", 3, 4));
        assert!(!freshness.is_stale("a", &context("ann", 3, 5)));
        assert!(freshness.is_stale("a", &context("bob", 4, 5)));
        assert!(!freshness.is_stale("a", &context("bob", 5, 5)));
        assert!(
            !freshness.is_stale("a", &context("new", 0, 5)),
            "who never looked has seen nothing old"
        );
        freshness.outside(["b".to_owned()]);
        freshness.settle(6);
        assert!(freshness.is_stale("b", &context("ann", 5, 6)));
        assert!(!freshness.is_stale("b", &context("ann", 6, 6)));
        let lost = Context { seen_lost: true, ..context("ann", 0, 6) };
        assert!(freshness.is_stale("b", &lost));
    }

    #[test]
    fn memory_is_bounded() {
        let mut freshness = Freshness::default();
        for number in 0..3 * REMEMBERED_MAX as u64 {
            freshness.inside([number.to_string()], &context("ann", 0, number));
        }
        assert!(freshness.changed.len() <= REMEMBERED_MAX);
    }
}
