//! Measures the time that each source takes, for the debug mode.

use std::collections::HashMap;
use std::time::Instant;

use docui::Lod;
use pipemux_context::merge::{Outcome, Produced};

/// Maximum number of times kept, one for each source, level of detail and budget.
const KEPT: usize = 64;

/// The times of the sources as measured when they last produced something else. A time of its own
/// for each look would change a window in which nothing changed.
#[derive(Debug)]
pub struct Timing<T>(HashMap<(String, Lod, u64), Produced<T>>);

impl<T> Default for Timing<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone + PartialEq> Timing<T> {
    /// Asks a source at one level and budget, and adds how long that took.
    pub fn measure(
        &mut self,
        (source, lod, tokens): (&str, Lod, u64),
        produce: impl FnOnce() -> Outcome<T>,
    ) -> Produced<T> {
        let began = Instant::now();
        let outcome = produce();
        let key = (source.to_owned(), lod, tokens);
        if let Some(last) = self.0.get(&key).filter(|last| last.outcome == outcome) {
            return last.clone();
        }
        let produced =
            Produced { outcome, millis: u64::try_from(began.elapsed().as_millis()).ok() };
        if self.0.len() >= KEPT {
            self.0.clear();
        }
        self.0.insert(key, produced.clone());
        produced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stays_as_long_as_the_source_produces_the_same() {
        let mut timing = Timing::<u8>::default();
        let failed = |reason: &str| Outcome::Failed { reason: reason.into(), last: None };
        timing.measure(("tree", Lod::Full, 100), || failed("a"));
        // No measured time can be this one.
        timing.0.values_mut().for_each(|kept| kept.millis = Some(u64::MAX));
        let mut millis = |lod, reason| timing.measure(("tree", lod, 100), || failed(reason)).millis;
        assert_eq!(millis(Lod::Full, "a"), Some(u64::MAX));
        assert_ne!(millis(Lod::Gist, "a"), Some(u64::MAX));
        assert_ne!(millis(Lod::Full, "b"), Some(u64::MAX));
    }
}
