//! Marks: which incarnation of an app a process belongs to, whatever the process did to hide it.
//!
//! A process leaves its group with `setsid`, its parent by forking twice, and its environment with
//! `env -i`. It keeps its resource limits through all of that, and every child inherits them. One
//! of these limits, `RLIMIT_LOCKS`, has had no meaning in Linux since 2.4.25 and is unlimited
//! everywhere: the launcher sets it to a number that stands for one incarnation and one state
//! directory. Whoever may signal a process may read the limit, with one system call.
//!
//! A process can remove its mark on purpose. The launcher still kills it once it is an orphan; it
//! is missed only if it outlives the launcher.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

#[cfg(target_os = "linux")]
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use pipemux_stable_hash::StableHasher;
use serde::{Deserialize, Serialize};

/// The mark of one incarnation; never the number that means "unlimited".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessMark(u64);

/// The part that all marks of one state directory have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkOrigin(u64);

/// The highest bits of every mark. Neither small numbers nor any system's "unlimited" have them.
const MARK: u64 = 0b010 << 61;
/// The number of low bits for the incarnation; the higher ones are the origin's.
const LIFE_BITS: u32 = 24;
const LIFE: u64 = (1 << LIFE_BITS) - 1;

impl MarkOrigin {
    /// Returns the origin of a state directory. It belongs to the directory itself rather than to
    /// its name: a copy has another one, and so has another directory with the same name.
    ///
    /// # Errors
    /// As `stat`.
    pub fn of(state_dir: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::MetadataExt;

        let found = fs::metadata(state_dir)?;
        // Some file systems don't record the time of creation; then device and inode have to
        // suffice.
        let born = found.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let born = born.map_or(0, |since| since.as_nanos() as u64);
        Ok(Self::from_numbers([found.dev(), found.ino(), born]))
    }

    /// Makes the same bits in every release, so that a daemon finds what an older one left running.
    fn from_numbers(numbers: [u64; 3]) -> Self {
        let mut hasher = StableHasher::new();
        for number in numbers {
            hasher.write(&number.to_le_bytes());
        }
        Self(MARK | (hasher.finish() >> 3) & !LIFE)
    }

    /// Removes a mark of this origin from this process: a daemon that was started by what an
    /// earlier daemon left is not one of that daemon's apps.
    pub fn shed(self) {
        #[cfg(target_os = "linux")]
        if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_LOCKS)
            && ProcessMark::read(soft).is_some_and(|mark| mark.is_of(self))
        {
            // Raising the soft limit up to the hard limit is always allowed.
            let _ = setrlimit(Resource::RLIMIT_LOCKS, hard, hard);
        }
    }

    /// Returns the mark of an incarnation. Two incarnations share a mark only if 16 million others
    /// lie between them.
    pub fn mark(self, incarnation: u64) -> ProcessMark {
        ProcessMark(self.0 | incarnation & LIFE)
    }
}

impl ProcessMark {
    /// Returns the mark that a process's limit stands for, if it is one.
    pub(crate) fn read(limit: u64) -> Option<Self> {
        (limit >> 61 == MARK >> 61).then_some(Self(limit))
    }

    /// Returns the value of the limit.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// Returns what the mark has in common with all marks of its state directory.
    pub(crate) fn origin(self) -> MarkOrigin {
        MarkOrigin(self.0 & !LIFE)
    }

    /// True for the marks of one state directory from the first to the newest of these.
    /// Incarnations are counted up and start over after 16 million.
    pub(crate) fn is_between(self, first: Self, newest: Self) -> bool {
        let behind_first = |mark: Self| mark.0.wrapping_sub(first.0) & LIFE;
        self.origin() == first.origin() && behind_first(self) <= behind_first(newest)
    }

    /// True for the marks of that origin.
    pub fn is_of(self, origin: MarkOrigin) -> bool {
        self.origin() == origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_later_incarnations_are_told_from_those_before() {
        let origin = MarkOrigin::from_numbers([1, 2, 3]);
        let marks = |first: u64, newest: u64| (origin.mark(first), origin.mark(newest));
        for base in [5, LIFE - 2] {
            let (first, newest) = marks(base, base + 4);
            for life in [base, base + 3, base + 4] {
                assert!(origin.mark(life).is_between(first, newest), "{base} {life}");
            }
            for life in [base - 1, base + 5] {
                assert!(!origin.mark(life).is_between(first, newest), "{base} {life}");
            }
            let other = MarkOrigin::from_numbers([9, 2, 3]).mark(base + 1);
            assert!(!other.is_between(first, newest));
        }
    }

    #[test]
    fn marks_distinguish_incarnations_and_directories_and_are_never_unlimited() {
        let directory = std::env::temp_dir();
        let (one, other) =
            (MarkOrigin::of(&directory).unwrap(), MarkOrigin::of(Path::new("/")).unwrap());
        assert_eq!(one, MarkOrigin::of(&directory).unwrap());
        assert_ne!(one, other);
        for incarnation in [0, 1, LIFE, LIFE + 1, u64::MAX] {
            let mark = one.mark(incarnation);
            assert!(mark.is_of(one) && !mark.is_of(other));
            assert_eq!(ProcessMark::read(mark.number()), Some(mark));
        }
        assert_ne!(one.mark(1), one.mark(2));
        for limit in [0, 1, 1024, u64::MAX, u64::MAX >> 1, MARK - 1] {
            assert_eq!(ProcessMark::read(limit), None, "{limit}");
        }
        assert!(MarkOrigin::of(Path::new("/no/such/directory")).is_err());
    }

    #[test]
    fn marks_are_the_same_in_every_release() {
        let golden = [
            ([0, 0, 0], 0x503a_47fa_e000_0000),
            ([2049, 131_073, 1_769_860_800_123_456_789], 0x43f5_f604_9f00_0000),
            ([u64::MAX, 1, 0], 0x526d_8294_2300_0000),
        ];
        for (numbers, expected) in golden {
            assert_eq!(MarkOrigin::from_numbers(numbers), MarkOrigin(expected), "{numbers:?}");
        }
    }
}
