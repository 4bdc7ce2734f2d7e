//! Cuts windows of an answer that is longer than its budget: of each, the end of its content.

use std::rc::Rc;

use pipemux_tokens::estimate;

use crate::keys::SessionKey;
use crate::views::answer_window::AnswerWindow;
use crate::views::trim::trim;
use crate::views::truncate::CUT_LINE_TOKENS;
use crate::workspaces::Rendered;

/// Cuts the end of each window that exceeds its own share, regardless of the other windows. Returns
/// the windows whose heading and links alone don't fit.
pub(super) fn cut_to_shares(windows: &mut Vec<AnswerWindow>) -> Vec<SessionKey> {
    cut_each(windows, |window| window.room)
}

/// Cuts the windows so that together they take about `tokens`. Returns the windows whose heading
/// and links alone don't fit.
pub(super) fn cut_windows(windows: &mut Vec<AnswerWindow>, tokens: u64) -> Vec<SessionKey> {
    let share = tokens / windows.len().max(1) as u64;
    cut_each(windows, |window| window.room.min(share))
}

/// Estimates the tokens of windows with their prototypes.
pub(super) fn tokens_of(windows: &[AnswerWindow]) -> u64 {
    let tokens =
        |window: &AnswerWindow| window.shown().map_or(0, |shown| window_tokens(window, shown));
    windows.iter().map(tokens).sum()
}

fn cut_each(
    windows: &mut Vec<AnswerWindow>,
    share: impl Fn(&AnswerWindow) -> u64,
) -> Vec<SessionKey> {
    let mut left_out = Vec::new();
    windows.retain_mut(|window| {
        let fits = cut_window(window, share(window));
        if !fits {
            left_out.push(window.session.clone());
        }
        fits
    });
    left_out
}

/// Cuts a window to its share of an answer. Returns false and leaves the window unchanged if its
/// heading and links alone don't fit.
pub(super) fn cut_window(window: &mut AnswerWindow, share: u64) -> bool {
    let Some(shown) = window.shown().cloned() else { return true };
    window.room = share;
    if window_tokens(window, &shown) <= share {
        return true;
    }
    // A window keeps its links or isn't shown. Which links fit would depend on the few tokens that
    // the rest of the answer takes, so that an unchanged window would look different each time.
    let required = estimate(&shown.heading) + estimate(&shown.nav);
    if required + CUT_LINE_TOKENS > share {
        return false;
    }
    let trimmed = Rc::new(trim((*shown).clone(), share - required));
    window.one_off = true;
    if let Some(shown) = &mut window.with_calls {
        *shown = trimmed.clone();
    }
    window.rendered = Some(trimmed);
    true
}

/// Returns the least share of an answer at which [`cut_window`] shows something of a window.
pub(super) fn least_share(window: &AnswerWindow) -> u64 {
    window.shown().map_or(0, |shown| {
        let required = estimate(&shown.heading) + estimate(&shown.nav) + CUT_LINE_TOKENS;
        window_tokens(window, shown).min(required)
    })
}

/// Estimates the tokens of a window with its prototypes, as far as there is room for them.
fn window_tokens(window: &AnswerWindow, shown: &Rendered) -> u64 {
    shown.tokens + estimate(&window.fitting_prototypes(shown))
}
