//! Reads a log by line and by position.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use pipemux_core::LogText;

use super::files::{open_regular, rotated_path, trim_partial_character};

/// The existing parts of a log: the previous file and the present one.
#[derive(Debug)]
pub struct LogReader {
    previous: Option<File>,
    present: Option<File>,
    /// Positions: of the first byte, of the present file's first byte, and after the last byte.
    first: u64,
    start: u64,
    end: u64,
}

impl LogReader {
    /// Opens a log whose present file begins at position `start`. With `None` the position is
    /// unknown, and counted from the first byte that exists.
    ///
    /// # Errors
    /// As `open`; the log isn't a regular file.
    pub fn open(path: &Path, start: Option<u64>) -> io::Result<Self> {
        let present = open(path)?;
        let previous = open(&rotated_path(path)).unwrap_or(None);
        if present.is_none() && previous.is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let length = |file: &Option<File>| match file {
            Some(file) => file.metadata().map(|found| found.len()),
            None => Ok(0),
        };
        let (before, now) = (length(&previous)?, length(&present)?);
        let start = start.unwrap_or(before);
        Ok(Self { previous, present, first: start.saturating_sub(before), start, end: start + now })
    }

    /// Returns the last `lines` lines within the last `bytes` bytes; a line that begins before
    /// these is omitted. A line begins at the position `since`, and nothing before it is returned.
    ///
    /// # Errors
    /// As `read`.
    pub fn tail(&mut self, lines: usize, bytes: u64, since: u64) -> io::Result<LogText> {
        let least = since.clamp(self.first, self.end);
        let start = self.end.saturating_sub(bytes).max(least);
        // One byte more tells whether a line begins at `start`.
        let before = start.saturating_sub(1).max(least);
        let read = self.read(before, self.end - before)?;
        let mut text = &read[..];
        if start > before {
            let next = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
            text = &text[next..];
        }
        let body = text.strip_suffix(b"\n").unwrap_or(text);
        let mut ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
        let first = match lines {
            0 => text.len(),
            _ => ends.nth(lines - 1).map_or(0, |(at, _)| at + 1),
        };
        let next = before + read.len() as u64;
        Ok(LogText { text: lossy(&text[first..]), next, missed: 0 })
    }

    /// Returns the first lines after a position, at most `lines` lines and `bytes` bytes. The text
    /// ends within a line where the log does, or where the line is longer than that.
    ///
    /// # Errors
    /// As `read`.
    pub fn after(&mut self, position: u64, lines: usize, bytes: u64) -> io::Result<LogText> {
        // A position beyond the end comes from an earlier daemon and counts as the end.
        let from = position.clamp(self.first, self.end);
        let missed = from.saturating_sub(position);
        let read = self.read(from, bytes.min(self.end - from))?;
        let mut ends = read.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let text = match lines.checked_sub(1).map(|last| ends.nth(last)) {
            None => &[],
            Some(Some((at, _))) => &read[..=at],
            Some(None) => trim_partial_character(&read),
        };
        Ok(LogText { text: lossy(text), next: from + text.len() as u64, missed })
    }

    fn read(&mut self, mut from: u64, mut count: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let files = [(&mut self.previous, self.first), (&mut self.present, self.start)];
        for (file, start) in files {
            let Some(file) = file else { continue };
            // Bytes that belong to the present file are not in the previous one, whatever was
            // appended to that.
            let max = if start < self.start { self.start.saturating_sub(from) } else { count };
            if from < start || max == 0 {
                continue;
            }
            file.seek(SeekFrom::Start(from - start))?;
            let read = file.take(max.min(count)).read_to_end(&mut bytes)? as u64;
            (from, count) = (from + read, count - read);
        }
        Ok(bytes)
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match open_regular(OpenOptions::new().read(true), path) {
        Ok((file, _)) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests;
