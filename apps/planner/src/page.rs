//! A window that is being written, within its budget.

use docui::{Lod, View, ViewRequest, tokens};

use crate::model::Planner;

/// A window being written, with its remaining token budget.
pub struct Page<'a> {
    pub planner: &'a Planner,
    pub request: &'a ViewRequest,
    pub view: View,
    pub left: u64,
    /// Tokens that were left out.
    pub hidden: u64,
}

impl Page<'_> {
    /// Adds a text.
    pub fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.took(tokens::estimate(&text));
        self.view.text(text);
    }

    /// Counts what was added.
    pub fn took(&mut self, tokens: u64) {
        self.left = self.left.saturating_sub(tokens);
    }

    /// Counts what was left out.
    pub fn hide(&mut self, tokens: u64) {
        self.hidden += tokens;
        self.view.hidden(self.hidden);
    }

    /// Returns true if everything is shown, however long it is.
    pub fn is_full(&self) -> bool {
        self.request.lod == Lod::Full
    }

    /// Returns true if a text may be added that takes so many hundredths of what is left.
    pub fn has_room(&self, text: &str, percent: u64) -> bool {
        self.is_full() || tokens::estimate(text) <= self.left * percent / 100
    }
}
