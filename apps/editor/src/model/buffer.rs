//! A file's text, byte for byte.

use std::io::{self, Write};
use std::ops::Range;

use ropey::{Rope, RopeBuilder};
use serde::{Deserialize, Serialize};

use crate::limits::SPLICES_IN_PLACE;

use super::disk::Digest;

/// One replacement in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// First byte.
    pub at: usize,
    /// What stands there.
    pub old: String,
    /// What takes its place.
    pub new: String,
}

/// A place within a line, with what stands around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// How many characters of the line come before all that is given.
    pub ahead: usize,
    /// What stands before the place.
    pub before: String,
    /// What stands in it.
    pub inside: String,
    /// How many characters of the place are not given.
    pub left_out: usize,
    /// What stands behind it.
    pub behind: String,
    /// How many characters of the line come after all that is given.
    pub after: usize,
}

/// A text as lines; only `\n` ends a line. A byte order mark is kept apart from it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Buffer {
    #[serde(with = "as_text")]
    rope: Rope,
    bom: bool,
    crlf: bool,
}

impl Buffer {
    /// Of a text without its byte order mark.
    pub fn new(text: &str, bom: bool) -> Self {
        Self { rope: Rope::from_str(text), bom, crlf: is_crlf(text) }
    }

    /// True when a byte order mark stands before the text.
    pub fn bom(&self) -> bool {
        self.bom
    }

    /// What ends most lines, as far as the file was read from disk.
    pub fn ending(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// True when there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of lines; a text that ends with a newline has no further, empty line.
    pub fn lines(&self) -> usize {
        self.rope.len_lines() - usize::from(self.ends_with_newline() || self.is_empty())
    }

    /// True when the last line has its newline.
    pub fn ends_with_newline(&self) -> bool {
        self.len().checked_sub(1).is_some_and(|last| self.rope.byte(last) == b'\n')
    }

    /// The first byte of a line, counted from 0; past the last line the text's length.
    pub fn start(&self, line: usize) -> usize {
        if line >= self.lines() { self.len() } else { self.rope.line_to_byte(line) }
    }

    /// The bytes of whole lines, endings included.
    pub fn bytes_of(&self, lines: &Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end)
    }

    /// The line that a byte stands in.
    pub fn line_at(&self, byte: usize) -> usize {
        self.rope.byte_to_line(byte.min(self.len()))
    }

    /// A part of the text; a range that is no text gives what of it is.
    pub fn slice(&self, bytes: Range<usize>) -> String {
        let end = bytes.end.min(self.len());
        self.rope.byte_slice(bytes.start.min(end)..end).to_string()
    }

    /// Whole lines as text.
    pub fn text_of(&self, lines: &Range<usize>) -> String {
        self.slice(self.bytes_of(lines))
    }

    /// One line without its ending: its first `max` characters, and how many more it has.
    pub fn head(&self, line: usize, max: usize) -> (String, usize) {
        let bytes = self.bytes_of(&(line..line + 1));
        let slice = self.rope.byte_slice(bytes);
        let mut chars = slice.len_chars();
        for end in ['\n', '\r'] {
            let ends = chars.checked_sub(1).and_then(|last| slice.get_char(last)) == Some(end);
            chars -= usize::from(ends && (end == '\n' || chars < slice.len_chars()));
        }
        let shown = chars.min(max);
        (slice.slice(..shown).to_string(), chars - shown)
    }

    /// A place and what stands around it in its first line, without the line's ending: at most `max`
    /// characters each of what is before, in and behind the place.
    pub fn around(&self, place: &Range<usize>, max: usize) -> Around {
        let line = self.line_at(place.start);
        let start = self.rope.byte_to_char(self.start(line));
        let mut end = self.rope.byte_to_char(self.start(line + 1));
        for ending in ['\n', '\r'] {
            end -= usize::from(end > start && self.rope.char(end - 1) == ending);
        }
        let first = self.rope.byte_to_char(place.start).clamp(start, end);
        let last = self.rope.byte_to_char(place.end.min(self.len())).clamp(first, end);
        let (from, to) = (first.saturating_sub(max).max(start), end.min(last.saturating_add(max)));
        let inside = last.min(first.saturating_add(max));
        let text = |chars: Range<usize>| self.rope.slice(chars).to_string();
        Around {
            ahead: from - start,
            before: text(from..first),
            inside: text(first..inside),
            left_out: last - inside,
            behind: text(last..to),
            after: end - to,
        }
    }

    /// True when the text has that splice's old text where the splice says.
    pub fn fits(&self, splice: &Splice) -> bool {
        let end = splice.at.saturating_add(splice.old.len());
        self.rope.get_byte_slice(splice.at..end).is_some_and(|slice| slice == splice.old.as_str())
    }

    /// Carries out splices that are in ascending order, apart from each other, all counted in the text
    /// as it is before.
    pub fn apply(&mut self, splices: &[Splice]) {
        if splices.len() > SPLICES_IN_PLACE {
            return self.rebuild(splices);
        }
        for splice in splices.iter().rev() {
            let start = self.rope.byte_to_char(splice.at);
            let end = self.rope.byte_to_char(splice.at + splice.old.len());
            self.rope.remove(start..end);
            self.rope.insert(start, &splice.new);
        }
    }

    /// Carries out splices in one pass: each costs its text, not a search.
    fn rebuild(&mut self, splices: &[Splice]) {
        let text = self.text();
        let mut builder = RopeBuilder::new();
        let mut from = 0;
        for splice in splices {
            builder.append(&text[from..splice.at]);
            builder.append(&splice.new);
            from = splice.at + splice.old.len();
        }
        builder.append(&text[from..]);
        self.rope = builder.finish();
    }

    /// The whole text without its byte order mark.
    pub fn text(&self) -> String {
        self.rope.to_string()
    }

    /// Writes the file's bytes.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.bom {
            out.write_all(super::disk::BOM)?;
        }
        self.write_text(out)
    }

    /// Writes the text without its byte order mark: [`Buffer::len`] bytes.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        self.rope.chunks().try_for_each(|chunk| out.write_all(chunk.as_bytes()))
    }

    /// The digest of the file's bytes.
    pub fn hash(&self) -> u64 {
        let mut digest = Digest::default();
        // The digest takes everything.
        let _ = self.write(&mut digest);
        digest.finish()
    }
}

/// True when most lines end with `\r\n`.
fn is_crlf(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Most texts have none: that is seen at once.
    if memchr::memchr(b'\r', bytes).is_none() {
        return false;
    }
    let ends = memchr::memchr_iter(b'\n', bytes).count();
    memchr::memmem::find_iter(bytes, b"\r\n").count() * 2 > ends
}

/// A rope as its text, written chunk by chunk.
mod as_text {
    use ropey::Rope;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(rope: &Rope, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(rope)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Rope, D::Error> {
        String::deserialize(from).map(|text| Rope::from_str(&text))
    }
}

/// The splices that take others back, counted in the text after them.
pub fn inverse(splices: &[Splice]) -> Vec<Splice> {
    let mut shift: isize = 0;
    let back = |splice: &Splice| {
        let at = splice.at.saturating_add_signed(shift);
        shift += splice.new.len() as isize - splice.old.len() as isize;
        Splice { at, old: splice.new.clone(), new: splice.old.clone() }
    };
    splices.iter().map(back).collect()
}
