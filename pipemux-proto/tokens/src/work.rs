//! Counts work: a unit is about one byte looked at, or one step of a loop.
//!
//! Who sends a text decides how long it is and what is in it, so a function that looks at foreign
//! text must cost no more for each byte of a long text than of a short one. Times differ from run
//! to run and can't be asserted; counts are the same each time. The functions that look at foreign
//! text report here what they do, tests compare the counts, and the daemon bounds what one turn may
//! take.
//!
//! **Invariant: counting decides nothing by itself.** A count is the same for the same inputs,
//! whatever the machine.

use std::cell::Cell;

thread_local! {
    static SPENT: Cell<u64> = const { Cell::new(0) };
}

/// Counts units of work.
#[inline]
pub fn spend(units: usize) {
    SPENT.with(|spent| spent.set(spent.get().wrapping_add(units as u64)));
}

/// A point from which the work of this thread is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meter(u64);

impl Meter {
    /// Begins to count.
    pub fn start() -> Self {
        Self(SPENT.with(Cell::get))
    }

    /// Returns the units that were spent since.
    pub fn units(self) -> u64 {
        SPENT.with(Cell::get).wrapping_sub(self.0)
    }
}

/// Returns the place of the first byte that fits, among the first `most` bytes.
pub fn position_within(text: &str, most: usize, fits: impl Fn(u8) -> bool) -> Option<usize> {
    let found = text.bytes().take(most).position(fits);
    spend(found.unwrap_or(most.min(text.len())) + 1);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_from_the_start_of_a_meter() {
        spend(3);
        let meter = Meter::start();
        assert_eq!(position_within("abcd", 10, |byte| byte == b'c'), Some(2));
        assert_eq!(meter.units(), 3);
        assert_eq!(position_within("abcd", 2, |byte| byte == b'c'), None);
        assert_eq!(meter.units(), 6);
    }
}
