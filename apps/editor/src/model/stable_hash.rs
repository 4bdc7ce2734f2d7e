//! The hash behind persistent names: its values never change, so that a later editor finds what an
//! earlier one wrote.

use std::io::{self, Write};

/// Returns the hash of the bytes.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    let mut hasher = StableHasher::default();
    hasher.update(bytes);
    hasher.finish()
}

/// Computes [`stable_hash`] piece by piece: FNV-1a with the length mixed in.
#[derive(Debug, Clone)]
pub struct StableHasher {
    state: u64,
    length: u64,
}

impl Default for StableHasher {
    fn default() -> Self {
        Self { state: 0xcbf2_9ce4_8422_2325, length: 0 }
    }
}

impl StableHasher {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        for byte in bytes {
            self.state = (self.state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    /// Returns the hash of everything added so far.
    pub fn finish(&self) -> u64 {
        (self.state ^ self.length).wrapping_mul(0x100_0000_01b3)
    }
}

impl Write for StableHasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Journals are found by these values, and snapshots are checked with them.
    #[test]
    fn persistent_hash_values_never_change() {
        let values =
            ["", "a", "/home/me/src/main.rs", "漢字"].map(|text| stable_hash(text.as_bytes()));
        let pinned = [
            12_638_153_115_695_167_455,
            620_338_995_939_046_295,
            15_573_326_974_958_178_576,
            5_977_026_090_995_041_404,
        ];
        assert_eq!(values, pinned);
    }
}
