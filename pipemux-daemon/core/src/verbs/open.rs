//! `open`: starts a session or attaches to one, adds its window, and shows it.

use pipemux_proto::client::{OpenArgs, ProvidersArgs, ViewArgs, is_passed_variable};
use pipemux_proto::envelope::Method;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, ProviderId, SessionAddr, SessionId};

use crate::Core;
use crate::feed::Audience;
use crate::foreign::{ForeignText, Opened};
use crate::intake;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::{ENV_MAX, OPENS_MAX, SESSIONS_MAX, WINDOWS_MAX};
use crate::manifest::{Manifest, Scope};
use crate::persist::records::SavedOpen;
use crate::pipeline::grants::grant_for_open;
use crate::processes::passed_variables::PassedVariables;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::ProcessState;
use crate::providers::find_manifest;
use crate::verbs::providers::load_providers;
use crate::verbs::require;
use crate::verbs::tasks::{AfterLoading, AfterOpen, Opening, Task};
use crate::views::requested_window::{AnswerKind, WantedWindow};
use crate::workspaces::Window;

impl Core {
    /// Opens an app. If it isn't registered, the manifests are read again first, because its manifest may be new.
    pub(crate) fn open(&mut self, id: RequestId, open: OpenArgs) -> Result<(), Fault> {
        if self.providers.contains_key(&open.provider) {
            return self.open_registered(id, open, AfterOpen::Show);
        }
        let then = AfterLoading::Open(Box::new(open));
        let next = load_providers(&mut self.turn, id, ProvidersArgs::default(), then);
        self.follow(id, Ok(next));
        Ok(())
    }

    /// Opens a registered app.
    ///
    /// # Errors
    /// There is no app of that name, or no room for another window or session.
    pub(crate) fn open_registered(
        &mut self,
        id: RequestId,
        open: OpenArgs,
        then: AfterOpen,
    ) -> Result<(), Fault> {
        let manifest = find_manifest(&self.providers, &open.provider)?;
        if let Some(fault) = self.rules.forbids(&manifest.id) {
            return Err(fault);
        }
        let request = require::request(&self.clients, id)?;
        let (at, deadline) = (&request.workspace, request.deadline);
        let key = opened_key(&open, &manifest, at)?;
        let windows = require::workspace(&self.workspaces, request)?.windows.len();
        check_room(windows, self.processes.sessions().len())?;
        let (saved, passed) = saved_open(&open, &manifest);
        self.processes.forbidden().check_opens(&key, &manifest, std::slice::from_ref(&saved))?;
        let fresh = !self.processes.contains(&key);
        if fresh {
            self.processes.create(key.clone(), manifest);
        }
        let Some(session) = self.processes.get_mut(&key) else {
            return Err(Fault::not_found(format!("no session {key}")));
        };
        if !saved.args.is_empty() && session.is_ending_for_good() {
            // Its first open was refused, or it was ended: a request to the process would be lost with it.
            session.wait_until_ready(id);
            self.set_task(id, Task::Reopening(Box::new(open)));
            return Ok(());
        }
        let note = session.pass_variables(passed);
        let down = session.process == ProcessState::Down && session.failed.is_none();
        let starts = fresh || (down && !saved.args.is_empty());
        // A start sends all opens of the session, and this one last. A session that was ended, and whose process is
        // about to exit, has none: its next process opens with this.
        if starts || session.opens.is_empty() && saved.args.is_empty() {
            session.opens.push(saved.clone());
        }
        if starts {
            session.opens.begin_request(id);
        }
        let shows = matches!(then, AfterOpen::Show);
        let opening = Opening { session: key.clone(), args: open, then };
        self.set_task(id, Task::Opening(Box::new(opening)));
        if starts {
            if let Err(fault) = self.processes.wake(&mut self.turn, &key) {
                if let Some(session) = self.processes.get_mut(&key) {
                    session.opens.cancel_request(id);
                }
                return Err(fault);
            }
            if shows && let Ok((mut requests, _)) = self.window_requests(id) {
                requests.prefetch_for_open(&key);
            }
        } else if saved.args.is_empty() {
            return self.finish_open(id, note.into_iter().map(ForeignText::from).collect());
        } else if grant_for_open(
            &mut self.turn,
            (&self.clients, &mut self.processes),
            id,
            &key,
            &saved,
        )? {
            if let Some(Task::Opening(opening)) = self.tasks.remove(id) {
                self.set_task(id, Task::Widening(Box::new(opening.args)));
            }
        } else {
            let message = self.processes.open_message(&key, saved, true, false);
            let (turn, to) = (&mut self.turn, ReplyTo::Attach(id));
            self.processes.request(turn, &key, Method::AppOpen, &message, deadline, to);
        }
        Ok(())
    }

    /// Handles a running session's reply to a further open.
    pub(crate) fn attach_replied(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let Some(Task::Opening(opening)) = self.tasks.get(id) else {
            return Err(require::missing_task(&self.clients, id));
        };
        let key = opening.session.clone();
        match reply {
            AppReply::Reply(body) => {
                let opened = intake::read_said::<Opened>(&body, self.processes.speaker(&key));
                let opened = opened.map_err(|error| {
                    Fault::unavailable(format!("an unreadable reply of {key}: {error}"))
                })?;
                // A session that has been removed since has no next process.
                if let Some(session) = self.processes.get_mut(&key) {
                    let (saved, _) = saved_open(&opening.args, &session.manifest);
                    session.opens.add(saved, OPENS_MAX);
                    session.save(&mut self.turn);
                }
                self.finish_open(id, opened.notes)
            }
            AppReply::Fault(fault) => Err(fault),
            AppReply::Lost { delivered, why, hints, .. } => {
                let fault = if delivered { Fault::unknown(why) } else { Fault::unavailable(why) };
                Err(Fault { hints, ..fault })
            }
        }
    }

    /// Adds the window of a session that has opened, and shows it or goes on with the run that needed it.
    pub(crate) fn finish_open(
        &mut self,
        id: RequestId,
        notes: Vec<ForeignText>,
    ) -> Result<(), Fault> {
        let is_opening = |task: &Task| matches!(task, Task::Opening(_));
        let Some(Task::Opening(opening)) = self.tasks.take_if(id, is_opening) else {
            return Err(require::missing_task(&self.clients, id));
        };
        let Opening { session: key, args, then } = *opening;
        if let Some(session) = self.processes.get_mut(&key) {
            session.opens.cancel_request(id);
        }
        let shows = matches!(then, AfterOpen::Show);
        let number = self.tasks.prefetches.window_number(id, &key);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let (lod, budget) = (request.call.lod, request.call.budget);
        let (pin, priority, weight) = (args.pin, args.priority, args.weight);
        let number = number.unwrap_or_else(|| self.turn.next_number());
        let fresh = workspace.window(&key).is_none();
        if fresh {
            let actions = self.processes.actions_of(&key);
            workspace.open_window(Window::new(number, key.clone(), workspace.epoch), actions);
            workspace.window_set_changed(&reader);
        }
        if let Some(window) = workspace.window_mut(&key).filter(|_| shows) {
            window.lod = lod.unwrap_or(window.lod);
            window.budget = budget.or(window.budget);
            window.pinned = pin.unwrap_or(window.pinned);
            window.placement.priority = priority.unwrap_or(window.placement.priority);
            window.placement.weight =
                weight.map_or(window.placement.weight, |weight| weight.max(1));
        }
        if fresh {
            let audience = Audience::Workspace(at.clone(), Some(key.clone()));
            self.publish(EventKind::Opened, audience, Some(&reader), &format!("{key} was opened"));
        }
        if let Some(session) = self.processes.get_mut(&key) {
            session.save(&mut self.turn);
        }
        self.save_window(&at, &key);
        match then {
            AfterOpen::Show => {
                let wanted = WantedWindow { session: key, lod: None, budget: None };
                self.show_windows(id, vec![wanted], AnswerKind::Open { notes })
            }
            AfterOpen::Script(script) => self.run_script(id, script, true),
            // The window is open now, so that it isn't opened again.
            AfterOpen::View(view) => self.begin_view(id, ViewArgs { open: false, ..*view }),
        }
    }

    /// Opens an app with nothing, where and as its caller runs, for a script or a view that needs it.
    pub(crate) fn open_for(
        &mut self,
        id: RequestId,
        provider: ProviderId,
        then: AfterOpen,
    ) -> Result<(), Fault> {
        let call = &require::request(&self.clients, id)?.call;
        let (cwd, env) = (call.cwd.clone(), call.env.clone());
        let (session, args) = (None, Vec::new());
        let (pin, priority, weight) = (None, None, None);
        let open = OpenArgs { provider, session, args, cwd, env, pin, priority, weight };
        self.open_registered(id, open, then)
    }

    /// Saves the options of a window.
    fn save_window(&mut self, at: &WorkspaceKey, key: &SessionKey) {
        let workspace = self.workspaces.get(at);
        if let Some(window) = workspace.and_then(|workspace| workspace.window(key)) {
            self.turn.persist(window.to_record(at));
        }
    }
}

/// Returns the session that an `open` in a workspace means.
fn opened_key(
    open: &OpenArgs,
    manifest: &Manifest,
    at: &WorkspaceKey,
) -> Result<SessionKey, Fault> {
    let session = match open.session.clone() {
        Some(session) => session,
        None => SessionAddr::DEFAULT_SESSION
            .parse::<SessionId>()
            .map_err(|error| Fault::usage(error.to_string()))?,
    };
    // The sessions of an app share the text of its name.
    let addr = SessionAddr { provider: manifest.id.clone(), session };
    let owner = (manifest.scope == Scope::Workspace).then(|| at.clone());
    Ok(SessionKey { workspace: owner, addr })
}

/// Refuses another window when a workspace has as many as it may, or the daemon as many sessions.
fn check_room(windows: usize, sessions: usize) -> Result<(), Fault> {
    if windows < WINDOWS_MAX && sessions < SESSIONS_MAX {
        return Ok(());
    }
    let why = format!("no more windows: {windows} are open here, {sessions} sessions in all");
    Err(Fault::refused(why).hint("end one that is done with; they are listed by: pipemux sessions"))
}

/// Returns what is saved of an open, and the variables that the manifest names, whose values are not. Together they are
/// what an app gets of the opener's environment, within the bound on its size.
fn saved_open(open: &OpenArgs, manifest: &Manifest) -> (SavedOpen, PassedVariables) {
    let wanted =
        |name: &str| is_passed_variable(name) || manifest.pass.iter().any(|pass| pass == name);
    let mut left = ENV_MAX;
    let fits = |(name, value): &(&String, &String)| {
        let length = name.len() + value.len() + 2;
        let fits = length <= left;
        left -= if fits { length } else { 0 };
        fits
    };
    let given = open.env.iter().filter(|(name, _)| wanted(name)).filter(fits);
    let given = given.map(|(name, value)| (name.clone(), value.clone()));
    let (env, named): (Vec<_>, Vec<_>) = given.partition(|(name, _)| is_passed_variable(name));
    let passed = named.into_iter().collect::<PassedVariables>();
    let (args, cwd) = (open.args.clone(), open.cwd.clone());
    (SavedOpen { args, cwd, env, granted: Vec::new(), passed: passed.names() }, passed)
}
