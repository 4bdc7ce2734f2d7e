//! The formats, and which one a text has.

mod body;
mod envelope;
mod error;
mod fence;
mod names;
mod search_replace;
mod sections;
mod unified;

use crate::limits::PATCH_MAX;
use crate::model::{Format, Hunk, Patch};

use error::fail;
use fence::{closes, open_fence};

pub use error::{ParseError, ParseErrorKind};

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

/// Returns the offset in a text at which a part of it ends.
fn end_of(part: &str, text: &str) -> usize {
    (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize).saturating_add(part.len())
}

/// Returns the first line from `start` on that belongs to a patch, with the patch's format.
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

/// The ranges of lines that the patch is in: the insides of Markdown fences where it begins in one,
/// else all of the text from its beginning on.
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
