//! `inject`: the context of a prompt, within its budget.

use pipemux_context::{Budgets, Frame, RenderSource, Size, shares};

use crate::limits::{ANSWER_BUDGET_MIN, LAST_LINE_TOKENS};
use crate::verbs::answer_builder::{AnswerBuilder, AnswerParts};
use crate::verbs::write_answer::{FIT_PASSES, text_of};
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::Delta;
use crate::views::fit::{cut_window, least_share};
use crate::workspaces::Workspace;

/// Cuts the windows that have something new for a reader until the context of a prompt keeps to its budget. Takes those
/// out that there is no room for, and returns them.
pub(super) fn fit_injection(
    builder: &AnswerBuilder<'_>,
    parts: &AnswerParts,
    windows: &mut Vec<AnswerWindow>,
    reset: bool,
) -> Vec<AnswerWindow> {
    windows.iter_mut().for_each(AnswerWindow::keep_base);
    let Some(budget) = builder.request.budget else { return Vec::new() };
    let budget = u64::from(budget.max(ANSWER_BUDGET_MIN));
    let all: Vec<(AnswerWindow, bool)> = {
        let news = text_of(builder, parts, windows, &[]).unseen(reset);
        let news = news.into_iter().map(|news| news != Delta::Same);
        windows.iter().cloned().zip(news).collect()
    };
    let (mut untold, mut room) = (Vec::new(), budget);
    for pass in 0..FIT_PASSES {
        let left_out: Vec<_> = untold.iter().map(|w: &AnswerWindow| w.session.clone()).collect();
        let (_, receipt) = text_of(builder, parts, windows, &left_out).injection(reset);
        let over = receipt.shown.saturating_sub(budget);
        if over == 0 {
            return untold;
        }
        // Before anything was cut, the excess says nothing of what the lines around the windows take.
        room = room.saturating_sub(if pass == 0 { LAST_LINE_TOKENS.into() } else { over });
        (*windows, untold) = cut_to_shares(builder.workspace, &all, room);
    }
    // What is left are the lines without which nobody would know what the context is about.
    let (named, kept): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(window, is_new)| *is_new && window.shown().is_some());
    *windows = kept.into_iter().map(|(window, _)| window).collect();
    named.into_iter().map(|(window, _)| window).collect()
}

/// Cuts each window that has something new to its share of some tokens. Returns the windows, and those that there is no
/// room for.
fn cut_to_shares(
    workspace: &Workspace,
    all: &[(AnswerWindow, bool)],
    room: u64,
) -> (Vec<AnswerWindow>, Vec<AnswerWindow>) {
    // Those that there isn't room for come with the next injections: so the first ones are shown, instead of none.
    let mut left = room;
    let admitted: Vec<bool> = all
        .iter()
        .map(|(window, is_new)| {
            let least = least_share(window);
            let fits = *is_new && least <= left;
            left -= if fits { least } else { 0 };
            fits
        })
        .collect();
    let new = all.iter().zip(&admitted).filter(|(_, fits)| **fits).map(|((window, _), _)| window);
    let sources: Vec<RenderSource> = new
        .map(|window| {
            let placed = workspace.window(&window.session);
            let placement = placed.map(|window| window.placement).unwrap_or_default();
            RenderSource::new(window.session.to_string(), "")
                .ranked(placement.priority, placement.weight)
                .reserved(Size::tokens(least_share(window)))
        })
        .collect();
    let budgets = Budgets::new(Size::tokens(room)).framed_by(Frame::Caller);
    let mut shares = shares(&sources, &budgets).into_iter();
    let (mut shown, mut untold) = (Vec::new(), Vec::new());
    for ((window, is_new), fits) in all.iter().zip(admitted) {
        let mut cut = window.clone();
        let share = fits.then(|| shares.next()).flatten();
        let is_shown = match share {
            Some(share) => cut_window(&mut cut, share.size.tokens),
            None => !is_new,
        };
        match is_shown {
            true => shown.push(cut),
            false => untold.push(window.clone()),
        }
    }
    (shown, untold)
}
