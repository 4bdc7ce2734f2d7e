//! What waits to be written to one connection.
//!
//! Small frames are gathered in one buffer, borrowed from a few that all connections share; a large one
//! stands in the queue as it came. So an idle connection holds nothing and a busy one allocates nothing.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::Bytes;

/// Pieces that one write gathers.
pub const GATHER: usize = 32;
/// Longest frame that is copied to others of its destination; a longer one is written from where it is.
pub const GATHERED_MAX: usize = 16 * 1024;
/// Buffers that are kept for the next connection that has something to write.
const SPARES: usize = 16;
/// Largest buffer that is kept so.
const SPARE_MAX: usize = 256 * 1024;

/// Buffers that nobody uses now.
#[derive(Debug, Default)]
pub struct Spares(Vec<Vec<u8>>);

impl Spares {
    fn take(&mut self) -> Vec<u8> {
        self.0.pop().unwrap_or_default()
    }

    fn give(&mut self, mut buffer: Vec<u8>) {
        if self.0.len() < SPARES && (1..=SPARE_MAX).contains(&buffer.capacity()) {
            buffer.clear();
            self.0.push(buffer);
        }
    }
}

/// Bytes in the order in which they are written.
#[derive(Debug, Default)]
pub struct Output {
    parts: VecDeque<Bytes>,
    /// Comes after all parts.
    gathered: Vec<u8>,
    /// How many bytes of the first part, or of what is gathered, are written.
    written: usize,
    queued: usize,
}

impl Output {
    /// How many bytes wait.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Adds bytes by copying them.
    pub fn copy(&mut self, bytes: &[u8], spares: &mut Spares) {
        self.queued += bytes.len();
        if self.gathered.capacity() == 0 {
            self.gathered = spares.take();
        } else if self.parts.is_empty()
            && self.written > self.gathered.len() / 2
            && self.gathered.len() + bytes.len() > self.gathered.capacity()
        {
            // A slow reader's buffer doesn't grow by what is written already.
            self.gathered.drain(..std::mem::take(&mut self.written));
        }
        self.gathered.extend_from_slice(bytes);
    }

    /// Adds bytes; a large part is kept as it is.
    pub fn push(&mut self, bytes: Bytes, spares: &mut Spares) {
        if bytes.len() <= GATHERED_MAX {
            return self.copy(&bytes, spares);
        }
        self.queued += bytes.len();
        if !self.gathered.is_empty() {
            let before = std::mem::take(&mut self.gathered);
            self.parts.push_back(before.into());
        }
        self.parts.push_back(bytes);
    }

    /// The next bytes to write, at most `room` of them, in `slices`; returns how many slices there are.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>; GATHER], mut room: usize) -> usize {
        let mut skip = self.written;
        let mut count = 0;
        let all = self.parts.iter().map(|part| &part[..]).chain([&self.gathered[..]]);
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

    /// So many bytes are written.
    pub fn advance(&mut self, mut length: usize, spares: &mut Spares) {
        self.queued -= length;
        while let Some(first) = self.parts.front() {
            let rest = first.len() - self.written;
            if length < rest {
                self.written += length;
                return;
            }
            length -= rest;
            self.written = 0;
            self.parts.pop_front();
        }
        self.written += length;
        if self.queued == 0 {
            self.clear(spares);
        }
    }

    /// Drops all of it.
    pub fn clear(&mut self, spares: &mut Spares) {
        spares.give(std::mem::take(&mut self.gathered));
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes as much as `room` allows, as a socket would.
    fn write(output: &mut Output, spares: &mut Spares, room: usize) -> Vec<u8> {
        let mut slices = [IoSlice::new(&[]); GATHER];
        let count = output.slices(&mut slices, room);
        let bytes: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.to_vec()).collect();
        assert!(bytes.len() <= room);
        assert_eq!(bytes.is_empty(), output.queued() == 0 || room == 0);
        output.advance(bytes.len(), spares);
        bytes
    }

    proptest! {
        #[test]
        fn what_is_queued_comes_out_once_and_in_order(
            steps in proptest::collection::vec((0_usize..40_000, any::<bool>(), 0_usize..70_000), 1..40),
        ) {
            let (mut output, mut spares) = (Output::default(), Spares::default());
            let (mut pushed, mut written) = (Vec::new(), Vec::new());
            for (number, (length, copied, room)) in steps.into_iter().enumerate() {
                let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + number) as u8).collect();
                pushed.extend_from_slice(&bytes);
                match copied {
                    true => output.copy(&bytes, &mut spares),
                    false => output.push(bytes.into(), &mut spares),
                }
                written.extend(write(&mut output, &mut spares, room));
                prop_assert_eq!(output.queued(), pushed.len() - written.len());
            }
            while output.queued() > 0 {
                written.extend(write(&mut output, &mut spares, 50_000));
            }
            prop_assert!(pushed == written);
            prop_assert_eq!(output.gathered.capacity() + output.parts.capacity(), 0);
        }
    }

    #[test]
    fn spare_buffers_are_few_and_small() {
        let mut spares = Spares::default();
        for size in (0..SPARES + 5).map(|n| n * 1024).chain([SPARE_MAX + 1]) {
            spares.give(Vec::with_capacity(size));
        }
        assert_eq!(spares.0.len(), SPARES);
        assert!(spares.0.iter().all(|buffer| buffer.capacity() <= SPARE_MAX));
    }
}
