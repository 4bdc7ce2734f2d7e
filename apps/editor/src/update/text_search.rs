//! Where a text occurs that is similar to one that occurs nowhere, and the line endings of what replaces a text.

use crate::limits::OPTION_COLUMNS_MAX;

use super::gutter::carries_gutter;

/// Returns the replacement with the line endings of the text that it replaces. Further lines get the
/// file's line ending.
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
