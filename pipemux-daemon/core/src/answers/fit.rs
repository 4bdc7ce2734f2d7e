//! Chooses what an answer shows within its budget: its windows are cut until its text keeps to it.

use pipemux_proto::client::Format;
use pipemux_proto::report::TokenReceipt;

use crate::answers::cut_windows::{cut_to_shares, cut_windows, tokens_of};
use crate::answers::draft::Draft;
use crate::keys::SessionKey;
use crate::limits::ANSWER_BUDGET_MIN;
use crate::views::answer_buffer::AnswerBuffer;
use crate::views::answer_window::AnswerWindow;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::LineUpdate;

/// The most passes in which an answer is fitted to its budget with better estimates.
pub(super) const FIT_PASSES: u32 = 4;

/// The text of an answer that fits its budget.
pub(super) struct Fitted {
    /// The windows in the answer, cut as it shows them.
    pub windows: Vec<AnswerWindow>,
    /// The windows that are only named, because no later answer has more space for them.
    pub only_named: Vec<AnswerWindow>,
    pub text: AnswerBuffer,
    pub receipt: TokenReceipt,
    /// The windows that can't be shown, with the reasons, which the answer states.
    pub unshown: Vec<(SessionKey, String)>,
    /// For each window, whether the answer as data contains it; `None` if all are contained.
    pub reported: Option<Vec<bool>>,
}

impl Draft<'_> {
    /// Writes the text, and cuts windows until it keeps to the budget of the request.
    pub fn fit(&self, windows: Vec<AnswerWindow>, changed_elsewhere: Vec<SessionKey>) -> Fitted {
        if let AnswerKind::Injection { reset } = self.kind {
            return self.fit_injection(windows, *reset);
        }
        let mut windows = windows;
        // The budget of an `open` stays with its windows, which keep to it themselves.
        let budget = self.request.budget;
        let (text, receipt) = match budget.filter(|_| !matches!(self.kind, AnswerKind::Open { .. }))
        {
            None => self.write(&windows, &changed_elsewhere, &[]),
            Some(budget) => {
                let budget = u64::from(budget.max(ANSWER_BUDGET_MIN));
                self.fit_budget(&mut windows, changed_elsewhere, budget)
            }
        };
        let (only_named, unshown) = (Vec::new(), Vec::new());
        Fitted { windows, only_named, text, receipt, unshown, reported: None }
    }

    /// Writes an answer that keeps to a budget: windows are cut until it does. After a run, windows
    /// that there is no room for are only named.
    fn fit_budget(
        &self,
        windows: &mut Vec<AnswerWindow>,
        mut elsewhere: Vec<SessionKey>,
        budget: u64,
    ) -> (AnswerBuffer, TokenReceipt) {
        let mut left_out = Vec::new();
        let mut excess = 0;
        let mut in_shares = None;
        for _ in 0..FIT_PASSES {
            let written = self.write(windows, &elsewhere, &left_out);
            let over = written.1.shown.saturating_sub(budget);
            if over == 0 || windows.iter().all(|window| window.shown().is_none()) {
                return written;
            }
            if matches!(self.kind, AnswerKind::Run(_)) {
                elsewhere.extend(take_shown(windows));
                continue;
            }
            // Within their shares, none changes what is shown of another. Only when these are too
            // much are all cut further.
            match &in_shares {
                None => {
                    let whole = windows.clone();
                    left_out = cut_to_shares(windows);
                    in_shares = Some((whole, tokens_of(windows)));
                }
                Some((whole, tokens)) => {
                    excess += over;
                    windows.clone_from(whole);
                    left_out = cut_windows(windows, tokens.saturating_sub(excess));
                }
            }
        }
        // What is left are the lines without which nobody would know what the answer is about.
        left_out.extend(take_shown(windows));
        self.write(windows, &elsewhere, &left_out)
    }
}

/// Takes out the windows that there is something to show of. What remains are errors.
fn take_shown(windows: &mut Vec<AnswerWindow>) -> Vec<SessionKey> {
    let shown = windows.extract_if(.., |window| window.shown().is_some());
    shown.map(|window| window.session).collect()
}

impl Fitted {
    /// Returns what the answer says of line numbers, in order. As data its windows are whole.
    pub fn line_updates(&mut self, format: Format) -> Vec<(SessionKey, LineUpdate)> {
        let mut lines = self.text.take_lines();
        if format == Format::Json {
            let is_shown = |at: usize| self.reported.as_ref().is_none_or(|is_new| is_new[at]);
            let shown = self.windows.iter().enumerate().filter(|(at, _)| is_shown(*at));
            lines.extend(shown.flat_map(|(_, window)| window.line_updates()));
        }
        lines
    }
}
