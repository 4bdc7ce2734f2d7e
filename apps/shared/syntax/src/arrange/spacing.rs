//! The number of empty lines between items.

use std::ops::Range;

use crate::language::Language;
use crate::outline::{Symbol, SymbolKind};
use crate::regions::regions_of;

use super::arrangement::InsertionPoint;
use super::terminated_text::TerminatedText;

/// Two neighbours.
struct Pair {
    /// The enclosing block of the items: an index of [`Spacing::containers`].
    container: usize,
    depth: usize,
    /// True if both are a line each.
    single: bool,
    gap: usize,
    items: [Range<usize>; 2],
}

/// The empty lines between the items of a file.
pub(super) struct Spacing {
    language: Language,
    pairs: Vec<Pair>,
    containers: Vec<Range<usize>>,
    /// The items, outer ones first.
    items: Vec<Item>,
}

/// An item: its lines, its depth, and whether it is a single line.
type Item = (Range<usize>, usize, bool);

impl Spacing {
    pub(super) fn of(padded: &TerminatedText<'_>) -> Self {
        let language = padded.source.language();
        let all = 0..padded.text.len();
        let mut spacing =
            Self { language, pairs: Vec::new(), containers: vec![all], items: Vec::new() };
        spacing.collect(padded, &padded.source.declarations(), 0, 0);
        spacing
    }

    fn collect(
        &mut self,
        padded: &TerminatedText<'_>,
        symbols: &[Symbol],
        container: usize,
        depth: usize,
    ) {
        let mut before: Option<(Range<usize>, bool)> = None;
        for symbol in symbols {
            let lines = padded.closed(&symbol.whole);
            if symbol.is_whole_lines(padded.source.text()) {
                let single = padded.text[lines.clone()].matches('\n').count() <= 1;
                self.items.push((lines.clone(), depth, single));
                if let Some((other, other_single)) = before.replace((lines.clone(), single))
                    && other.end <= lines.start
                    && padded.text[other.end..lines.start].trim().is_empty()
                {
                    let gap = padded.text[other.end..lines.start].matches('\n').count();
                    let single = single && other_single;
                    self.pairs.push(Pair { container, depth, single, gap, items: [other, lines] });
                }
            }
            if !symbol.children.is_empty() {
                self.containers.push(symbol.range.clone());
                self.collect(padded, &symbol.children, self.containers.len() - 1, depth + 1);
            }
        }
    }

    /// Returns how many empty lines go between a block and lines that it is put next to. `moved`
    /// are lines that don't count, because they go away.
    pub(super) fn between(
        &self,
        single: bool,
        neighbour: &Range<usize>,
        moved: Option<&Range<usize>>,
    ) -> usize {
        let is_it = |(lines, ..): &&Item| lines == neighbour;
        self.items.iter().find(is_it).map_or(0, |item| self.beside(single, item, moved))
    }

    /// Returns how many empty lines go between a block and the item that begins or ends where it is
    /// put; `None` if none does.
    pub(super) fn at_place(
        &self,
        single: bool,
        place: &InsertionPoint,
        moved: Option<&Range<usize>>,
    ) -> Option<usize> {
        let is_there = |(lines, ..): &&Item| match place {
            InsertionPoint::Before(anchor) => lines.start == anchor.start,
            InsertionPoint::After(anchor) => lines.end == anchor.end,
            InsertionPoint::StartOf(_) | InsertionPoint::EndOf(_) => false,
        };
        // Of several the outermost, which comes first, unless one of them is meant exactly.
        let (InsertionPoint::Before(anchor) | InsertionPoint::After(anchor)) = place else {
            return None;
        };
        let exactly = self.items.iter().find(|(lines, ..)| lines == anchor);
        let item = exactly.or_else(|| self.items.iter().find(is_there))?;
        Some(self.beside(single, item, moved))
    }

    fn beside(&self, single: bool, item: &Item, moved: Option<&Range<usize>>) -> usize {
        let (neighbour, depth, other) = item;
        let at = neighbour.start;
        let container = self.containers.iter().enumerate().rev();
        let container = container
            .filter(|(_, range)| range.contains(&at) && range.start < neighbour.start.max(1))
            .min_by_key(|(_, range)| range.len())
            .map_or(0, |(index, _)| index);
        self.usual(container, *depth, single && *other, moved)
    }

    /// Returns how many empty lines go between items of a file that lie in no other.
    pub(super) fn between_outermost(&self, single: bool) -> usize {
        self.usual(0, 0, single, None)
    }

    /// Returns how many empty lines go between a block and what is in a symbol already.
    pub(super) fn inside(&self, symbol: &Symbol, single: bool) -> usize {
        match symbol.kind {
            SymbolKind::Heading => 1,
            SymbolKind::Class
            | SymbolKind::Impl
            | SymbolKind::Interface
            | SymbolKind::Enum
            | SymbolKind::Module => {
                let container = self.containers.iter().position(|one| *one == symbol.range);
                let of_enum = symbol.kind == SymbolKind::Enum && single;
                let depth = self.items.iter().find(|(lines, ..)| *lines == symbol.whole);
                let depth = depth.map_or(1, |(_, depth, _)| depth + 1);
                // The neighbour isn't looked at: fields are single lines beside which methods
                // aren't.
                let dense = container.is_some_and(|index| {
                    let mut pairs = self.pairs.iter().filter(|pair| pair.container == index);
                    single && pairs.any(|pair| pair.single && pair.gap == 0)
                });
                match dense || of_enum {
                    true => 0,
                    false => self.usual(container.unwrap_or(usize::MAX), depth, false, None),
                }
            }
            _ => 0,
        }
    }

    fn usual(
        &self,
        container: usize,
        depth: usize,
        single: bool,
        moved: Option<&Range<usize>>,
    ) -> usize {
        let stays = |pair: &&Pair| pair.items.iter().all(|item| Some(item) != moved);
        let tests: [&dyn Fn(&Pair) -> bool; 3] = [
            &|pair| pair.container == container && pair.single == single,
            &|pair| pair.depth == depth && pair.single == single,
            &|pair| pair.single == single && !single && depth > 0 && pair.depth > 0,
        ];
        for moved_counts in [false, true] {
            for test in tests {
                let gaps = self.pairs.iter().filter(|pair| test(pair));
                let gaps = gaps.filter(|pair| moved_counts || stays(pair)).map(|pair| pair.gap);
                if let Some(gap) = most_frequent(gaps) {
                    return gap;
                }
            }
        }
        match (single, self.language, depth) {
            (true, ..) => 0,
            (false, Language::Python, 0) => 2,
            _ => 1,
        }
    }

    /// True if an item ends at a byte.
    pub(super) fn ends_item(&self, at: usize) -> bool {
        self.items.iter().any(|(lines, ..)| lines.end == at)
    }

    /// True if an item begins at a byte.
    pub(super) fn starts_item(&self, at: usize) -> bool {
        self.items.iter().any(|(lines, ..)| lines.start == at)
    }
}

/// Returns the most frequent number; of equally frequent ones, the first.
fn most_frequent(all: impl Iterator<Item = usize>) -> Option<usize> {
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for one in all {
        match counts.iter_mut().find(|(number, _)| *number == one) {
            Some((_, count)) => *count += 1,
            None => counts.push((one, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.iter().find(|(_, count)| *count == most).map(|(number, _)| *number)
}

/// Returns the empty lines that a text begins with.
pub(super) fn blank_lines(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() || !line.ends_with('\n') {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

/// Returns whole lines with the empty lines on both sides.
pub(super) fn around(text: &str, lines: &Range<usize>) -> Range<usize> {
    let mut start = lines.start;
    while start > 0 {
        let before = text[..start - 1].rfind('\n').map_or(0, |newline| newline + 1);
        if !text[before..start].trim().is_empty() {
            break;
        }
        start = before;
    }
    start..lines.end + blank_lines(&text[lines.end..]).len()
}

/// True if nothing on the same level stands above a byte.
pub(super) fn is_edge_above(text: &str, at: usize, indent: usize) -> bool {
    let Some(line) = text[..at].lines().next_back() else { return true };
    let body = line.trim();
    line.len() - line.trim_start().len() < indent || body.ends_with(['{', '(', '['])
}

/// True if nothing on the same level stands below a byte.
pub(super) fn is_edge_below(text: &str, at: usize, indent: usize) -> bool {
    let Some(line) = text[at..].lines().next() else { return true };
    line.len() - line.trim_start().len() < indent || line.trim().starts_with(['}', ')', ']'])
}

/// True for lines that belong to the item that follows them: comments, attributes, decorators, and
/// no empty line at the end.
pub(super) fn is_lead(language: Language, lines: &str) -> bool {
    let comments = regions_of(Some(language), lines).comments;
    let mut at = 0;
    let mut leads = |line: &str| {
        let text = line.trim();
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        let lies_in =
            |comment: &Range<usize>| comment.start <= start && start + text.len() <= comment.end;
        let marks: &[&str] = match language {
            Language::Rust => &["#["],
            Language::CSharp => &["["],
            Language::Python | Language::Java => &["@"],
            language if language.is_ecmascript() => &["@"],
            _ => &[],
        };
        comments.iter().any(lies_in) || marks.iter().any(|mark| text.starts_with(mark))
    };
    let all = lines.split_inclusive('\n').all(&mut leads);
    all && !lines.trim().is_empty() && !lines.ends_with("\n\n") && !lines.ends_with("\n\r\n")
}
