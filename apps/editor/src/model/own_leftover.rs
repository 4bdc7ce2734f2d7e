//! Temporary files that an interrupted change left beside its files.

use pipemux_publish::Leftover;

use crate::model::disk;

/// A text beside a file that an interrupted change made or found.
#[derive(Debug)]
pub struct OwnLeftover {
    leftover: Leftover,
    texts: Vec<Option<u64>>,
}

impl OwnLeftover {
    /// `texts` are the digests that it may have.
    pub(super) fn new(leftover: Leftover, texts: Vec<Option<u64>>) -> Self {
        Self { leftover, texts }
    }

    /// Removes it, unless it was changed since. What can't be removed is in nobody's way.
    pub(crate) fn remove(&self) {
        let _ = self.leftover.remove(&|file| disk::has_digest(file, &self.texts));
    }
}
