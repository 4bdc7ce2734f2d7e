//! `*** Begin Patch` … `*** End Patch`.

use std::borrow::Cow;
use std::ops::Range;

use crate::model::{Format, Hunk, Move, Name, Patch, SectionChange};

use super::body;
use super::error::{ParseError, ParseErrorKind, fail};
use super::sections::Sections;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const EOF: &str = "*** End of File";
const FILE: &str = "*** Add File:, *** Update File: or *** Delete File:";

/// Returns true if an envelope begins at this line, even without its first line.
pub(super) fn is_start(line: &str) -> bool {
    line.trim() == BEGIN || file(line).is_some()
}

enum FileLine<'p> {
    Add(&'p str),
    Delete(&'p str),
    Update(&'p str),
}

fn file(line: &str) -> Option<FileLine<'_>> {
    let rest = line.trim().strip_prefix("*** ")?;
    let name = |label| rest.strip_prefix(label).map(|name: &str| name.trim().trim_matches('`'));
    name("Add File:")
        .or_else(|| name("Create File:"))
        .map(FileLine::Add)
        .or_else(|| name("Delete File:").map(FileLine::Delete))
        .or_else(|| name("Update File:").map(FileLine::Update))
}

fn moved(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("*** ")?;
    ["Move to:", "Move File To:", "Rename to:"]
        .iter()
        .find_map(|label| rest.strip_prefix(label))
        .map(str::trim)
}

pub(super) fn parse<'p>(
    lines: &[&'p str],
    ranges: &[Range<usize>],
) -> Result<Patch<'p>, ParseError> {
    let mut sections = Sections::new();
    for range in ranges {
        read(&lines[..range.end], range.start, &mut sections)?;
    }
    Ok(Patch { format: Format::Envelope, sections: sections.list })
}

fn read<'p>(
    lines: &[&'p str],
    start: usize,
    sections: &mut Sections<'p>,
) -> Result<(), ParseError> {
    let mut at = start;
    let mut inside = lines[start].trim() != BEGIN;
    let mut begun = false;
    while at < lines.len() {
        let line = lines[at].trim();
        if line == BEGIN {
            (inside, begun) = (true, true);
            at += 1;
        } else if line == END {
            (inside, begun) = (false, false);
            at += 1;
        } else if !inside || line.is_empty() {
            at += 1;
        } else if let Some(file) = file(lines[at]) {
            at = section(lines, at, file, sections)?;
        } else if !begun {
            // Without its first line nothing tells where the patch ends, but that this is no part
            // of it.
            inside = false;
        } else {
            return fail(at + 1, ParseErrorKind::Unexpected(FILE));
        }
    }
    if begun {
        return fail(lines.len(), ParseErrorKind::CutOff(END));
    }
    Ok(())
}

fn ends_section(line: &str) -> bool {
    line.starts_with("***") && (line.trim() == END || line.trim() == BEGIN || file(line).is_some())
}

fn section<'p>(
    lines: &[&'p str],
    start: usize,
    file: FileLine<'p>,
    sections: &mut Sections<'p>,
) -> Result<usize, ParseError> {
    let from = start + 1;
    let end = (from..lines.len()).find(|&at| ends_section(lines[at])).unwrap_or(lines.len());
    let name = |text: &str| match text {
        "" => fail(start + 1, ParseErrorKind::NoFile("write its path after the colon")),
        text => Ok(Name::plain(text)),
    };
    let change = match file {
        FileLine::Add(path) => {
            let (lines, final_newline) = content(&lines[from..end]);
            SectionChange::Create { path: name(path)?, lines, final_newline }
        }
        FileLine::Delete(path) => SectionChange::Delete { path: name(path)?, content: None },
        FileLine::Update(path) => {
            let mut at = from;
            let mut to = None;
            if let Some(path) = lines[..end].get(at).and_then(|line| moved(line)) {
                to = Some(Move { to: name(path)?, copy: false });
                at += 1;
            }
            let hunks = hunks(&lines[..end], at, sections)?;
            if hunks.is_empty() && to.is_none() {
                return fail(start + 1, ParseErrorKind::Unexpected("lines with + or - below it"));
            }
            SectionChange::Update { path: name(path)?, moved: to, hunks }
        }
    };
    sections.push(start + 1, change)?;
    Ok(end)
}

/// Returns the lines of a new file: each has a `+`, unless none has.
fn content<'p>(lines: &[&'p str]) -> (Vec<&'p str>, bool) {
    let trailing = lines.iter().rev().take_while(|line| line.trim().is_empty()).count();
    let lines = &lines[..lines.len() - trailing];
    let final_newline = !lines.last().is_some_and(|line| line.starts_with('\\'));
    let lines = lines.iter().filter(|line| !line.starts_with('\\') && line.trim_end() != EOF);
    if lines.clone().any(|line| line.starts_with('+')) {
        return (lines.map(|line| line.strip_prefix('+').unwrap_or(line)).collect(), final_newline);
    }
    (lines.copied().collect(), final_newline)
}

fn hunks<'p>(
    lines: &[&'p str],
    start: usize,
    sections: &mut Sections<'p>,
) -> Result<Vec<Hunk<'p>>, ParseError> {
    let mut hunks = Vec::new();
    let mut at = start;
    while at < lines.len() {
        let line = lines[at];
        if line.trim().is_empty() || line.trim() == EOF {
            at += 1;
            continue;
        }
        sections.count_hunk(at + 1)?;
        let first = at;
        let mut head = body::Head::default();
        let mut headings: Vec<Cow<'p, str>> = Vec::new();
        // Several headings narrow one place: a class, then its method.
        while let Some(next) =
            lines.get(at).filter(|line| line.starts_with("@@")).and_then(|line| body::head(line))
        {
            if !next.heading.trim().is_empty() {
                headings.push(Cow::Borrowed(next.heading));
            }
            if next.old.is_some() {
                head = next;
            }
            at += 1;
        }
        let mut hunk = head.describe(first + 1);
        (hunk.headings, hunk.appends) = (headings, true);
        let boundary = |next: usize| lines[next].starts_with("@@") || lines[next].trim_end() == EOF;
        let end = body::read(lines, at, &head, &mut hunk, boundary);
        hunk.at_end = lines.get(end).is_some_and(|line| line.trim_end() == EOF);
        if end == at && !hunk.at_end && at == first {
            return fail(
                at + 1,
                ParseErrorKind::Unexpected("a line with +, - or a space before it"),
            );
        }
        at = end;
        if hunk.context().is_some() {
            hunks.push(hunk);
        }
    }
    Ok(hunks)
}
