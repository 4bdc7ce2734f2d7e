//! One log that is written to: rotated, and floods cut.
//!
//! So many bytes a second are kept, and what was printed last is always among them. What is left out
//! stands as a line of its own: `… 12,345,678 bytes left out`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{append, make_directory, rotated, whole_characters};
use crate::limits::{LOG_BURST, LOG_RATE, LOG_TAIL};

/// One log that is written to.
#[derive(Debug)]
pub struct Sink {
    path: PathBuf,
    file: File,
    /// Bytes in the file, and the position of its first one.
    size: u64,
    begin: u64,
    /// Bytes after which the next file begins.
    max: u64,
    at_line_start: bool,
    /// Bytes that may be written now, as of then in milliseconds.
    room: u64,
    as_of: u64,
    gap: Option<Gap>,
}

/// What came and wasn't written.
#[derive(Debug, Default)]
struct Gap {
    bytes: u64,
    /// The last of it.
    tail: Vec<u8>,
}

impl Sink {
    /// Opens a log whose file begins at that position, and makes its directory; files of more than `max` bytes
    /// are rotated.
    ///
    /// # Errors
    /// As `open`; something that isn't a regular file.
    pub fn open(path: &Path, begin: u64, max: u64, now_ms: u64) -> io::Result<Self> {
        let (file, size) = match append(path) {
            // The first one of its workspace.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_directory(path.parent().unwrap_or(Path::new("/")))?;
                append(path)?
            }
            other => other?,
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            size,
            begin,
            max,
            // Not known without reading; an earlier process's last line may lack its end.
            at_line_start: size == 0,
            room: LOG_BURST,
            as_of: now_ms,
            gap: None,
        })
    }

    /// The position of the file's first byte.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes what was printed; true when the log grew.
    pub fn take(&mut self, bytes: &[u8], now_ms: u64) -> bool {
        let before = self.end();
        self.refill(now_ms);
        if let Some(gap) = &mut self.gap {
            gap.add(bytes);
            self.resume();
        } else {
            let cut = self.cut(bytes);
            self.room = self.room.saturating_sub(cut as u64);
            self.write(&bytes[..cut]);
            self.leave_out(&bytes[cut..]);
        }
        self.end() != before
    }

    /// When [`Sink::go_on`] has something to do, in milliseconds.
    pub fn due(&self) -> Option<u64> {
        let wait = RESUME.saturating_sub(self.room) * 1000 / LOG_RATE;
        self.gap.as_ref().map(|_| self.as_of + wait + 1)
    }

    /// Writes what was left out last, if there is room again; true when the log grew.
    pub fn go_on(&mut self, now_ms: u64) -> bool {
        let before = self.end();
        self.refill(now_ms);
        self.resume();
        self.end() != before
    }

    /// Writes what was left out last, room or not: its process has ended.
    pub fn finish(&mut self) {
        self.room = LOG_BURST;
        self.resume();
    }

    /// The position after the last byte.
    pub fn end(&self) -> u64 {
        self.begin + self.size
    }

    /// How much of it is written: whole lines where that is possible.
    fn cut(&self, bytes: &[u8]) -> usize {
        if bytes.len() as u64 <= self.room {
            return bytes.len();
        }
        let room = &bytes[..self.room as usize];
        let end = match room.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => Some(at),
            // A line that has begun is ended, if that is soon.
            None if !self.at_line_start => {
                bytes.iter().take(LOG_TAIL).position(|byte| *byte == b'\n')
            }
            None => None,
        };
        end.map_or(whole_characters(room).len(), |at| at + 1)
    }

    fn refill(&mut self, now_ms: u64) {
        let grown = now_ms.saturating_sub(self.as_of).saturating_mul(LOG_RATE) / 1000;
        if grown > 0 {
            self.room = (self.room + grown).min(LOG_BURST);
            self.as_of = now_ms;
        }
    }

    fn resume(&mut self) {
        if self.room < RESUME {
            return;
        }
        let Some(gap) = self.gap.take() else { return };
        let kept = gap.kept();
        let lost = gap.bytes - kept.len() as u64;
        if lost > 0 {
            let end = if self.at_line_start { "" } else { "\n" };
            let record = format!("{end}… {} bytes left out\n", with_commas(lost));
            self.write(record.as_bytes());
        }
        self.room = self.room.saturating_sub(kept.len() as u64);
        self.write(kept);
    }

    fn leave_out(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.gap.get_or_insert_default().add(bytes);
        }
    }

    /// Writes all of it, or leaves out what can't be written.
    fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = self.max.saturating_sub(self.size);
            let fits = if (bytes.len() as u64) <= left {
                bytes.len()
            } else {
                // Whole lines, or nothing if this is the start of one and another file can take it.
                match bytes[..left as usize].iter().rposition(|byte| *byte == b'\n') {
                    Some(at) => at + 1,
                    None if self.at_line_start && self.size > 0 => 0,
                    None => whole_characters(&bytes[..left as usize]).len(),
                }
            };
            let written = match fits {
                0 => self.rotate().map(|()| 0),
                _ => self.file.write(&bytes[..fits]),
            };
            match written {
                Ok(length) => {
                    if let Some(last) = bytes[..length].last() {
                        self.at_line_start = *last == b'\n';
                    }
                    self.size += length as u64;
                    bytes = &bytes[length..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The disk is full, or the directory is gone: told when there is room again.
                Err(_) => return self.leave_out(bytes),
            }
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        fs::rename(&self.path, rotated(&self.path))?;
        let (file, size) = append(&self.path)?;
        self.file = file;
        self.begin += self.size;
        self.size = size;
        Ok(())
    }
}

/// Bytes of room with which writing goes on after a gap.
const RESUME: u64 = LOG_RATE / 2;

impl Gap {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let last = &bytes[bytes.len().saturating_sub(LOG_TAIL)..];
        let surplus = (self.tail.len() + last.len()).saturating_sub(LOG_TAIL);
        self.tail.drain(..surplus);
        self.tail.extend_from_slice(last);
    }

    /// The last lines: all, if all is here; otherwise whole ones.
    fn kept(&self) -> &[u8] {
        if self.bytes == self.tail.len() as u64 {
            return &self.tail;
        }
        match self.tail.iter().position(|byte| *byte == b'\n') {
            Some(at) if at + 1 < self.tail.len() => &self.tail[at + 1..],
            // One line that is longer than all that is kept: its end, from a character on.
            _ => {
                let inner = self.tail.iter().take(4).position(|byte| byte & 0xc0 != 0x80);
                &self.tail[inner.unwrap_or(0)..]
            }
        }
    }
}

/// `12,345,678`
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Place {
        directory: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            Self { directory: tempfile::tempdir().unwrap() }
        }

        fn path(&self) -> PathBuf {
            self.directory.path().join("log")
        }

        fn open(&self, max: u64) -> Sink {
            Sink::open(&self.path(), 0, max, 0).unwrap()
        }

        /// What is kept, the older file first.
        fn text(&self) -> Vec<u8> {
            let mut all = fs::read(rotated(&self.path())).unwrap_or_default();
            all.extend(fs::read(self.path()).unwrap());
            all
        }
    }

    #[test]
    fn a_log_is_rotated_between_lines_while_it_is_written() {
        let place = Place::new();
        let mut sink = place.open(10);
        assert!(sink.take(b"one\ntwo\nthree\n", 0));
        assert_eq!(fs::read(place.path()).unwrap(), b"three\n");
        assert_eq!(fs::read(rotated(&place.path())).unwrap(), b"one\ntwo\n");
        assert_eq!((sink.begin(), sink.end()), (8, 14));
        // A line that no file can hold is cut, between characters.
        sink.take("一二三四五六\n".as_bytes(), 0);
        let (old, new) =
            (fs::read(rotated(&place.path())).unwrap(), fs::read(place.path()).unwrap());
        assert_eq!([old, new].concat(), "一二三四五六\n".as_bytes());
        assert_eq!(sink.end(), 14 + 19);
    }

    #[test]
    fn a_flood_is_cut_and_its_end_kept() {
        let place = Place::new();
        let mut sink = place.open(u64::MAX);
        let line = "一行 of a flood\n";
        let flood = line.repeat(200_000);
        for piece in flood.as_bytes().chunks(64 * 1024) {
            sink.take(piece, 0);
        }
        sink.take("the last words".as_bytes(), 0);
        assert!(place.text().len() as u64 <= LOG_BURST + line.len() as u64);
        sink.finish();
        let text = String::from_utf8_lossy(&place.text()).into_owned();
        assert!(text.len() as u64 <= LOG_BURST + LOG_TAIL as u64 + 64);
        assert!(text.ends_with("a flood\nthe last words"));
        let gap: Vec<&str> = text.lines().filter(|line| line.starts_with('…')).collect();
        assert_eq!(gap.len(), 1, "{gap:?}");
        let lost: String = gap[0].chars().filter(char::is_ascii_digit).collect();
        let lost: usize = lost.parse().unwrap();
        let record = gap[0].len() + 1;
        assert_eq!(text.len() - record + lost, flood.len() + "the last words".len());
        // Lines are whole on both sides of the gap.
        let rest = text.replace(gap[0], "").replace(line, "");
        assert_eq!(rest, "\nthe last words");
    }

    #[test]
    fn a_flood_that_goes_on_is_sampled_and_one_that_pauses_shows_its_end() {
        let place = Place::new();
        let mut sink = place.open(u64::MAX);
        let line = [b'x'; 1023].into_iter().chain([b'\n']).collect::<Vec<u8>>();
        // Ten seconds of 10 MB each.
        for ms in 0..10_000 {
            for _ in 0..10 {
                sink.take(&line, ms);
            }
        }
        let kept = place.text().len() as u64;
        assert!((LOG_RATE * 9..=LOG_BURST + LOG_RATE * 11).contains(&kept), "{kept}");
        sink.take(b"and then: quiet\n", 10_000);
        let due = sink.due().unwrap();
        assert!(due <= 12_000, "{due}");
        assert!(sink.go_on(due));
        assert!(place.text().ends_with(b"\nand then: quiet\n"));
        assert_eq!(sink.due(), None);
        assert!(!sink.go_on(due + 1));
    }

    #[test]
    fn what_can_not_be_written_is_told_later() {
        let place = Place::new();
        let mut sink = place.open(8);
        sink.take(b"first\n", 0);
        // Its directory is taken away, so there is no next file.
        let away = place.directory.path().with_extension("away");
        fs::rename(place.directory.path(), &away).unwrap();
        assert!(!sink.take(b"second\n", 0));
        assert!(sink.due().is_some());
        fs::rename(&away, place.directory.path()).unwrap();
        assert!(sink.go_on(0));
        assert_eq!(place.text(), b"first\nsecond\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn without_a_flood_nothing_is_lost_and_no_file_is_too_long(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            max in 4u64..60,
        ) {
            let place = Place::new();
            let mut sink = place.open(max);
            let mut all = Vec::new();
            for piece in &pieces {
                sink.take(piece, 0);
                all.extend_from_slice(piece);
                prop_assert!(fs::metadata(place.path()).unwrap().len() <= max);
            }
            prop_assert!(all.ends_with(&place.text()));
            prop_assert_eq!(sink.end(), all.len() as u64);
        }
    }

    #[test]
    fn numbers_have_commas() {
        let shown = [0, 999, 1000, 12_345_678].map(with_commas);
        assert_eq!(shown, ["0", "999", "1,000", "12,345,678"]);
    }
}
