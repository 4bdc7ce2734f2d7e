//! The insertion point of a block, and the indentation and empty lines that it takes over there.

use std::ops::Range;

use crate::edit::Edit;
use crate::language::Language;
use crate::outline::Symbol;

use super::arrangement::{Arrangement, Block, InsertionPoint};
use super::indentation::{self, reindented, unit_of};
use super::spacing::{self, Spacing};
use super::terminated_text::TerminatedText;

/// Returns the edit that puts a block into the text. `moved` are lines that are taken out at the
/// same time.
pub(super) fn insertion(
    padded: &TerminatedText<'_>,
    spacing: &Spacing,
    place: &InsertionPoint,
    block: &Block,
    moved: Option<&Range<usize>>,
) -> Arrangement {
    let (text, source) = (&padded.text, padded.source);
    let ending = source.line_ending();
    let indent = place_indent(padded, place);
    let language = Some(source.language());
    // The empty lines around it are those that the place has or wants.
    let given = if block.exact { &*block.text } else { without_blank_ends(&block.text) };
    let had = indentation::indent_of(given).to_owned();
    let body = match block.exact {
        true => given.to_owned(),
        false => reindented(given, &indent, language),
    };
    let shifted = (body != given).then_some((had, indent.clone()));
    let single = body.matches('\n').count() <= 1;
    let empty = |count: usize| ending.repeat(if block.exact { 0 } else { count });
    let (range, before, after) = match place {
        InsertionPoint::Before(anchor) => {
            let anchor = padded.closed(anchor);
            let around = spacing::around(text, &anchor);
            let existing = text[around.start..anchor.start].matches('\n').count();
            let place = InsertionPoint::Before(anchor.clone());
            let gap = spacing.at_place(single, &place, moved);
            let gap = gap.unwrap_or_else(|| beside_file(padded, spacing, &anchor, single));
            let edge = spacing::is_edge_above(text, around.start, indent.len());
            let above = match edge || !spacing.ends_item(around.start) {
                true => 0,
                false => gap.saturating_sub(existing),
            };
            // A comment or an attribute belongs to what follows it.
            let gap = if spacing::is_lead(source.language(), &body) { 0 } else { gap };
            (anchor.start..anchor.start, empty(above), empty(gap))
        }
        InsertionPoint::After(anchor) => {
            let anchor = padded.closed(anchor);
            let around = spacing::around(text, &anchor);
            let existing = text[anchor.end..around.end].matches('\n').count();
            let place = InsertionPoint::After(anchor.clone());
            let gap = spacing.at_place(single, &place, moved).unwrap_or_else(|| {
                let last = text[anchor.clone()].trim_end().len();
                let blank = text[anchor.clone()][last..].matches('\n').count().saturating_sub(1);
                beside_file(padded, spacing, &anchor, single).saturating_sub(blank)
            });
            let edge = spacing::is_edge_below(text, around.end, indent.len());
            let below = match edge || !spacing.starts_item(around.end) {
                true => 0,
                false => gap.saturating_sub(existing),
            };
            (anchor.end..anchor.end, empty(gap), empty(below))
        }
        InsertionPoint::StartOf(symbol) | InsertionPoint::EndOf(symbol) => {
            return inside(padded, spacing, place, symbol, body, shifted);
        }
    };
    let start = range.start + before.len();
    let placed = start..start + body.len();
    let new = before + &body + &after;
    Arrangement { edits: vec![Edit { range, new }], placed, shifted }
}

/// Returns lines without the empty ones at their beginning and their end; lines that are all empty
/// as they are.
fn without_blank_ends(lines: &str) -> &str {
    let begin = spacing::blank_lines(lines).len();
    let end = lines.trim_end().len();
    let end = lines[end..].find('\n').map_or(lines.len(), |newline| end + newline + 1);
    lines.get(begin..end).filter(|kept| !kept.trim().is_empty()).unwrap_or(lines)
}

/// Returns how many empty lines keep an item apart from a file of code at whose end it is put,
/// where no item but a comment or an import stands.
fn beside_file(
    padded: &TerminatedText<'_>,
    spacing: &Spacing,
    anchor: &Range<usize>,
    single: bool,
) -> usize {
    let is_whole = *anchor == (0..padded.text.len()) && !padded.text.trim().is_empty();
    let is_code = !padded.source.is_plain() && padded.source.language() != Language::Markdown;
    if !is_whole || !is_code {
        return 0;
    }
    // A comment without a gap would be the item's own.
    let last = padded.text.trim_end().lines().next_back().unwrap_or_default();
    let apart = usize::from(spacing::is_lead(padded.source.language(), last));
    spacing.between_outermost(single).max(apart)
}

/// Puts a block between the braces of a symbol.
fn inside(
    padded: &TerminatedText<'_>,
    spacing: &Spacing,
    place: &InsertionPoint,
    symbol: &Symbol,
    body: String,
    shifted: Option<(String, String)>,
) -> Arrangement {
    let (text, source) = (&padded.text, padded.source);
    let ending = source.line_ending();
    let interior = symbol.interior.clone().unwrap_or(symbol.range.end..symbol.range.end);
    let interior = match interior.end == source.text().len() {
        true => padded.closed(&interior),
        false => interior,
    };
    let inner = &text[interior.clone()];
    let at_start = matches!(place, InsertionPoint::StartOf(_));
    let own_lines = text[..interior.start].ends_with('\n') && text[..interior.end].ends_with('\n');
    if !own_lines {
        // `{}` and `{ x }` are opened up.
        let indent = place_indent(padded, place);
        let inner = match inner.trim() {
            "" => String::new(),
            inner => format!("{indent}{inner}{ending}"),
        };
        let blank = |c: char| c == ' ' || c == '\t';
        let from = text[..interior.start].trim_end_matches(blank).len();
        let to = text.len() - text[interior.end..].trim_start_matches(blank).len();
        let start = from + ending.len() + if at_start { 0 } else { inner.len() };
        let placed = start..start + body.len();
        let all = if at_start { body + &inner } else { inner + &body };
        let braces = text[to..].starts_with(['}', ')']);
        let close = if braces { symbol.indent.as_str() } else { "" };
        let all = if braces { all } else { all.trim_end_matches(['\n', '\r']).to_owned() };
        let edit = Edit { range: from..to, new: format!("{ending}{all}{close}") };
        return Arrangement { edits: vec![edit], placed, shifted };
    }
    let single = body.matches('\n').count() <= 1;
    let is_empty = inner.trim().is_empty();
    let markdown = source.language() == Language::Markdown;
    let gap = if is_empty { usize::from(markdown) } else { spacing.inside(symbol, single) };
    let (at, before, after) = if at_start {
        let first = indentation::after_leading(source, &interior).unwrap_or(interior.start);
        let existing = spacing::blank_lines(&text[first..interior.end.max(first)]);
        let behind = first > interior.start;
        match markdown {
            true => (first + existing.len(), 0, gap),
            false => {
                let lines = existing.matches('\n').count();
                (first, if behind { gap } else { 0 }, gap.saturating_sub(lines))
            }
        }
    } else {
        let at = interior.start + inner.trim_end().len();
        let at = text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1);
        (if is_empty { interior.start } else { at }, gap, 0)
    };
    let (before, after) = (ending.repeat(before), ending.repeat(after));
    let start = at + before.len();
    let placed = start..start + body.len();
    let edit = Edit { range: at..at, new: before + &body + &after };
    Arrangement { edits: vec![edit], placed, shifted }
}

/// Returns the indentation of lines at a place.
pub(super) fn place_indent(padded: &TerminatedText<'_>, place: &InsertionPoint) -> String {
    let source = padded.source;
    match place {
        InsertionPoint::Before(anchor) | InsertionPoint::After(anchor) => {
            let lines = &padded.text[padded.closed(anchor)];
            indentation::indent_of(lines).to_owned()
        }
        InsertionPoint::StartOf(symbol) | InsertionPoint::EndOf(symbol) => {
            let interior = symbol.interior.clone().unwrap_or_default();
            let own_lines = source.text()[..interior.start].ends_with('\n');
            let lines = source.text().get(interior).unwrap_or_default();
            // What C++ says of the access to members is indented less than they are.
            let access = |line: &&str| {
                let word = line.trim().strip_suffix(':').map(str::trim_end);
                matches!(word, Some("public" | "private" | "protected" | "signals"))
            };
            let mut inner = lines.lines().filter(|line| !line.trim().is_empty() && !access(line));
            if let Some(line) = inner.next().filter(|_| own_lines) {
                return indentation::indent_of(line).to_owned();
            }
            if source.language() == Language::Markdown {
                return String::new();
            }
            format!("{}{}", symbol.indent, unit_of(source))
        }
    }
}
