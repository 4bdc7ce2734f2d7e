//! Fits the context of a prompt, which `inject` prints, to its budget.

use pipemux_context::{Budgets, Frame, RenderSource, Size, shares};
use pipemux_proto::client::Format;

use crate::answers::cut_windows::{cut_window, least_share};
use crate::answers::draft::Draft;
use crate::answers::fit::{FIT_PASSES, Fitted};
use crate::keys::SessionKey;
use crate::limits::{ANSWER_BUDGET_MIN, LAST_LINE_TOKENS};
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::Delta;
use crate::views::unseen_changes::unshown_status;
use crate::workspaces::Workspace;

impl Draft<'_> {
    /// Writes the context of a prompt: the windows that have something new for its reader, cut
    /// until it keeps to its budget.
    pub fn fit_injection(&self, mut windows: Vec<AnswerWindow>, reset: bool) -> Fitted {
        let mut no_room = self.cut_injection(&mut windows, reset);
        let left_out: Vec<SessionKey> = no_room.iter().map(|w| w.session.clone()).collect();
        let text = self.text(&windows, &left_out);
        let is_new: Vec<bool> =
            text.unseen(reset).iter().map(|unseen| *unseen != Delta::Same).collect();
        let (text, receipt) = text.injection(reset);
        // What found no room comes with the next injection, which has room for it, unless there is
        // never enough.
        if is_new.contains(&true) {
            no_room.clear();
        }
        let unshown = windows.iter().filter_map(unshown_status).collect();
        // As data, too, an injection has only what is new.
        let reported = (self.request.format == Format::Json).then_some(is_new);
        Fitted { windows, only_named: no_room, text, receipt, unshown, reported }
    }

    /// Cuts windows, and takes those out that there is no room for. Returns these.
    fn cut_injection(&self, windows: &mut Vec<AnswerWindow>, reset: bool) -> Vec<AnswerWindow> {
        windows.iter_mut().for_each(AnswerWindow::keep_base);
        let Some(budget) = self.request.budget else { return Vec::new() };
        let budget = u64::from(budget.max(ANSWER_BUDGET_MIN));
        let all: Vec<(AnswerWindow, bool)> = {
            let unseen = self.text(windows, &[]).unseen(reset);
            let is_new = unseen.into_iter().map(|unseen| unseen != Delta::Same);
            windows.iter().cloned().zip(is_new).collect()
        };
        let (mut no_room, mut room) = (Vec::new(), budget);
        for pass in 0..FIT_PASSES {
            let left_out: Vec<_> =
                no_room.iter().map(|w: &AnswerWindow| w.session.clone()).collect();
            let (_, receipt) = self.text(windows, &left_out).injection(reset);
            let over = receipt.shown.saturating_sub(budget);
            if over == 0 {
                return no_room;
            }
            // Before anything was cut, the excess says nothing of what the lines around the windows
            // take.
            room = room.saturating_sub(if pass == 0 { LAST_LINE_TOKENS.into() } else { over });
            (*windows, no_room) = cut_parts_to_shares(self.workspace, &all, room);
        }
        // What is left are the lines without which nobody would know what the context is about.
        let (named, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(window, is_new)| *is_new && window.shown().is_some());
        *windows = kept.into_iter().map(|(window, _)| window).collect();
        named.into_iter().map(|(window, _)| window).collect()
    }
}

/// Cuts each window that has something new to its share of some tokens. Returns the windows, and
/// those that there is no room for.
fn cut_parts_to_shares(
    workspace: &Workspace,
    all: &[(AnswerWindow, bool)],
    room: u64,
) -> (Vec<AnswerWindow>, Vec<AnswerWindow>) {
    // Those that there isn't room for come with the next injections: so the first ones are shown,
    // instead of none.
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
    let (mut shown, mut no_room) = (Vec::new(), Vec::new());
    for ((window, is_new), fits) in all.iter().zip(admitted) {
        let mut cut = window.clone();
        let share = fits.then(|| shares.next()).flatten();
        let is_shown = match share {
            Some(share) => cut_window(&mut cut, share.size.tokens),
            None => !is_new,
        };
        match is_shown {
            true => shown.push(cut),
            false => no_room.push(window.clone()),
        }
    }
    (shown, no_room)
}
