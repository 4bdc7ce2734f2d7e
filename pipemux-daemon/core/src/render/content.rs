//! A window's content as it is written: one text, and which parts of it are what.

use std::rc::Rc;

use pipemux_proto::tokens::Estimate;

use super::inert::{self, Tokens, Writer};

/// The lines of a window. Two of them may share one content: it never changes.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// Whole lines.
    text: Box<str>,
    blocks: Box<[Block]>,
    /// What the text costs behind a newline.
    cost: Option<Estimate>,
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.blocks == other.blocks
    }
}

impl Eq for Content {}

/// Lines of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block {
    /// Where they end in the text.
    end: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Markdown.
    Plain,
    /// The daemon's own fence.
    Fence,
    /// Text that a fence makes inert.
    Exact,
    /// The same, each line behind its number; the first one's.
    Numbered(u64),
}

/// A line of a window: numbered ones are compared by their text alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number in the thing that is shown.
    pub number: Option<u64>,
    /// The text without number and newline.
    pub text: &'a str,
    /// True for the daemon's own fences.
    pub fence: bool,
    /// True for text that a fence makes inert.
    pub exact: bool,
    /// Where the line ends in the text, its newline included.
    end: usize,
}

impl Content {
    /// All of it, as it is shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it costs behind a newline.
    pub fn cost(&self) -> Estimate {
        self.cost.unwrap_or_else(|| cost(&self.text))
    }

    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.text.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Line by line.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        self.blocks.iter().flat_map(move |block| {
            let lines = self.text.get(start..block.end).unwrap_or_default().split_inclusive('\n');
            let mut end = std::mem::replace(&mut start, block.end);
            lines.enumerate().map(move |(index, line)| {
                end += line.len();
                let text = line.strip_suffix('\n').unwrap_or(line);
                let (number, text) = match block.kind {
                    Kind::Numbered(first) => {
                        let number = first.saturating_add(index as u64);
                        (Some(number), text.split_once('\t').map_or(text, |(_, text)| text))
                    }
                    _ => (None, text),
                };
                let fence = block.kind == Kind::Fence;
                let exact = matches!(block.kind, Kind::Exact | Kind::Numbered(_));
                Line { number, text, fence, exact, end }
            })
        })
    }

    /// The lines up to and with `last`, or none, and one more of each kind behind them.
    pub fn up_to(&self, last: Option<Line<'_>>, fence: Option<&str>, plain: Option<&str>) -> Self {
        let cut = last.map_or(0, |line| line.end);
        let mut text = self.text.get(..cut).unwrap_or_default().to_owned();
        let mut blocks = Vec::new();
        for block in &self.blocks {
            let end = block.end.min(cut);
            if blocks.last().map_or(0, |block: &Block| block.end) < end {
                blocks.push(Block { end, kind: block.kind });
            }
        }
        for (line, kind) in [(fence, Kind::Fence), (plain, Kind::Plain)] {
            if let Some(line) = line {
                text.push_str(line);
                text.push('\n');
                blocks.push(Block { end: text.len(), kind });
            }
        }
        Self { cost: Some(cost(&text)), text: text.into(), blocks: blocks.into() }
    }
}

#[cfg(test)]
impl Content {
    /// Lines, exact or not.
    pub fn of_lines<'a>(lines: impl Iterator<Item = (&'a str, bool)>) -> Self {
        let (mut text, mut blocks) = (String::new(), Vec::new());
        for (line, exact) in lines {
            text.push_str(line);
            text.push('\n');
            let kind = if exact { Kind::Exact } else { Kind::Plain };
            blocks.push(Block { end: text.len(), kind });
        }
        Self { text: text.into(), blocks: blocks.into(), cost: None }
    }
}

fn cost(text: &str) -> Estimate {
    let mut cost = Estimate::of_lines();
    cost.add(text);
    cost
}

/// Writes a content from its begin to its end.
#[derive(Debug, Default)]
pub struct ContentWriter {
    /// For text of the app and the daemon's own Markdown.
    pub markdown: Writer,
    blocks: Vec<Block>,
}

impl ContentWriter {
    /// Lets some tokens pass; with room for so many bytes.
    pub fn new(tokens: Tokens, room: usize) -> Self {
        Self { markdown: Writer::with_room(tokens, room), blocks: Vec::new() }
    }

    /// Writes exact text in a fence, its lines numbered from `first` on.
    pub fn code(&mut self, lang: &str, text: &str, first: Option<u64>) {
        self.markdown.end_line();
        self.end_block(Kind::Plain);
        let fence = self.markdown.fence(lang, text);
        self.end_block(Kind::Fence);
        match first {
            None => self.markdown.raw(&inert::printable(text)),
            Some(first) => {
                for (index, line) in text.split_inclusive('\n').enumerate() {
                    self.markdown.number(first.saturating_add(index as u64));
                    self.markdown.raw("\t");
                    self.markdown.raw(&inert::printable(line));
                }
            }
        }
        self.markdown.end_line();
        self.end_block(first.map_or(Kind::Exact, Kind::Numbered));
        self.markdown.raw(&fence);
        self.markdown.raw("\n");
        self.end_block(Kind::Fence);
    }

    /// What was written; `before` itself, where that is the same.
    pub fn finish(mut self, before: Option<&Rc<Content>>) -> Rc<Content> {
        self.markdown.end_line();
        self.end_block(Kind::Plain);
        let text = self.markdown.finish();
        if let Some(before) = before
            && *before.text == *text
            && *before.blocks == *self.blocks
        {
            return before.clone();
        }
        let cost = Some(cost(&text));
        Rc::new(Content { text: text.into(), blocks: self.blocks.into(), cost })
    }

    fn end_block(&mut self, kind: Kind) {
        let (end, start) =
            (self.markdown.written(), self.blocks.last().map_or(0, |block| block.end));
        if end > start {
            self.blocks.push(Block { end, kind });
        }
    }
}
