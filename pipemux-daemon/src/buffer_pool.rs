//! A pool of buffers for large frames.
//!
//! A new buffer of 1 MiB costs more than copying into it, because each of its pages causes a fault.
//! So the pool keeps the buffers that were used last for the next large frames, and frees them once
//! none has arrived for a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use pipemux_proto::frame::FrameSlice;

use crate::limits::{POOL_BUFFERS_MAX, POOL_IDLE_MS};

/// Keeps buffers for reuse.
#[derive(Debug, Default)]
pub struct BufferPool {
    free: SharedFreeBuffers,
    /// True when a frame was started since the last [`BufferPool::tidy`].
    used_since_tidy: bool,
    /// The time at which the buffers are freed unless frames arrive.
    tidy_at: Option<u64>,
}

/// A frame that has not arrived completely.
#[derive(Debug)]
pub struct PartialFrame {
    buffer: PooledBuffer,
    /// The number of bytes that have arrived.
    filled: usize,
    /// The length of the frame, including its length prefix.
    length: usize,
}

/// Length of a frame's length prefix, in bytes.
const PREFIX: usize = size_of::<u32>();

type SharedFreeBuffers = Arc<Mutex<FreeBuffers>>;

#[derive(Debug, Default)]
struct FreeBuffers {
    buffers: Vec<Vec<u8>>,
    /// True while the pool is in use; otherwise returned buffers are freed.
    retain: bool,
}

/// A buffer that returns to the pool when it is dropped.
#[derive(Debug)]
struct PooledBuffer {
    buffer: Vec<u8>,
    free: SharedFreeBuffers,
}

impl BufferPool {
    /// Starts a frame whose length is known from its first bytes.
    pub fn start_frame(&mut self, bytes: &[u8]) -> PartialFrame {
        self.used_since_tidy = true;
        let length = bytes.len() + FrameSlice::missing(bytes);
        let mut free = lock(&self.free);
        free.retain = true;
        // At least half of the buffer must be used, because the core may hold a body for a long
        // time.
        let fits = |buffer: &Vec<u8>| buffer.len() / 2 <= length && length <= buffer.len();
        let reused = free.buffers.iter().rposition(fits).map(|at| free.buffers.remove(at));
        drop(free);
        let buffer = reused.unwrap_or_else(|| vec![0; length]);
        let mut buffer = PooledBuffer { buffer, free: Arc::clone(&self.free) };
        buffer.buffer[..bytes.len()].copy_from_slice(bytes);
        PartialFrame { buffer, filled: bytes.len(), length }
    }

    /// Frees buffers that weren't used for [`POOL_IDLE_MS`]; to be called in every turn.
    pub fn tidy(&mut self, now_ms: u64) {
        if std::mem::take(&mut self.used_since_tidy) {
            self.tidy_at = Some(now_ms + POOL_IDLE_MS);
        } else if self.tidy_at.is_some_and(|at| at <= now_ms) {
            self.tidy_at = None;
            *lock(&self.free) = FreeBuffers::default();
        }
    }

    /// Returns when to call [`BufferPool::tidy`] at the latest.
    pub fn next_timeout(&self) -> Option<u64> {
        self.tidy_at
    }
}

impl PartialFrame {
    /// Returns the space for the next bytes of the frame, at most `max` of them.
    pub fn room(&mut self, max: usize) -> &mut [u8] {
        let end = self.length.min(self.filled + max);
        &mut self.buffer.buffer[self.filled..end]
    }

    /// Returns the length of the frame, including its length prefix.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Notes that `length` bytes of the space were filled.
    pub fn filled(&mut self, length: usize) {
        self.filled = self.length.min(self.filled + length);
    }

    /// Copies the bytes that belong to the frame; returns the rest.
    pub fn take<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (own, rest) = bytes.split_at(bytes.len().min(self.length - self.filled));
        self.buffer.buffer[self.filled..][..own.len()].copy_from_slice(own);
        self.filled += own.len();
        rest
    }

    /// True when the frame has arrived completely.
    pub fn is_whole(&self) -> bool {
        self.filled == self.length
    }

    /// Returns the frame without its length prefix.
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
        let mut free = lock(&self.free);
        if !free.retain {
            return;
        }
        if free.buffers.len() < POOL_BUFFERS_MAX {
            free.buffers.push(buffer);
        } else if let Some(smallest) = free.buffers.iter_mut().min_by_key(|buffer| buffer.len())
            && smallest.len() < buffer.len()
        {
            *smallest = buffer;
        }
    }
}

fn lock(free: &SharedFreeBuffers) -> MutexGuard<'_, FreeBuffers> {
    free.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
