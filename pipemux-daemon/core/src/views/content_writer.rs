//! Writing the content of a window: one text, and the kind of each of its parts.

use std::rc::Rc;

use pipemux_proto::LineRun;
use pipemux_tokens::Estimate;

use crate::views::inert::{RefTokens, Writer};
use crate::workspaces::content::{Block, BlockKind, Content, estimate_lines};
use crate::workspaces::raw_projection::Code;
use crate::workspaces::{Embed, EmbeddedWindow};

/// Begins the heading of an embedded window. No app can write it.
pub const EMBED_HEADING: &str = "### embedded ";

/// Ends an embedded window where more of the window follows.
const EMBED_END: &str = "### embedded end\n";

/// Writes a content from its start to its end.
#[derive(Debug, Default)]
pub struct ContentWriter<'a> {
    /// Takes the app's text and the daemon's own Markdown.
    pub markdown: Writer<'a>,
    blocks: Vec<Block>,
    /// The start and end of runs of whole lines with a known estimate.
    estimated: Vec<(usize, usize, Estimate)>,
    /// The identities of all numbered lines, in order.
    numbered: Vec<LineRun>,
}

impl<'a> ContentWriter<'a> {
    /// Makes a writer that lets some ref tokens pass. The content is likely to resemble the
    /// previous one.
    pub fn new(tokens: RefTokens<'a>, previous: Option<&Rc<Content>>) -> Self {
        let expected = previous.map(|previous| previous.shared_text());
        let markdown = Writer::expecting(expected, tokens);
        Self { markdown, ..Self::default() }
    }

    /// Writes exact text in a fence, its lines numbered from `first` on, with their identities.
    /// `estimate` is that of the text when it follows a newline, where that is known.
    pub fn code(&mut self, code: &Code<'_>, estimate: Option<Estimate>) {
        let Code { lang, text, first, lines } = *code;
        self.markdown.end_line();
        self.end_block(BlockKind::Markdown);
        let fence = self.markdown.fence(lang, text);
        self.end_block(BlockKind::Fence);
        match first {
            None => {
                let start = self.markdown.written();
                if self.markdown.exact(text)
                    && let Some(estimate) = estimate
                {
                    self.estimated.push((start, self.markdown.written(), estimate));
                }
            }
            Some(first) => {
                self.identify(lines, text.lines_with_ends().count() as u64);
                for (index, line) in text.lines_with_ends().enumerate() {
                    self.markdown.number(first.saturating_add(index as u64));
                    self.markdown.raw("\t");
                    let _ = self.markdown.exact(line);
                }
            }
        }
        self.markdown.end_line();
        self.end_block(first.map_or(BlockKind::Exact, BlockKind::Numbered));
        self.markdown.raw(&fence);
        self.markdown.raw("\n");
        self.end_block(BlockKind::Fence);
    }

    /// Writes what the window shows of another session's window, on lines of its own. `more` is
    /// true if more of the window follows: then a line tells where the embedded one ends.
    pub fn embed(&mut self, embed: &Embed, more: bool) {
        self.markdown.end_line();
        let EmbeddedWindow { rendered, mark, .. } = match embed {
            Embed::Window(window) => window,
            Embed::Line(line) => {
                self.markdown.raw(line);
                return self.markdown.raw("\n");
            }
        };
        self.markdown.raw(&rendered.heading);
        self.markdown.raw(mark);
        self.markdown.raw("\n");
        if !rendered.nav.is_empty() {
            self.markdown.raw(&rendered.nav);
            self.markdown.raw("\n");
        }
        let (content, mut start) = (&rendered.content, 0);
        pipemux_tokens::work::spend(content.text().len());
        for block in content.blocks() {
            let (text, kind) = (content.text().get(start..block.end), block.kind);
            start = block.end;
            if kind != BlockKind::Markdown {
                self.end_block(BlockKind::Markdown);
            }
            self.markdown.raw(text.unwrap_or_default());
            if kind != BlockKind::Markdown {
                self.end_block(kind);
            }
        }
        if more {
            self.markdown.raw(EMBED_END);
        }
    }

    /// Returns what was written: the `previous` content itself, with which the writer was made, if
    /// that is the same.
    pub fn finish(mut self, previous: Option<&Rc<Content>>) -> Rc<Content> {
        self.markdown.end_line();
        self.end_block(BlockKind::Markdown);
        let (text, new) = match std::mem::take(&mut self.markdown).finish_shared() {
            Ok(text) => (text, false),
            Err(text) => (text.into(), true),
        };
        let estimate = match previous {
            Some(previous)
                if !new
                    && *previous.blocks() == *self.blocks
                    && *previous.numbered() == *self.numbered =>
            {
                return previous.clone();
            }
            _ if self.estimated_bytes() * 2 > text.len() => self.sum_estimates(&text),
            Some(previous) if new => previous.estimate().after_edit(previous.text(), &text),
            Some(previous) => previous.estimate(),
            None => estimate_lines(&text),
        };
        Rc::new(Content::new(text, self.blocks, estimate).identified(self.numbered))
    }

    /// Notes the identities of `count` numbered lines, as far as their app named them.
    fn identify(&mut self, lines: &[LineRun], mut count: u64) {
        let unknown = LineRun { id: 0, count };
        for run in lines.iter().chain([&unknown]) {
            let run = LineRun { count: run.count.min(count), ..*run };
            count -= run.count;
            if run.count > 0 {
                self.numbered.push(run);
            }
        }
    }

    /// Returns the number of bytes whose estimate is known.
    fn estimated_bytes(&self) -> usize {
        self.estimated.iter().map(|(start, end, _)| end - start).sum()
    }

    fn sum_estimates(&self, text: &str) -> Estimate {
        let (mut estimate, mut at) = (Estimate::for_lines(), 0);
        for (start, end, known) in &self.estimated {
            // A known estimate is that of text after a newline: the line of a fence comes before
            // it.
            estimate.add(&text[at..*start]);
            estimate.add_lines(*known);
            at = *end;
        }
        estimate.add(&text[at..]);
        estimate
    }

    fn end_block(&mut self, kind: BlockKind) {
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

    fn write(steps: &[Step], previous: Option<&Rc<Content>>, estimated: bool) -> Rc<Content> {
        let mut writer = ContentWriter::new(RefTokens::None, previous);
        for step in steps {
            match step {
                Step::Text(text) => writer.markdown.text(text),
                Step::Label(text) => writer.markdown.label(text),
                Step::Code(text, first) => {
                    let (lang, shown) = ("".into(), text.into());
                    let code = Code { lang, text: shown, first: *first, lines: &[] };
                    writer.code(&code, estimated.then(|| estimate_lines(text)));
                }
            }
        }
        writer.finish(previous)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn previous_content_changes_nothing_that_is_written(
            old in steps(),
            new in steps(),
            keep in 0..8_usize,
            estimated in any::<bool>(),
        ) {
            let before = write(&old, None, estimated);
            let new: Vec<Step> = old.iter().take(keep).cloned().chain(new).collect();
            let alone = write(&new, None, false);
            let after = write(&new, Some(&before), estimated);
            prop_assert_eq!(&*after, &*alone);
            let tokens = |content: &Content| {
                let mut estimate = content.estimate();
                estimate.add(" a");
                (content.estimate().tokens(), estimate.tokens())
            };
            prop_assert_eq!(tokens(&after), tokens(&alone));
            let same = write(&old, Some(&before), estimated);
            prop_assert!(Rc::ptr_eq(&same, &before));
        }
    }
}
