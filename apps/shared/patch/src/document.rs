//! A file as lines that remember where they come from.

use std::borrow::Cow;
use std::ops::Range;

/// A replacement of bytes in the original file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The removed bytes.
    pub range: Range<usize>,
    /// The inserted text.
    pub text: String,
}

/// A line without its ending.
#[derive(Clone, Debug)]
pub(crate) struct DocumentLine<'a> {
    pub(crate) text: Cow<'a, str>,
    ending: &'static str,
    /// The index of the line in the original, from 0; `None` for a new line.
    pub(crate) origin: Option<usize>,
}

/// A change of whole lines.
#[derive(Clone, Debug)]
pub(crate) struct LineEdit<'a> {
    /// Before which line, from 0.
    pub(crate) at: usize,
    /// The number of lines to remove.
    pub(crate) remove: usize,
    /// The lines to insert.
    pub(crate) add: Vec<NewLine<'a>>,
    /// Whether the file must end with a newline; `None` if the edit doesn't specify it.
    pub(crate) final_newline: Option<bool>,
}

#[derive(Clone, Debug)]
pub(crate) struct NewLine<'a> {
    pub(crate) text: Cow<'a, str>,
    /// True for `\r\n`, false for `\n`, `None` to use the ending of the neighbouring lines.
    pub(crate) crlf: Option<bool>,
}

/// A file split into lines.
#[derive(Clone, Debug)]
pub(crate) struct Document<'a> {
    original: &'a str,
    /// The byte order mark, which is part of no line.
    mark: &'static str,
    pub(crate) lines: Vec<DocumentLine<'a>>,
    /// The ending of new lines whose neighbours don't determine it.
    ending: &'static str,
    /// True if the original ended in a newline.
    final_newline: bool,
}

const BYTE_ORDER_MARK: &str = "\u{feff}";
const LF: &str = "\n";
const CRLF: &str = "\r\n";

impl<'a> Document<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        let (mark, rest) = match original.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (BYTE_ORDER_MARK, rest),
            None => ("", original),
        };
        let lines: Vec<_> = rest
            .split_inclusive('\n')
            .enumerate()
            .map(|(number, whole)| {
                let (text, ending) = match whole.strip_suffix('\n') {
                    Some(text) => match text.strip_suffix('\r') {
                        Some(text) => (text, CRLF),
                        None => (text, LF),
                    },
                    None => (whole, ""),
                };
                DocumentLine { text: Cow::Borrowed(text), ending, origin: Some(number) }
            })
            .collect();
        let crlf = lines.iter().filter(|line| line.ending == CRLF).count();
        let lf = lines.iter().filter(|line| line.ending == LF).count();
        let ending = if crlf > lf { CRLF } else { LF };
        let final_newline = lines.last().is_none_or(|line| !line.ending.is_empty());
        Self { original, mark, lines, ending, final_newline }
    }

    /// Returns the document of a file that doesn't exist yet.
    pub(crate) fn create(lines: &[&'a str], final_newline: bool, crlf: bool) -> Self {
        let mut document = Self::new("");
        document.default_to(crlf);
        let ending = document.ending;
        document.lines = lines
            .iter()
            .map(|&text| DocumentLine { text: Cow::Borrowed(text), ending, origin: None })
            .collect();
        if let Some(last) = document.lines.last_mut()
            && !final_newline
        {
            last.ending = "";
        }
        document
    }

    /// Says what lines of a file without any line ending end with.
    pub(crate) fn default_to(&mut self, crlf: bool) {
        if self.lines.iter().take(2).all(|line| line.ending.is_empty()) {
            self.ending = if crlf { CRLF } else { LF };
        }
    }

    pub(crate) fn ends_in_newline(&self) -> bool {
        self.lines.last().is_none_or(|line| !line.ending.is_empty())
    }

    /// Makes changes, which are in order and don't overlap.
    pub(crate) fn apply(&mut self, edits: Vec<LineEdit<'a>>) {
        let mut lines = Vec::with_capacity(self.lines.len());
        let mut old = std::mem::take(&mut self.lines).into_iter();
        let mut position = 0;
        let mut explicit = None;
        for edit in edits {
            while position < edit.at
                && let Some(line) = old.next()
            {
                lines.push(line);
                position += 1;
            }
            let mut ending = lines.last().map_or("", |line: &DocumentLine<'_>| line.ending);
            for _ in 0..edit.remove {
                if let Some(line) = old.next() {
                    position += 1;
                    if !line.ending.is_empty() {
                        ending = line.ending;
                    }
                }
            }
            let ending = if ending.is_empty() { self.ending } else { ending };
            lines.extend(edit.add.into_iter().map(|NewLine { text, crlf }| {
                let ending = match crlf {
                    Some(crlf) => {
                        if crlf {
                            CRLF
                        } else {
                            LF
                        }
                    }
                    None => ending,
                };
                DocumentLine { text, ending, origin: None }
            }));
            explicit = edit.final_newline.or(explicit);
        }
        let rest = old.len();
        lines.extend(old);
        self.lines = lines;
        self.mend_endings(rest == 0, explicit);
    }

    /// Each line but the last ends in a newline; the last one as the patch says, or as the file had
    /// it.
    fn mend_endings(&mut self, end_touched: bool, explicit: Option<bool>) {
        let ending = self.ending;
        let Some((last, before)) = self.lines.split_last_mut() else { return };
        // Only the former last line can lack an ending; after insertions it stands further up.
        for line in before.iter_mut().filter(|line| line.ending.is_empty()) {
            line.ending = ending;
            line.origin = None;
        }
        if !end_touched {
            return;
        }
        let wanted = match explicit {
            Some(wanted) => wanted,
            None if last.origin.is_none() => self.final_newline,
            None => return,
        };
        if wanted == last.ending.is_empty() {
            last.ending = if wanted { ending } else { "" };
            last.origin = None;
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.original.len());
        text.push_str(self.mark);
        for line in &self.lines {
            text.push_str(&line.text);
            text.push_str(line.ending);
        }
        text
    }

    /// Returns the ordered replacements from the original to this document; none are adjacent.
    pub(crate) fn splices(&self) -> Vec<Splice> {
        let mut starts = vec![self.mark.len()];
        for line in self.original[self.mark.len()..].split_inclusive('\n') {
            starts.push(starts.last().copied().unwrap_or(0) + line.len());
        }
        let mut splices = Vec::new();
        let mut text = String::new();
        let mut next = 0;
        for line in &self.lines {
            let Some(origin) = line.origin else {
                text.push_str(&line.text);
                text.push_str(line.ending);
                continue;
            };
            push(&mut splices, starts[next]..starts[origin], &mut text);
            next = origin + 1;
        }
        push(&mut splices, starts[next]..self.original.len(), &mut text);
        splices
    }
}

fn push(splices: &mut Vec<Splice>, range: Range<usize>, text: &mut String) {
    if !range.is_empty() || !text.is_empty() {
        splices.push(Splice { range, text: std::mem::take(text) });
    }
}
