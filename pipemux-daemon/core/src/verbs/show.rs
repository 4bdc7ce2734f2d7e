//! PendingView windows: projections are asked for, waited for briefly, and written as one answer.

use std::rc::Rc;

use pipemux_proto::app::Project;
use pipemux_proto::call::nearest;
use pipemux_proto::client::ViewArgs;
use pipemux_proto::envelope::Method;
use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, Incarnation};

use crate::Core;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{PROJECT_MS, START_MS, VIEW_BUDGET};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::verbs::abandon_pending_views::closed_meanwhile;
use crate::verbs::tasks::Task;
pub use crate::views::requested_window::{AnswerKind, RequestedWindow, WindowStatus};
use crate::workspaces::raw_projection::RawProjection;
use crate::workspaces::{HeldProjection, Window};

/// Windows on their way into an answer.
#[derive(Debug)]
pub struct PendingView {
    /// In the order of the answer.
    pub windows: Vec<RequestedWindow>,
    /// What the answer is of.
    pub head: AnswerKind,
}

/// A window that is wanted, with what the request says of it.
#[derive(Debug, Clone)]
pub struct WantedWindow {
    /// Whose.
    pub session: SessionKey,
    /// For this answer only.
    pub lod: Option<Lod>,
    /// For this answer only.
    pub budget: Option<u32>,
}

impl Core {
    pub(super) fn view(&mut self, job: RequestId, view: ViewArgs) {
        let Some(found) = self.clients.request(job) else { return };
        let (lod, budget) = (found.call.lod, found.call.budget);
        let Some(workspace) = self.workspaces.get(&found.workspace) else { return };
        let since = view.since;
        if let Some(epoch) = since.filter(|epoch| *epoch > workspace.epoch) {
            let newest = workspace.epoch;
            let fault =
                Fault::not_found(format!("e{epoch} has not been issued, the newest is e{newest}"));
            return self.fail_request(job, fault.hint(format!("pipemux view --since e{newest}")));
        }
        if let Some(addr) = view.session {
            let Some(window) = workspace.windows.named(&addr).next() else {
                let names: Vec<String> =
                    workspace.windows.iter().map(|window| window.session.to_string()).collect();
                let guess = nearest(&addr.to_string(), names.iter().map(String::as_str));
                let registered = self.providers.contains_key(&addr.provider);
                let fault = Fault::not_found(format!("no window of {addr} is open here"));
                let fault = match guess {
                    Some(guess) => fault.hint(format!("pipemux view {guess}")),
                    None if registered => fault.hint(format!("pipemux open {addr}")),
                    None => {
                        fault.hint("pipemux view shows what is open, pipemux apps what there is")
                    }
                };
                return self.fail_request(job, fault);
            };
            let want = WantedWindow { session: window.session.clone(), lod, budget };
            return self.show(job, vec![want], AnswerKind::Window(since));
        }
        let total = budget.unwrap_or(VIEW_BUDGET);
        let share = total / (workspace.windows.len().max(1) as u32);
        let wants = workspace
            .windows
            .iter()
            .map(|window| WantedWindow {
                session: window.session.clone(),
                lod,
                budget: Some(match budget {
                    Some(_) => share,
                    None => share.max(window.budget.unwrap_or(0)),
                }),
            })
            .collect();
        self.show(job, wants, AnswerKind::Workspace(since));
    }

    /// Asks for windows and answers once they are there, or time is up.
    pub(crate) fn show(&mut self, job: RequestId, wants: Vec<WantedWindow>, head: AnswerKind) {
        let Some(at) = self.clients.request(job).map(|job| job.workspace.clone()) else { return };
        let Some(workspace) = self.workspaces.get(&at) else { return };
        let mut windows = Vec::new();
        for want in wants {
            let Some(window) = workspace.window(&want.session) else { continue };
            let (lod, budget) = window.detail(want.lod, want.budget);
            let state = WindowStatus::Waiting;
            let (session, held, lowered, again) = (want.session, None, None, false);
            let (number, known, ahead) = (window.number, false, false);
            windows.push(RequestedWindow {
                session,
                lod,
                budget,
                lowered,
                state,
                number,
                held,
                again,
                known,
                ahead,
            });
        }
        let asks: Vec<(SessionKey, Lod, u32)> =
            windows.iter().map(|w| (w.session.clone(), w.lod, w.budget)).collect();
        let opening = matches!(head, AnswerKind::Open { .. });
        self.set_task(job, Task::Viewing(Box::new(PendingView { windows, head })));
        if asks.is_empty() {
            return self.finish_show(job);
        }
        for (session, lod, budget) in asks {
            self.project(job, &session, lod, budget, opening);
        }
    }

    fn project(
        &mut self,
        job: RequestId,
        session: &SessionKey,
        lod: Lod,
        budget: u32,
        opening: bool,
    ) {
        let Some(found) = self.clients.request(job) else { return };
        let Some(window) = self.workspaces.get(&found.workspace).and_then(|w| w.window(session))
        else {
            return;
        };
        let ask = self.projection_request(window, lod, budget);
        if window.rendered.is_some()
            && self.processes.get(session).is_some_and(|s| s.health.silent())
        {
            // It was waited for already and has said nothing since: what it showed is shown again.
            let why = format!("{session} did not answer in time");
            let lost = AppReply::Lost { delivered: true, died: false, why, hints: Vec::new() };
            return self.project_answered(job, session, lost);
        }
        // One window may take its start; the whole desk doesn't wait for one of its apps.
        let alone = matches!(self.tasks.get(job), Some(Task::Viewing(showing)) if showing.windows.len() == 1);
        let slow = opening || (alone && self.processes.is_starting(session));
        let patience = if slow { START_MS } else { PROJECT_MS };
        let deadline = found.deadline.min(self.turn.now.mono_ms + patience);
        let ahead = self.take_prefetched(job, session, ask.window, (lod, budget), deadline);
        if let Some(Task::Viewing(showing)) = self.tasks.get_mut(job)
            && let Some(shown) = showing.windows.iter_mut().find(|shown| shown.session == *session)
        {
            shown.known = ahead.unwrap_or(ask.known_version.is_some());
            shown.ahead = ahead.is_some();
            shown.number = ask.window;
        }
        if ahead.is_some() {
            return;
        }
        self.processes.request(
            &mut self.turn,
            session,
            Method::Project,
            &ask,
            deadline,
            ReplyTo::Project(job),
        );
    }

    /// What is asked of a window's app.
    pub(crate) fn projection_request(&self, window: &Window, lod: Lod, budget: u32) -> Project {
        let app = self.processes.get(&window.session).and_then(|session| session.ready());
        let held = window
            .projection
            .as_ref()
            .filter(|held| Some(held.app) == app && held.lod == lod && held.budget == budget);
        Project {
            window: window.number,
            lod,
            // A fifth is kept back for what the app's own estimate leaves out.
            budget: budget - budget / 5,
            known_version: held.map(|held| held.projection.version),
        }
    }

    /// A window's content came, or didn't.
    pub(crate) fn project_answered(
        &mut self,
        job: RequestId,
        session: &SessionKey,
        answered: AppReply,
    ) {
        let live = self.processes.get(session);
        let (app, newest) = (live.and_then(|live| live.app()), live.map_or(0, |live| live.version));
        let Some(found) = self.clients.request(job) else { return };
        let at = found.workspace.clone();
        let Some(Task::Viewing(showing)) = self.tasks.get_mut(job) else { return };
        let Some(shown) = showing.windows.iter_mut().find(|w| w.session == *session) else {
            return;
        };
        if shown.state != WindowStatus::Waiting {
            return;
        }
        let window = self.workspaces.get_mut(&at).and_then(|w| w.window_mut(session));
        let Some(window) = window else {
            shown.state = closed_meanwhile(session);
            if showing.windows.iter().all(|window| window.state != WindowStatus::Waiting) {
                self.finish_show(job);
            }
            return;
        };
        if shown.number != window.number && matches!(answered, AppReply::Reply(_)) {
            // Closed and opened anew meanwhile: what came is of the window that was closed.
            let (lod, budget) = (shown.lod, shown.budget);
            return self.project(job, session, lod, budget, false);
        }
        let mut broken = None;
        match answered {
            AppReply::Reply(body) => match (RawProjection::read(&body), app) {
                // Looked at before the step took effect: its app does several things at once.
                (Ok(projection), Some(_)) if shown.ahead && projection.version < newest => {
                    let (lod, budget) = (shown.lod, shown.budget);
                    return self.project(job, session, lod, budget, false);
                }
                (Ok(projection), Some(app)) => {
                    // Of this look: at another budget or detail there is nothing to keep.
                    let held = window.projection.as_ref().filter(|held| {
                        held.app == app && held.lod == shown.lod && held.budget == shown.budget
                    });
                    let held = held.map(|held| held.projection.version);
                    if projection.unchanged && held != Some(projection.version) {
                        if window.projection.is_none() && !shown.known {
                            let why = "it says unchanged of a window that it never sent";
                            let fault =
                                Fault::unavailable(format!("{session} sent no window: {why}"));
                            shown.state = WindowStatus::Broken(Box::new(fault));
                            return self.window_settled(job, Some((app, why.into())));
                        }
                        // Another version than the daemon holds: it is asked for as a whole.
                        window.projection = None;
                        let (lod, budget) = (shown.lod, shown.budget);
                        return self.project(job, session, lod, budget, false);
                    }
                    shown.state = WindowStatus::Fresh;
                    // Versions only grow within a life: one that was overtaken is passed over.
                    let overtaken = held.is_some_and(|version| projection.version < version);
                    let mut before = None;
                    if !projection.unchanged && !overtaken {
                        before = window.projection.replace(HeldProjection {
                            app,
                            lod: shown.lod,
                            budget: shown.budget,
                            projection: Rc::new(projection),
                        });
                    }
                    shown.held = window.projection.clone();
                    let lower = match shown.lod {
                        Lod::Full => Some(Lod::Summary),
                        Lod::Summary => Some(Lod::Gist),
                        Lod::Gist => None,
                    };
                    if let Some((lower, tokens)) =
                        lower.zip(too_large(window, shown.budget, before))
                    {
                        // Too large for its share: once more with less detail.
                        shown.lod = lower;
                        shown.lowered = shown.lowered.or(Some(tokens));
                        shown.state = WindowStatus::Waiting;
                        let budget = shown.budget;
                        return self.project(job, session, lower, budget, false);
                    }
                }
                (Err(why), _) => {
                    let fault = Fault::unavailable(format!("{session} sent no window: {why}"));
                    shown.state = WindowStatus::Broken(Box::new(fault));
                    broken = app.map(|app| (app, why));
                }
                (Ok(_), None) => shown.state = WindowStatus::Busy,
            },
            // It wasn't open yet, or the step was under way: its app does several things at once.
            AppReply::Fault(_) if shown.ahead => {
                let (lod, budget) = (shown.lod, shown.budget);
                return self.project(job, session, lod, budget, false);
            }
            AppReply::Fault(fault) => shown.state = WindowStatus::Broken(Box::new(fault)),
            AppReply::Lost { died: true, .. } if !std::mem::replace(&mut shown.again, true) => {
                // Looking changes nothing: the next process is asked.
                let (lod, budget) = (shown.lod, shown.budget);
                return self.project(job, session, lod, budget, false);
            }
            AppReply::Lost { why, hints, delivered, .. } => {
                let alive = app.is_some() && delivered;
                shown.state = if alive && window.rendered.is_some() {
                    WindowStatus::Busy
                } else {
                    let mut fault = Fault::unavailable(why);
                    fault.hints = hints;
                    WindowStatus::Broken(Box::new(fault))
                };
            }
        }
        self.window_settled(job, broken);
    }

    /// Answers once no window is waited for; ends an app that sent garbage.
    fn window_settled(&mut self, job: RequestId, broken: Option<(Incarnation, String)>) {
        let waiting = match self.tasks.get(job) {
            Some(Task::Viewing(showing)) => {
                showing.windows.iter().any(|window| window.state == WindowStatus::Waiting)
            }
            _ => true,
        };
        if let Some((app, why)) = broken {
            self.processes.break_app(&mut self.turn, app, why);
        }
        if !waiting {
            self.finish_show(job);
        }
    }
}

/// The tokens of a window that takes clearly more than it may: apps estimate, too.
fn too_large(window: &Window, budget: u32, before: Option<HeldProjection>) -> Option<u64> {
    let held = window.projection.as_ref()?;
    let before = before.as_ref().map(|before| &*before.projection);
    held.projection.tokens_beyond(u64::from(budget) * 3 / 2 + 20, before)
}
