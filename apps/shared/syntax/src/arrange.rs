//! Items put elsewhere, swapped, taken out and added, with the empty lines between items as the
//! file has them.
//!
//! | module | holds |
//! |---|---|
//! | `arrangement` | what is put where, and the edits for that |
//! | `terminated_text` | a text whose last line has its ending |
//! | `spacing` | how many empty lines stand between items |
//! | `insertion` | where a block goes, and what it takes over there |
//! | `indentation` | blocks shifted to another indentation |
//!
//! **Invariant: what stands elsewhere stays as it is, byte for byte.** Only empty lines next to a
//! gap or to a new place may come or go.

mod arrangement;
mod indentation;
mod insertion;
mod spacing;
mod terminated_text;

use std::ops::Range;

use crate::edit::Edit;
use crate::language::Language;
use crate::outline::Symbol;
use crate::source::Source;

pub use arrangement::{Arrangement, Block, InsertionPoint};
pub use indentation::{reindented, unit_of};
use insertion::{insertion, place_indent};
use spacing::Spacing;
use terminated_text::TerminatedText;

/// Returns the lines of the items that a range is made of, without the empty lines around them;
/// `None` if it isn't made of whole items that are in the same one. Each has its doc comment and
/// attributes.
pub fn whole_items(source: &Source, lines: &Range<usize>) -> Option<Range<usize>> {
    let padded = TerminatedText::new(source);
    let lines = padded.closed(lines);
    let text = padded.text.get(lines.clone())?;
    let start = lines.start + spacing::blank_lines(text).len();
    let end = lines.start + text.trim_end().len();
    let end = padded.text[end..lines.end].find('\n').map_or(lines.end, |newline| end + newline + 1);
    let ends_of = |symbol: &Symbol| padded.closed(&symbol.whole);
    let mut levels = vec![source.declarations()];
    while let Some(symbols) = levels.pop() {
        let first = symbols.iter().position(|symbol| ends_of(symbol).start == start);
        if let Some(first) = first {
            let items = symbols[first..].iter().take_while(|one| one.whole.start < end);
            let whole = items.clone().all(|one| one.is_whole_lines(source.text()));
            let last = items.last();
            return (whole && last.is_some_and(|last| ends_of(last).end == end))
                .then_some(start..end);
        }
        levels.extend(symbols.into_iter().map(|symbol| symbol.children));
    }
    None
}

/// Plans how lines are taken out: an item with the empty lines that it needs no more, or exactly
/// these lines.
pub fn plan_delete(source: &Source, lines: &Range<usize>, exact: bool) -> Arrangement {
    let padded = TerminatedText::new(source);
    let lines = padded.closed(lines);
    let edits = vec![match exact {
        true => Edit { range: lines.clone(), new: String::new() },
        false => removal(&padded, &lines),
    }];
    padded.finish(Arrangement { edits, placed: lines.start..lines.start, shifted: None })
}

/// Plans how a block is put into a file.
pub fn plan_insert(source: &Source, place: &InsertionPoint, block: &Block) -> Arrangement {
    let padded = TerminatedText::new(source);
    let arrangement = insertion(&padded, &Spacing::of(&padded), place, block, None);
    padded.finish(arrangement)
}

/// True if a place is at an item's edge or inside of an item, where items are kept apart by empty
/// lines. Beside lines that are no item, nothing is added to what is put there.
pub fn keeps_items_apart(source: &Source, place: &InsertionPoint) -> bool {
    let padded = TerminatedText::new(source);
    is_beside_item(&padded, &Spacing::of(&padded), place)
}

fn is_beside_item(padded: &TerminatedText<'_>, spacing: &Spacing, place: &InsertionPoint) -> bool {
    let place = match place {
        InsertionPoint::Before(anchor) => InsertionPoint::Before(padded.closed(anchor)),
        InsertionPoint::After(anchor) => InsertionPoint::After(padded.closed(anchor)),
        InsertionPoint::StartOf(_) | InsertionPoint::EndOf(_) => return true,
    };
    spacing.at_place(false, &place, None).is_some()
}

/// Plans how lines go elsewhere in their file; `None` if they are there already. With `exact` they
/// are no item: neither their indentation nor empty lines change.
pub fn plan_move(
    source: &Source,
    lines: &Range<usize>,
    place: &InsertionPoint,
    exact: bool,
) -> Option<Arrangement> {
    let padded = TerminatedText::new(source);
    let lines = padded.closed(lines);
    let spacing = Spacing::of(&padded);
    let removed = match exact {
        true => Edit { range: lines.clone(), new: String::new() },
        // Where no empty lines are added, none are taken away.
        false if !is_beside_item(&padded, &spacing, place) => {
            Edit { range: lines.clone(), new: String::new() }
        }
        false => removal(&padded, &lines),
    };
    let block = Block { text: padded.text[lines.clone()].to_owned(), exact };
    let mut arrangement = insertion(&padded, &spacing, place, &block, Some(&lines));
    let inserted = arrangement.edits.first()?.range.clone();
    let around = if exact { lines.clone() } else { spacing::around(&padded.text, &lines) };
    let is_there = around.start <= inserted.start && inserted.end <= around.end;
    if is_there && arrangement.shifted.is_none() {
        return None;
    }
    let growth = |edit: &Edit| edit.new.len() as isize - edit.range.len() as isize;
    if removed.range.start < inserted.start {
        let shift = growth(&removed);
        arrangement.placed.start = arrangement.placed.start.saturating_add_signed(shift);
        arrangement.placed.end = arrangement.placed.end.saturating_add_signed(shift);
    }
    arrangement.edits.push(removed);
    Some(padded.finish(arrangement))
}

/// Plans how two ranges of whole lines change places; `None` if they overlap. Each takes over the
/// indentation of the other's place.
pub fn plan_swap(source: &Source, one: &Range<usize>, other: &Range<usize>) -> Option<Arrangement> {
    let padded = TerminatedText::new(source);
    let (one, other) = (padded.closed(one), padded.closed(other));
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    if first.end > second.start {
        return None;
    }
    let text = |range: &Range<usize>| padded.text[range.clone()].to_owned();
    let (indent_first, indent_second) =
        (source.indent_at(first.start).to_owned(), source.indent_at(second.start).to_owned());
    let language = Some(source.language());
    let (to_first, to_second) = (
        reindented(&text(&second), &indent_first, language),
        reindented(&text(&first), &indent_second, language),
    );
    let spacing = Spacing::of(&padded);
    let (before, to_first, after) = loosened(&padded, &spacing, &first, to_first);
    let start = first.start + before.len();
    let placed = start..start + to_first.len();
    let new = before + &to_first + &after;
    let (before, to_second, after) = loosened(&padded, &spacing, &second, to_second);
    let edits =
        vec![Edit { range: first, new }, Edit { range: second, new: before + &to_second + &after }];
    Some(padded.finish(Arrangement { edits, placed, shifted: None }))
}

/// Returns a block that takes the place of lines, with empty lines on both sides if it has several
/// lines where one line stood close to others.
fn loosened(
    padded: &TerminatedText<'_>,
    spacing: &Spacing,
    lines: &Range<usize>,
    block: String,
) -> (String, String, String) {
    let count = |text: &str| text.matches('\n').count();
    if count(&block) <= 1 || count(&padded.text[lines.clone()]) > 1 {
        return (String::new(), block, String::new());
    }
    let gap = padded.source.line_ending().repeat(spacing.between(false, lines, None));
    let close = |is_item: bool| if is_item { gap.clone() } else { String::new() };
    (close(spacing.ends_item(lines.start)), block, close(spacing.starts_item(lines.end)))
}

/// Plans how what stands between the braces of a symbol is replaced; `None` if it has no body.
pub fn plan_replace_body(source: &Source, symbol: &Symbol, block: &Block) -> Option<Arrangement> {
    let interior = symbol.interior.clone()?;
    let padded = TerminatedText::new(source);
    let place = InsertionPoint::StartOf(symbol.clone());
    let indent = place_indent(&padded, &place);
    let had = indentation::indent_of(&block.text).to_owned();
    let body = match block.exact {
        true => block.text.clone(),
        false => reindented(&block.text, &indent, Some(source.language())),
    };
    let shifted = (body != block.text).then_some((had, indent));
    let text = &padded.text;
    let own_lines = text[..interior.start].ends_with('\n');
    if own_lines {
        let interior = match interior.end == source.text().len() {
            true => padded.closed(&interior),
            false => interior,
        };
        let placed = interior.start..interior.start + body.len();
        let edits = vec![Edit { range: interior, new: body }];
        return Some(padded.finish(Arrangement { edits, placed, shifted }));
    }
    let blank = |c: char| c == ' ' || c == '\t';
    let from = text[..interior.start].trim_end_matches(blank).len();
    let to = text.len() - text[interior.end..].trim_start_matches(blank).len();
    let braces = text[to..].starts_with('}');
    if !braces && source.language() != Language::Python {
        // An expression stands for the body.
        let new = block.text.trim().to_owned();
        let placed = interior.start..interior.start + new.len();
        let edits = vec![Edit { range: interior, new }];
        return Some(padded.finish(Arrangement { edits, placed, shifted: None }));
    }
    let ending = source.line_ending();
    let placed = from + ending.len()..from + ending.len() + body.len();
    let close = if braces { symbol.indent.as_str() } else { "" };
    let body = if braces { body } else { body.trim_end_matches(['\n', '\r']).to_owned() };
    let edits = vec![Edit { range: from..to, new: format!("{ending}{body}{close}") }];
    Some(padded.finish(Arrangement { edits, placed, shifted }))
}

/// Returns the edit that takes lines out and leaves as many empty lines as belong there.
fn removal(padded: &TerminatedText<'_>, lines: &Range<usize>) -> Edit {
    let text = &padded.text;
    let around = spacing::around(text, lines);
    let above = text[around.start..lines.start].matches('\n').count();
    let below = text[lines.end..around.end].matches('\n').count();
    let indent = padded.source.indent_at(lines.start).len();
    let first = spacing::is_edge_above(text, around.start, indent);
    let last = spacing::is_edge_below(text, around.end, indent);
    // What stays is one of the two gaps as it was written.
    let stays_above = match (first, last) {
        (true, true) => above <= below,
        (true, false) => true,
        (false, true) => false,
        (false, false) => above >= below,
    };
    let range = if stays_above { lines.start..around.end } else { around.start..lines.end };
    Edit { range, new: String::new() }
}
