//! The remaining budget of an answer.

use docui::tokens;

/// The part of the budget reserved for the line that leads to the rest, in tokens.
const REST_TOKENS: u64 = 60;
/// The largest budget that a hint suggests, in tokens.
const BUDGET_NAMED_MAX: u64 = 20_000;

/// The remaining output budget, in tokens.
pub(crate) struct Budget {
    left: u64,
    taken: u64,
}

impl Budget {
    pub(in crate::update) fn new(all: u64) -> Self {
        Self { left: all.saturating_sub(REST_TOKENS), taken: 0 }
    }

    /// Returns a number of rows for which there is no room, however short they are.
    pub(super) fn rows_max(&self) -> usize {
        usize::try_from(self.left).unwrap_or(usize::MAX).saturating_add(1)
    }

    /// Takes the room for a text, if there is enough.
    pub(in crate::update) fn take(&mut self, text: &str) -> bool {
        let tokens = tokens::estimate(text);
        if tokens > self.left {
            return false;
        }
        self.left -= tokens;
        self.taken += tokens;
        true
    }

    /// Estimates the budget in which all would be shown, from the rows that are.
    pub(super) fn all_of(&self, left: usize, shown: &str) -> u64 {
        let rows = shown.lines().count().max(1) as u64;
        let all = self.taken.max(20 * rows) * (rows + left as u64) / rows + 200;
        (all / 500 + 1).saturating_mul(500).min(BUDGET_NAMED_MAX)
    }

    /// Estimates the budget in which all files would be shown, of which `listed` are; `next` is
    /// what wasn't.
    pub(super) fn all_of_files(&self, files: usize, listed: usize, next: &str) -> u64 {
        let each = (self.taken + tokens::estimate(next)) / (listed as u64 + 1);
        let all = each.saturating_mul(files as u64) + 300;
        (all / 500 + 1).saturating_mul(500).min(BUDGET_NAMED_MAX)
    }
}
