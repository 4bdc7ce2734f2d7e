//! The whole output of a run, on disk: the first and the newest parts stay when it is very long.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memchr_iter;

use crate::limits::{INDEX_LINES, INDEX_MAX, SEGMENT_BYTES, SEGMENTS_MAX};
use crate::line_reader::{Kept, KeptPart};

/// A file with a part of an output.
#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: Arc<File>,
    /// The position in the whole output at which the file begins.
    start: u64,
    length: u64,
}

/// The output of a run.
#[derive(Debug)]
pub struct Spill {
    dir: PathBuf,
    name: String,
    segments: VecDeque<Segment>,
    made: u64,
    /// Bytes of one file.
    segment_bytes: u64,
    /// Bytes that were written.
    bytes: u64,
    /// Line breaks that were written.
    lines: u64,
    /// Line numbers from 1 and where these lines begin, in order.
    index: Vec<(u64, u64)>,
    /// Lines between two entries of the index.
    spacing: u64,
    /// The reason why no more output is kept.
    failed: Option<String>,
}

impl Spill {
    /// Makes an empty output whose files lie in `dir`.
    pub fn new(dir: &Path, name: &str) -> Self {
        Self {
            dir: dir.to_owned(),
            name: name.to_owned(),
            segments: VecDeque::new(),
            made: 0,
            segment_bytes: SEGMENT_BYTES,
            bytes: 0,
            lines: 0,
            index: vec![(1, 0)],
            spacing: INDEX_LINES,
            failed: None,
        }
    }

    /// Returns why a part is missing that should be there.
    pub fn failure(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    /// Returns the number of lines so far, the unfinished one not among them.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the bytes on disk.
    pub fn kept_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    /// Adds what was printed.
    pub fn push(&mut self, bytes: &[u8]) {
        for at in memchr_iter(b'\n', bytes) {
            self.lines += 1;
            if self.lines.is_multiple_of(self.spacing) {
                self.index.push((self.lines + 1, self.bytes + at as u64 + 1));
                if self.index.len() > INDEX_MAX {
                    let mut keep = false;
                    self.index.retain(|_| {
                        keep = !keep;
                        keep
                    });
                    self.spacing *= 2;
                }
            }
        }
        if self.failed.is_none()
            && let Err(error) = self.write(bytes)
        {
            self.failed = Some(error.to_string());
        }
        self.bytes += bytes.len() as u64;
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.segments.back().is_none_or(|segment| segment.length >= self.segment_bytes) {
            let path = self.dir.join(format!("{}.{}", self.name, self.made));
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(true).mode(0o600);
            let file = options.open(&path)?;
            self.made += 1;
            self.segments.push_back(Segment {
                path,
                file: Arc::new(file),
                start: self.bytes,
                length: 0,
            });
            if self.segments.len() > SEGMENTS_MAX
                && let Some(middle) = self.segments.remove(1)
            {
                fs::remove_file(middle.path)?;
            }
        }
        let Some(segment) = self.segments.back_mut() else { return Ok(()) };
        (&*segment.file).write_all(bytes)?;
        segment.length += bytes.len() as u64;
        Ok(())
    }

    /// Removes what is on disk.
    pub fn remove(&mut self) {
        for segment in self.segments.drain(..) {
            let _ = fs::remove_file(segment.path);
        }
    }

    /// Returns what is kept now, to be read from one line on. It costs little, and reading it needs
    /// nothing else.
    pub fn kept(&self, from: u64) -> Kept {
        let at = self.index.partition_point(|(number, _)| *number <= from.max(1)).saturating_sub(1);
        let part = |segment: &Segment| {
            let first = self.index.partition_point(|(_, start)| *start < segment.start);
            KeptPart {
                file: segment.file.clone(),
                start: segment.start,
                end: segment.start + segment.length,
                first: self.index.get(first).copied(),
            }
        };
        Kept {
            parts: self.segments.iter().map(part).collect(),
            begin: self.index.get(at).copied().unwrap_or((1, 0)),
            bytes: self.bytes,
            lines: self.lines,
        }
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::LINE_MAX;
    use crate::line_reader::{LineReader, RawLine};

    fn lines(spill: &Spill, from: u64, most: usize) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        let take = &mut |line: RawLine| {
            found.push((line.number, String::from_utf8_lossy(&line.bytes).into_owned()));
            found.len() < most
        };
        LineReader::new(from).read_all(&spill.kept(from), &|| false, take).unwrap();
        found
    }

    #[test]
    fn any_line_is_found_again_however_the_output_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(dir.path(), "1");
        assert_eq!(lines(&spill, 1, 9), []);
        let text: String = (1..=5000).map(|number| format!("line {number}\n")).collect();
        for chunk in text.as_bytes().chunks(777) {
            spill.push(chunk);
        }
        spill.push(b"rest");
        assert_eq!(spill.lines(), 5000);
        for from in [1, 2, 255, 256, 257, 258, 4999] {
            let expected =
                [(from, format!("line {from}")), (from + 1, format!("line {}", from + 1))];
            assert_eq!(lines(&spill, from, 2), expected);
        }
        assert_eq!(lines(&spill, 5001, 9), [(5001, "rest".to_owned())]);
        assert_eq!(lines(&spill, 5002, 9), []);
    }

    /// Creates an output with small files.
    fn small(dir: &Path) -> Spill {
        let mut spill = Spill::new(dir, "1");
        spill.segment_bytes = 64 * 1024;
        spill
    }

    #[test]
    fn first_and_newest_parts_of_a_very_long_output_stay() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = small(dir.path());
        let numbers = 1..=64 * 1024_u64;
        for number in numbers {
            spill.push(format!("{number:063}\n").as_bytes());
        }
        assert_eq!(spill.kept_bytes(), SEGMENTS_MAX as u64 * 64 * 1024);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), SEGMENTS_MAX);
        assert_eq!(lines(&spill, 1, 1), [(1, format!("{:063}", 1))]);
        // Behind the gap, numbers are those of the lines again.
        for from in [1025, 30_000, 61_000, 65_536] {
            let (number, text) = lines(&spill, from, 1).remove(0);
            assert!(number >= from);
            assert_eq!(text, format!("{number:063}"));
        }
        assert_eq!(lines(&spill, 1, usize::MAX).len() as u64, SEGMENTS_MAX as u64 * 1024);
        drop(spill);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn endless_line_is_cut_and_costs_little() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = small(dir.path());
        for _ in 0..300 {
            spill.push(&[b'x'; 10_000]);
        }
        assert!(spill.kept_bytes() <= SEGMENTS_MAX as u64 * 80_000);
        spill.push(b"\nend\n");
        let found = lines(&spill, 1, 9);
        assert!(found.iter().all(|(_, text)| text.len() <= LINE_MAX), "{}", found.len());
    }
}
