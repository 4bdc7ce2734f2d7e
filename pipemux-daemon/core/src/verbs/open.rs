//! `open`: starts a session or attaches to one, adds its window, and shows it.

use std::rc::Rc;

use pipemux_proto::call::nearest;
use pipemux_proto::client::{OpenArgs, ProvidersArgs, Verb, is_passed_variable};
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
use crate::processes::passed::PassedVariables;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::ProcessState;
use crate::verbs::require;
use crate::verbs::tasks::{AfterLoading, Task};
use crate::verbs::view::WantedWindow;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::Window;

impl Core {
    /// Opens an app. If it isn't registered, the manifests are read again first, because its manifest may be new.
    pub(super) fn open(&mut self, id: RequestId, open: OpenArgs) -> Result<(), Fault> {
        if self.providers.contains_key(&open.provider) {
            return self.open_registered(id, open);
        }
        self.load_providers(id, ProvidersArgs::default(), AfterLoading::Open(Box::new(open)));
        Ok(())
    }

    /// Opens a registered app.
    ///
    /// # Errors
    /// There is no app of that name, or no room for another window or session.
    pub(super) fn open_registered(&mut self, id: RequestId, open: OpenArgs) -> Result<(), Fault> {
        let manifest = self.manifest(&open.provider)?;
        if let Some(fault) = self.rules.forbids(&manifest.id) {
            return Err(fault);
        }
        let request = require::request(&self.clients, id)?;
        let (at, deadline) = (&request.workspace, request.deadline);
        let session = match open.session.clone() {
            Some(session) => session,
            None => SessionAddr::DEFAULT_SESSION
                .parse::<SessionId>()
                .map_err(|error| Fault::usage(error.to_string()))?,
        };
        // The sessions of an app share the text of its name.
        let addr = SessionAddr { provider: manifest.id.clone(), session };
        let owner = (manifest.scope == Scope::Workspace).then(|| at.clone());
        let key = SessionKey { workspace: owner, addr };
        let windows = require::workspace(&self.workspaces, request)?.windows.len();
        if windows >= WINDOWS_MAX || self.processes.sessions().len() >= SESSIONS_MAX {
            let fault = Fault::refused(format!(
                "no more windows: {windows} are open here, {} sessions in all",
                self.processes.sessions().len()
            ));
            return Err(
                fault.hint("end one that is done with; they are listed by: pipemux sessions")
            );
        }
        let (saved, passed) = saved_open(&open, &manifest);
        self.processes.check_opens(&key, &manifest, std::slice::from_ref(&saved))?;
        let fresh = !self.processes.contains(&key);
        if fresh {
            self.processes.create(key.clone(), manifest);
        }
        if !saved.args.is_empty() && self.processes.is_ending_for_good(&key) {
            // Its first open was refused, or it was ended: a request to the process would be lost with it.
            self.processes.wait_until_ready(&key, id);
            self.set_task(id, Task::Reopening);
            return Ok(());
        }
        let note = self.processes.pass_variables(&key, passed);
        self.set_task(id, Task::Opening(key.clone()));
        let down = self
            .processes
            .get(&key)
            .is_some_and(|s| s.process == ProcessState::Down && s.failed.is_none());
        if fresh || (down && !saved.args.is_empty()) {
            // The start sends all opens of the session, and this one last.
            self.processes.push_open(&key, saved);
            self.processes.begin_opening(&key, id);
            if let Err(fault) = self.processes.wake(&mut self.turn, &key) {
                self.processes.cancel_opening(&key, id);
                return Err(fault);
            }
            if self.shows_opened(id) {
                self.prefetch_for_open(id, &key);
            }
        } else if saved.args.is_empty() {
            if self.processes.get(&key).is_some_and(|session| session.opens.is_empty()) {
                // The session was ended and its process is about to exit: the next process opens with this.
                self.processes.push_open(&key, saved);
            }
            return self.finish_open(id, note.into_iter().map(ForeignText::from).collect());
        } else if !self.widen_for_open(id, &key, &saved)? {
            let message = self.processes.open_message(&key, saved, true, false);
            let (turn, to) = (&mut self.turn, ReplyTo::Attach(id));
            self.processes.request(turn, &key, Method::AppOpen, &message, deadline, to);
        }
        Ok(())
    }

    /// Handles a running session's reply to a further open.
    pub(crate) fn attach_replied(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let Some(Task::Opening(key)) = self.tasks.get(id) else {
            return Err(require::missing_task(&self.clients, id));
        };
        let key = key.clone();
        match reply {
            AppReply::Reply(body) => {
                let opened = intake::read_said::<Opened>(&body, self.processes.speaker(&key));
                let opened = opened.map_err(|error| {
                    Fault::unavailable(format!("an unreadable reply of {key}: {error}"))
                })?;
                self.remember_open(id, &key)?;
                self.finish_open(id, opened.notes)
            }
            AppReply::Fault(fault) => Err(fault),
            AppReply::Lost { delivered, why, hints, .. } => {
                let fault = if delivered { Fault::unknown(why) } else { Fault::unavailable(why) };
                Err(Fault { hints, ..fault })
            }
        }
    }

    /// Keeps an open with its session, so that the session's next process opens the same.
    fn remember_open(&mut self, id: RequestId, key: &SessionKey) -> Result<(), Fault> {
        let request = require::request(&self.clients, id)?;
        let Verb::Open(open) = &request.call.verb else {
            return Err(require::missing_task(&self.clients, id));
        };
        // A session that has been removed since has no next process.
        if let Some(session) = self.processes.get(key) {
            let (saved, _) = saved_open(open, &session.manifest);
            self.processes.add_open(&mut self.turn, key, saved, OPENS_MAX);
        }
        Ok(())
    }

    /// Returns true for a request that asks for the window, false for a run that only needs the app.
    fn shows_opened(&self, id: RequestId) -> bool {
        let request = self.clients.request(id);
        request.is_some_and(|request| matches!(request.call.verb, Verb::Open(_)))
    }

    /// Adds the window of a session that has opened, and shows it or goes on with the run that needed it.
    pub(crate) fn finish_open(
        &mut self,
        id: RequestId,
        notes: Vec<ForeignText>,
    ) -> Result<(), Fault> {
        let Some(Task::Opening(key)) = self.tasks.get(id) else {
            return Err(require::missing_task(&self.clients, id));
        };
        let key = key.clone();
        self.processes.cancel_opening(&key, id);
        let shows = self.shows_opened(id);
        let number = self.prefetched_number(id, &key);
        let request = require::request(&self.clients, id)?;
        let workspace = require::workspace_mut(&mut self.workspaces, request)?;
        let (at, reader) = (request.workspace.clone(), request.call.reader.clone());
        let (lod, budget) = (request.call.lod, request.call.budget);
        let (pin, priority, weight) = match &request.call.verb {
            Verb::Open(open) => (open.pin, open.priority, open.weight),
            _ => (None, None, None),
        };
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
        self.processes.save(&mut self.turn, &key);
        self.save_window(&at, &key);
        if !shows {
            return self.prepare_opened(id);
        }
        let wanted = WantedWindow { session: key, lod: None, budget: None };
        self.show_windows(id, vec![wanted], AnswerKind::Open { notes })
    }

    /// Returns the manifest of a provider.
    ///
    /// # Errors
    /// The provider is not registered.
    pub(crate) fn manifest(&self, provider: &ProviderId) -> Result<Rc<Manifest>, Fault> {
        if let Some(found) = self.providers.get(provider) {
            return Ok(found.clone());
        }
        let names = self.providers.keys().map(|id| id.as_str());
        let guess = nearest(provider.as_str(), names.clone())
            .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
        let known: Vec<&str> = names.collect();
        Err(Fault::not_found(format!("no app {provider}{guess}"))
            .hint(format!("there are {}: pipemux apps", known.join(", "))))
    }

    /// Saves the options of a window.
    fn save_window(&mut self, at: &WorkspaceKey, key: &SessionKey) {
        let workspace = self.workspaces.get(at);
        if let Some(window) = workspace.and_then(|workspace| workspace.window(key)) {
            self.turn.persist(window.to_record(at));
        }
    }
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
