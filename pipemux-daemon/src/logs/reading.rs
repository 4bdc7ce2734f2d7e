//! Pieces of a log, by line and by position.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use pipemux_core::LogText;

use super::{regular, rotated, whole_characters};

/// What is kept of a log: the file before the present one, and that.
#[derive(Debug)]
pub struct Kept {
    older: Option<File>,
    present: Option<File>,
    /// Positions: of the first byte, of the present file's first, and after the last.
    from: u64,
    begin: u64,
    end: u64,
}

impl Kept {
    /// Opens a log whose present file begins at that position; none: the position isn't known, and
    /// counted from the first byte that is kept.
    ///
    /// # Errors
    /// As `open`; something that isn't a regular file.
    pub fn open(path: &Path, begin: Option<u64>) -> io::Result<Self> {
        let present = open(path)?;
        let older = open(&rotated(path)).unwrap_or(None);
        if present.is_none() && older.is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let length = |file: &Option<File>| match file {
            Some(file) => file.metadata().map(|found| found.len()),
            None => Ok(0),
        };
        let (before, now) = (length(&older)?, length(&present)?);
        let begin = begin.unwrap_or(before);
        Ok(Self { older, present, from: begin.saturating_sub(before), begin, end: begin + now })
    }

    /// The last lines, at most so many and from at most so many bytes; a line that begins before these
    /// is left out. A line begins at the position `since`, and nothing before that is taken.
    ///
    /// # Errors
    /// As `read`.
    pub fn tail(&mut self, lines: usize, bytes: u64, since: u64) -> io::Result<LogText> {
        let least = since.clamp(self.from, self.end);
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

    /// The first lines after a position, at most so many and in at most so many bytes; ends within a
    /// line where the log does, or the line is longer than that.
    ///
    /// # Errors
    /// As `read`.
    pub fn after(&mut self, position: u64, lines: usize, bytes: u64) -> io::Result<LogText> {
        // A position beyond the end is one of an earlier daemon: it counts as the end.
        let from = position.clamp(self.from, self.end);
        let missed = from.saturating_sub(position);
        let read = self.read(from, bytes.min(self.end - from))?;
        let mut ends = read.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let text = match lines.checked_sub(1).map(|last| ends.nth(last)) {
            None => &[],
            Some(Some((at, _))) => &read[..=at],
            Some(None) => whole_characters(&read),
        };
        Ok(LogText { text: lossy(text), next: from + text.len() as u64, missed })
    }

    fn read(&mut self, mut from: u64, mut count: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let files = [(&mut self.older, self.from), (&mut self.present, self.begin)];
        for (file, start) in files {
            let Some(file) = file else { continue };
            // What belongs to the next file isn't in this one, whatever was appended to it.
            let most = if start < self.begin { self.begin.saturating_sub(from) } else { count };
            if from < start || most == 0 {
                continue;
            }
            file.seek(SeekFrom::Start(from - start))?;
            let read = file.take(most.min(count)).read_to_end(&mut bytes)? as u64;
            (from, count) = (from + read, count - read);
        }
        Ok(bytes)
    }
}

fn open(path: &Path) -> io::Result<Option<File>> {
    match regular(OpenOptions::new().read(true), path) {
        Ok((file, _)) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    /// A log that was rotated at that byte.
    fn kept(content: &[u8], split: usize) -> (tempfile::TempDir, Kept) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        fs::write(rotated(&path), &content[..split]).unwrap();
        fs::write(&path, &content[split..]).unwrap();
        let kept = Kept::open(&path, None).unwrap();
        (directory, kept)
    }

    fn tail_of(content: &[u8], lines: usize, bytes: u64) -> String {
        let (_directory, mut kept) = kept(content, content.len() / 2);
        kept.tail(lines, bytes, 0).unwrap().text
    }

    #[test]
    fn the_last_lines_are_whole_lines() {
        let content = "一\r\ntwo\n\n🦀 four\nfive".as_bytes();
        assert_eq!(tail_of(content, 1, 100), "five");
        assert_eq!(tail_of(content, 2, 100), "🦀 four\nfive");
        assert_eq!(tail_of(content, 3, 100), "\n🦀 four\nfive");
        assert_eq!(tail_of(content, 99, 100), "一\r\ntwo\n\n🦀 four\nfive");
        assert_eq!(tail_of(content, 99, 5), "five");
        assert_eq!(tail_of(content, 99, 4), "five");
        assert_eq!(tail_of(content, 99, 3), "");
        assert_eq!(tail_of(content, 0, 100), "");
        assert_eq!(tail_of(b"", 5, 100), "");
        assert_eq!(tail_of(b"\n", 5, 100), "\n");
        assert_eq!(tail_of(b"a\nb\n", 1, 100), "b\n");
        assert_eq!(tail_of(b"\xff\xfe\nok\n", 5, 100), "\u{fffd}\u{fffd}\nok\n");
    }

    #[test]
    fn the_last_lines_since_a_position_begin_there() {
        for (content, since, expected) in [
            ("old words\n", 10, ""),
            ("old words\nnew\n", 10, "new\n"),
            // The earlier process's last line has no end.
            ("old wordsnew\nlast", 9, "new\nlast"),
            ("old words\n", 99, ""),
            ("old words\n", 0, "old words\n"),
        ] {
            for split in 0..content.len() {
                let (_directory, mut kept) = kept(content.as_bytes(), split);
                assert_eq!(kept.tail(9, 99, since).unwrap().text, expected, "{content:?} {split}");
            }
        }
        let (_directory, mut kept) = kept(b"old\none\ntwo\n", 5);
        assert_eq!(kept.tail(1, 99, 4).unwrap().text, "two\n");
        assert_eq!(kept.tail(9, 5, 4).unwrap().text, "two\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn a_tail_is_the_end_of_the_log_and_within_its_bounds(
            content in "[ab\n]{0,60}", split in 0usize..60, lines in 0usize..8, bytes in 0u64..40,
        ) {
            let (_directory, mut kept) = kept(content.as_bytes(), split.min(content.len()));
            let LogText { text: found, next, .. } = kept.tail(lines, bytes, 0).unwrap();
            prop_assert_eq!(next, content.len() as u64);
            prop_assert!(content.ends_with(&found));
            prop_assert!(found.len() as u64 <= bytes);
            prop_assert!(found.lines().count() <= lines);
            let before = &content[..content.len() - found.len()];
            prop_assert!(before.is_empty() || found.is_empty() || before.ends_with('\n'));
            // One line more would have passed a bound.
            let all = content.lines().count() <= lines && content.len() as u64 <= bytes;
            prop_assert!(!all || found == content);
        }

        #[test]
        fn pieces_joined_are_the_log(
            content in "[a一\n]{0,40}", split in 0usize..60, lines in 1usize..4, bytes in 4u64..20,
            begin in 100u64..200,
        ) {
            let content = content.as_bytes();
            let split = split.min(content.len());
            let (directory, _) = kept(content, split);
            let path = directory.path().join("log");
            let mut position = 0;
            let mut joined = String::new();
            loop {
                let mut kept = Kept::open(&path, Some(begin)).unwrap();
                let piece = kept.after(position, lines, bytes).unwrap();
                let first = begin - split as u64;
                prop_assert_eq!(piece.missed, if position == 0 { first } else { 0 });
                prop_assert!(piece.text.len() as u64 <= bytes);
                if piece.text.is_empty() {
                    break;
                }
                joined += &piece.text;
                position = piece.next;
            }
            prop_assert_eq!(joined.as_bytes(), content);
            prop_assert_eq!(position.max(begin - split as u64), begin - split as u64 + content.len() as u64);
        }
    }

    #[test]
    fn a_position_that_no_longer_is_counts_as_the_end_and_half_a_character_waits() {
        let (directory, mut kept) = kept("ab\nc\u{1f980}".as_bytes(), 3);
        assert_eq!(
            kept.after(99, 9, 99).unwrap(),
            LogText { text: String::new(), next: 8, missed: 0 }
        );
        fs::write(directory.path().join("log"), b"c\xf0\x9f").unwrap();
        assert_eq!(kept.after(3, 9, 99).unwrap(), LogText { text: "c".into(), next: 4, missed: 0 });
    }

    #[test]
    fn a_pipe_or_link_in_place_of_a_log_is_an_error_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let link = directory.path().join("link");
        fs::write(directory.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("secret", &link).unwrap();
        for wrong in [pipe, link] {
            assert!(Kept::open(&wrong, None).is_err());
            assert!(super::super::append(&wrong).is_err());
        }
        let nothing = Kept::open(&directory.path().join("nothing"), None).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::NotFound);
    }
}
