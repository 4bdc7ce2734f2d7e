//! Detects that a file changed without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// How long after a change another one may leave the same times: the granularity of clocks in file
/// systems.
const RACY_NS: i128 = 50_000_000;

/// The identity, size and times of a file. Equal stamps mean equal contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    inode: u64,
    size: u64,
    modified: i128,
    changed: i128,
}

impl Stamp {
    /// Returns when the content changed, in nanoseconds since 1970.
    pub fn modified_ns(&self) -> i128 {
        self.modified
    }

    /// Takes the stamp of a file or folder.
    pub fn of(metadata: &Metadata) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Returns the stamp if later changes are sure to make another one: none if the last change was
    /// just before `now`, in nanoseconds since 1970.
    pub fn if_settled(self, now: i128) -> Option<Self> {
        (now - self.changed.max(self.modified) > RACY_NS).then_some(self)
    }

    /// Returns the stamp if another one is the same, else one that no file has: the file changed in
    /// between.
    #[must_use]
    pub fn same_as_or_none(self, other: Self) -> Self {
        if self == other { self } else { Self { inode: 0, size: 0, modified: 0, changed: 0 } }
    }

    /// Returns the stamp as bytes, for the index.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let parts = [self.inode, self.size, low(self.modified), low(self.changed)];
        for (place, part) in bytes.chunks_exact_mut(8).zip(parts) {
            place.copy_from_slice(&part.to_le_bytes());
        }
        bytes
    }
}

/// Returns the hash of a file's content.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    pipemux_stable_hash::hash_with_length(bytes)
}

/// Nanoseconds since 1970 wrap around after five centuries.
fn low(nanoseconds: i128) -> u64 {
    nanoseconds.rem_euclid(1 << 64).try_into().unwrap_or(0)
}
