//! Windows that windows show inside of their own: requested once it is known which ones a window of an answer embeds, and
//! filled in when the answer is written.
//!
//! An embed only looks at what is there: it opens, starts and wakes nothing. It goes one level deep, so that windows which
//! embed each other make no circle.

use std::rc::Rc;

use pipemux_proto::app::Project;
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::{EMBED_BUDGET, EMBEDS_MAX};
use pipemux_proto::projection::EmbedSlot;
use pipemux_proto::{Fault, SessionAddr};

use crate::Core;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::limits::{BUDGET_MAX, BUDGET_MIN, PROJECT_MS};
use crate::processes::Processes;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::{ProcessState, Session};
use crate::verbs::render_window::{render_input, shared_words};
use crate::verbs::require;
use crate::verbs::tasks::{PendingEmbed, Task};
use crate::views::answer_text::BUSY;
use crate::views::content_writer::EMBED_HEADING;
use crate::views::inert;
use crate::views::requested_window::WindowStatus;
use crate::views::window_renderer::render_embedded;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{Embed, EmbedDetail, EmbeddedWindow, HeldProjection, Workspace};

/// Ends the heading of an embedded window whose session sleeps.
const ASLEEP: &str = " · asleep, as it was before";

/// Ends the heading of an embedded window whose session doesn't run for another reason.
const DOWN: &str = " · not running, as it was before";

impl Core {
    /// Requests the windows that a window of an answer embeds, once that window has arrived.
    pub(super) fn request_embeds(&mut self, id: RequestId, host: &SessionKey) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let held = workspace.window(host).and_then(|window| window.projection.as_ref());
        let Some(projection) = held.map(|held| held.projection.clone()) else { return Ok(()) };
        for slot in projection.embeds().iter().take(EMBEDS_MAX) {
            let Ok(session) = self.embed_target(id, host, slot)? else { continue };
            let detail = detail(slot);
            let Some(Task::Viewing(view)) = self.tasks.get_mut(id) else {
                return Err(require::missing_task(&self.clients, id));
            };
            let same = |asked: &PendingEmbed| asked.session == session && asked.detail == detail;
            if !view.embeds.iter().any(same) {
                let state = WindowStatus::Waiting;
                view.embeds.push(PendingEmbed {
                    session: session.clone(),
                    detail,
                    state,
                    again: false,
                });
                self.project_embed(id, &session, detail)?;
            }
        }
        Ok(())
    }

    /// Returns the session that an embed shows, or the line that stands in its place.
    fn embed_target(
        &self,
        id: RequestId,
        host: &SessionKey,
        slot: &EmbedSlot,
    ) -> Result<Result<SessionKey, String>, Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        Ok(target(workspace, &self.processes, host, slot))
    }

    /// Requests an embedded window from its app, if that runs.
    fn project_embed(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        (lod, budget): EmbedDetail,
    ) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let process = self.processes.get(session);
        let state = match process.map(|process| &process.process) {
            Some(ProcessState::Ready { .. } | ProcessState::Starting { .. }) => None,
            _ => Some(WindowStatus::Busy),
        };
        let silent = process.is_some_and(|process| process.health.silent());
        let Some(window) = workspace.window(session) else { return Ok(()) };
        let held = window.embed((lod, budget)).map(|kept| &kept.held);
        if state.is_some() || (silent && held.is_some()) {
            self.settle_embed(id, session, (lod, budget), WindowStatus::Busy);
            return Ok(());
        }
        let app = process.and_then(Session::ready);
        let known = held.filter(|held| Some(held.app) == app);
        let project = Project {
            window: window.number,
            lod,
            // As for windows, a fifth is kept in reserve for errors of the app's own estimate.
            budget: budget - budget / 5,
            known_version: known.map(|held| held.projection.version),
            // One copy of an embedded window serves all readers of its host.
            reader: String::new(),
        };
        let deadline = request.deadline.min(self.turn.now.mono_ms + PROJECT_MS);
        let key = ProjectionKey { window: window.number, lod, budget };
        let (turn, to) = (&mut self.turn, ReplyTo::Embed(id, key));
        self.processes.request(turn, session, Method::Project, &project, deadline, to);
        Ok(())
    }

    /// Takes an app's reply to a request for an embedded window.
    pub(crate) fn embed_replied(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        key: ProjectionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        let process = self.processes.get(session);
        let app = process.and_then(Session::app);
        let newest = process.map_or(0, |process| process.version);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let detail = (key.lod, key.budget);
        let Some(Task::Viewing(view)) = self.tasks.get_mut(id) else {
            // The answer doesn't wait for it any more.
            return Ok(());
        };
        let same = |asked: &&mut PendingEmbed| asked.session == *session && asked.detail == detail;
        let Some(pending) = view.embeds.iter_mut().find(same) else { return Ok(()) };
        if pending.state != WindowStatus::Waiting {
            return Ok(());
        }
        let window = workspace.window_mut(session).filter(|window| window.number == key.window);
        let mut broken = None;
        let (state, ask_again) = match (reply, window, app) {
            // It was closed meanwhile: a line says so.
            (_, None, _) => (WindowStatus::Busy, false),
            (AppReply::Reply(body), Some(window), Some(app)) => match RawProjection::read(&body) {
                Ok(projection) if projection.unchanged => {
                    let held = window.embed(detail).map(|kept| &kept.held);
                    let same = held.is_some_and(|held| {
                        held.app == app && held.projection.version == projection.version
                    });
                    if !same {
                        window.forget_embed(detail);
                    }
                    (if same { WindowStatus::Fresh } else { WindowStatus::Busy }, !same)
                }
                // It was made before what the app has told since.
                Ok(projection) if projection.version < newest && !pending.again => {
                    (WindowStatus::Busy, true)
                }
                Ok(projection) => {
                    let (lod, budget) = detail;
                    let projection = Rc::new(projection);
                    window.hold_embed(HeldProjection { app, lod, budget, projection });
                    (WindowStatus::Fresh, false)
                }
                Err(why) => {
                    let fault = Fault::unavailable(format!("{session} sent no window: {why}"));
                    broken = Some((app, why));
                    (WindowStatus::Broken(Box::new(fault)), false)
                }
            },
            (AppReply::Reply(_), Some(_), None) => (WindowStatus::Busy, false),
            (AppReply::Fault(fault), ..) => (WindowStatus::Broken(Box::new(fault)), false),
            (AppReply::Lost { .. }, ..) => (WindowStatus::Busy, false),
        };
        if ask_again && !std::mem::replace(&mut pending.again, true) {
            return self.project_embed(id, session, detail);
        }
        pending.state = state;
        if let Some((app, why)) = broken {
            self.processes.break_app(&mut self.turn, app, why);
        }
        self.finish_view_if_settled(id)
    }

    fn settle_embed(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        detail: EmbedDetail,
        state: WindowStatus,
    ) {
        let Some(Task::Viewing(view)) = self.tasks.get_mut(id) else { return };
        let same = |asked: &&mut PendingEmbed| asked.session == *session && asked.detail == detail;
        if let Some(pending) = view.embeds.iter_mut().find(same) {
            pending.state = state;
        }
    }
}

/// Returns what a window shows of other sessions' windows; `asked` says how far their apps answered for this answer. The
/// flag is true when something new was minted or a meaning changed.
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
        let session = match target(workspace, processes, host, slot) {
            Ok(session) => session,
            Err(line) => return Embed::Line(line),
        };
        if index >= EMBEDS_MAX {
            let why = format!("{EMBEDS_MAX} others are embedded already");
            return Embed::Line(line(&session, &why, "view"));
        }
        let detail = detail(slot);
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

/// Returns what is kept of an embedded window, which is written if it wasn't yet, and whether that minted anything.
fn show_held(
    workspace: &mut Workspace,
    processes: &Processes,
    session: &SessionKey,
    detail: EmbedDetail,
    epoch: u64,
) -> (Option<EmbeddedWindow>, bool) {
    let Some(kept) = workspace.window(session).and_then(|window| window.embed(detail)) else {
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
                window.record_embed(&projection, rendered.clone());
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
/// The line that stands in its place.
fn target(
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
fn detail(slot: &EmbedSlot) -> EmbedDetail {
    let budget = if slot.budget == 0 { EMBED_BUDGET } else { slot.budget };
    (slot.lod, budget.clamp(BUDGET_MIN, BUDGET_MAX))
}
