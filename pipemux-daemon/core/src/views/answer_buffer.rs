//! An answer's text while it is written: windows' long contents stay where they are kept.

use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::tokens::Estimate;

use crate::views::content::Content;

/// Length of a content, in bytes, from which on it isn't copied to be said.
pub const LONG: usize = 16 * 1024;

/// A text together with what it costs.
#[derive(Debug, Default)]
pub struct AnswerBuffer {
    /// All but long contents.
    text: String,
    /// Those, each with its place in the text.
    kept: Vec<(usize, Rc<Content>)>,
    cost: Estimate,
}

impl AnswerBuffer {
    /// With room for so many bytes.
    pub fn with_room(room: usize) -> Self {
        Self { text: String::with_capacity(room), ..Self::default() }
    }

    /// Appends a text.
    pub fn say(&mut self, text: &str) {
        self.text.push_str(text);
        self.cost.add(text);
    }

    /// Appends a window's lines, behind whole lines.
    pub fn say_lines(&mut self, content: &Rc<Content>) {
        if content.text().is_empty() {
            return;
        }
        if content.text().len() < LONG {
            self.text.push_str(content.text());
        } else {
            self.kept.push((self.text.len(), content.clone()));
        }
        self.cost.add_lines(content.cost());
    }

    /// Its tokens.
    pub fn tokens(&self) -> u64 {
        self.cost.tokens()
    }

    /// True when nothing was said.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.kept.is_empty()
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        let kept = self.kept.iter().map(|(_, content)| content.text().len());
        self.text.len() + kept.sum::<usize>()
    }

    /// True when it has long contents.
    pub fn is_long(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Appends what has no cost of its own.
    pub fn end(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// All of it, as one.
    pub fn into_text(self) -> String {
        if self.kept.is_empty() {
            return self.text;
        }
        let mut text = String::with_capacity(self.len());
        let mut from = 0;
        for (at, content) in &self.kept {
            text.push_str(&self.text[from..*at]);
            text.push_str(content.text());
            from = *at;
        }
        text + &self.text[from..]
    }

    /// All of it behind other bytes; long contents aren't copied.
    pub fn parts(&self, mut before: Vec<u8>) -> Vec<Bytes> {
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, content) in &self.kept {
            before.extend_from_slice(&self.text.as_bytes()[from..*at]);
            parts.push(std::mem::take(&mut before).into());
            parts.push(content.shared());
            from = *at;
        }
        before.extend_from_slice(&self.text.as_bytes()[from..]);
        parts.push(before.into());
        parts
    }
}
