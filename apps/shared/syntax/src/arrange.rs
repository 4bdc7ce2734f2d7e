//! Items put elsewhere, swapped, taken out and added, with the empty lines between items as the file has them.
//!
//! | module | holds |
//! |---|---|
//! | `spacing` | how many empty lines stand between items |
//! | `insertion` | where a block goes, and what it takes over there |
//! | `indentation` | blocks shifted to another indentation |
//!
//! **Invariant: what stands elsewhere stays as it is, byte for byte.** Only empty lines next to a gap or to a
//! new place may come or go.

mod indentation;
mod insertion;
mod spacing;

use std::ops::Range;

use crate::Edit;
use crate::language::Language;
use crate::outline::Symbol;
use crate::source::Source;

pub use indentation::{reindented, unit_of};
use insertion::{insertion, place_indent};
use spacing::Spacing;

/// Where a block goes. Ranges are whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Before lines.
    Before(Range<usize>),
    /// After lines.
    After(Range<usize>),
    /// At the start of what is between a symbol's braces, behind what must be first there.
    StartOf(Symbol),
    /// At the end of what is between a symbol's braces.
    EndOf(Symbol),
}

/// A block of whole lines that is put into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The lines, each with its ending.
    pub text: String,
    /// True if its indentation and its empty lines stay as they are.
    pub exact: bool,
}

/// What is to be done to a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// The replacements, in ascending order.
    pub edits: Vec<Edit>,
    /// Where the block is in the new text.
    pub placed: Range<usize>,
    /// The indentation that the block had and has, if it was shifted.
    pub shifted: Option<(String, String)>,
}

impl Arrangement {
    /// Returns the text with the edits made in it.
    pub fn apply(&self, text: &str) -> String {
        crate::extract::apply(&self.edits, text)
    }
}

/// A text whose last line has its ending.
pub(crate) struct Desk<'s> {
    source: &'s Source,
    text: String,
    /// True if the last line has no ending in the file.
    open: bool,
}

impl<'s> Desk<'s> {
    fn new(source: &'s Source) -> Self {
        let mut text = source.text().to_owned();
        let open = !text.is_empty() && !text.ends_with('\n');
        if open {
            text += source.line_ending();
        }
        Self { source, text, open }
    }

    /// A range that ends with the file ends behind the last line's ending.
    fn closed(&self, range: &Range<usize>) -> Range<usize> {
        let end = if range.end >= self.source.text().len() { self.text.len() } else { range.end };
        range.start..end
    }

    /// Returns edits of this text as edits of the file, whose last line may lack its ending.
    fn finish(&self, mut arrangement: Arrangement) -> Arrangement {
        arrangement.edits.retain(|edit| self.text[edit.range.clone()] != edit.new);
        arrangement.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        if !self.open {
            return arrangement;
        }
        let (end, ending) = (self.source.text().len(), self.source.line_ending());
        // What is put where the last lines are taken out becomes the end of the file.
        if let [.., one, other] = arrangement.edits.as_mut_slice()
            && one.range.end == other.range.start
        {
            one.range.end = other.range.end;
            one.new += &other.new;
            arrangement.edits.pop();
        }
        if let Some(last) = arrangement.edits.last_mut().filter(|edit| edit.range.end > end) {
            if last.range.start > end {
                last.new.insert_str(0, ending);
                last.range.start = end;
            }
            last.range.end = end;
            if last.new.ends_with('\n') {
                let body = last.new.strip_suffix(ending).unwrap_or(&last.new[..last.new.len() - 1]);
                last.new.truncate(body.len());
            } else {
                let before = &self.text[..last.range.start];
                let body = before
                    .strip_suffix('\n')
                    .map_or(before, |body| body.strip_suffix('\r').unwrap_or(body));
                last.range.start = body.len();
            }
        }
        let length = arrangement.apply(self.source.text()).len();
        arrangement.placed.end = arrangement.placed.end.min(length);
        arrangement.placed.start = arrangement.placed.start.min(arrangement.placed.end);
        arrangement
    }
}

/// Returns the lines of the items that a range is made of, without the empty lines around them; `None` if it isn't made of
/// whole items that are in the same one. Each has its doc comment and attributes.
pub fn whole_items(source: &Source, lines: &Range<usize>) -> Option<Range<usize>> {
    let desk = Desk::new(source);
    let lines = desk.closed(lines);
    let text = desk.text.get(lines.clone())?;
    let start = lines.start + spacing::blank_lines(text).len();
    let end = lines.start + text.trim_end().len();
    let end = desk.text[end..lines.end].find('\n').map_or(lines.end, |newline| end + newline + 1);
    let ends_of = |symbol: &Symbol| desk.closed(&symbol.whole);
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

/// Plans how lines are taken out: an item with the empty lines that it needs no more, or exactly these lines.
pub fn plan_delete(source: &Source, lines: &Range<usize>, exact: bool) -> Arrangement {
    let desk = Desk::new(source);
    let lines = desk.closed(lines);
    let edits = vec![match exact {
        true => Edit { range: lines.clone(), new: String::new() },
        false => removal(&desk, &lines),
    }];
    desk.finish(Arrangement { edits, placed: lines.start..lines.start, shifted: None })
}

/// Plans how a block is put into a file.
pub fn plan_insert(source: &Source, place: &Place, block: &Block) -> Arrangement {
    let desk = Desk::new(source);
    let arrangement = insertion(&desk, &Spacing::of(&desk), place, block, None);
    desk.finish(arrangement)
}

/// True if a place is at an item's edge or inside of an item, where items are kept apart by empty lines. Beside lines
/// that are no item, nothing is added to what is put there.
pub fn keeps_items_apart(source: &Source, place: &Place) -> bool {
    let desk = Desk::new(source);
    is_beside_item(&desk, &Spacing::of(&desk), place)
}

fn is_beside_item(desk: &Desk<'_>, spacing: &Spacing, place: &Place) -> bool {
    let place = match place {
        Place::Before(anchor) => Place::Before(desk.closed(anchor)),
        Place::After(anchor) => Place::After(desk.closed(anchor)),
        Place::StartOf(_) | Place::EndOf(_) => return true,
    };
    spacing.at_place(false, &place, None).is_some()
}

/// Plans how lines go elsewhere in their file; `None` if they are there already. With `exact` they are no item:
/// neither their indentation nor empty lines change.
pub fn plan_move(
    source: &Source,
    lines: &Range<usize>,
    place: &Place,
    exact: bool,
) -> Option<Arrangement> {
    let desk = Desk::new(source);
    let lines = desk.closed(lines);
    let spacing = Spacing::of(&desk);
    let removed = match exact {
        true => Edit { range: lines.clone(), new: String::new() },
        // Where no empty lines are added, none are taken away.
        false if !is_beside_item(&desk, &spacing, place) => {
            Edit { range: lines.clone(), new: String::new() }
        }
        false => removal(&desk, &lines),
    };
    let block = Block { text: desk.text[lines.clone()].to_owned(), exact };
    let mut arrangement = insertion(&desk, &spacing, place, &block, Some(&lines));
    let inserted = arrangement.edits.first()?.range.clone();
    let around = if exact { lines.clone() } else { spacing::around(&desk.text, &lines) };
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
    Some(desk.finish(arrangement))
}

/// Plans how two ranges of whole lines change places; `None` if they overlap. Each takes over the
/// indentation of the other's place.
pub fn plan_swap(source: &Source, one: &Range<usize>, other: &Range<usize>) -> Option<Arrangement> {
    let desk = Desk::new(source);
    let (one, other) = (desk.closed(one), desk.closed(other));
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    if first.end > second.start {
        return None;
    }
    let text = |range: &Range<usize>| desk.text[range.clone()].to_owned();
    let (indent_first, indent_second) =
        (source.indent_at(first.start).to_owned(), source.indent_at(second.start).to_owned());
    let language = Some(source.language());
    let (to_first, to_second) = (
        reindented(&text(&second), &indent_first, language),
        reindented(&text(&first), &indent_second, language),
    );
    let spacing = Spacing::of(&desk);
    let (before, to_first, after) = loosened(&desk, &spacing, &first, to_first);
    let start = first.start + before.len();
    let placed = start..start + to_first.len();
    let new = before + &to_first + &after;
    let (before, to_second, after) = loosened(&desk, &spacing, &second, to_second);
    let edits =
        vec![Edit { range: first, new }, Edit { range: second, new: before + &to_second + &after }];
    Some(desk.finish(Arrangement { edits, placed, shifted: None }))
}

/// Returns a block that takes the place of lines, with empty lines on both sides if it has several lines
/// where one line stood close to others.
fn loosened(
    desk: &Desk<'_>,
    spacing: &Spacing,
    lines: &Range<usize>,
    block: String,
) -> (String, String, String) {
    let count = |text: &str| text.matches('\n').count();
    if count(&block) <= 1 || count(&desk.text[lines.clone()]) > 1 {
        return (String::new(), block, String::new());
    }
    let gap = desk.source.line_ending().repeat(spacing.between(false, lines, None));
    let close = |is_item: bool| if is_item { gap.clone() } else { String::new() };
    (close(spacing.ends_item(lines.start)), block, close(spacing.starts_item(lines.end)))
}

/// Plans how what stands between the braces of a symbol is replaced; `None` if it has no body.
pub fn plan_replace_body(source: &Source, symbol: &Symbol, block: &Block) -> Option<Arrangement> {
    let interior = symbol.interior.clone()?;
    let desk = Desk::new(source);
    let place = Place::StartOf(symbol.clone());
    let indent = place_indent(&desk, &place);
    let had = indentation::indent_of(&block.text).to_owned();
    let body = match block.exact {
        true => block.text.clone(),
        false => reindented(&block.text, &indent, Some(source.language())),
    };
    let shifted = (body != block.text).then_some((had, indent));
    let text = &desk.text;
    let own_lines = text[..interior.start].ends_with('\n');
    if own_lines {
        let interior = match interior.end == source.text().len() {
            true => desk.closed(&interior),
            false => interior,
        };
        let placed = interior.start..interior.start + body.len();
        let edits = vec![Edit { range: interior, new: body }];
        return Some(desk.finish(Arrangement { edits, placed, shifted }));
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
        return Some(desk.finish(Arrangement { edits, placed, shifted: None }));
    }
    let ending = source.line_ending();
    let placed = from + ending.len()..from + ending.len() + body.len();
    let close = if braces { symbol.indent.as_str() } else { "" };
    let body = if braces { body } else { body.trim_end_matches(['\n', '\r']).to_owned() };
    let edits = vec![Edit { range: from..to, new: format!("{ending}{body}{close}") }];
    Some(desk.finish(Arrangement { edits, placed, shifted }))
}

/// Returns the edit that takes lines out and leaves as many empty lines as belong there.
fn removal(desk: &Desk<'_>, lines: &Range<usize>) -> Edit {
    let text = &desk.text;
    let around = spacing::around(text, lines);
    let above = text[around.start..lines.start].matches('\n').count();
    let below = text[lines.end..around.end].matches('\n').count();
    let indent = desk.source.indent_at(lines.start).len();
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
