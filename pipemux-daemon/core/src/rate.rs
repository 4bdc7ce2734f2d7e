//! Limits how many notices of one session are passed on in a span of time.

use crate::limits::{NOTICE_RATE, NOTICE_SPAN_MS};

/// Counts notices within the present span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rate {
    since: u64,
    passed: u32,
    left_out: u64,
}

impl Rate {
    /// Counts a notice at `now`. Returns none if it is over the rate and left out; otherwise how
    /// many were left out since the last one that was passed on.
    pub fn admit(&mut self, now: u64) -> Option<u64> {
        if now >= self.since + NOTICE_SPAN_MS {
            (self.since, self.passed) = (now, 0);
        }
        if self.passed >= NOTICE_RATE {
            self.left_out += 1;
            return None;
        }
        self.passed += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_cut_and_its_length_told_with_the_next_span() {
        let mut rate = Rate::default();
        let passed = (0..1_000).filter(|_| rate.admit(50_000).is_some()).count();
        assert_eq!(passed, NOTICE_RATE as usize);
        assert_eq!(rate.admit(50_000 + NOTICE_SPAN_MS - 1), None);
        assert_eq!(rate.admit(50_000 + NOTICE_SPAN_MS), Some(981));
        assert_eq!(rate.admit(50_000 + NOTICE_SPAN_MS), Some(0));
    }
}
