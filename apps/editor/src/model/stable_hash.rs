//! The hash that names the editor's persistent files: its values never change, so that a later
//! editor finds what an earlier one wrote.

/// Returns the hash of the bytes.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    pipemux_stable_hash::hash_with_length(bytes)
}

/// Computes [`stable_hash`] piece by piece.
#[derive(Debug, Clone, Default)]
pub struct StableHasher(pipemux_stable_hash::StableHasher);

impl StableHasher {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the hash of everything added so far.
    pub fn finish(&self) -> u64 {
        self.0.finish_with_length()
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
