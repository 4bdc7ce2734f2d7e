//! A file's text, byte for byte.

use std::io::{self, Write};
use std::ops::Range;

use ropey::{Rope, RopeBuilder};
use serde::{Deserialize, Serialize};

use crate::limits::SPLICES_IN_PLACE;

use super::digest::ContentDigest;
use super::splice::Splice;

pub const BOM: &[u8] = "\u{feff}".as_bytes();

/// A range within one line, with the text around it. All counts are in characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineContext {
    /// The number of characters of the line before `before`.
    pub skipped_before: usize,
    pub before: String,
    /// The text of the range, possibly shortened.
    pub inside: String,
    /// The number of characters of the range that `inside` omits.
    pub inside_omitted: usize,
    pub after: String,
    /// The number of characters of the line after `after`.
    pub skipped_after: usize,
}

/// A text as lines. Only `\n` ends a line, and a byte order mark is not part of the text.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Buffer {
    #[serde(with = "as_text")]
    rope: Rope,
    bom: bool,
    crlf: bool,
}

impl Buffer {
    /// Returns a buffer of a text that is given without its byte order mark.
    pub fn new(text: &str, bom: bool) -> Self {
        Self { rope: Rope::from_str(text), bom, crlf: is_crlf(text) }
    }

    /// True when the file begins with a byte order mark.
    pub fn has_bom(&self) -> bool {
        self.bom
    }

    /// Returns the line ending of most lines, as in the file when it was read from disk.
    pub fn line_ending(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// True when there is no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of lines; a final newline doesn't start another, empty line.
    pub fn line_count(&self) -> usize {
        self.rope.len_lines() - usize::from(self.ends_with_newline() || self.is_empty())
    }

    /// True when the last line ends with a newline.
    pub fn ends_with_newline(&self) -> bool {
        self.len().checked_sub(1).is_some_and(|last| self.rope.byte(last) == b'\n')
    }

    /// The first byte of a line; the text's length for a line past the last one. Lines count
    /// from 0.
    pub fn line_start(&self, line: usize) -> usize {
        if line >= self.line_count() { self.len() } else { self.rope.line_to_byte(line) }
    }

    /// Returns the byte range of whole lines, including their line endings.
    pub fn byte_range(&self, lines: &Range<usize>) -> Range<usize> {
        self.line_start(lines.start)..self.line_start(lines.end)
    }

    /// Returns the index of the line that contains a byte.
    pub fn line_at(&self, byte: usize) -> usize {
        self.rope.byte_to_line(byte.min(self.len()))
    }

    /// Returns the lines that contain a range of bytes; one line for an empty range.
    pub fn lines_of(&self, bytes: &Range<usize>) -> Range<usize> {
        let first = self.line_at(bytes.start);
        let last = self.line_at(bytes.end.saturating_sub(1));
        first..last.max(first) + 1
    }

    /// Returns a part of the text. A range that reaches past the end is cut there.
    pub fn slice(&self, bytes: Range<usize>) -> String {
        let end = bytes.end.min(self.len());
        self.rope.byte_slice(bytes.start.min(end)..end).to_string()
    }

    /// Returns the text of whole lines.
    pub fn text_of(&self, lines: &Range<usize>) -> String {
        self.slice(self.byte_range(lines))
    }

    /// Returns the first `max` characters of a line without its ending, and how many more it has.
    pub fn line_head(&self, line: usize, max: usize) -> (String, usize) {
        let bytes = self.byte_range(&(line..line + 1));
        let slice = self.rope.byte_slice(bytes);
        let mut chars = slice.len_chars();
        for end in ['\n', '\r'] {
            let ends = chars.checked_sub(1).and_then(|last| slice.get_char(last)) == Some(end);
            chars -= usize::from(ends && (end == '\n' || chars < slice.len_chars()));
        }
        let shown = chars.min(max);
        (slice.slice(..shown).to_string(), chars - shown)
    }

    /// Returns a range of bytes with the text around it, up to the ends of its first line: at most
    /// `max` characters each of the text before, in and after the range.
    pub fn line_context(&self, range: &Range<usize>, max: usize) -> LineContext {
        let line = self.line_at(range.start);
        let start = self.rope.byte_to_char(self.line_start(line));
        let mut end = self.rope.byte_to_char(self.line_start(line + 1));
        for ending in ['\n', '\r'] {
            end -= usize::from(end > start && self.rope.char(end - 1) == ending);
        }
        let first = self.rope.byte_to_char(range.start).clamp(start, end);
        let last = self.rope.byte_to_char(range.end.min(self.len())).clamp(first, end);
        let (from, to) = (first.saturating_sub(max).max(start), end.min(last.saturating_add(max)));
        let inside = last.min(first.saturating_add(max));
        let text = |chars: Range<usize>| self.rope.slice(chars).to_string();
        LineContext {
            skipped_before: from - start,
            before: text(from..first),
            inside: text(first..inside),
            inside_omitted: last - inside,
            after: text(last..to),
            skipped_after: end - to,
        }
    }

    /// True when the text has the splice's old text at the splice's position.
    pub fn accepts(&self, splice: &Splice) -> bool {
        let end = splice.at.saturating_add(splice.old.len());
        self.rope.get_byte_slice(splice.at..end).is_some_and(|slice| slice == splice.old.as_str())
    }

    /// Makes replacements in the text.
    pub fn apply(&mut self, splices: &[Splice]) {
        if splices.len() > SPLICES_IN_PLACE {
            return self.rebuild(splices);
        }
        for splice in splices.iter().rev() {
            let start = self.rope.byte_to_char(splice.at);
            let end = self.rope.byte_to_char(splice.old_end());
            self.rope.remove(start..end);
            self.rope.insert(start, &splice.new);
        }
    }

    /// Makes replacements in one pass, so that each costs only its text and no search.
    fn rebuild(&mut self, splices: &[Splice]) {
        let text = self.text();
        let mut builder = RopeBuilder::new();
        let mut from = 0;
        for splice in splices {
            builder.append(&text[from..splice.at]);
            builder.append(&splice.new);
            from = splice.old_end();
        }
        builder.append(&text[from..]);
        self.rope = builder.finish();
    }

    /// Returns the whole text without its byte order mark.
    pub fn text(&self) -> String {
        self.rope.to_string()
    }

    /// Writes the whole file, byte order mark included.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write_file(&self, out: &mut impl Write) -> io::Result<()> {
        if self.bom {
            out.write_all(BOM)?;
        }
        self.write_text(out)
    }

    /// Writes the text without its byte order mark: [`Buffer::len`] bytes.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        self.rope.chunks().try_for_each(|chunk| out.write_all(chunk.as_bytes()))
    }

    /// Returns the digest of the whole file, byte order mark included.
    pub fn digest(&self) -> u64 {
        let mut digest = ContentDigest::default();
        if self.bom {
            digest.update(BOM);
        }
        self.rope.chunks().for_each(|chunk| digest.update(chunk.as_bytes()));
        digest.finish()
    }
}

/// True when most lines end with `\r\n`.
fn is_crlf(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Most texts have no carriage return, which is cheap to find out.
    if memchr::memchr(b'\r', bytes).is_none() {
        return false;
    }
    let ends = memchr::memchr_iter(b'\n', bytes).count();
    memchr::memmem::find_iter(bytes, b"\r\n").count() * 2 > ends
}

/// Serializes a rope as its text, chunk by chunk.
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
