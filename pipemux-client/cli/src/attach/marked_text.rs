//! Cuts a text whose markup was found into spans that look the same.

use std::collections::BTreeMap;
use std::ops::Range;

use super::look::{Look, Span, Theme};

/// A text, and how each of its bytes looks.
pub struct MarkedText<'t> {
    pub text: &'t str,
    pub looks: &'t [Look],
    /// What is written behind the links that end at a byte.
    pub numbers: &'t BTreeMap<usize, String>,
    pub theme: Theme,
}

impl MarkedText<'_> {
    /// Returns what is shown of a part of a line.
    pub fn spans(&self, range: Range<usize>) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        let mut numbers = self.numbers.range(range.start..=range.end).peekable();
        let text = self.text.get(range.clone()).unwrap_or_default();
        let ends = std::iter::once((text.len(), None));
        for (at, c) in text.char_indices().map(|(at, c)| (at, Some(c))).chain(ends) {
            let at = range.start + at;
            // One that ends where this part begins belongs to what stands before.
            while let Some((end, number)) = numbers.next_if(|(end, _)| **end <= at) {
                if *end > range.start {
                    spans.push(Span::new(number, Look::NUMBER));
                }
            }
            let look = self.looks.get(at).copied().unwrap_or_default();
            let Some(c) = c.filter(|_| !look.has(Look::HIDDEN)) else { continue };
            // A person would follow it by a number that is another link's.
            let behind = self.text.get(at + c.len_utf8()..).unwrap_or_default();
            let escape = self.theme.begins_number(c, behind).then_some('\\');
            for c in escape.into_iter().chain([c]) {
                match spans.last_mut().filter(|last| last.look == look) {
                    Some(last) => last.text.push(c),
                    None => spans.push(Span::new(c, look)),
                }
            }
        }
        spans
    }
}
