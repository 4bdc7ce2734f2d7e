//! Where a text stands exactly, and where it nearly does.

use std::ops::Range;

/// Where `old` stands, from left to right, none within another. A newline in it also matches the
/// line ending `\r\n`.
pub(crate) fn matches(text: &str, old: &str) -> Vec<Range<usize>> {
    if !old.contains('\n') || !text.contains("\r\n") {
        return text.match_indices(old).map(|(at, _)| at..at + old.len()).collect();
    }
    let head = old.split('\n').next().unwrap_or_default();
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = candidate(text, from, head) {
        match end_at(text, at, old) {
            Some(end) => {
                found.push(at..end);
                from = end;
            }
            None => from = at + text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// Where `old` ends if it stands at that byte.
pub(crate) fn end_at(text: &str, at: usize, old: &str) -> Option<usize> {
    let mut rest = text.get(at..)?;
    for (index, piece) in old.split('\n').enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n"))?;
        }
        rest = rest.strip_prefix(piece)?;
    }
    Some(text.len() - rest.len())
}

/// The replacement, its line endings as in what it replaces, further ones as in the file.
pub(crate) fn shaped(new: &str, old: &str, ending: &str) -> String {
    if new.contains("\r\n") || !new.contains('\n') {
        return new.to_owned();
    }
    let mut endings = old.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let mut shaped = String::new();
    for line in new.split_inclusive('\n') {
        let Some(body) = line.strip_suffix('\n') else {
            shaped += line;
            continue;
        };
        shaped += body;
        shaped += match endings.next() {
            Some(old) if old.ends_with("\r\n") => "\r\n",
            Some(_) => "\n",
            None => ending,
        };
    }
    shaped
}

/// What is most like a text that stands nowhere: one sentence with the line, or none.
pub(crate) fn near(text: &str, old: &str) -> Option<String> {
    if carries_gutter(old) {
        return Some("old carries line numbers: leave out `N<TAB>`".into());
    }
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    let lines: Vec<&str> = text.lines().collect();
    let same = |line: usize| {
        wanted.iter().enumerate().all(|(offset, wanted)| {
            lines.get(line + offset).is_some_and(|found| match wanted.len() {
                0 => found.trim().is_empty(),
                _ => spaced(found).contains(&spaced(wanted)),
            })
        })
    };
    if wanted.iter().any(|line| !line.is_empty())
        && let Some(line) = (0..lines.len()).find(|line| same(*line))
    {
        return Some(format!(
            "line {} is like it but for white space: {}",
            line + 1,
            short(lines[line])
        ));
    }
    let first = *wanted.first()?;
    if wanted.len() > 1
        && !first.is_empty()
        && let Some(line) = lines.iter().position(|line| line.trim() == first)
    {
        let apart = (1..wanted.len()).find(|offset| {
            lines.get(line + offset).is_none_or(|found| found.trim() != wanted[*offset])
        })?;
        return Some(match lines.get(line + apart) {
            Some(found) => format!(
                "line {} begins like it; line {} is another: {}",
                line + 1,
                line + apart + 1,
                short(found)
            ),
            None => format!("line {} begins like it, but the file ends there", line + 1),
        });
    }
    let folded = old.to_lowercase();
    let line = lines.iter().position(|line| line.to_lowercase().contains(&folded))?;
    Some(format!(
        "line {} is like it but for upper and lower case: {}",
        line + 1,
        short(lines[line])
    ))
}

fn candidate(text: &str, from: usize, head: &str) -> Option<usize> {
    if !head.is_empty() {
        return text.get(from..)?.find(head).map(|at| from + at);
    }
    let at = from + text.get(from..)?.find('\n')?;
    let crlf = at > from && text.as_bytes()[at - 1] == b'\r';
    Some(at - usize::from(crlf))
}

fn carries_gutter(old: &str) -> bool {
    let numbered =
        |line: &str| line.split_once('\t').is_some_and(|(number, _)| number.parse::<u64>().is_ok());
    old.lines().all(numbered)
}

fn spaced(line: &str) -> String {
    line.split_whitespace().collect()
}

fn short(line: &str) -> String {
    let line = line.trim();
    match line.char_indices().nth(crate::limits::OPTION_COLUMNS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
