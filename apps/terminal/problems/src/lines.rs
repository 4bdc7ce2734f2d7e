//! Bytes in chunks of any size as lines.

use memchr::memchr2;

use crate::inert;
use crate::limits::{LINE_MAX, MESSAGE_MAX};

/// A line, or a part of it that the terminal overwrote later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'l> {
    /// The text, without escapes and line ending.
    pub text: &'l str,
    /// The number of the line, counted from 1.
    pub number: u64,
    /// Whether the text remains visible rather than being overwritten.
    pub stays: bool,
}

/// Cuts bytes into lines. Only `\n` ends a line, so that numbers are those of every other tool;
/// what a lone `\r` overwrites is told as a part of its own, since it can be an error.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineSplitter {
    raw: Vec<u8>,
    /// A carriage return was the last byte: what follows overwrites, except for the end of the
    /// line.
    returned: bool,
    /// Lines that have ended.
    pub lines: u64,
    /// Bytes that were fed.
    pub bytes: u64,
}

impl LineSplitter {
    /// Calls `each` with what `bytes` complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(Line<'_>)) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            if end > 0 {
                if self.returned {
                    self.returned = false;
                    self.part(false, each);
                }
                self.push(&rest[..end]);
                rest = &rest[end..];
                continue;
            }
            rest = &rest[1..];
            if first == b'\n' {
                self.returned = false;
                self.part(true, each);
                self.lines += 1;
            } else {
                self.returned = true;
            }
        }
    }

    /// Calls `each` with the last line when it has no line ending.
    pub(crate) fn finish(&mut self, each: &mut dyn FnMut(Line<'_>)) {
        if !self.raw.is_empty() || self.returned {
            self.returned = false;
            self.part(true, each);
            self.lines += 1;
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        let first = self.raw.first().or(bytes.first());
        let max = if matches!(first, Some(b'{' | b'[')) { MESSAGE_MAX } else { LINE_MAX };
        let room = max.saturating_sub(self.raw.len());
        self.raw.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn part(&mut self, stays: bool, each: &mut dyn FnMut(Line<'_>)) {
        let number = self.lines + 1;
        inert::parts(&self.raw, &mut |text, last| {
            let stays = stays && last;
            if stays || !text.trim().is_empty() {
                each(Line { text, number, stays });
            }
        });
        self.raw.clear();
        // One long line must not hold its memory until the command ends.
        self.raw.shrink_to(LINE_MAX);
    }
}
