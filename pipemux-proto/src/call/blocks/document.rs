//! The block structure of a message by the rules of CommonMark.

use std::borrow::Cow;

use super::html::Html;
use super::line::{Line, is_break, is_heading, is_underline};

/// Deepest nesting of quotes and list items that is recognized; deeper ones are read as text.
const DEPTH_MAX: usize = 32;

/// The role of a line in the block structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineKind<'a> {
    /// The opening line of a fenced code block.
    Opened {
        /// The info string after the fence, trimmed.
        info: &'a str,
        /// True inside a block quote.
        quoted: bool,
    },
    /// A line of a fenced code block, without the fence's indentation.
    Code(Cow<'a, str>),
    /// The closing line of a fenced code block.
    Closed,
    /// Any other line.
    Other,
}

/// The blocks that are open after the lines so far.
#[derive(Debug, Default)]
pub(super) struct Document {
    containers: Vec<Container>,
    leaf: Leaf,
}

#[derive(Debug)]
enum Container {
    Quote,
    Item {
        /// The number of columns before the item's content.
        indent: usize,
        /// True once the item has content: until then an empty line ends it.
        filled: bool,
    },
}

/// The innermost block, which contains no other blocks and may continue on the next line.
#[derive(Debug, Default, PartialEq)]
enum Leaf {
    #[default]
    None,
    Paragraph,
    Fence(Fence),
    Html(Html),
}

#[derive(Debug, PartialEq)]
struct Fence {
    sign: char,
    length: usize,
    indent: usize,
}

impl Document {
    /// Processes the next line, given without its line end. With `hides_fences`, a closing fence is
    /// code.
    pub fn next_line<'a>(&mut self, text: &'a str, hides_fences: bool) -> LineKind<'a> {
        let mut line = Line::new(text);
        let mut kept = self.continued_containers(&mut line);
        if kept == self.containers.len() {
            match &self.leaf {
                Leaf::Fence(fence) if !hides_fences && fence.is_closed_by(&line) => {
                    self.leaf = Leaf::None;
                    return LineKind::Closed;
                }
                Leaf::Fence(fence) => return LineKind::Code(line.unindented(fence.indent)),
                Leaf::Html(html) => {
                    if html.ends_with(line.text()) {
                        self.leaf = Leaf::None;
                    }
                    return LineKind::Other;
                }
                Leaf::None | Leaf::Paragraph => {}
            }
        }
        while !line.is_blank() && line.indent() <= 3 {
            let in_paragraph = kept == self.containers.len() && self.leaf == Leaf::Paragraph;
            let text = line.text();
            if self.containers.len() < DEPTH_MAX {
                if line.take_quote() {
                    self.push(kept, Container::Quote);
                    kept += 1;
                    continue;
                }
                let is_rule = is_break(text) || (in_paragraph && is_underline(text));
                if let Some(indent) = (!is_rule).then(|| line.take_marker(in_paragraph)).flatten() {
                    self.push(kept, Container::Item { indent, filled: false });
                    kept += 1;
                    continue;
                }
            }
            if let Some((fence, info)) = Fence::opened_by(&line) {
                self.place(kept, Leaf::Fence(fence));
                let quoted = self.containers.iter().any(|c| matches!(c, Container::Quote));
                return LineKind::Opened { info, quoted };
            }
            if let Some(html) = Html::opened_by(text, self.leaf == Leaf::Paragraph) {
                let leaf = if html.ends_with(text) { Leaf::None } else { Leaf::Html(html) };
                self.place(kept, leaf);
                return LineKind::Other;
            }
            if is_heading(text) || is_break(text) || (in_paragraph && is_underline(text)) {
                self.place(kept, Leaf::None);
                return LineKind::Other;
            }
            break;
        }
        self.add_text(&line, kept);
        LineKind::Other
    }

    /// Returns how many of the open quotes and items continue on the line, and removes their
    /// markers from it.
    fn continued_containers(&self, line: &mut Line<'_>) -> usize {
        let ended = self.containers.iter().position(|container| match container {
            Container::Quote => !line.take_quote(),
            Container::Item { indent, filled } => {
                let continues = if line.is_blank() { *filled } else { line.indent() >= *indent };
                if continues {
                    line.skip((*indent).min(line.indent()));
                }
                !continues
            }
        });
        ended.unwrap_or(self.containers.len())
    }

    /// Processes the rest of a line that begins no block.
    fn add_text(&mut self, line: &Line<'_>, kept: usize) {
        if line.is_blank() {
            self.close_to(kept);
            self.leaf = Leaf::None;
        } else if self.leaf == Leaf::Paragraph {
            // The paragraph continues, even if the markers of its quotes and items are missing.
        } else if line.indent() > 3 {
            self.place(kept, Leaf::None);
        } else {
            self.place(kept, Leaf::Paragraph);
        }
    }

    fn push(&mut self, kept: usize, container: Container) {
        self.place(kept, Leaf::None);
        self.containers.push(container);
    }

    /// Puts a block into the innermost container that continues.
    fn place(&mut self, kept: usize, leaf: Leaf) {
        self.close_to(kept);
        if let Some(Container::Item { filled, .. }) = self.containers.last_mut() {
            *filled = true;
        }
        self.leaf = leaf;
    }

    fn close_to(&mut self, kept: usize) {
        if kept < self.containers.len() {
            self.containers.truncate(kept);
            self.leaf = Leaf::None;
        }
    }
}

impl Fence {
    /// Returns the fence that the line opens, and its info string.
    fn opened_by<'a>(line: &Line<'a>) -> Option<(Fence, &'a str)> {
        let text = line.text();
        let sign = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = text.trim_start_matches(sign);
        let length = text.len() - info.len();
        let opens = length >= 3 && (sign == '~' || !info.contains('`'));
        opens.then(|| (Fence { sign, length, indent: line.indent() }, info.trim()))
    }

    fn is_closed_by(&self, line: &Line<'_>) -> bool {
        let text = line.text();
        let behind = text.trim_start_matches(self.sign);
        line.indent() <= 3
            && text.len() - behind.len() >= self.length
            && behind.trim_matches([' ', '\t']).is_empty()
    }
}
