//! Requests the windows that windows of an answer embed.

use std::rc::Rc;

use pipemux_proto::Fault;
use pipemux_proto::app::Project;
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::EMBEDS_MAX;
use pipemux_proto::projection::EmbedSlot;

use crate::Core;
use crate::answers::embeds::{embed_detail, embed_target};
use crate::answers::pending::PendingEmbed;
use crate::keys::{ProjectionKey, RequestId, SessionKey};
use crate::limits::PROJECT_MS;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::{ProcessState, Session};
use crate::verbs::require;
use crate::verbs::tasks::Task;
use crate::views::requested_window::WindowStatus;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{EmbedDetail, HeldProjection};

impl Core {
    /// Requests the windows that a window of an answer embeds, once that window has arrived.
    pub(super) fn request_embeds(&mut self, id: RequestId, host: &SessionKey) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace(&self.workspaces, request)?;
        let held = workspace.window(host).and_then(|window| window.projection.as_ref());
        let Some(projection) = held.map(|held| held.projection.clone()) else { return Ok(()) };
        for slot in projection.embeds().iter().take(EMBEDS_MAX) {
            let Ok(session) = self.embed_target(id, host, slot)? else { continue };
            let detail = embed_detail(slot);
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
        Ok(embed_target(workspace, &self.processes, host, slot))
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
