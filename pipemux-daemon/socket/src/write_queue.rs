//! Bytes that wait to be written to one connection; the daemon and its clients both write through
//! it.
//!
//! Small frames are copied together into one buffer, which is borrowed from a few that all
//! connections share. A large frame stays in the queue as it is. So an idle connection holds no
//! memory, and a busy one allocates none.
//!
//! **Invariant: no IO.** The owner of the connection writes what [`WriteQueue::slices`] returns and
//! reports with [`WriteQueue::advance`] how much of it was written.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::Bytes;

/// Number of slices that one vectored write takes at most.
pub const SLICES_PER_WRITE: usize = 32;
/// Length in bytes of the longest frame that is copied; a longer one is written from where it is.
pub const COPIED_FRAME_MAX: usize = 16 * 1024;
/// Number of unused buffers that are kept for the next connection that has something to write.
const SPARE_BUFFERS_MAX: usize = 16;
/// Capacity in bytes of the largest buffer that is kept.
const SPARE_BUFFER_MAX: usize = 256 * 1024;

/// Bytes in the order in which they are written.
#[derive(Debug, Default)]
pub struct WriteQueue {
    frames: VecDeque<Bytes>,
    /// Small frames; they follow all of `frames`.
    copied: Vec<u8>,
    /// Number of bytes already written of the first frame, or of `copied` if there is no frame.
    written: usize,
    queued: usize,
}

impl WriteQueue {
    /// Returns the number of bytes that wait.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Appends bytes by copying them.
    pub fn copy(&mut self, bytes: &[u8], spares: &mut SpareBuffers) {
        self.queued += bytes.len();
        if self.copied.capacity() == 0 {
            self.copied = spares.take();
        } else if self.frames.is_empty()
            && self.written > self.copied.len() / 2
            && self.copied.len() + bytes.len() > self.copied.capacity()
        {
            // The buffer of a slow reader must not grow by what is written already.
            self.copied.drain(..std::mem::take(&mut self.written));
        }
        self.copied.extend_from_slice(bytes);
    }

    /// Appends a frame; one that is longer than [`COPIED_FRAME_MAX`] is not copied.
    pub fn push(&mut self, frame: Bytes, spares: &mut SpareBuffers) {
        if frame.len() <= COPIED_FRAME_MAX {
            return self.copy(&frame, spares);
        }
        self.queued += frame.len();
        if !self.copied.is_empty() {
            let before = std::mem::take(&mut self.copied);
            self.frames.push_back(before.into());
        }
        self.frames.push_back(frame);
    }

    /// Fills `slices` with the next bytes to write, `room` bytes at most. Returns the number of
    /// slices.
    pub fn slices<'a>(
        &'a self,
        slices: &mut [IoSlice<'a>; SLICES_PER_WRITE],
        mut room: usize,
    ) -> usize {
        let mut skip = self.written;
        let mut count = 0;
        let all = self.frames.iter().map(|frame| &frame[..]).chain([&self.copied[..]]);
        for (slice, bytes) in slices.iter_mut().zip(all) {
            let rest = &bytes[skip..];
            let rest = &rest[..rest.len().min(room)];
            if rest.is_empty() {
                break;
            }
            skip = 0;
            room -= rest.len();
            *slice = IoSlice::new(rest);
            count += 1;
        }
        count
    }

    /// Removes the first `length` bytes: they are written.
    pub fn advance(&mut self, mut length: usize, spares: &mut SpareBuffers) {
        self.queued -= length;
        while let Some(first) = self.frames.front() {
            let rest = first.len() - self.written;
            if length < rest {
                self.written += length;
                return;
            }
            length -= rest;
            self.written = 0;
            self.frames.pop_front();
        }
        self.written += length;
        if self.queued == 0 {
            self.clear(spares);
        }
    }

    /// Drops all bytes and gives the buffer back.
    pub fn clear(&mut self, spares: &mut SpareBuffers) {
        spares.give_back(std::mem::take(&mut self.copied));
        *self = Self::default();
    }
}

/// Buffers that no connection uses now.
#[derive(Debug, Default)]
pub struct SpareBuffers(Vec<Vec<u8>>);

impl SpareBuffers {
    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < SPARE_BUFFERS_MAX && (1..=SPARE_BUFFER_MAX).contains(&buffer.capacity()) {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn queued_bytes_are_written_once_and_in_order(
            steps in proptest::collection::vec((0_usize..40_000, any::<bool>(), 0_usize..70_000), 1..40),
        ) {
            let (mut queue, mut spares) = (WriteQueue::default(), SpareBuffers::default());
            let (mut pushed, mut written) = (Vec::new(), Vec::new());
            for (number, (length, copied, room)) in steps.into_iter().enumerate() {
                let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + number) as u8).collect();
                pushed.extend_from_slice(&bytes);
                match copied {
                    true => queue.copy(&bytes, &mut spares),
                    false => queue.push(bytes.into(), &mut spares),
                }
                written.extend(write(&mut queue, &mut spares, room));
                prop_assert_eq!(queue.queued(), pushed.len() - written.len());
            }
            while queue.queued() > 0 {
                written.extend(write(&mut queue, &mut spares, 50_000));
            }
            prop_assert!(pushed == written);
            prop_assert_eq!(queue.copied.capacity() + queue.frames.capacity(), 0, "idle memory");
        }
    }

    #[test]
    fn spare_buffers_stay_few_and_small() {
        let mut spares = SpareBuffers::default();
        for size in (0..SPARE_BUFFERS_MAX + 5).map(|n| n * 1024).chain([SPARE_BUFFER_MAX + 1]) {
            spares.give_back(Vec::with_capacity(size));
        }
        assert_eq!(spares.0.len(), SPARE_BUFFERS_MAX);
        assert!(spares.0.iter().all(|buffer| buffer.capacity() <= SPARE_BUFFER_MAX));
    }

    #[test]
    fn large_frames_are_not_copied() {
        let (mut queue, mut spares) = (WriteQueue::default(), SpareBuffers::default());
        let frame = Bytes::from(vec![7; COPIED_FRAME_MAX + 1]);
        queue.push(frame.clone(), &mut spares);
        let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
        assert_eq!(queue.slices(&mut slices, usize::MAX), 1);
        assert_eq!(slices[0].as_ptr(), frame.as_ptr());
    }

    /// Writes as much as `room` allows, as a socket would.
    fn write(queue: &mut WriteQueue, spares: &mut SpareBuffers, room: usize) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
        let count = queue.slices(&mut slices, room);
        let bytes: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
        assert!(bytes.len() <= room);
        assert_eq!(bytes.is_empty(), queue.queued() == 0 || room == 0);
        queue.advance(bytes.len(), spares);
        bytes
    }
}
