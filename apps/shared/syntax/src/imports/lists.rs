//! Edits of import statements: names that come and go, statements that come and go with their
//! lines.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::Edit;
use crate::source::Source;

use super::statements::Statement;

/// Returns the edits that take names out of a statement's list and add others behind those that
/// stay.
pub(super) fn change_list(
    source: &Source,
    statement: &Statement,
    removed: &BTreeSet<usize>,
    added: &[String],
) -> Vec<Edit> {
    let names = &statement.names;
    let list = statement.list.clone().unwrap_or(statement.range.clone());
    let kept = (0..names.len()).rev().find(|index| !removed.contains(index));
    let (Some(first), Some(last)) = (names.first(), names.last()) else {
        // `{}`
        let inside = list.start + 1..list.end.saturating_sub(1).max(list.start + 1);
        let new = format!(" {} ", added.join(", "));
        return vec![Edit { range: inside, new }];
    };
    let Some(kept) = kept else {
        let range = first.range.start..last.range.end;
        return vec![Edit { range, new: added.join(", ") }];
    };
    let trailing = comma_after(source, last.range.end).filter(|at| *at < list.end);
    let mut edits = Vec::new();
    for run in runs(removed) {
        let ends = *run.end() + 1 == names.len();
        let lines: Option<Vec<_>> =
            run.clone().map(|index| own_line(source, statement, &names[index].range)).collect();
        let (from, to) = (*run.start(), *run.end());
        if let Some(lines) = lines {
            edits.extend(lines.into_iter().map(|range| Edit { range, new: String::new() }));
            let comma = comma_after(source, names[from.saturating_sub(1)].range.end);
            if let Some(comma) = comma.filter(|_| ends && trailing.is_none() && added.is_empty()) {
                edits.push(Edit { range: comma..comma + 1, new: String::new() });
            }
        } else if ends {
            let range = names[from - 1].range.end..names[to].range.end;
            edits.push(Edit { range, new: String::new() });
        } else {
            let range = names[from].range.start..names[to + 1].range.start;
            edits.push(Edit { range, new: String::new() });
        }
    }
    if added.is_empty() {
        return edits;
    }
    let after = &names[kept].range;
    // Where the end of the list goes within a line, what is added takes its place.
    let is_own_line = |index: usize| own_line(source, statement, &names[index].range).is_some();
    let cut = runs(removed)
        .iter()
        .any(|run| *run.end() + 1 == names.len() && !run.clone().all(is_own_line));
    match own_line(source, statement, after).filter(|_| !cut) {
        None => {
            edits.push(Edit { range: after.end..after.end, new: format!(", {}", added.join(", ")) })
        }
        Some(_) => {
            let indent = source.indent_at(after.start);
            let ending = source.line_ending();
            let line_end = source.line_end(after.end);
            if kept + 1 == names.len() && trailing.is_none() {
                edits.push(Edit { range: after.end..after.end, new: ",".to_owned() });
            }
            let added: Vec<_> = added.iter().map(|one| format!("{ending}{indent}{one}")).collect();
            let comma = if trailing.is_some() { "," } else { "" };
            let new = added.join(",") + comma;
            edits.push(Edit { range: line_end..line_end, new });
        }
    }
    edits
}

/// Returns the edits that take out the whole list, where a default import stands before it.
pub(super) fn drop_list(statement: &Statement) -> Option<Edit> {
    let (default, list) = (statement.default.as_ref()?, statement.list.as_ref()?);
    Some(Edit { range: default.range.end..list.end, new: String::new() })
}

/// Returns the edit that takes a statement out, with its line if nothing else stands there, and
/// with the empty lines that would be too many then.
pub(super) fn delete_statement(source: &Source, range: &Range<usize>) -> Edit {
    let text = source.text();
    let start = source.line_start(range.start);
    let end = text[range.end..].find('\n').map_or(text.len(), |newline| range.end + newline + 1);
    let rest = text[range.end..end].trim_start_matches([';', ' ', '\t']);
    let alone = text[start..range.start].trim().is_empty() && is_comment_or_empty(rest);
    if !alone {
        return Edit { range: with_separator(text, range, start..end), new: String::new() };
    }
    let above = blank_lines_before(text, start);
    let below = blank_lines_after(text, end);
    let at_start = above.start == 0;
    let range = match (above.is_empty() && !at_start, below.is_empty()) {
        (true, _) | (_, true) => start..end,
        _ if at_start
            || text[above.clone()].matches('\n').count()
                > text[below.clone()].matches('\n').count() =>
        {
            start..below.end
        }
        _ => above.start..end,
    };
    // The last line of a file without an ending takes the ending before it along.
    let open = range.end == text.len() && !text.ends_with('\n') && range.start > 0;
    let before = text[..range.start].strip_suffix('\n').filter(|_| open);
    let before = before.map(|before| before.strip_suffix('\r').unwrap_or(before).len());
    Edit { range: before.unwrap_or(range.start)..range.end, new: String::new() }
}

/// Returns a statement that shares its line with the `;` that keeps it apart from another one,
/// unless that is its own.
fn with_separator(text: &str, range: &Range<usize>, line: Range<usize>) -> Range<usize> {
    let blank = [' ', '\t'];
    if text[range.clone()].ends_with(';') {
        return range.clone();
    }
    if let Some(behind) = text[range.end..line.end].trim_start_matches(blank).strip_prefix(';') {
        let rest = behind.trim_start_matches(blank).len();
        return range.start..line.end - rest;
    }
    let before = text[line.start..range.start].trim_end_matches(blank);
    match before.strip_suffix(';') {
        Some(before) => line.start + before.trim_end_matches(blank).len()..range.end,
        None => range.clone(),
    }
}

/// Returns the edit that puts a statement below another one.
pub(super) fn put_below(source: &Source, other: &Range<usize>, statement: &str) -> Edit {
    let text = source.text();
    let end = text[..other.end].trim_end().len().max(other.start);
    let line_end = source.line_end(end);
    let ending = source.line_ending();
    let rest = text[end..line_end].trim_start_matches([';', ' ', '\t']);
    let closed = !rest.starts_with("/*") || rest.ends_with("*/");
    let starts_line = text[source.line_start(other.start)..other.start].trim().is_empty();
    if is_comment_or_empty(rest) && closed && starts_line {
        let indent = source.indent_at(other.start);
        return Edit { range: line_end..line_end, new: format!("{ending}{indent}{statement}") };
    }
    // Other code shares the line.
    let joint = if text[..end].ends_with(';') { " " } else { "; " };
    let new = format!("{joint}{}", statement.trim_end_matches(';'));
    let new = if rest.is_empty() || text[end..].starts_with(';') { new } else { new + ";" };
    Edit { range: end..end, new }
}

/// Puts edits in order. Deletions that touch each other become one.
pub(super) fn in_order(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut all: Vec<Edit> = Vec::new();
    for edit in edits {
        match all.last_mut() {
            Some(last) if edit.range.start < last.range.end => {
                last.range.end = last.range.end.max(edit.range.end);
                last.new += &edit.new;
            }
            _ => all.push(edit),
        }
    }
    all
}

/// Returns the line of a name in a list, with its ending and a comment, if the name has it for
/// itself.
fn own_line(source: &Source, statement: &Statement, name: &Range<usize>) -> Option<Range<usize>> {
    let (text, list) = (source.text(), statement.list.clone()?);
    let start = source.line_start(name.start);
    let end = name.end + text[name.end..].find('\n')? + 1;
    let rest = text[name.end..end].trim_start();
    let rest = rest.strip_prefix(',').unwrap_or(rest);
    let alone = text[start..name.start].trim().is_empty() && is_comment_or_empty(rest);
    (alone && start > list.start && end < list.end).then_some(start..end)
}

fn is_comment_or_empty(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        || text.starts_with("//")
        || text.starts_with('#')
        || (text.starts_with("/*") && text.find("*/") == Some(text.len() - 2))
}

/// Returns where the comma behind a name stands.
fn comma_after(source: &Source, end: usize) -> Option<usize> {
    let rest = &source.text()[end..];
    let at = end + rest.len() - rest.trim_start().len();
    source.text()[at..].starts_with(',').then_some(at)
}

fn runs(indexes: &BTreeSet<usize>) -> Vec<std::ops::RangeInclusive<usize>> {
    let mut runs: Vec<std::ops::RangeInclusive<usize>> = Vec::new();
    for index in indexes.iter().copied() {
        match runs.last_mut() {
            Some(run) if *run.end() + 1 == index => *run = *run.start()..=index,
            _ => runs.push(index..=index),
        }
    }
    runs
}

fn blank_lines_before(text: &str, at: usize) -> Range<usize> {
    let mut start = at;
    while let Some(before) = text[..start].strip_suffix('\n') {
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        if !before[line..].trim().is_empty() {
            break;
        }
        start = line;
    }
    start..at
}

fn blank_lines_after(text: &str, at: usize) -> Range<usize> {
    let mut end = at;
    while let Some(newline) = text[end..].find('\n') {
        if !text[end..end + newline].trim().is_empty() {
            break;
        }
        end += newline + 1;
    }
    at..end
}
