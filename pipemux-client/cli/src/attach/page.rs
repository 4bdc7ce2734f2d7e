//! A window's Markdown as lines for a person: links are words with a number behind them, things are
//! words, and what is only markup isn't shown.
//!
//! The text stays as the app laid it out, since pulldown-cmark tells where each piece of markup
//! stands: only that is hidden or styled, and what is no markup is never lost.

use std::collections::BTreeMap;
use std::ops::Range;

use pipemux_client::proto::refs;
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag};

use super::code;
use super::look::{Line, Look, Span, Theme};
use super::marked_text::MarkedText;
use super::rows::text_of;
use super::table::{self, Table};
use super::window::link_number;

/// Most elements within each other that are drawn as what they are. Without a bound each byte would
/// be marked as often as elements can enclose it.
const NESTED_MAX: usize = 32;

/// The lines of a text, and its links in the order of their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub lines: Vec<Line>,
    pub links: Vec<u64>,
}

/// Reads a text whose first link has the number `first`. A link that comes again has its number
/// again.
pub fn read(text: &str, first: usize, theme: Theme) -> Page {
    let mut markup = Markup::new(text);
    markup.mark(0..text.len(), true);
    // Those are for calls.
    for (range, _) in refs::scan::find(text) {
        if text.get(range.clone()).is_some_and(|found| found.starts_with("[[")) {
            markup.look(range, Look::DIM);
        }
    }
    markup.page(first, theme)
}

/// The parsed markup of a text.
struct Markup<'t> {
    text: &'t str,
    /// The style of each byte.
    looks: Vec<Look>,
    /// The ids of links, by the byte at which they end.
    ends: BTreeMap<usize, u64>,
    /// The refs of objects, by the byte at which they end.
    things: BTreeMap<usize, String>,
    /// Blocks that aren't shown line by line as they are written, in order.
    blocks: Vec<(Range<usize>, Block)>,
}

enum Block {
    /// The text between the fences.
    Code(String),
    Table(Table),
}

impl<'t> Markup<'t> {
    fn new(text: &'t str) -> Self {
        let looks = vec![Look::PLAIN; text.len()];
        let (ends, things) = (BTreeMap::new(), BTreeMap::new());
        Markup { text, looks, ends, things, blocks: Vec::new() }
    }

    fn look(&mut self, range: Range<usize>, look: Look) {
        for known in self.looks.get_mut(range).unwrap_or_default() {
            *known = *known | look;
        }
    }

    /// Marks a part of the text. `whole` is false for a line on its own.
    fn mark(&mut self, part: Range<usize>, whole: bool) {
        let base = part.start;
        let Some(text) = self.text.get(part) else { return };
        let options = if whole { Options::ENABLE_TABLES } else { Options::empty() };
        // The elements that are open, each with what its own markup encloses.
        let mut open: Vec<(Tag<'_>, Option<Range<usize>>)> = Vec::new();
        // The cells of the table that is open, and what the block of code has so far.
        let mut rows: Vec<Vec<Range<usize>>> = Vec::new();
        let mut code = String::new();
        // Where the last piece of text ended: a backslash behind that escapes the next one.
        let mut before = base;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            let range = base + range.start..base + range.end;
            match event {
                Event::Start(tag) => {
                    if let Tag::TableHead | Tag::TableRow = tag {
                        rows.push(Vec::new());
                    }
                    open.push((tag, None));
                    continue;
                }
                Event::End(_) => match open.pop() {
                    Some((Tag::TableCell, _)) => {
                        rows.last_mut().into_iter().for_each(|row| row.push(range.clone()));
                    }
                    Some((Tag::TableHead | Tag::TableRow, _)) => {
                        if let Some(row) = rows.last_mut() {
                            row.extend(table::surplus(self.text, row.last(), range.clone()));
                        }
                    }
                    Some((Tag::Table(alignments), _)) => {
                        let table = Table { rows: std::mem::take(&mut rows), alignments };
                        self.blocks.push((range.clone(), Block::Table(table)));
                    }
                    Some((Tag::CodeBlock(CodeBlockKind::Fenced(_)), _)) if whole => {
                        self.blocks.push((range.clone(), Block::Code(std::mem::take(&mut code))));
                    }
                    Some((tag, inner)) if open.len() < NESTED_MAX => {
                        self.element(&tag, inner, range.clone(), whole);
                    }
                    _ => {}
                },
                Event::Code(_) => {
                    let code = self.text.get(range.clone()).unwrap_or_default();
                    let ticks = code.len() - code.trim_start_matches('`').len();
                    self.look(range.clone(), Look::CODE);
                    self.look(range.start..range.start + ticks, Look::HIDDEN);
                    self.look(range.end.saturating_sub(ticks)..range.end, Look::HIDDEN);
                }
                Event::Text(text)
                    if matches!(
                        open.last(),
                        Some((Tag::CodeBlock(CodeBlockKind::Fenced(_)), _))
                    ) =>
                {
                    code.push_str(&text);
                }
                Event::Text(_) => {
                    let escape = range.start.checked_sub(1).filter(|at| *at >= before);
                    if let Some(at) = escape.filter(|at| self.text.get(*at..*at + 1) == Some("\\"))
                    {
                        self.look(at..at + 1, Look::HIDDEN);
                    }
                }
                _ => {}
            }
            before = before.max(range.end);
            if let Some((_, inner)) = open.last_mut() {
                let start = inner.as_ref().map_or(range.start, |inner| inner.start);
                *inner = Some(start..range.end.max(start));
            }
        }
    }

    /// Marks an element that has ended.
    fn element(
        &mut self,
        tag: &Tag<'_>,
        inner: Option<Range<usize>>,
        range: Range<usize>,
        whole: bool,
    ) {
        match tag {
            Tag::Heading { .. } if whole => {
                self.look(range.clone(), Look::STRONG);
                if self.text.get(range.clone()).is_some_and(|text| text.starts_with('#')) {
                    let end = inner.map_or(range.start, |inner| inner.start);
                    self.look(range.start..end, Look::HIDDEN);
                }
            }
            Tag::Strong => self.emphasis(range, inner, Look::STRONG),
            Tag::Emphasis => self.emphasis(range, inner, Look::EMPHASIS),
            Tag::BlockQuote(_) => self.look(range, Look::DIM),
            Tag::Link { link_type: LinkType::Inline, dest_url, .. } => {
                self.anchor(dest_url, range, inner);
            }
            // An app indents by any number of spaces, and writes angle brackets: what is in such a
            // line is no code.
            Tag::CodeBlock(CodeBlockKind::Indented) | Tag::HtmlBlock if whole => {
                let text = self.text.get(range.clone()).unwrap_or_default();
                let mut start = range.start;
                for line in text.split_inclusive('\n') {
                    let words = line.trim();
                    let at = start + line.len() - line.trim_start().len();
                    self.mark(at..at + words.len(), false);
                    start += line.len();
                }
            }
            _ => {}
        }
    }

    /// Marks an emphasis. Its asterisks are hidden unless they stand within a word: those may be a
    /// product. Underscores stay, for they may belong to a name.
    fn emphasis(&mut self, range: Range<usize>, inner: Option<Range<usize>>, look: Look) {
        self.look(range.clone(), look);
        let before = self.text.get(..range.start).and_then(|text| text.chars().next_back());
        let behind = self.text.get(range.end..).and_then(|text| text.chars().next());
        let in_word = before.into_iter().chain(behind).any(char::is_alphanumeric);
        let of_asterisks = self.text.get(range.clone()).is_some_and(|text| text.starts_with('*'));
        if let Some(inner) = inner.filter(|_| of_asterisks && !in_word) {
            self.look(range.start..inner.start, Look::HIDDEN);
            self.look(inner.end..range.end, Look::HIDDEN);
        }
    }

    /// Marks a link or a thing. Another destination is shown: it may not be what its words promise.
    fn anchor(&mut self, to: &str, range: Range<usize>, inner: Option<Range<usize>>) {
        let inner = inner.unwrap_or(range.start..range.start);
        let look = match link_number(to) {
            Some(link) => {
                self.ends.insert(range.end, link);
                Look::LINK
            }
            None if to.starts_with("obj:") => {
                self.things.insert(range.end, to.to_owned());
                Look::OBJECT
            }
            None => return,
        };
        self.look(inner.clone(), look);
        self.look(range.start..inner.start, Look::HIDDEN);
        self.look(inner.end..range.end, Look::HIDDEN);
    }

    /// Makes the lines of the whole text.
    fn page(mut self, first: usize, theme: Theme) -> Page {
        let mut links: Vec<u64> = Vec::new();
        let mut numbers = BTreeMap::new();
        let mut known = BTreeMap::new();
        for (end, link) in &self.ends {
            let number = *known.entry(*link).or_insert_with(|| {
                links.push(*link);
                first + links.len() - 1
            });
            numbers.insert(*end, theme.number(number));
        }
        self.blocks.sort_by_key(|(range, _)| range.start);
        let written = MarkedText { text: self.text, looks: &self.looks, numbers: &numbers, theme };
        let mut lines = Vec::new();
        let (mut start, mut blocks) = (0, self.blocks.iter().peekable());
        for line in self.text.split_inclusive('\n') {
            let end = start + line.trim_end_matches('\n').len();
            while blocks.next_if(|(range, _)| range.end <= start).is_some() {}
            let block = blocks.peek().filter(|(range, _)| range.start < end.max(start + 1));
            match block {
                None => {
                    let things = self.things.range(start..=end).map(|(_, thing)| thing.clone());
                    let things = things.collect();
                    lines.push(Line { things, ..prose(written.spans(start..end)) });
                }
                Some((range, Block::Code(code))) if range.start >= start => {
                    lines.extend(code::lines(code, theme));
                }
                Some((range, Block::Table(table))) if range.start >= start => {
                    lines.extend(table.lines(&written, start..range.start, theme));
                }
                // The block's first line brought all of it.
                Some(_) => {}
            }
            start += line.len();
        }
        Page { lines, links }
    }
}

/// Makes a line of prose. Its further rows begin below its words: behind the spaces and the mark of
/// a list.
fn prose(body: Vec<Span>) -> Line {
    let text = text_of(&body);
    let words = text.trim_start_matches(' ');
    let digits = words.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[&str] =
        if digits.len() < words.len() { &[". ", ") "] } else { &["- ", "* ", "+ "] };
    let mark = marks.iter().find(|mark| digits.starts_with(**mark));
    let behind = mark.map_or(words.len(), |mark| digits.len() - mark.len());
    let rest = Span::new(" ".repeat(text.len() - behind), Look::PLAIN);
    Line { rest: vec![rest], body, ..Line::default() }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
