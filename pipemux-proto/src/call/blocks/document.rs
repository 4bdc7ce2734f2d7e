//! Which lines of a message are in which block, by CommonMark's rules for block structure.

use std::borrow::Cow;

use super::html::Html;
use super::line::{Line, is_break, is_heading, is_underline};

/// Deepest nesting of quotes and list items that is followed; what is deeper is text.
const DEPTH_MAX: usize = 32;

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen<'a> {
    /// The opening line of a fenced code block.
    Opened {
        /// What stands behind the fence, trimmed.
        info: &'a str,
        /// True in a block quote.
        quoted: bool,
    },
    /// A line inside of the fences, without their indentation.
    Code(Cow<'a, str>),
    /// The closing line.
    Closed,
    /// Something else.
    Other,
}

/// What is open after the lines so far.
#[derive(Debug, Default)]
pub(super) struct Document {
    containers: Vec<Container>,
    leaf: Leaf,
}

#[derive(Debug)]
enum Container {
    Quote,
    Item {
        /// Columns before its content.
        indent: usize,
        /// True once it holds something: until then an empty line ends it.
        filled: bool,
    },
}

/// The block without blocks in it that may go on with the next line.
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
    /// Takes in the next line, without its line end. With `hides`, a closing fence is code.
    pub fn line<'a>(&mut self, text: &'a str, hides: bool) -> Seen<'a> {
        let mut line = Line::new(text);
        let mut kept = self.matching(&mut line);
        if kept == self.containers.len() {
            match &self.leaf {
                Leaf::Fence(fence) if !hides && fence.is_closed_by(&line) => {
                    self.leaf = Leaf::None;
                    return Seen::Closed;
                }
                Leaf::Fence(fence) => return Seen::Code(line.unindented(fence.indent)),
                Leaf::Html(html) => {
                    if html.ends_with(line.text()) {
                        self.leaf = Leaf::None;
                    }
                    return Seen::Other;
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
                return Seen::Opened { info, quoted };
            }
            if let Some(html) = Html::opened_by(text, self.leaf == Leaf::Paragraph) {
                let leaf = if html.ends_with(text) { Leaf::None } else { Leaf::Html(html) };
                self.place(kept, leaf);
                return Seen::Other;
            }
            if is_heading(text) || is_break(text) || (in_paragraph && is_underline(text)) {
                self.place(kept, Leaf::None);
                return Seen::Other;
            }
            break;
        }
        self.text(&line, kept);
        Seen::Other
    }

    /// How many of the open quotes and items go on with the line; they are taken off it.
    fn matching(&self, line: &mut Line<'_>) -> usize {
        let ended = self.containers.iter().position(|container| match container {
            Container::Quote => !line.take_quote(),
            Container::Item { indent, filled } => {
                let goes_on = if line.is_blank() { *filled } else { line.indent() >= *indent };
                if goes_on {
                    line.skip((*indent).min(line.indent()));
                }
                !goes_on
            }
        });
        ended.unwrap_or(self.containers.len())
    }

    /// Takes in what is left of a line that begins no block.
    fn text(&mut self, line: &Line<'_>, kept: usize) {
        if line.is_blank() {
            self.close_to(kept);
            self.leaf = Leaf::None;
        } else if self.leaf == Leaf::Paragraph {
            // It goes on, even where the signs of its quotes and items are missing.
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

    /// Puts a block into the innermost container that goes on.
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
    /// The fence that the line opens, and its info string.
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
