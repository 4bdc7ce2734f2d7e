//! The content of a window as it was written: one text, and the kind of each of its parts.

use std::cell::OnceCell;

use bytes::Bytes;
use pipemux_proto::LineRun;
use pipemux_proto::limits::REF_MAX;
use pipemux_proto::refs::RefKind;
use pipemux_proto::text::SharedText;
use pipemux_tokens::Estimate;
use pipemux_tokens::work::position_within;

/// The lines of a window. The content is immutable and may be shared by several renderings.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// Whole lines; shared with answers that are on their way.
    text: SharedText,
    blocks: Box<[Block]>,
    /// The identities of all numbered lines, in order.
    numbered: Box<[LineRun]>,
    /// The estimate of the text if it follows a newline.
    estimate: Option<Estimate>,
    /// The refs in the exact text, computed on first use.
    quoted: OnceCell<Box<[(RefKind, u64)]>>,
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.blocks == other.blocks && self.numbered == other.numbered
    }
}

impl Eq for Content {}

/// Lines of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The end of the block in the text, in bytes.
    pub end: usize,
    /// Their kind.
    pub kind: BlockKind,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    Markdown,
    /// The daemon's own fence.
    Fence,
    /// Exact text inside a fence.
    Exact,
    /// Exact text inside a fence with a number before each line; the first line's.
    Numbered(u64),
}

/// Numbered lines that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedLines {
    /// The number of the first line.
    pub first: u64,
    /// The number of lines; at least 1.
    pub count: u64,
    /// True when their app names their identities.
    pub identified: bool,
}

impl NumberedLines {
    /// Returns the number of the last one.
    pub fn last(&self) -> u64 {
        self.first.saturating_add(self.count - 1)
    }
}

/// A line of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The line's number in the displayed object.
    pub number: Option<u64>,
    /// The line's identity, if the app gave it one.
    pub identity: Option<u64>,
    /// The text without number and newline.
    pub text: &'a str,
    /// True for the daemon's own fences.
    pub fence: bool,
    /// True for exact text inside a fence.
    pub exact: bool,
    /// The end of the line in the text, in bytes, including its newline.
    end: usize,
}

impl Content {
    /// Makes a content of a text and its blocks, which cover it in order.
    pub fn new(text: SharedText, blocks: Vec<Block>, estimate: Estimate) -> Self {
        let (numbered, estimate) = (Box::default(), Some(estimate));
        Self { text, blocks: blocks.into(), numbered, estimate, quoted: OnceCell::new() }
    }

    /// Names the identities of all numbered lines, in order.
    #[must_use]
    pub fn identified(self, numbered: impl Into<Box<[LineRun]>>) -> Self {
        Self { numbered: numbered.into(), ..self }
    }

    /// Returns true when it has numbered lines.
    pub fn is_numbered(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.kind, BlockKind::Numbered(_)))
    }

    /// Returns the identities of all numbered lines, in order.
    pub fn numbered(&self) -> &[LineRun] {
        &self.numbered
    }

    /// Returns its numbered lines, those that follow each other as one.
    pub fn numbered_lines(&self) -> Vec<NumberedLines> {
        let mut all = Vec::new();
        let (mut start, mut runs) = (0, self.numbered.iter());
        // What is left of a run of lines whose identities are known or not.
        let mut run = (0, false);
        for block in &self.blocks {
            let text = self.text.get(start..block.end).unwrap_or_default();
            start = block.end;
            let BlockKind::Numbered(mut first) = block.kind else { continue };
            let mut left = count_lines(text);
            while left > 0 {
                if run.0 == 0 {
                    run = runs.next().map_or((left, false), |run| (run.count, run.id > 0));
                    continue;
                }
                let (count, identified) = (left.min(run.0), run.1);
                all.push(NumberedLines { first, count, identified });
                first = first.saturating_add(count);
                (left, run.0) = (left - count, run.0 - count);
            }
        }
        all
    }

    /// Returns all of it, as it is shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text to be shared.
    pub fn shared_text(&self) -> SharedText {
        self.text.clone()
    }

    /// Returns the text as bytes, without a copy.
    pub fn shared_bytes(&self) -> Bytes {
        self.text.to_bytes()
    }

    /// Returns the kinds of its lines.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the estimate of the text when it follows a newline.
    pub fn estimate(&self) -> Estimate {
        self.estimate.unwrap_or_else(|| estimate_lines(&self.text))
    }

    /// Returns the refs in its exact text, where they are no anchors.
    pub fn quoted_refs(&self) -> &[(RefKind, u64)] {
        self.quoted.get_or_init(|| {
            let mut start = 0;
            let mut found: Vec<(RefKind, u64)> = Vec::new();
            for block in &self.blocks {
                let text = self.text.get(start..block.end).unwrap_or_default();
                if matches!(block.kind, BlockKind::Exact | BlockKind::Numbered(_)) {
                    found.extend(anchors_in(text));
                }
                start = block.end;
            }
            found.sort_unstable();
            found.dedup();
            found.into()
        })
    }

    /// Returns the number of its lines.
    pub fn line_count(&self) -> usize {
        count_newlines(&self.text)
    }

    /// Iterates over its lines.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut start = 0;
        let ids = |run: &LineRun| {
            let (id, count) = (run.id, run.count);
            (0..count).map(move |at| (id > 0).then(|| id.saturating_add(at)))
        };
        let mut identities = self.numbered.iter().flat_map(ids).fuse();
        self.blocks.iter().flat_map(move |block| {
            let lines = self.text.get(start..block.end).unwrap_or_default().split_inclusive('\n');
            let mut end = std::mem::replace(&mut start, block.end);
            let identities: Vec<Option<u64>> = match block.kind {
                BlockKind::Numbered(_) => {
                    let count = lines.clone().count();
                    (0..count).map(|_| identities.next().flatten()).collect()
                }
                _ => Vec::new(),
            };
            lines.enumerate().map(move |(index, line)| {
                end += line.len();
                let text = line.strip_suffix('\n').unwrap_or(line);
                let (number, text) = match block.kind {
                    BlockKind::Numbered(first) => {
                        let number = first.saturating_add(index as u64);
                        (Some(number), text.split_once('\t').map_or(text, |(_, text)| text))
                    }
                    _ => (None, text),
                };
                let fence = block.kind == BlockKind::Fence;
                let exact = matches!(block.kind, BlockKind::Exact | BlockKind::Numbered(_));
                let identity = identities.get(index).copied().flatten();
                Line { number, identity, text, fence, exact, end }
            })
        })
    }

    /// Returns the lines up to and including `last`, or none, followed by the closing fence and the
    /// Markdown line that are given.
    pub fn cut_after(
        &self,
        last: Option<Line<'_>>,
        closing_fence: Option<&str>,
        markdown: Option<&str>,
    ) -> Self {
        let cut = last.map_or(0, |line| line.end);
        let mut text = self.text.get(..cut).unwrap_or_default().to_owned();
        let mut blocks = Vec::new();
        for block in &self.blocks {
            let end = block.end.min(cut);
            if blocks.last().map_or(0, |block: &Block| block.end) < end {
                blocks.push(Block { end, kind: block.kind });
            }
        }
        for (line, kind) in [(closing_fence, BlockKind::Fence), (markdown, BlockKind::Markdown)] {
            if let Some(line) = line {
                text.push_str(line);
                text.push('\n');
                blocks.push(Block { end: text.len(), kind });
            }
        }
        let estimate = self.estimate().after_edit(&self.text, &text);
        Self::new(text.into(), blocks, estimate).identified(self.numbered.clone())
    }
}

#[cfg(test)]
impl Content {
    /// Makes a content of lines, each exact or not.
    pub fn for_lines<'a>(lines: impl Iterator<Item = (&'a str, bool)>) -> Self {
        let (mut text, mut blocks) = (String::new(), Vec::new());
        for (line, exact) in lines {
            text.push_str(line);
            text.push('\n');
            let kind = if exact { BlockKind::Exact } else { BlockKind::Markdown };
            blocks.push(Block { end: text.len(), kind });
        }
        Self { text: text.into(), blocks: blocks.into(), ..Self::default() }
    }
}

/// Iterates over the anchors in a text as the daemon writes them: `](obj:23)`, `](obj:enemy:23)`,
/// `](link:42)`, and with a title `](link:42 "f()")`.
pub fn anchors_in(text: &str) -> impl Iterator<Item = (RefKind, u64)> {
    pipemux_tokens::work::spend(text.len());
    // One character is found several times faster than two.
    text.match_indices(']').filter_map(|(at, _)| {
        let after = text[at + 1..].strip_prefix('(')?;
        let (kind, local) = match after.strip_prefix("obj:") {
            Some(local) => (RefKind::Obj, local),
            None => (RefKind::Link, after.strip_prefix("link:")?),
        };
        let end = position_within(local, REF_MAX, ends_ref)?;
        let (local, rest) = local.split_at(end);
        let digits = local.rsplit(':').next().unwrap_or(local);
        let exact = !digits.starts_with(['0', '+'])
            && (rest.starts_with(')') || (kind == RefKind::Link && rest.starts_with(" \"")));
        let id = digits.parse().ok().filter(|_| exact)?;
        Some((kind, id))
    })
}

/// True for a byte behind a ref, or one that no written ref has: a text of many beginnings costs no
/// more for each of them.
pub fn ends_ref(byte: u8) -> bool {
    matches!(byte, b')' | b' ' | b'\n' | b'(' | b'[' | b']')
}

/// Returns the number of lines of a text, of which the last one may have no end.
fn count_lines(text: &str) -> u64 {
    count_newlines(text) as u64 + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

fn count_newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Estimates lines that follow a newline.
pub fn estimate_lines(text: &str) -> Estimate {
    let mut estimate = Estimate::for_lines();
    estimate.add(text);
    estimate
}
