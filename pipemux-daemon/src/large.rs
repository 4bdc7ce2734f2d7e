//! Buffers for frames that one reading doesn't take.
//!
//! A new buffer of 1 MiB costs more than what is copied to it: each of its pages is a fault. So those used
//! last are kept for the next such frames, and go back to the system once none came for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use pipemux_proto::frame::Cut;

use crate::limits::{LARGE_KEPT, LARGE_MS};

/// The buffers that are kept.
#[derive(Debug, Default)]
pub struct Larges {
    pool: Pool,
    /// True when one was asked for since the last look.
    used: bool,
    /// When to look whether they are still needed.
    look: Option<u64>,
}

/// A frame that hasn't come whole.
#[derive(Debug)]
pub struct Begun {
    buffer: Lent,
    /// How many bytes came.
    filled: usize,
    /// How many the frame has, its length prefix included.
    length: usize,
}

/// Bytes of a frame's length.
const PREFIX: usize = size_of::<u32>();

type Pool = Arc<Mutex<Kept>>;

#[derive(Debug, Default)]
struct Kept {
    buffers: Vec<Vec<u8>>,
    /// False while there is nothing to keep them for.
    open: bool,
}

/// A buffer that goes back when nobody holds it any more.
#[derive(Debug)]
struct Lent {
    buffer: Vec<u8>,
    pool: Pool,
}

impl Larges {
    /// Takes over the beginning of a frame whose length is known.
    pub fn begin(&mut self, bytes: &[u8]) -> Begun {
        self.used = true;
        let length = bytes.len() + Cut::missing(bytes);
        let mut kept = lock(&self.pool);
        kept.open = true;
        // Half of it at least is to be of use, for the core may hold a body for long.
        let fits = |buffer: &Vec<u8>| buffer.len() / 2 <= length && length <= buffer.len();
        let known = kept.buffers.iter().rposition(fits).map(|at| kept.buffers.remove(at));
        drop(kept);
        let buffer = known.unwrap_or_else(|| vec![0; length]);
        let mut buffer = Lent { buffer, pool: Arc::clone(&self.pool) };
        buffer.buffer[..bytes.len()].copy_from_slice(bytes);
        Begun { buffer, filled: bytes.len(), length }
    }

    /// To be called each turn: gives back to the system what wasn't used for [`LARGE_MS`].
    pub fn tidy(&mut self, now_ms: u64) {
        if std::mem::take(&mut self.used) {
            self.look = Some(now_ms + LARGE_MS);
        } else if self.look.is_some_and(|at| at <= now_ms) {
            self.look = None;
            *lock(&self.pool) = Kept::default();
        }
    }

    /// When to tidy at the latest.
    pub fn next_timeout(&self) -> Option<u64> {
        self.look
    }
}

impl Begun {
    /// Where the next bytes of it are to be read to, at most so many.
    pub fn room(&mut self, most: usize) -> &mut [u8] {
        let end = self.length.min(self.filled + most);
        &mut self.buffer.buffer[self.filled..end]
    }

    /// How many bytes the frame has, its length prefix included.
    pub fn length(&self) -> usize {
        self.length
    }

    /// So many bytes of the room were read to.
    pub fn filled(&mut self, length: usize) {
        self.filled = self.length.min(self.filled + length);
    }

    /// Takes what belongs to it; returns the rest.
    pub fn take<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (own, rest) = bytes.split_at(bytes.len().min(self.length - self.filled));
        self.buffer.buffer[self.filled..][..own.len()].copy_from_slice(own);
        self.filled += own.len();
        rest
    }

    /// True when nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.filled == self.length
    }

    /// What came of it behind its length prefix.
    pub fn into_payload(self) -> Bytes {
        let filled = self.filled;
        Bytes::from_owner(self.buffer).slice(PREFIX..filled)
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut kept = lock(&self.pool);
        if !kept.open {
            return;
        }
        if kept.buffers.len() < LARGE_KEPT {
            kept.buffers.push(buffer);
        } else if let Some(smallest) = kept.buffers.iter_mut().min_by_key(|kept| kept.len())
            && smallest.len() < buffer.len()
        {
            *smallest = buffer;
        }
    }
}

fn lock(pool: &Pool) -> MutexGuard<'_, Kept> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of that many bytes, its length prefix included.
    fn frame(length: usize, fill: u8) -> Vec<u8> {
        let mut bytes = vec![fill; length];
        bytes[..4].copy_from_slice(&(length as u32 - 4).to_be_bytes());
        bytes
    }

    fn whole(larges: &mut Larges, frame: &[u8]) -> Bytes {
        let mut begun = larges.begin(&frame[..10]);
        assert!(!begun.is_whole());
        let rest = [&frame[10..], b"next"].concat();
        assert_eq!(begun.take(&rest), b"next");
        assert!(begun.is_whole());
        begun.into_payload()
    }

    fn kept(larges: &Larges) -> Vec<usize> {
        lock(&larges.pool).buffers.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_buffer_comes_back_and_what_it_held_is_not_seen_again() {
        let mut larges = Larges::default();
        let first = frame(100_000, 1);
        let held = whole(&mut larges, &first);
        let part = held.slice(50_000..);
        drop(held);
        assert_eq!((&part[..], kept(&larges)), (&first[PREFIX + 50_000..], vec![]));
        drop(part);
        assert_eq!(kept(&larges), [100_000]);
        let second = frame(60_000, 2);
        let held = whole(&mut larges, &second);
        assert_eq!((&held[..], kept(&larges)), (&second[PREFIX..], vec![]));
        // A small frame doesn't hold a large buffer; one that never comes whole gives its own back.
        drop(held);
        drop(larges.begin(&frame(49_000, 3)[..20]));
        assert_eq!(kept(&larges), [100_000, 49_000]);
    }

    #[test]
    fn few_are_kept_the_largest_ones_and_none_once_unused() {
        let mut larges = Larges::default();
        let all: Vec<Begun> =
            (1..=LARGE_KEPT + 3).map(|n| larges.begin(&frame(n * 10_000, 0)[..4])).collect();
        let late = larges.begin(&frame(500_000, 0)[..4]);
        drop(all);
        let mut sizes = kept(&larges);
        sizes.sort_unstable();
        let largest: Vec<usize> = (4..=LARGE_KEPT + 3).map(|n| n * 10_000).collect();
        assert_eq!(sizes, largest);
        larges.tidy(7);
        assert_eq!(larges.next_timeout(), Some(7 + LARGE_MS));
        larges.tidy(6 + LARGE_MS);
        assert_eq!(kept(&larges).len(), LARGE_KEPT);
        larges.tidy(7 + LARGE_MS);
        drop(late);
        assert_eq!((kept(&larges), larges.next_timeout()), (vec![], None));
    }

    #[test]
    fn a_turn_reads_no_more_than_its_share() {
        const READ_TURN: usize = 64 * 1024;
        let mut larges = Larges::default();
        let bytes = frame(READ_TURN + 50, 9);
        let mut begun = larges.begin(&bytes[..20]);
        let mut at = 20;
        for share in [READ_TURN, 30] {
            let room = begun.room(READ_TURN);
            assert_eq!(room.len(), share);
            room.copy_from_slice(&bytes[at..at + share]);
            begun.filled(share);
            at += share;
        }
        assert!(begun.is_whole() && begun.room(READ_TURN).is_empty());
        assert_eq!(begun.into_payload(), bytes[PREFIX..]);
    }
}
