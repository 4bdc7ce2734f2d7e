//! Buffers for frames that one reading doesn't take.
//!
//! A new buffer of 1 MiB costs more than what is copied to it: each of its pages is a fault. So those used_since_tidy
//! last are kept for the next such frames, and go back to the system once none came for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use pipemux_proto::frame::Cut;

use crate::limits::{POOL_BUFFERS_MAX, POOL_IDLE_MS};

/// The buffers that are kept.
#[derive(Debug, Default)]
pub struct BufferPool {
    free: SharedFreeBuffers,
    /// True when one was asked for since the last tidy_at.
    used_since_tidy: bool,
    /// When to tidy_at whether they are still needed.
    tidy_at: Option<u64>,
}

/// A frame that hasn't come whole.
#[derive(Debug)]
pub struct PartialFrame {
    buffer: PooledBuffer,
    /// How many bytes came.
    filled: usize,
    /// How many the frame has, its length prefix included.
    length: usize,
}

/// Bytes of a frame's length.
const PREFIX: usize = size_of::<u32>();

type SharedFreeBuffers = Arc<Mutex<FreeBuffers>>;

#[derive(Debug, Default)]
struct FreeBuffers {
    buffers: Vec<Vec<u8>>,
    /// False while there is nothing to keep them for.
    retain: bool,
}

/// A buffer that goes back when nobody holds it any more.
#[derive(Debug)]
struct PooledBuffer {
    buffer: Vec<u8>,
    free: SharedFreeBuffers,
}

impl BufferPool {
    /// Takes over the beginning of a frame whose length is known.
    pub fn start_frame(&mut self, bytes: &[u8]) -> PartialFrame {
        self.used_since_tidy = true;
        let length = bytes.len() + Cut::missing(bytes);
        let mut kept = lock(&self.free);
        kept.retain = true;
        // Half of it at least is to be of use, for the core may hold a body for long.
        let fits = |buffer: &Vec<u8>| buffer.len() / 2 <= length && length <= buffer.len();
        let known = kept.buffers.iter().rposition(fits).map(|at| kept.buffers.remove(at));
        drop(kept);
        let buffer = known.unwrap_or_else(|| vec![0; length]);
        let mut buffer = PooledBuffer { buffer, free: Arc::clone(&self.free) };
        buffer.buffer[..bytes.len()].copy_from_slice(bytes);
        PartialFrame { buffer, filled: bytes.len(), length }
    }

    /// To be called each turn: gives back to the system what wasn't used_since_tidy for [`POOL_IDLE_MS`].
    pub fn tidy(&mut self, now_ms: u64) {
        if std::mem::take(&mut self.used_since_tidy) {
            self.tidy_at = Some(now_ms + POOL_IDLE_MS);
        } else if self.tidy_at.is_some_and(|at| at <= now_ms) {
            self.tidy_at = None;
            *lock(&self.free) = FreeBuffers::default();
        }
    }

    /// When to tidy at the latest.
    pub fn next_timeout(&self) -> Option<u64> {
        self.tidy_at
    }
}

impl PartialFrame {
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

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut kept = lock(&self.free);
        if !kept.retain {
            return;
        }
        if kept.buffers.len() < POOL_BUFFERS_MAX {
            kept.buffers.push(buffer);
        } else if let Some(smallest) = kept.buffers.iter_mut().min_by_key(|kept| kept.len())
            && smallest.len() < buffer.len()
        {
            *smallest = buffer;
        }
    }
}

fn lock(pool: &SharedFreeBuffers) -> MutexGuard<'_, FreeBuffers> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
