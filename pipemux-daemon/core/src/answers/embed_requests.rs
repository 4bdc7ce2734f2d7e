//! Requests the windows that windows of an answer embed, once it is known which ones these are.

use std::rc::Rc;

use pipemux_proto::app::Project;
use pipemux_proto::envelope::Method;
use pipemux_proto::limits::EMBEDS_MAX;
use pipemux_proto::{Fault, Incarnation};

use crate::answers::embeds::{embed_detail, embed_target};
use crate::answers::pending::{PendingEmbed, PendingView};
use crate::answers::window_requests::WindowRequests;
use crate::keys::{ProjectionKey, SessionKey};
use crate::limits::PROJECT_MS;
use crate::processes::draining::break_app;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::{ProcessState, Session};
use crate::views::requested_window::WindowStatus;
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, Window};

impl WindowRequests<'_> {
    /// Requests the windows that a window of an answer embeds, once that window has arrived.
    pub(super) fn request_embeds(&mut self, view: &mut PendingView, host: &SessionKey) {
        let held = self.workspace.window(host).and_then(|window| window.projection.as_ref());
        let Some(projection) = held.map(|held| held.projection.clone()) else { return };
        for slot in projection.embeds().iter().take(EMBEDS_MAX) {
            let target = embed_target(self.workspace, self.processes, host, slot);
            let Ok(session) = target else { continue };
            let detail = embed_detail(slot);
            if view.embed_mut(&session, detail).is_none() {
                let state = WindowStatus::Waiting;
                let mut embed = PendingEmbed { session, detail, state, again: false };
                self.request_embed(&mut embed);
                view.embeds.push(embed);
            }
        }
    }

    /// Requests an embedded window from its app, if that runs.
    fn request_embed(&mut self, embed: &mut PendingEmbed) {
        let (session, (lod, budget)) = (&embed.session, embed.detail);
        let process = self.processes.get(session);
        let runs = matches!(
            process.map(|process| &process.process),
            Some(ProcessState::Ready { .. } | ProcessState::Starting { .. })
        );
        let silent = process.is_some_and(|process| process.health.silent());
        let Some(window) = self.workspace.window(session) else { return };
        let held = window.embeds.get(embed.detail).map(|kept| &kept.held);
        if !runs || (silent && held.is_some()) {
            embed.state = WindowStatus::Busy;
            return;
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
        let deadline = self.request.deadline.min(self.turn.now.mono_ms + PROJECT_MS);
        let key = ProjectionKey { window: window.number, lod, budget };
        let to = ReplyTo::Embed(self.request.id, key);
        self.processes.request(self.turn, session, Method::Project, &project, deadline, to);
    }

    /// Takes an app's reply to a request for an embedded window. Returns true if the answer may be
    /// complete.
    pub(crate) fn take_embed_reply(
        &mut self,
        view: &mut PendingView,
        session: &SessionKey,
        key: ProjectionKey,
        reply: AppReply,
    ) -> bool {
        let pending = view.embed_mut(session, (key.lod, key.budget));
        let Some(pending) = pending.filter(|pending| pending.state == WindowStatus::Waiting) else {
            return false;
        };
        let process = self.processes.get(session);
        let app = process.and_then(Session::app);
        let newest = process.map_or(0, |process| process.version);
        let window = self.workspace.window_mut(session);
        let window = window.filter(|window| window.number == key.window);
        let taken = match (reply, window, app) {
            (AppReply::Reply(body), Some(window), Some(app)) => {
                // What is asked for a second time is taken as it comes.
                let newest = if pending.again { 0 } else { newest };
                match RawProjection::read(&body) {
                    Ok(projection) => take_projection(window, key, (app, newest), projection),
                    Err(why) => {
                        let fault = Fault::unavailable(format!("{session} sent no window: {why}"));
                        pending.state = WindowStatus::Broken(Box::new(fault));
                        break_app(self.turn, self.processes, app, why);
                        return true;
                    }
                }
            }
            (AppReply::Fault(fault), Some(_), _) => {
                Taken::Settled(WindowStatus::Broken(Box::new(fault)))
            }
            // It was closed meanwhile, which a line says, or its app is gone.
            (AppReply::Reply(_) | AppReply::Fault(_) | AppReply::Lost { .. }, ..) => {
                Taken::Settled(WindowStatus::Busy)
            }
        };
        match taken {
            Taken::Settled(state) => pending.state = state,
            Taken::Outdated if pending.again => pending.state = WindowStatus::Busy,
            Taken::Outdated => {
                pending.again = true;
                self.request_embed(pending);
                return false;
            }
        }
        true
    }
}

/// The effect of an embedded window's projection on its answer.
enum Taken {
    Settled(WindowStatus),
    /// The projection is outdated; the app has to be asked again.
    Outdated,
}

/// Takes a projection of an embedded window, unless it is older than the `newest` version that its
/// process has told of.
fn take_projection(
    window: &mut Window,
    ProjectionKey { lod, budget, .. }: ProjectionKey,
    (app, newest): (Incarnation, u64),
    projection: RawProjection,
) -> Taken {
    if projection.unchanged {
        let held = window.embeds.get((lod, budget)).map(|kept| &kept.held);
        let same = held
            .is_some_and(|held| held.app == app && held.projection.version == projection.version);
        if same {
            return Taken::Settled(WindowStatus::Fresh);
        }
        window.embeds.forget((lod, budget));
        return Taken::Outdated;
    }
    if projection.version < newest {
        return Taken::Outdated;
    }
    window.embeds.hold(HeldProjection { app, lod, budget, projection: Rc::new(projection) });
    Taken::Settled(WindowStatus::Fresh)
}
