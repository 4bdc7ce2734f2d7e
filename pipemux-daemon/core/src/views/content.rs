//! A window's content as it is written: one text, and which parts of it are what.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::text::SharedText;
use pipemux_proto::tokens::Estimate;

use crate::views::inert::{Tokens, Writer};

/// The lines of a window. Two of them may share one content: it never changes.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// Whole lines; shared with answers that are on their way.
    text: SharedText,
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

    /// The same as bytes, nothing copied.
    pub fn shared(&self) -> Bytes {
        self.text.to_bytes()
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
        let cost = Some(self.cost().after_edit(&self.text, &text));
        Self { cost, text: text.into(), blocks: blocks.into() }
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
    /// Where whole lines begin and end of which it is known what they cost.
    known: Vec<(usize, usize, Estimate)>,
}

impl ContentWriter {
    /// Lets some tokens pass. It is likely to be like the one before it.
    pub fn new(tokens: Tokens, before: Option<&Rc<Content>>) -> Self {
        let known = before.map(|before| before.text.clone());
        Self { markdown: Writer::after(known, tokens), blocks: Vec::new(), known: Vec::new() }
    }

    /// Writes exact text in a fence, its lines numbered from `first` on; with what it costs behind a newline,
    /// where that is known.
    pub fn code(&mut self, lang: &str, text: &str, first: Option<u64>, cost: Option<Estimate>) {
        self.markdown.end_line();
        self.end_block(Kind::Plain);
        let fence = self.markdown.fence(lang, text);
        self.end_block(Kind::Fence);
        match first {
            None => {
                let start = self.markdown.written();
                if self.markdown.exact(text)
                    && let Some(cost) = cost
                {
                    self.known.push((start, self.markdown.written(), cost));
                }
            }
            Some(first) => {
                for (index, line) in text.split_inclusive('\n').enumerate() {
                    self.markdown.number(first.saturating_add(index as u64));
                    self.markdown.raw("\t");
                    let _ = self.markdown.exact(line);
                }
            }
        }
        self.markdown.end_line();
        self.end_block(first.map_or(Kind::Exact, Kind::Numbered));
        self.markdown.raw(&fence);
        self.markdown.raw("\n");
        self.end_block(Kind::Fence);
    }

    /// What was written; `before` itself, the one that it was begun with, where that is the same.
    pub fn finish(mut self, before: Option<&Rc<Content>>) -> Rc<Content> {
        self.markdown.end_line();
        self.end_block(Kind::Plain);
        let (text, new) = match std::mem::take(&mut self.markdown).finish_shared() {
            Ok(text) => (text, false),
            Err(text) => (text.into(), true),
        };
        let cost = match before {
            Some(before) if !new && *before.blocks == *self.blocks => return before.clone(),
            _ if self.costs_known() * 2 > text.len() => self.cost(&text),
            Some(before) if new => before.cost().after_edit(&before.text, &text),
            Some(before) => before.cost(),
            None => cost(&text),
        };
        Rc::new(Content { text, blocks: self.blocks.into(), cost: Some(cost) })
    }

    /// Bytes of which it is known what they cost.
    fn costs_known(&self) -> usize {
        self.known.iter().map(|(start, end, _)| end - start).sum()
    }

    fn cost(&self, text: &str) -> Estimate {
        let (mut cost, mut at) = (Estimate::of_lines(), 0);
        for (start, end, known) in &self.known {
            // A fence's line stands before them.
            cost.add(&text[at..*start]);
            cost.add_lines(*known);
            at = *end;
        }
        cost.add(&text[at..]);
        cost
    }

    fn end_block(&mut self, kind: Kind) {
        let (end, start) =
            (self.markdown.written(), self.blocks.last().map_or(0, |block| block.end));
        if end > start {
            self.blocks.push(Block { end, kind });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Text(String),
        Label(String),
        Code(String, Option<u64>),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let text = "[a \\[\\]#`~(:<\\\\\n\t\r\0中🚀\u{85}]{0,12}|[a-z \n]{0,80}";
        let step = prop_oneof![
            text.prop_map(Step::Text),
            text.prop_map(Step::Label),
            (text, proptest::option::of(0..9_u64))
                .prop_map(|(text, first)| Step::Code(text, first)),
        ];
        proptest::collection::vec(step, 0..8)
    }

    fn write(steps: &[Step], before: Option<&Rc<Content>>, costs: bool) -> Rc<Content> {
        let mut writer = ContentWriter::new(Tokens::Inert, before);
        for step in steps {
            match step {
                Step::Text(text) => writer.markdown.text(text),
                Step::Label(text) => writer.markdown.label(text),
                Step::Code(text, first) => {
                    writer.code("", text, *first, costs.then(|| cost(text)));
                }
            }
        }
        writer.finish(before)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn whatever_was_there_before_the_same_is_written(
            old in steps(),
            new in steps(),
            keep in 0..8_usize,
            costs in any::<bool>(),
        ) {
            let before = write(&old, None, costs);
            let new: Vec<Step> = old.iter().take(keep).cloned().chain(new).collect();
            let (fresh, again) = (write(&new, None, false), write(&new, Some(&before), costs));
            prop_assert_eq!(&*again, &*fresh);
            let known = |content: &Content| {
                let mut cost = content.cost();
                cost.add(" a");
                (content.cost().tokens(), cost.tokens())
            };
            prop_assert_eq!(known(&again), known(&fresh));
            let same = write(&old, Some(&before), costs);
            prop_assert!(Rc::ptr_eq(&same, &before));
        }
    }
}
