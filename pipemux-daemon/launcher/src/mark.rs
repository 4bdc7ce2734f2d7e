//! Which life a process belongs to, whatever it did to hide it.
//!
//! A process leaves its group with `setsid`, its parent by forking twice, its environment with `env -i`.
//! What it keeps through all of that, and hands on to every child, are its resource limits. One of them,
//! `RLIMIT_LOCKS`, has had no meaning in Linux since 2.4.25 and is unlimited everywhere: the launcher sets
//! it to a number that stands for one life of one state directory. Whoever may signal a process may read
//! it, in one system call.
//!
//! A process may take its mark off on purpose. The launcher ends it all the same once it is an orphan;
//! only what outlives the launcher, too, isn't found then.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

#[cfg(target_os = "linux")]
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use pipemux_stable_hash::StableHasher;
use serde::{Deserialize, Serialize};

/// The mark of one life; never the number that stands for "unlimited".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mark(u64);

/// What all marks of one state directory have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin(u64);

/// The highest bits of every mark: no small number has them, nor has any system's "unlimited".
const MARK: u64 = 0b010 << 61;
/// The lower bits number the life; the upper ones are the origin's.
const LIFE_BITS: u32 = 24;
const LIFE: u64 = (1 << LIFE_BITS) - 1;

impl Origin {
    /// A state directory's. It belongs to the directory itself, not to its name: a copy, and another
    /// directory of that name, have another.
    ///
    /// # Errors
    /// As `stat`.
    pub fn of(state_dir: &Path) -> std::io::Result<Self> {
        use std::os::unix::fs::MetadataExt;

        let found = fs::metadata(state_dir)?;
        // Not known on every file system; device and inode have to do there.
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

    /// Takes such a mark off this process: a daemon that was started by what an earlier one left isn't
    /// one of its apps.
    pub fn shed(self) {
        #[cfg(target_os = "linux")]
        if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_LOCKS)
            && Mark::read(soft).is_some_and(|mark| mark.is_of(self))
        {
            // Raising it as far as the hard limit is always allowed.
            let _ = setrlimit(Resource::RLIMIT_LOCKS, hard, hard);
        }
    }

    /// The mark of a life; two lives share one only when 16 million others were between them.
    pub fn mark(self, incarnation: u64) -> Mark {
        Mark(self.0 | incarnation & LIFE)
    }
}

impl Mark {
    /// What a process's limit says, if it is a mark.
    pub(crate) fn read(limit: u64) -> Option<Self> {
        (limit >> 61 == MARK >> 61).then_some(Self(limit))
    }

    /// The number to set.
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// What it has in common with all marks of its state directory.
    pub(crate) fn origin(self) -> Origin {
        Origin(self.0 & !LIFE)
    }

    /// True for the marks of one state directory.
    pub fn is_of(self, origin: Origin) -> bool {
        self.origin() == origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_tell_lives_and_directories_apart_and_are_never_unlimited() {
        let directory = std::env::temp_dir();
        let (one, other) = (Origin::of(&directory).unwrap(), Origin::of(Path::new("/")).unwrap());
        assert_eq!(one, Origin::of(&directory).unwrap());
        assert_ne!(one, other);
        for incarnation in [0, 1, LIFE, LIFE + 1, u64::MAX] {
            let mark = one.mark(incarnation);
            assert!(mark.is_of(one) && !mark.is_of(other));
            assert_eq!(Mark::read(mark.number()), Some(mark));
        }
        assert_ne!(one.mark(1), one.mark(2));
        for limit in [0, 1, 1024, u64::MAX, u64::MAX >> 1, MARK - 1] {
            assert_eq!(Mark::read(limit), None, "{limit}");
        }
        assert!(Origin::of(Path::new("/no/such/directory")).is_err());
    }

    #[test]
    fn marks_are_the_same_in_every_release() {
        let golden = [
            ([0, 0, 0], 0x503a_47fa_e000_0000),
            ([2049, 131_073, 1_769_860_800_123_456_789], 0x43f5_f604_9f00_0000),
            ([u64::MAX, 1, 0], 0x526d_8294_2300_0000),
        ];
        for (numbers, expected) in golden {
            assert_eq!(Origin::from_numbers(numbers), Origin(expected), "{numbers:?}");
        }
    }
}
