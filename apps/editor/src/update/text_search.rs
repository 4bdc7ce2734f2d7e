//! Finds the occurrences of a text, and similar texts.

use std::borrow::Cow;
use std::ops::Range;

use crate::limits::OPTION_COLUMNS_MAX;

use super::gutter::carries_gutter;

/// Returns where a text occurs, from left to right and without overlaps. A newline in it also
/// matches the line ending `\r\n`.
pub(super) fn matches(text: &str, old: &str) -> Vec<Range<usize>> {
    if !old.contains('\n') || !text.contains("\r\n") {
        return text.match_indices(old).map(|(at, _)| at..at + old.len()).collect();
    }
    let head = old.split('\n').next().unwrap_or_default();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = next_candidate(text, from, head) {
        match match_end(text, at, old) {
            Some(end) => {
                found.push(at..end);
                from = end;
            }
            None => from = at + text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// Returns where a match ends that starts at a byte; `None` if there is no match.
pub(super) fn match_end(text: &str, at: usize, old: &str) -> Option<usize> {
    let mut rest = text.get(at..)?;
    for (index, piece) in old.split('\n').enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n"))?;
        }
        rest = rest.strip_prefix(piece)?;
    }
    Some(text.len() - rest.len())
}

/// Returns the replacement with the line endings of the text that it replaces. Further lines get
/// the file's line ending.
pub(super) fn with_endings_of(new: &str, old: &str, ending: &str) -> String {
    if new.contains("\r\n") || !new.contains('\n') {
        return new.to_owned();
    }
    let mut endings = old.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let mut replacement = String::new();
    for line in new.split_inclusive('\n') {
        let Some(body) = line.strip_suffix('\n') else {
            replacement += line;
            continue;
        };
        replacement += body;
        replacement += match endings.next() {
            Some(old) if old.ends_with("\r\n") => "\r\n",
            Some(_) => "\n",
            None => ending,
        };
    }
    replacement
}

/// Returns the text that takes a match's place. Where whole lines take the place of whole lines, a
/// final newline of only one of the two texts neither joins lines nor adds an empty one.
pub(super) fn settled<'n>(text: &str, matched: &Range<usize>, new: &'n str) -> Cow<'n, str> {
    let (before, old, after) =
        (&text[..matched.start], &text[matched.clone()], &text[matched.end..]);
    let begins_line = before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
    let ends_line = after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n");
    // A newline alone is no line, and a text that ends with a space is to be joined with the next
    // line.
    let are_lines = begins_line && !old.trim().is_empty() && !new.ends_with([' ', '\t']);
    match (old.ends_with('\n'), new.strip_suffix('\n')) {
        _ if !are_lines || new.is_empty() => new.into(),
        (true, None) => format!("{new}\n").into(),
        (false, Some(lines)) if ends_line => lines.strip_suffix('\r').unwrap_or(lines).into(),
        _ => new.into(),
    }
}

/// Describes the line that is most similar to a text that occurs nowhere; `None` if no line is.
pub(super) fn closest_match(text: &str, old: &str) -> Option<String> {
    if carries_gutter(old) {
        return Some("old carries line numbers: leave out `N<TAB>`".into());
    }
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    let lines: Vec<&str> = text.lines().collect();
    let same = |line: usize| {
        wanted.iter().enumerate().all(|(offset, wanted)| {
            lines.get(line + offset).is_some_and(|found| match wanted.len() {
                0 => found.trim().is_empty(),
                _ => without_spaces(found).contains(&without_spaces(wanted)),
            })
        })
    };
    if wanted.iter().any(|line| !line.is_empty())
        && let Some(line) = (0..lines.len()).find(|line| same(*line))
    {
        return Some(format!(
            "line {} matches except for white space: {}",
            line + 1,
            clipped(lines[line])
        ));
    }
    let first = *wanted.first()?;
    if wanted.len() > 1
        && !first.is_empty()
        && let Some(line) = lines.iter().position(|line| line.trim() == first)
    {
        let different = (1..wanted.len()).find(|offset| {
            lines.get(line + offset).is_none_or(|found| found.trim() != wanted[*offset])
        })?;
        return Some(match lines.get(line + different) {
            Some(found) => format!(
                "line {} matches its first line, but line {} differs: {}",
                line + 1,
                line + different + 1,
                clipped(found)
            ),
            None => {
                format!("line {} matches its first line, but the file ends too early", line + 1)
            }
        });
    }
    let folded = old.to_lowercase();
    let line = lines.iter().position(|line| line.to_lowercase().contains(&folded))?;
    Some(format!(
        "line {} matches except for upper and lower case: {}",
        line + 1,
        clipped(lines[line])
    ))
}

/// Returns where the first line of a text next occurs, from a byte on.
fn next_candidate(text: &str, from: usize, head: &str) -> Option<usize> {
    if !head.is_empty() {
        return text.get(from..)?.find(head).map(|at| from + at);
    }
    let at = from + text.get(from..)?.find('\n')?;
    let crlf = at > from && text.as_bytes()[at - 1] == b'\r';
    Some(at - usize::from(crlf))
}

fn without_spaces(line: &str) -> String {
    line.split_whitespace().collect()
}

fn clipped(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(OPTION_COLUMNS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
