//! `open`: start or attach, add the window, show it.

use std::rc::Rc;

use pipemux_proto::app::Opened;
use pipemux_proto::call::nearest;
use pipemux_proto::client::{OpenArgs, ProvidersArgs, Verb};
use pipemux_proto::envelope::Method;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, ProviderId, SessionAddr, SessionId, decode};

use crate::Core;
use crate::event::Effect;
use crate::feed::Audience;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ENV_MAX, OPENS_MAX, SESSIONS_MAX, WINDOWS_MAX};
use crate::manifest::{Manifest, Scope};
use crate::persist::records::{Record, SavedOpen};
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::ProcessState;
use crate::verbs::providers::AfterLoading;
use crate::verbs::show::{AnswerKind, WantedWindow};
use crate::verbs::tasks::Task;
use crate::workspaces::Window;

/// Variables that every app gets from its opener: what programs need to find their way, and nothing
/// that is likely to be a secret.
const PASSED: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

impl Core {
    pub(super) fn open(&mut self, job: RequestId, open: OpenArgs) {
        if self.providers.contains_key(&open.provider) {
            return self.open_known(job, open);
        }
        // Its manifest may have been written since manifests were read last.
        self.load_providers(job, ProvidersArgs::default(), AfterLoading::Open(Box::new(open)));
    }

    /// Opens an app, or says that there is none of that name.
    pub(super) fn open_known(&mut self, job: RequestId, open: OpenArgs) {
        let manifest = match self.manifest(&open.provider) {
            Ok(manifest) => manifest,
            Err(fault) => return self.fail_request(job, fault),
        };
        let Some(at) = self.clients.request(job).map(|job| job.workspace.clone()) else { return };
        let session = match open.session.clone() {
            Some(session) => session,
            None => match SessionAddr::DEFAULT_SESSION.parse::<SessionId>() {
                Ok(session) => session,
                Err(error) => return self.fail_request(job, Fault::usage(error.to_string())),
            },
        };
        let addr = SessionAddr { provider: open.provider.clone(), session };
        let owner = (manifest.scope == Scope::Workspace).then(|| at.clone());
        let key = SessionKey { workspace: owner, addr };
        let windows = self.workspaces.get(&at).map_or(0, |workspace| workspace.windows.len());
        if windows >= WINDOWS_MAX || self.processes.sessions().len() >= SESSIONS_MAX {
            let fault = Fault::refused(format!(
                "no more windows: {windows} are open here, {} sessions in all",
                self.processes.sessions().len()
            ));
            return self.fail_request(job, fault.hint("pipemux close <provider>/<session> --end"));
        }
        let saved =
            SavedOpen { env: environment(&open, &manifest), args: open.args, cwd: open.cwd };
        let fresh = !self.processes.contains(&key);
        if fresh {
            self.processes.create(key.clone(), manifest);
        }
        self.set_task(job, Task::Opening(key.clone()));
        let down = self
            .processes
            .get(&key)
            .is_some_and(|s| s.process == ProcessState::Down && s.failed.is_none());
        if fresh || (down && !saved.args.is_empty()) {
            // This open is the newest of those that the start sends.
            self.processes.push_open(&key, saved);
            self.processes.begin_opening(&key, job);
            match self.processes.wake(&mut self.turn, &key) {
                Ok(()) => self.prefetch_for_open(job, &key),
                Err(fault) => {
                    self.processes.cancel_opening(&key, job);
                    self.fail_request(job, fault);
                }
            }
        } else if saved.args.is_empty() {
            if self.processes.get(&key).is_some_and(|session| session.opens.is_empty()) {
                // It was ended for good and is about to be gone: the next process opens with this.
                self.processes.push_open(&key, saved);
            }
            self.opened(job, Vec::new());
        } else {
            let Some(deadline) = self.clients.request(job).map(|job| job.deadline) else { return };
            let message = self.processes.open_message(&key, saved, true, false);
            self.processes.request(
                &mut self.turn,
                &key,
                Method::AppOpen,
                &message,
                deadline,
                ReplyTo::Attach(job),
            );
        }
    }

    /// A running session took in a further open.
    pub(crate) fn attach_answered(&mut self, job: RequestId, answered: AppReply) {
        let Some(Task::Opening(key)) = self.tasks.get(job) else {
            return;
        };
        let key = key.clone();
        match answered {
            AppReply::Reply(body) => match decode::<Opened>(&body) {
                Ok(opened) => {
                    self.remember_open(job, &key);
                    self.opened(job, opened.notes);
                }
                Err(error) => {
                    let fault =
                        Fault::unavailable(format!("an unreadable reply of {key}: {error}"));
                    self.fail_request(job, fault);
                }
            },
            AppReply::Fault(fault) => self.fail_request(job, fault),
            AppReply::Lost { delivered, why, hints, .. } => {
                let mut fault =
                    if delivered { Fault::unknown(why) } else { Fault::unavailable(why) };
                fault.hints = hints;
                self.fail_request(job, fault);
            }
        }
    }

    fn remember_open(&mut self, job: RequestId, key: &SessionKey) {
        let Some(job) = self.clients.request(job) else { return };
        let Verb::Open(open) = &job.call.verb else { return };
        let Some(session) = self.processes.get(key) else { return };
        let saved = SavedOpen {
            env: environment(open, &session.manifest),
            args: open.args.clone(),
            cwd: open.cwd.clone(),
        };
        self.processes.add_open(&mut self.turn, key, saved, OPENS_MAX);
    }

    /// The app has taken an open in: the window is added and shown.
    pub(crate) fn opened(&mut self, job: RequestId, notes: Vec<String>) {
        let Some(Task::Opening(key)) = self.tasks.get(job) else {
            return;
        };
        let key = key.clone();
        self.processes.cancel_opening(&key, job);
        let Some(found) = self.clients.request(job) else { return };
        let (at, lod, budget) = (found.workspace.clone(), found.call.lod, found.call.budget);
        let pin = match &found.call.verb {
            Verb::Open(open) => open.pin,
            _ => None,
        };
        let reader = found.call.reader.clone();
        let number = match self.prefetched_number(job, &key) {
            Some(number) => number,
            None => self.turn.next_number(),
        };
        let Some(workspace) = self.workspaces.get_mut(&at) else { return };
        let fresh = workspace.window(&key).is_none();
        if fresh {
            let actions = self.processes.actions_of(&key);
            workspace.open_window(Window::new(number, key.clone(), workspace.epoch), actions);
            workspace.window_set_changed(&reader);
        }
        if let Some(window) = workspace.window_mut(&key) {
            window.lod = lod.unwrap_or(window.lod);
            window.budget = budget.or(window.budget);
            window.pinned = pin.unwrap_or(window.pinned);
        }
        if fresh {
            let place = Audience::Workspace(at.clone(), Some(key.clone()));
            self.tell(EventKind::Opened, place, Some(&reader), &format!("{key} was opened"));
        }
        self.processes.save(&mut self.turn, &key);
        self.save_window(&at, &key);
        let want = WantedWindow { session: key, lod: None, budget: None };
        self.show(job, vec![want], AnswerKind::Open { notes });
    }

    /// The manifest of a provider.
    pub(crate) fn manifest(&self, provider: &ProviderId) -> Result<Rc<Manifest>, Fault> {
        if let Some(found) = self.providers.get(provider) {
            return Ok(found.clone());
        }
        let names = self.providers.keys().map(|id| id.as_str());
        let guess = nearest(provider.as_str(), names.clone())
            .map_or(String::new(), |guess| format!(": did you mean {guess}?"));
        let known: Vec<&str> = names.collect();
        Err(Fault::not_found(format!("no app {provider}{guess}"))
            .hint(format!("there are: {} · pipemux apps", known.join(", "))))
    }

    pub(crate) fn save_window(&mut self, at: &crate::keys::WorkspaceKey, key: &SessionKey) {
        let Some(window) = self.workspaces.get(at).and_then(|w| w.window(key)) else { return };
        let record = Record::Window {
            workspace: at.to_string(),
            session: key.to_string(),
            lod: lod_name(window.lod).into(),
            budget: window.budget,
            pinned: window.pinned,
        };
        self.turn.effects.push(Effect::Persist(record));
    }
}

/// A level of detail as it is typed and saved.
pub(crate) fn lod_name(lod: pipemux_proto::projection::Lod) -> &'static str {
    match lod {
        pipemux_proto::projection::Lod::Gist => "gist",
        pipemux_proto::projection::Lod::Summary => "summary",
        pipemux_proto::projection::Lod::Full => "full",
    }
}

/// What an app gets of its opener's environment.
fn environment(open: &OpenArgs, manifest: &Manifest) -> Vec<(String, String)> {
    let wanted = |name: &str| {
        PASSED.contains(&name) || name.starts_with("LC_") || manifest.pass.iter().any(|p| p == name)
    };
    let mut left = ENV_MAX;
    let fits = |(name, value): &(&String, &String)| {
        let length = name.len() + value.len() + 2;
        let fits = length <= left;
        left -= if fits { length } else { 0 };
        fits
    };
    open.env
        .iter()
        .filter(|(name, _)| wanted(name))
        .filter(fits)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
