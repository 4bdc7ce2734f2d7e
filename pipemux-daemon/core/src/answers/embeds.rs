//! Windows that windows show inside of their own: requested once it is known which ones a window of
//! an answer embeds, and filled in when the answer is written.
//!
//! An embed only looks at what is there: it opens, starts and wakes nothing. It goes one level
//! deep, so that windows which embed each other make no circle.

use std::rc::Rc;

use pipemux_proto::SessionAddr;
use pipemux_proto::limits::{EMBED_BUDGET, EMBEDS_MAX};
use pipemux_proto::projection::EmbedSlot;

use crate::answers::pending::PendingEmbed;
use crate::answers::render_input::{render_input, shared_words};
use crate::keys::SessionKey;
use crate::limits::{BUDGET_MAX, BUDGET_MIN};
use crate::processes::Processes;
use crate::processes::session::Session;
use crate::views::answer_text::BUSY;
use crate::views::content_writer::EMBED_HEADING;
use crate::views::inert;
use crate::views::requested_window::WindowStatus;
use crate::views::window_renderer::render_embedded;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{Embed, EmbedDetail, EmbeddedWindow, Workspace};

/// Ends the heading of an embedded window whose session sleeps.
const ASLEEP: &str = " · asleep, as it was before";

/// Ends the heading of an embedded window whose session doesn't run for another reason.
const DOWN: &str = " · not running, as it was before";

/// Returns the embedded windows of a window; `asked` says which of their apps have answered for
/// this answer. The flag is true if an id was minted or a meaning changed.
pub(super) fn fill_embeds(
    workspace: &mut Workspace,
    processes: &Processes,
    host: &SessionKey,
    projection: &RawProjection,
    asked: &[PendingEmbed],
    epoch: u64,
) -> (Vec<Embed>, bool) {
    let mut changed = false;
    let fill = |(index, slot): (usize, &EmbedSlot)| {
        let session = match embed_target(workspace, processes, host, slot) {
            Ok(session) => session,
            Err(line) => return Embed::Line(line),
        };
        if index >= EMBEDS_MAX {
            let why = format!("{EMBEDS_MAX} others are embedded already");
            return Embed::Line(line(&session, &why, "view"));
        }
        let detail = embed_detail(slot);
        let same = |asked: &&PendingEmbed| asked.session == session && asked.detail == detail;
        let state = asked.iter().find(same).map(|asked| &asked.state);
        if let Some(WindowStatus::Broken(fault)) = state {
            return Embed::Line(line(&session, &inert::line(&*fault.message), "view"));
        }
        let (shown, minted) = show_held(workspace, processes, &session, detail, epoch);
        changed |= minted;
        let process = processes.get(&session);
        let (mark, missing) = match process.map(Session::state) {
            _ if state == Some(&WindowStatus::Fresh) => ("", "it shows nothing"),
            Some("ready" | "starting" | "silent") if state.is_none() => ("", "not shown yet"),
            Some("ready" | "starting" | "silent") => (BUSY, "it did not answer in time"),
            None | Some("asleep") => (ASLEEP, "asleep"),
            Some(_) => (DOWN, "not running"),
        };
        match shown {
            Some(shown) => Embed::Window(EmbeddedWindow { mark, ..shown }),
            None => Embed::Line(line(&session, missing, "view")),
        }
    };
    let embeds = projection.embeds().iter().enumerate().map(fill).collect();
    (embeds, changed)
}

/// Returns the kept content of an embedded window, rendered if necessary, and whether rendering
/// minted any ids.
fn show_held(
    workspace: &mut Workspace,
    processes: &Processes,
    session: &SessionKey,
    detail: EmbedDetail,
    epoch: u64,
) -> (Option<EmbeddedWindow>, bool) {
    let Some(kept) = workspace.window(session).and_then(|window| window.embeds.get(detail)) else {
        return (None, false);
    };
    let version = (kept.held.app, kept.held.projection.version);
    let (projection, rendered) = (kept.held.projection.clone(), kept.rendered.clone());
    let show_calls = workspace.options.titles;
    let process = processes.get(session);
    let (rendered, minted) = match rendered.filter(|kept| kept.show_calls == show_calls) {
        Some(rendered) => (rendered, false),
        None => {
            let shared = shared_words(workspace, process, session);
            let input = render_input(process, epoch, show_calls, &shared, &[]);
            let anchors = &mut workspace.anchors;
            let pass = render_embedded(session, &projection, input, detail, anchors);
            let rendered = Rc::new(pass.rendered);
            if let Some(window) = workspace.window_mut(session) {
                window.embeds.record_rendering(&projection, rendered.clone());
            }
            (rendered, pass.changed)
        }
    };
    let session = session.clone();
    (Some(EmbeddedWindow { session, version, rendered, mark: "" }), minted)
}

/// Returns the session that an embed shows.
///
/// # Errors
/// The line to show in place of the window.
pub(crate) fn embed_target(
    workspace: &Workspace,
    processes: &Processes,
    host: &SessionKey,
    slot: &EmbedSlot,
) -> Result<SessionKey, String> {
    let Ok(addr) = slot.session.parse::<SessionAddr>() else {
        return Err(format!("{EMBED_HEADING}no session"));
    };
    if let Some(window) = workspace.windows.named(&addr).next() {
        let session = &window.session;
        return match session == host {
            true => Err(format!("{EMBED_HEADING}{session} · this window itself")),
            false => Ok(session.clone()),
        };
    }
    let own = SessionKey { workspace: Some(workspace.key.clone()), addr };
    let shared = SessionKey { workspace: None, ..own.clone() };
    let runs = [&own, &shared].iter().any(|key| processes.get(key).is_some());
    let why = if runs { "its window is closed" } else { "not open" };
    Err(line(&own, why, "open"))
}

/// Writes why there is nothing to show of an embedded window, and the command that shows it.
fn line(session: &SessionKey, why: &str, verb: &str) -> String {
    format!("{EMBED_HEADING}{session} · {why} · pipemux {verb} {session}")
}

/// Returns the level of detail and the budget at which an embed shows a window.
pub(crate) fn embed_detail(slot: &EmbedSlot) -> EmbedDetail {
    let budget = if slot.budget == 0 { EMBED_BUDGET } else { slot.budget };
    (slot.lod, budget.clamp(BUDGET_MIN, BUDGET_MAX))
}
