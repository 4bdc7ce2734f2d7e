//! Renders one window from the projection that its workspace holds, and keeps the rendering there.
//! An answer shows it, and a run learns from it which ids the window's objects have.

use std::rc::Rc;

use crate::answers::embeds::fill_embeds;
use crate::answers::pending::PendingEmbed;
use crate::answers::render_input::{render_input, shared_words};
use crate::event::Now;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::processes::session::Session;
use crate::views::answer_window::{AnswerWindow, window_to_write, write_prototypes, write_window};
use crate::views::minter::RenderInput;
use crate::views::requested_window::{RequestedWindow, WindowStatus};
use crate::workspaces::{Embed, Workspace};

/// Renders a window from the projection that the workspace holds. Returns the ids that it shows,
/// also those that there is no room for.
pub(crate) fn render_held_window(
    workspace: &mut Workspace,
    key: &SessionKey,
    processes: &Processes,
    now: Now,
) -> Vec<u64> {
    let Some(session) = processes.get(key) else { return Vec::new() };
    let epoch = workspace.epoch + 1;
    let Some(window) = workspace.window(key) else { return Vec::new() };
    let (lod, budget) = window.detail(None, None);
    // An answer that shows the same projection takes what is kept of it, so it is cut as in
    // answers.
    let requested = RequestedWindow {
        state: WindowStatus::Fresh,
        ..RequestedWindow::new(key.clone(), window.number, lod, budget)
    };
    let (embeds, minted) = embeds_of(workspace, processes, &requested, &[], epoch);
    let shared = shared_words(workspace, Some(session), key);
    let show_calls = workspace.options.titles;
    let input = render_input(Some(session), epoch, show_calls, &shared, &embeds);
    let (window, news) = write_and_record(workspace, requested, (Some(session), input), false, now);
    if let Some(content) = window.shown_content() {
        workspace.count_context(key, content, false, now);
    }
    if news.is_new || minted {
        workspace.epoch = epoch;
    }
    workspace.anchors.shown_ids(key)
}

/// Returns the embedded windows of an answer's window, and whether any ids were minted for them.
pub(super) fn embeds_of(
    workspace: &mut Workspace,
    processes: &Processes,
    requested: &RequestedWindow,
    asked: &[PendingEmbed],
    epoch: u64,
) -> (Vec<Embed>, bool) {
    let host = &requested.session;
    let projection = workspace.window(host).and_then(|window| window_to_write(window, requested));
    match projection.filter(|projection| !projection.embeds().is_empty()) {
        Some(projection) => fill_embeds(workspace, processes, host, &projection, asked, epoch),
        None => (Vec::new(), false),
    }
}

/// The difference of a written window to the ones before.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    /// True when the window shows something new: an anchor, or a text that differs from the last
    /// one at the window's own level of detail.
    pub is_new: bool,
    /// True when its text isn't the one that was written last, at whatever detail.
    pub differs: bool,
}

/// Renders a window for an answer, and keeps the rendering in the workspace. The text of a `peek`,
/// at another level of detail than the window's own, doesn't count as new by itself.
pub(super) fn write_and_record(
    workspace: &mut Workspace,
    requested: RequestedWindow,
    (session, input): (Option<&Session>, RenderInput<'_>),
    peek: bool,
    now: Now,
) -> (AnswerWindow, News) {
    let Some((window, anchors)) = workspace.window_and_anchors(&requested.session) else {
        let nothing = News { is_new: false, differs: false };
        return (AnswerWindow::without_content(requested), nothing);
    };
    let (mut answer, rendering) = write_window(window, requested, input, anchors);
    if let (Some(projection), Some(session)) = (&answer.projection, session)
        && let Some(window) = workspace.window_mut(&answer.session)
    {
        let (provider, lod) = (&answer.session.addr.provider, answer.lod);
        let (all, names) = (&session.prototypes, projection.actions.as_deref());
        let write = || write_prototypes(provider, all, names, lod);
        answer.prototypes = window.written_actions(all, names, lod, write);
    }
    let epoch = workspace.epoch + 1;
    let differs = rendering.as_ref().is_some_and(|rendering| rendering.differs);
    let mut is_new = rendering.as_ref().is_some_and(|rendering| rendering.minted);
    if let (false, Some(version), Some(rendered)) = (peek, answer.version, &answer.rendered)
        && let Some(window) = workspace.window_mut(&answer.session)
    {
        let own = window.own_rendered.as_ref().map(|(_, own)| own);
        let same = own.is_some_and(|own| Rc::ptr_eq(own, rendered) || own == rendered);
        if !same {
            (is_new, window.text_epoch) = (true, epoch);
        }
        window.own_rendered = Some((version, rendered.clone()));
    }
    if let Some(rendering) = rendering {
        let shown = rendering.rendered.embeds.windows();
        let ids: Vec<u64> = shown.flat_map(|window| window.rendered.ids.iter().copied()).collect();
        workspace.anchors.set_embedded(&answer.session, &ids, epoch);
        workspace.record_rendering(&answer.session, rendering, now);
    }
    (answer, News { is_new, differs })
}
