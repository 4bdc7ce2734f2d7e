//! `<<<<<<< SEARCH` … `=======` … `>>>>>>> REPLACE`, as Aider and others write it.

use crate::limits::NAME_LINES;
use crate::model::{Format, Hunk, HunkLine, Name, Patch, Section, SectionChange, Tag};

use super::error::{ParseError, ParseErrorKind, fail};
use super::fence::fence_of;
use super::names;
use super::sections::Sections;

const NAME_FIX: &str = "put its path on the line before <<<<<<< SEARCH";

/// Returns true if a line begins a block.
pub(super) fn is_head(line: &str) -> bool {
    marked(line, &['<', '-'], &["SEARCH", "ORIGINAL"])
}

fn is_end(line: &str) -> bool {
    marked(line, &['>', '+'], &["REPLACE", "UPDATED"])
}

fn is_divider(line: &str) -> bool {
    let line = line.trim_end();
    (5..=9).contains(&line.len()) && line.bytes().all(|byte| byte == b'=')
}

/// Five to nine marks, then a word.
fn marked(line: &str, marks: &[char], words: &[&str]) -> bool {
    let line = line.trim();
    let Some(mark) = line.chars().next().filter(|mark| marks.contains(mark)) else { return false };
    let rest = line.trim_start_matches(mark);
    let word = rest.trim_start().trim_end_matches(['>', '<', ':', ' ']);
    (5..=9).contains(&(line.len() - rest.len())) && words.contains(&word)
}

pub(super) fn parse<'p>(lines: &[&'p str], start: usize) -> Result<Patch<'p>, ParseError> {
    let mut sections = Sections::new();
    let mut name: Option<Name> = None;
    let mut at = start;
    let mut free = 0;
    while at < lines.len() {
        if !is_head(lines[at]) {
            at += 1;
            continue;
        }
        let head = at;
        name = name_before(&lines[free..head]).or(name);
        let Some(path) = name.clone() else {
            return fail(head + 1, ParseErrorKind::NoFile(NAME_FIX));
        };
        sections.count_hunk(head + 1)?;
        let (hunk, end) = block(lines, head)?;
        at = end;
        free = end;
        if hunk.context().is_none() {
            continue;
        }
        // Blocks of one file that follow each other are searched for together.
        if let Some(Section { change: SectionChange::Update { path: last, hunks, .. }, .. }) =
            sections.list.last_mut()
            && *last == path
        {
            hunks.push(hunk);
        } else {
            let change = SectionChange::Update { path, moved: None, hunks: vec![hunk] };
            sections.push(head + 1, change)?;
        }
    }
    Ok(Patch { format: Format::SearchReplace, sections: sections.list })
}

/// Returns the name of the file in one of the lines before a block.
fn name_before(lines: &[&str]) -> Option<Name> {
    let mut left = NAME_LINES;
    for line in lines.iter().rev().filter(|line| !line.trim().is_empty()) {
        if left == 0 {
            return None;
        }
        left -= 1;
        if let Some(name) = names::of_line(line) {
            return Some(name);
        }
        // Only fences may stand between a name and its block.
        fence_of(line)?;
    }
    None
}

/// Reads a block; returns it and the line after it.
fn block<'p>(lines: &[&'p str], head: usize) -> Result<(Hunk<'p>, usize), ParseError> {
    let end = (head + 1..lines.len())
        .find(|&at| is_end(lines[at]) || is_head(lines[at]))
        .filter(|&at| is_end(lines[at]));
    let Some(end) = end else {
        return fail(head + 1, ParseErrorKind::CutOff("the >>>>>>> REPLACE of this block"));
    };
    let mut start = head + 1;
    let mut number = None;
    // Other tools put where to search above the text: `:start_line:12`, then a line of dashes.
    let is_hint = |line: &str| {
        [":start_line:", ":end_line:"].iter().any(|label| line.trim_start().starts_with(label))
    };
    while start < end && is_hint(lines[start]) {
        if let Some(line) = lines[start].trim().strip_prefix(":start_line:") {
            number = line.trim().parse().ok();
        }
        start += 1;
        if start < end && lines[start].trim_end() == "-------" {
            start += 1;
        }
    }
    let dividers: Vec<_> = (start..end).filter(|&at| is_divider(lines[at])).collect();
    let divider = match dividers[..] {
        [divider] => divider,
        [] => return fail(end + 1, ParseErrorKind::CutOff("the ======= of this block")),
        [_, second, ..] => {
            return fail(
                second + 1,
                ParseErrorKind::Unexpected(
                    "one ======= line a block; where the text has such a line, write a unified diff",
                ),
            );
        }
    };
    let (old, new) = (&lines[start..divider], &lines[divider + 1..end]);
    let hunk = Hunk { at: head + 1, number, lines: compare(old, new), ..Hunk::default() };
    Ok((hunk, end + 1))
}

/// Returns the change from old to new lines; the common first and last lines are context.
fn compare<'p>(old: &[&'p str], new: &[&'p str]) -> Vec<HunkLine<'p>> {
    let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new);
    let after = after.count();
    let line = |tag| move |&text: &&'p str| HunkLine { tag, text, crlf: None };
    let mut lines: Vec<_> = old[..before].iter().map(line(Tag::Keep)).collect();
    lines.extend(old_rest[..old_rest.len() - after].iter().map(line(Tag::Remove)));
    lines.extend(new_rest[..new_rest.len() - after].iter().map(line(Tag::Add)));
    lines.extend(old_rest[old_rest.len() - after..].iter().map(line(Tag::Keep)));
    lines
}
