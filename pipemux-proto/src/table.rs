//! Maps by numbers that one side counts up itself.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys hold numbers that nobody outside chooses: requests of one's own, connections, lives. It
/// hashes in an instruction or two and resists no adversary.
pub type Table<K, V> = HashMap<K, V, BuildHasherDefault<Counted>>;

/// The hash of a [`Table`].
#[derive(Debug, Default, Clone, Copy)]
pub struct Counted(u64);

/// Odd, with its bits well spread: from the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Counted {
    fn finish(&self) -> u64 {
        // The map takes its place from the low bits, its tag from the high ones.
        self.0.rotate_left(20)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(SPREAD);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    #[test]
    fn numbers_in_a_row_spread_over_places_and_tags() {
        let hash = |number: u64| {
            let mut hasher = Counted::default();
            (1_u8, number).hash(&mut hasher);
            hasher.finish()
        };
        let places: std::collections::BTreeSet<u64> = (0..1024).map(|n| hash(n) % 2048).collect();
        assert!(places.len() > 600, "{} places", places.len());
        let tags: std::collections::BTreeSet<u64> = (0..1024).map(|n| hash(n) >> 57).collect();
        assert!(tags.len() > 100, "{} tags", tags.len());
    }
}
