//! Reads lines of an output on disk without blocking the command that is still writing it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use memchr::{memchr, memrchr};

use crate::limits::{LINE_MAX, READ_BYTES};

/// The kept parts of an output at some moment.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The files, in order; between two of them a part may be missing.
    pub(crate) parts: Vec<KeptPart>,
    /// The number and position of a line at or before the one to be read.
    pub(crate) begin: (u64, u64),
    /// Bytes that were written.
    pub(crate) bytes: u64,
    /// Line breaks that were written.
    pub(crate) lines: u64,
}

/// A file that holds a part of an output.
#[derive(Debug, Clone)]
pub struct KeptPart {
    pub(crate) file: Arc<File>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The number and position of the first line known to begin in or after this file.
    pub(crate) first: Option<(u64, u64)>,
}

/// A line without its end: what stays of it when carriage returns move back to its beginning, cut
/// if that is long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawLine {
    /// The number of the line, counted from 1.
    pub number: u64,
    pub bytes: Vec<u8>,
    /// True if it is cut.
    pub cut: bool,
}

/// A position in an output from which lines are read.
#[derive(Debug, Clone)]
pub struct LineReader {
    from: u64,
    /// The number of the line being read and the read position, once reading has begun.
    at: Option<(u64, u64)>,
    line: Vec<u8>,
    cut: bool,
    /// True behind a carriage return: what comes next overwrites the line.
    returned: bool,
    /// True while the rest of a line is passed over whose beginning is missing.
    broken: bool,
}

impl LineReader {
    /// Begins at a line.
    pub fn new(from: u64) -> Self {
        let from = from.max(1);
        Self { from, at: None, line: Vec::new(), cut: false, returned: false, broken: false }
    }

    /// Returns the line at which it is.
    pub fn number(&self) -> u64 {
        self.at.map_or(self.from, |(number, _)| number)
    }

    /// Calls `each` with the lines that are complete until it returns false, `stop` returns true,
    /// or all are read; then it returns true. What is no longer kept is left out: the numbers tell.
    /// Past a gap, a line that began in it is left out, too. A reader goes on where it was, unless
    /// `each` has ended it.
    ///
    /// # Errors
    /// The disk can't be read.
    pub fn read(
        &mut self,
        kept: &Kept,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(RawLine) -> bool,
    ) -> io::Result<bool> {
        let (mut number, mut offset) = self.at.unwrap_or(kept.begin);
        let mut buffer = vec![0; READ_BYTES];
        while offset < kept.bytes {
            self.at = Some((number, offset));
            if stop() {
                return Ok(false);
            }
            let Some(part) = kept.parts.iter().find(|part| part.end > offset) else { break };
            if part.start > offset {
                // Lines are counted on by the index, which knows those beyond the gap.
                self.begin_line();
                (number, offset, self.broken) = match part.first {
                    Some((number, offset)) => (number, offset, false),
                    None => (kept.lines + 1, part.start, true),
                };
                continue;
            }
            let most = usize::try_from(part.end - offset).unwrap_or(READ_BYTES).min(READ_BYTES);
            let read = part.file.read_at(&mut buffer[..most], offset - part.start)?;
            if read == 0 {
                break;
            }
            offset += read as u64;
            let mut rest = &buffer[..read];
            while let Some(end) = memchr(b'\n', rest) {
                if number >= self.from && !self.broken {
                    self.extend(&rest[..end]);
                    let bytes = std::mem::take(&mut self.line);
                    if !each(RawLine { number, bytes, cut: self.cut }) {
                        return Ok(false);
                    }
                }
                number += u64::from(!self.broken);
                self.begin_line();
                self.broken = false;
                rest = &rest[end + 1..];
            }
            if number >= self.from && !self.broken {
                self.extend(rest);
            }
        }
        self.at = Some((number, offset));
        Ok(true)
    }

    /// Returns the last line, which may go on, if there is one.
    pub fn unfinished(&self) -> Option<RawLine> {
        let (number, _) = self.at?;
        let is_there = !self.line.is_empty() && number >= self.from && !self.broken;
        is_there.then(|| RawLine { number, bytes: self.line.clone(), cut: self.cut })
    }

    /// As [`LineReader::read`], and with the unfinished line.
    ///
    /// # Errors
    /// The disk can't be read.
    pub fn read_all(
        &mut self,
        kept: &Kept,
        stop: &dyn Fn() -> bool,
        each: &mut dyn FnMut(RawLine) -> bool,
    ) -> io::Result<bool> {
        let is_read = self.read(kept, stop, each)?;
        if is_read && let Some(line) = self.unfinished() {
            each(line);
        }
        Ok(is_read)
    }

    fn begin_line(&mut self) {
        self.line.clear();
        (self.cut, self.returned) = (false, false);
    }

    /// Adds a part of a line. Only what stays behind the last carriage return is kept, so that a
    /// line which is written over and over is no long one.
    fn extend(&mut self, part: &[u8]) {
        let mut text = part;
        if self.returned {
            let Some(at) = text.iter().position(|byte| *byte != b'\r') else { return };
            self.begin_line();
            text = &text[at..];
        }
        let end = text.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
        self.returned |= end < text.len();
        let mut text = &text[..end];
        if let Some(at) = memrchr(b'\r', text) {
            self.line.clear();
            self.cut = false;
            text = &text[at + 1..];
        }
        let room = LINE_MAX.saturating_sub(self.line.len());
        self.cut |= text.len() > room;
        self.line.extend_from_slice(&text[..text.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill::Spill;

    fn all(spill: &Spill) -> Vec<(u64, String, bool)> {
        let mut found = Vec::new();
        let take = &mut |line: RawLine| {
            found.push((line.number, String::from_utf8_lossy(&line.bytes).into_owned(), line.cut));
            true
        };
        assert!(LineReader::new(1).read_all(&spill.kept(1), &|| false, take).unwrap());
        found
    }

    #[test]
    fn last_state_of_a_line_that_is_overwritten_stays() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(dir.path(), "1");
        for number in 0..20_000 {
            spill.push(format!("\rprogress {number}%").as_bytes());
        }
        spill.push(b"\rALL DONE\r\r\nend\r\n");
        spill.push(&vec![b'x'; 3 * LINE_MAX]);
        let found = all(&spill);
        assert_eq!(found[..2], [(1, "ALL DONE".into(), false), (2, "end".into(), false)]);
        assert_eq!((found[2].1.len(), found[2].2), (LINE_MAX, true));
        spill.push(b"\r\rshort");
        assert_eq!(all(&spill)[2], (3, "short".into(), false));
    }

    #[test]
    fn reading_goes_on_where_it_was_and_stops_when_it_is_told_to() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(dir.path(), "1");
        let mut reader = LineReader::new(1);
        let mut found = Vec::new();
        for part in ["one\ntw", "o\nthr", "e", "e\nrest"] {
            spill.push(part.as_bytes());
            let take = &mut |line: RawLine| {
                found.push(String::from_utf8(line.bytes).unwrap());
                true
            };
            assert!(reader.read(&spill.kept(1), &|| false, take).unwrap());
        }
        assert_eq!(found, ["one", "two", "three"]);
        assert_eq!(
            reader.unfinished().map(|line| (line.number, line.bytes)),
            Some((4, b"rest".to_vec()))
        );
        let none = &mut |_| panic!("it was told to stop");
        assert!(!LineReader::new(1).read(&spill.kept(1), &|| true, none).unwrap());
    }

    #[test]
    fn removed_output_can_still_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(dir.path(), "1");
        spill.push(b"one\n");
        let kept = spill.kept(1);
        drop(spill);
        let mut count = 0;
        let take = &mut |_| {
            count += 1;
            true
        };
        LineReader::new(1).read_all(&kept, &|| false, take).unwrap();
        assert_eq!(count, 1);
    }
}
