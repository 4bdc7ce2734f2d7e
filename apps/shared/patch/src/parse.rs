//! The formats, and which one a text has.

mod body;
mod envelope;
mod names;
mod search_replace;
mod unified;

use std::fmt;

use crate::limits::{HUNKS_MAX, PATCH_MAX, SECTIONS_MAX};
use crate::model::{Attributes, Format, Hunk, Patch, SectionChange};

/// Why a text is no patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line of the text, from 1; 0 for the whole of it.
    pub at: usize,
    /// What is wrong.
    pub kind: ParseErrorKind,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// Nothing in it looks like a patch.
    NoPatch,
    /// A patch that changes nothing.
    Empty,
    /// A bound is passed.
    TooLarge(&'static str),
    /// No file is named.
    NoFile(&'static str),
    /// It stops in the middle: this is missing.
    CutOff(&'static str),
    /// A line that doesn't belong there, and what was expected.
    Unexpected(&'static str),
    /// Something that can't be applied to a text.
    Unsupported(&'static str),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at > 0 {
            write!(f, "line {} of the patch: ", self.at)?;
        }
        match self.kind {
            ParseErrorKind::NoPatch => f.write_str(
                "no patch found; expected a unified diff, *** Begin Patch, or <<<<<<< SEARCH blocks",
            ),
            ParseErrorKind::Empty => f.write_str("the patch changes nothing"),
            ParseErrorKind::TooLarge(bound) => write!(f, "the patch has {bound}; split it"),
            ParseErrorKind::NoFile(fix) => write!(f, "no file is named; {fix}"),
            ParseErrorKind::CutOff(missing) => {
                write!(f, "{missing} is missing, the patch seems to be cut off")
            }
            ParseErrorKind::Unexpected(expected) => write!(f, "expected {expected}"),
            ParseErrorKind::Unsupported(what) => write!(f, "{what} can't be applied"),
        }
    }
}

impl std::error::Error for ParseError {}

pub(crate) fn fail<T>(at: usize, kind: ParseErrorKind) -> Result<T, ParseError> {
    Err(ParseError { at, kind })
}

impl<'p> Patch<'p> {
    /// Reads a patch of any of the formats, also one inside a Markdown fence or between prose.
    ///
    /// # Errors
    /// If the text isn't a patch, or passes a bound.
    pub fn parse(text: &'p str) -> Result<Self, ParseError> {
        if text.len() > PATCH_MAX {
            return fail(0, ParseErrorKind::TooLarge("more than 16 MiB"));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        let Some((start, format)) = detect(&lines, 0) else {
            return fail(0, ParseErrorKind::NoPatch);
        };
        let mut patch = match format {
            Format::Unified => unified::parse(&lines, &fenced(&lines, start, format))?,
            Format::Envelope => envelope::parse(&lines, &fenced(&lines, start, format))?,
            Format::SearchReplace => search_replace::parse(&lines, start)?,
        };
        if patch.sections.is_empty() {
            return fail(0, ParseErrorKind::Empty);
        }
        mark_line_endings(text, &mut patch);
        Ok(patch)
    }
}

/// Finds the sections whose own lines end in `\r\n`, in a patch that doesn't as a whole.
fn mark_line_endings(text: &str, patch: &mut Patch<'_>) {
    if !text.contains('\r') {
        return;
    }
    let mut lines = text.split('\n').enumerate().peekable();
    let mut sections = patch.sections.iter_mut().peekable();
    while let Some(section) = sections.next() {
        let next = sections.peek().map_or(usize::MAX, |next| next.at);
        let (mut head, mut with, mut without) = (false, 0_usize, 0_usize);
        while let Some((number, line)) = lines.next_if(|(number, _)| number + 1 < next) {
            let crlf = line.ends_with('\r');
            if number + 1 == section.at {
                head = crlf;
            } else if number + 1 > section.at && line.starts_with('+') && !line.starts_with("+++ ")
            {
                *(if crlf { &mut with } else { &mut without }) += 1;
            }
        }
        // The last line of a file may have no ending.
        section.crlf = !head && with > 0 && with >= without;
        let ends = |line: &str| text.as_bytes().get(end_of(line, text)) == Some(&b'\r');
        let known = Hunk::lines_mut(&mut section.change).any(|line| ends(line.text));
        if known && !head {
            Hunk::lines_mut(&mut section.change).for_each(|line| line.crlf = Some(ends(line.text)));
        }
    }
}

/// Where a part of a text ends in it.
fn end_of(part: &str, text: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize).saturating_add(part.len())
}

/// The sections of a patch, as far as its bounds go.
struct Sections<'p> {
    list: Vec<crate::model::Section<'p>>,
    hunks: usize,
}

impl<'p> Sections<'p> {
    fn new() -> Self {
        Self { list: Vec::new(), hunks: 0 }
    }

    fn push(&mut self, at: usize, change: SectionChange<'p>) -> Result<(), ParseError> {
        self.push_with(at, Attributes::default(), change)
    }

    fn push_with(
        &mut self,
        at: usize,
        attributes: Attributes,
        change: SectionChange<'p>,
    ) -> Result<(), ParseError> {
        if self.list.len() == SECTIONS_MAX {
            return fail(at, ParseErrorKind::TooLarge("more than 10,000 sections"));
        }
        self.list.push(crate::model::Section { at, crlf: false, attributes, change });
        Ok(())
    }

    fn count_hunk(&mut self, at: usize) -> Result<(), ParseError> {
        self.hunks += 1;
        if self.hunks > HUNKS_MAX {
            return fail(at, ParseErrorKind::TooLarge("more than 20,000 hunks"));
        }
        Ok(())
    }
}

/// The first line from `start` on that belongs to a patch, and to which kind.
fn detect(lines: &[&str], start: usize) -> Option<(usize, Format)> {
    (start..lines.len()).find_map(|number| {
        let line = lines[number];
        if search_replace::is_head(line) {
            return Some((number, Format::SearchReplace));
        }
        if envelope::is_start(line) {
            return Some((number, Format::Envelope));
        }
        unified::is_start(lines, number).then_some((number, Format::Unified))
    })
}

/// The ranges of lines that the patch is in: the insides of Markdown fences where it begins in one, else all
/// of the text from its beginning on.
fn fenced(lines: &[&str], start: usize, format: Format) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    let mut first = start;
    loop {
        let Some(fence) = open_fence(&lines[from..first]) else {
            ranges.push(first..lines.len());
            return ranges;
        };
        let end = (first..lines.len())
            .find(|&number| closes(fence, lines[number]))
            .unwrap_or(lines.len());
        ranges.push(first..end);
        from = (end + 1).min(lines.len());
        match detect(lines, from) {
            Some((next, same)) if same == format => first = next,
            _ => return ranges,
        }
    }
}

/// The fence that is open after these lines.
fn open_fence<'l>(lines: &[&'l str]) -> Option<&'l str> {
    let mut open: Option<&str> = None;
    for line in lines {
        match open {
            Some(fence) if closes(fence, line) => open = None,
            Some(_) => {}
            None => open = fence_of(line),
        }
    }
    open
}

/// The backticks or tildes that a line opens a fence with.
pub(crate) fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let fence = &line[..line.len() - line.trim_start_matches(mark).len()];
    (fence.len() >= 3 && !line[fence.len()..].contains('`')).then_some(fence)
}

fn closes(fence: &str, line: &str) -> bool {
    let line = line.trim_matches([' ', '\t', '>']);
    line.len() >= fence.len()
        && line.trim_start_matches(fence.chars().next().unwrap_or('`')).is_empty()
}
