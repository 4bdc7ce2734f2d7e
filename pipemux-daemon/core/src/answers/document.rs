//! The order of a workspace's document, and how its windows and panels share the budget.

use pipemux_context::source::{SourceLimits, document_order};
use pipemux_context::{Budgets, Frame, RenderSource, Share, Size, shares};

use crate::keys::SessionKey;
use crate::limits::{PANEL_BUDGET, PANEL_PART, VIEW_BUDGET, VIEW_FRAME_TOKENS};
use crate::workspaces::{Panel, Placement, Window, Workspace};

/// Returns the sessions of a workspace's windows in the order of its document, with the tokens that
/// each may take. A share depends on the set of windows, never on what they show.
pub(crate) fn in_order(
    workspace: &Workspace,
    budget: Option<u32>,
) -> impl Iterator<Item = (SessionKey, u32)> {
    let (sources, shares) = sources(workspace, budget);
    let sessions: Vec<SessionKey> = workspace.windows.iter().map(|w| w.session.clone()).collect();
    document_order(&sources).into_iter().filter_map(move |at| {
        let share = u32::try_from(shares[at].size.tokens).unwrap_or(u32::MAX);
        Some((sessions.get(at)?.clone(), share))
    })
}

/// Returns the windows of a workspace in the order of its document.
pub(super) fn windows_in_order(workspace: &Workspace) -> impl Iterator<Item = &Window> {
    in_order(workspace, None).filter_map(|(session, _)| workspace.window(&session))
}

/// Returns the tokens that each panel of a workspace's document may take, by its share.
pub(super) fn panel_shares(workspace: &Workspace, budget: Option<u32>) -> Vec<(Panel, u64)> {
    let panels = workspace.options.panels;
    if panels.on().next().is_none() {
        return Vec::new();
    }
    let (_, shares) = sources(workspace, budget);
    let shares = shares.into_iter().skip(workspace.windows.len());
    panels.on().zip(shares).map(|(panel, share)| (panel, share.size.tokens)).collect()
}

/// Returns the sources of a workspace's document, windows first, and their shares of its budget.
fn sources(workspace: &Workspace, budget: Option<u32>) -> (Vec<RenderSource>, Vec<Share>) {
    let windows = workspace.windows.iter().map(|window| {
        let Placement { priority, weight } = window.placement;
        // Without a budget in the request, a window keeps its own.
        let own = window.budget.filter(|_| budget.is_none()).unwrap_or(0);
        RenderSource::new(window.session.to_string(), "")
            .ranked(priority, weight)
            .reserved(Size::tokens(own.into()))
    });
    let total = budget.unwrap_or(VIEW_BUDGET);
    let panels = workspace.options.panels.on().map(|panel| {
        // What windows show is worth more than what panels add.
        let size = Size::tokens(PANEL_BUDGET.min(total / PANEL_PART).into());
        let source = RenderSource::new(format!("pipemux/{}", panel.name()), "");
        let source = source.limited(SourceLimits { size, ..SourceLimits::default() });
        if panel.is_first() { source.required() } else { source }
    });
    let sources: Vec<RenderSource> = windows.chain(panels).collect();
    let frame = budget.map_or(0, |budget| VIEW_FRAME_TOKENS.min(budget / 3));
    let room = Size::tokens((total - frame).into());
    let mut budgets = Budgets::new(room).framed_by(Frame::Caller);
    budgets.soft = budget.is_none();
    let shares = shares(&sources, &budgets);
    (sources, shares)
}
