//! Parts of a view whose cost is known before they are added to it.

use docui::{Object, View, tokens};

use crate::action::Action;
use crate::entry::key;
use crate::format::first_line;
use crate::store::Row;

/// About how many tokens an anchor takes besides its label: `[](obj:123)`.
const ANCHOR_COST: u64 = 8;
/// About how many tokens the words about the bytes of an entry take.
const MEDIA_COST: u64 = 12;
/// About how many tokens the fence of a code block takes.
pub const FENCE_COST: u64 = 4;

/// Parts of a view that are shown together or not at all.
#[derive(Debug, Default)]
pub struct Block {
    parts: Vec<Part>,
    cost: u64,
    bytes: usize,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Object(Object),
    Link(&'static str, Action),
    Code(String),
}

impl Block {
    /// Adds Markdown.
    pub fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.count(&text, 0);
        self.parts.push(Part::Text(text));
    }

    /// Adds an entry's title with its anchor, what tells it from entries with the same title, and
    /// what bytes it holds.
    pub fn entry(&mut self, row: &Row) {
        self.count(&row.title, ANCHOR_COST);
        let detail = first_line(&row.head);
        self.bytes += detail.len();
        let object = Object::new(key(row.id), &*row.title).ty("entry").rev(row.rev).detail(detail);
        self.parts.push(Part::Object(match &row.media {
            Some(media) => {
                self.cost += MEDIA_COST;
                object.media(media.clone())
            }
            None => object,
        }));
    }

    /// Adds a space and a link.
    pub fn link(&mut self, label: &'static str, action: Action) {
        self.text(" ");
        self.count(label, ANCHOR_COST);
        self.parts.push(Part::Link(label, action));
    }

    /// Adds a code block, whose text is shown exactly.
    pub fn code(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.count(&text, FENCE_COST);
        self.parts.push(Part::Code(text));
    }

    /// Returns about how many tokens the block takes.
    pub fn cost(&self) -> u64 {
        self.cost
    }

    /// Returns how many bytes the block takes, without anchors.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the block to a view.
    pub fn add_to(self, view: &mut View) {
        for part in self.parts {
            match part {
                Part::Text(text) => view.text(text),
                Part::Object(object) => view.object(object),
                Part::Link(label, action) => view.link(label, &action),
                Part::Code(text) => view.code("md", text),
            };
        }
    }

    fn count(&mut self, text: &str, more: u64) {
        self.cost += tokens::estimate(text) + more;
        self.bytes += text.len();
    }
}

/// Returns the longest run of whole lines at the beginning of a text that takes at most
/// `tokens_max` tokens, by the estimate of them as one text, and at most `bytes_max` bytes, and the
/// number of lines left out. If the first line alone is too long, it is cut.
pub fn head(text: &str, tokens_max: u64, bytes_max: usize) -> (&str, u64) {
    let (mut end, mut lines) = (0, 0);
    // The estimates of single lines don't add up to that of the text.
    let mut estimate = tokens::Estimate::default();
    for line in text.split_inclusive('\n') {
        estimate.add(line);
        if estimate.tokens() > tokens_max || end + line.len() > bytes_max {
            break;
        }
        end += line.len();
        lines += 1;
    }
    if end == 0 && !text.is_empty() {
        // Two bytes per token stay within the budget: in scripts that cost more tokens per
        // character, a character has more bytes.
        let wanted = usize::try_from(tokens_max).unwrap_or(usize::MAX).saturating_mul(2);
        end = text.floor_char_boundary(wanted.min(bytes_max));
    }
    (&text[..end], text.lines().count() as u64 - lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_has_whole_lines_or_part_of_the_first() {
        let text = "one two\nthree four\nfive";
        assert_eq!(head(text, 100, 100), (text, 0));
        assert_eq!(head(text, 100, 10), ("one two\n", 2));
        assert_eq!(head("", 100, 100), ("", 0));
        let long = "数".repeat(1000);
        let (cut, left) = head(&long, 10, 1000);
        assert!(!cut.is_empty() && cut.len() <= 20 && left == 1);
    }
}
