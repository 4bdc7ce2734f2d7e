//! Gives freed memory back to the system.
//!
//! The allocator of glibc keeps what is freed for later: it raises the length from which on a
//! buffer gets pages of its own to that of the longest one that was ever freed (up to 32 MiB), and
//! of the rest it only gives back what lies at the end of the heap. A daemon that once served a
//! hundred clients with a megabyte each would keep a hundred megabytes for good. So that length is
//! fixed here, and when much has passed through the daemon the free pages in the middle of the heap
//! are given back. Another allocator (jemalloc, mimalloc) would do the same by itself, with a C
//! library more to build and 1 to 2 MiB more for an idle daemon; elsewhere than with glibc the
//! system's own allocator is left alone.

use crate::limits::{TRIM_AFTER, TRIM_AGAIN_MS, TRIM_PAUSE_MS, TRIMS};

/// Counts what passes through, and gives memory back afterwards.
#[derive(Debug, Default)]
pub struct MemoryTrim {
    passed: usize,
    due: Option<u64>,
    /// The number of times that memory is still to be given back: some may be freed only later.
    again: u32,
}

impl MemoryTrim {
    /// Prepares the allocator; to be called once, before much is allocated.
    pub fn new() -> Self {
        allocator::fix_threshold();
        Self::default()
    }

    /// Counts bytes that were received or are to be sent.
    pub fn passed(&mut self, bytes: usize, now_ms: u64) {
        self.passed += bytes;
        if self.passed >= TRIM_AFTER {
            self.passed = 0;
            self.due.get_or_insert(now_ms + TRIM_PAUSE_MS);
            self.again = TRIMS;
        }
    }

    /// Gives memory back when it is time.
    pub fn tidy(&mut self, now_ms: u64) {
        if self.due.take_if(|due| *due <= now_ms).is_some() {
            allocator::give_back();
            self.again = self.again.saturating_sub(1);
            self.due = (self.again > 0).then_some(now_ms + TRIM_AGAIN_MS);
        }
    }

    /// Returns when [`MemoryTrim::tidy`] is next due, in milliseconds.
    pub fn next_timeout(&self) -> Option<u64> {
        self.due
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator {
    use nix::libc;

    /// Buffers of this length and longer get pages of their own, which go back when they are freed.
    const OWN_PAGES_MIN: i32 = 128 * 1024;

    pub fn fix_threshold() {
        // SAFETY: both only set a parameter of the allocator, with values that it documents.
        #[allow(unsafe_code)]
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_PAGES_MIN);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * OWN_PAGES_MIN);
        }
    }

    pub fn give_back() {
        // SAFETY: it frees no memory that is in use, and takes no pointer.
        #[allow(unsafe_code)]
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod allocator {
    pub fn fix_threshold() {}

    pub fn give_back() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_after_much_has_passed() {
        let mut memory = MemoryTrim::default();
        memory.passed(TRIM_AFTER - 1, 5);
        assert_eq!(memory.next_timeout(), None);
        memory.passed(1, 10);
        memory.passed(TRIM_AFTER, 20);
        assert_eq!(memory.next_timeout(), Some(10 + TRIM_PAUSE_MS), "put off no further");
        memory.tidy(10 + TRIM_PAUSE_MS - 1);
        assert!(memory.next_timeout().is_some());
        let mut times = 0;
        while let Some(due) = memory.next_timeout() {
            memory.tidy(due);
            times += 1;
        }
        assert_eq!(times, TRIMS, "what is freed later goes back, too");
    }
}
