//! The text of an answer while it is written. Long contents of windows aren't copied: the buffer
//! keeps a reference.

use std::collections::BTreeSet;
use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::refs::RefKind;
use pipemux_tokens::Estimate;

use crate::keys::SessionKey;
use crate::views::quoted_refs::refs_in_fences;
use crate::workspaces::content::Content;
use crate::workspaces::{LineUpdate, Rendered};

/// The length in bytes from which a window's content isn't copied.
const LONG_CONTENT: usize = 16 * 1024;

/// A text, together with an estimate of its tokens.
#[derive(Debug, Default)]
pub struct AnswerBuffer {
    /// The text without long contents.
    text: String,
    /// Long contents, each with its place in the text.
    long: Vec<(usize, Rc<Content>)>,
    estimate: Estimate,
    /// The reported line numbers, in order.
    lines: Vec<(SessionKey, LineUpdate)>,
}

impl AnswerBuffer {
    /// Makes a buffer with room for some bytes.
    pub fn with_room(room: usize) -> Self {
        Self { text: String::with_capacity(room), ..Self::default() }
    }

    /// Returns about how many bytes a window takes, without a long content.
    pub fn room_for(window: &Rendered) -> usize {
        let content = window.content.text().len();
        let content = if content < LONG_CONTENT { content } else { 0 };
        window.heading.len() + window.nav.len() + 2 + content
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.estimate.add(text);
    }

    /// Appends a window: heading with a suffix, links, prototypes, content.
    pub fn push_window(&mut self, window: &Rendered, suffix: &str, prototypes: &str) {
        self.push(&window.heading);
        self.push(suffix);
        self.push("\n");
        if !window.nav.is_empty() {
            self.push(&window.nav);
            self.push("\n");
        }
        self.push(prototypes);
        self.push_content(&window.content);
    }

    /// Appends a window's content to whole lines.
    fn push_content(&mut self, content: &Rc<Content>) {
        if content.text().is_empty() {
            return;
        }
        if content.text().len() < LONG_CONTENT {
            self.text.push_str(content.text());
        } else {
            self.long.push((self.text.len(), content.clone()));
        }
        self.estimate.add_lines(content.estimate());
    }

    /// Notes what the text says of a session's line numbers.
    pub fn tell_lines(&mut self, session: &SessionKey, updates: Vec<LineUpdate>) {
        self.lines.extend(updates.into_iter().map(|update| (session.clone(), update)));
    }

    /// Returns what it says of line numbers, in order.
    pub fn take_lines(&mut self) -> Vec<(SessionKey, LineUpdate)> {
        std::mem::take(&mut self.lines)
    }

    /// Appends a text that isn't part of the estimate.
    pub fn push_unestimated(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Returns the estimate of its tokens.
    pub fn tokens(&self) -> u64 {
        self.estimate.tokens()
    }

    /// Returns the refs in its fences, where they are no anchors.
    pub fn quoted_refs(&self) -> BTreeSet<(RefKind, u64)> {
        let mut found = refs_in_fences(&self.text);
        for (_, content) in &self.long {
            found.extend(content.quoted_refs());
        }
        found
    }

    /// Returns true when nothing was appended.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.long.is_empty()
    }

    /// Returns its length in bytes.
    pub fn len(&self) -> usize {
        let long = self.long.iter().map(|(_, content)| content.text().len());
        self.text.len() + long.sum::<usize>()
    }

    /// Returns true when it has long contents.
    pub fn is_long(&self) -> bool {
        !self.long.is_empty()
    }

    /// Returns its first bytes, about so many, as one text.
    pub fn beginning(&self, bytes: usize) -> String {
        let mut text: String = String::new();
        let mut from = 0;
        for (at, content) in &self.long {
            text.push_str(&self.text[from..*at]);
            let content = content.text();
            text.push_str(&content[..content.floor_char_boundary(bytes)]);
            from = *at;
        }
        text.push_str(&self.text[from..]);
        text.truncate(text.floor_char_boundary(bytes));
        text
    }

    /// Returns all of it as one text.
    pub fn into_text(self) -> String {
        if self.long.is_empty() {
            return self.text;
        }
        let mut text = String::with_capacity(self.len());
        let mut from = 0;
        for (at, content) in &self.long {
            text.push_str(&self.text[from..*at]);
            text.push_str(content.text());
            from = *at;
        }
        text + &self.text[from..]
    }

    /// Returns all of it after other bytes, in parts: long contents aren't copied.
    pub fn parts(&self, mut before: Vec<u8>) -> Vec<Bytes> {
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, content) in &self.long {
            before.extend_from_slice(&self.text.as_bytes()[from..*at]);
            parts.push(std::mem::take(&mut before).into());
            parts.push(content.shared_bytes());
            from = *at;
        }
        before.extend_from_slice(&self.text.as_bytes()[from..]);
        parts.push(before.into());
        parts
    }
}

/// Returns a window's heading, links and content as one text.
pub fn window_markdown(window: &Rendered) -> String {
    let mut out = AnswerBuffer::default();
    out.push_window(window, "", "");
    out.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_text_are_the_same_bytes() {
        for length in [10, LONG_CONTENT] {
            let line = "x".repeat(length);
            let content = Rc::new(Content::for_lines([(line.as_str(), false)].into_iter()));
            let (heading, nav) = ("## n".into(), "[a](link:1)".into());
            let window = Rendered { heading, nav, content, ..Rendered::default() };
            let mut buffer = AnswerBuffer::default();
            buffer.push("first\n");
            buffer.push_window(&window, " · busy", "ts\n");
            buffer.push_unestimated("last\n");
            assert_eq!(buffer.is_long(), length == LONG_CONTENT);
            let parts = buffer.parts(b"head ".to_vec()).concat();
            let len = buffer.len();
            let text = buffer.into_text();
            assert_eq!(text, format!("first\n## n · busy\n[a](link:1)\nts\n{line}\nlast\n"));
            assert_eq!(text.len(), len);
            assert_eq!(parts, format!("head {text}").into_bytes());
        }
    }
}
