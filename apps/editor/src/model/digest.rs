//! Digests of file contents.

use std::io::{self, Write};

use twox_hash::XxHash64;

/// Tells contents apart: two files with the same digest are taken for equal.
///
/// The digest does not depend on how the content is cut into pieces. It is fast, because a text is
/// digested on each save and on each check of a recently written file, and it does not resist
/// forgery, because nobody gains by forging it. Manifests hold these values: they never change.
#[derive(Default)]
pub struct ContentDigest(XxHash64);

impl ContentDigest {
    /// Adds the next piece of the content.
    pub fn update(&mut self, bytes: &[u8]) {
        std::hash::Hasher::write(&mut self.0, bytes);
    }

    /// Returns the digest of everything added so far.
    pub fn finish(&self) -> u64 {
        std::hash::Hasher::finish(&self.0)
    }
}

impl Write for ContentDigest {
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

    /// Manifests and records of shown texts hold these values.
    #[test]
    fn content_digest_values_never_change() {
        let digest = |text: &str| {
            let mut digest = ContentDigest::default();
            digest.update(text.as_bytes());
            digest.finish()
        };
        let values = ["", "a", "line 1\nline 2\n", "漢字"].map(digest);
        let pinned = [
            17_241_709_254_077_376_921,
            15_154_266_338_359_012_955,
            548_288_922_372_196_398,
            1_386_998_886_388_425_973,
        ];
        assert_eq!(values, pinned);
    }
}
