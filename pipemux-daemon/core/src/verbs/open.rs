//! `open`: start or attach, add the window, show it.

use std::rc::Rc;

use pipemux_proto::app::Opened;
use pipemux_proto::call::nearest;
use pipemux_proto::client::{Open, Providers, Verb};
use pipemux_proto::envelope::Method;
use pipemux_proto::watch::What;
use pipemux_proto::{Fault, ProviderId, SessionAddr, SessionId, decode};

use crate::Core;
use crate::clients::requests::RequestState;
use crate::event::Effect;
use crate::feed::Audience;
use crate::keys::{RequestId, SessionKey};
use crate::limits::{ENV_MAX, OPENS_MAX, SESSIONS_MAX, WINDOWS_MAX};
use crate::manifest::{Manifest, Scope};
use crate::persist::records::{Record, SavedOpen};
use crate::processes::opening::open_message;
use crate::processes::requests::{AppReply, Purpose};
use crate::processes::session::{ProcessState, Session};
use crate::verbs::providers::AfterLoading;
use crate::verbs::show::{AnswerKind, WantedWindow};
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
    pub(super) fn open(&mut self, job: RequestId, open: Open) {
        if self.providers.contains_key(&open.provider) {
            return self.open_known(job, open);
        }
        // Its manifest may have been written since manifests were read last.
        self.load_providers(job, Providers::default(), AfterLoading::Open(Box::new(open)));
    }

    /// Opens an app, or says that there is none of that name.
    pub(super) fn open_known(&mut self, job: RequestId, open: Open) {
        let manifest = match self.manifest(&open.provider) {
            Ok(manifest) => manifest,
            Err(fault) => return self.fail_job(job, fault),
        };
        let Some(at) = self.requests.get(&job).map(|job| job.workspace.clone()) else { return };
        let session = match open.session.clone() {
            Some(session) => session,
            None => match SessionAddr::DEFAULT_SESSION.parse::<SessionId>() {
                Ok(session) => session,
                Err(error) => return self.fail_job(job, Fault::usage(error.to_string())),
            },
        };
        let addr = SessionAddr { provider: open.provider.clone(), session };
        let owner = (manifest.scope == Scope::Workspace).then(|| at.clone());
        let key = SessionKey { workspace: owner, addr };
        let windows = self.workspaces.get(&at).map_or(0, |workspace| workspace.windows.len());
        if windows >= WINDOWS_MAX || self.sessions.len() >= SESSIONS_MAX {
            let fault = Fault::refused(format!(
                "no more windows: {windows} are open here, {} sessions in all",
                self.sessions.len()
            ));
            return self.fail_job(job, fault.hint("pipemux close <provider>/<session> --end"));
        }
        let saved =
            SavedOpen { env: environment(&open, &manifest), args: open.args, cwd: open.cwd };
        let fresh = !self.sessions.contains_key(&key);
        if fresh {
            self.sessions.insert(key.clone(), Session::new(manifest, Vec::new()));
            self.actions_changed(&key);
        }
        if let Some(job) = self.requests.get_mut(&job) {
            job.task = RequestState::Opening(key.clone());
        }
        let down = self
            .sessions
            .get(&key)
            .is_some_and(|s| s.process == ProcessState::Down && s.failed.is_none());
        if fresh || (down && !saved.args.is_empty()) {
            // This open is the newest of those that the start sends.
            if let Some(session) = self.sessions.get_mut(&key) {
                session.opens.push(saved);
            }
            self.opening.insert(key.clone(), job);
            match self.wake(&key) {
                Ok(()) => self.prefetch_for_open(job, &key),
                Err(fault) => {
                    self.opening.remove(&key);
                    self.fail_job(job, fault);
                }
            }
        } else if saved.args.is_empty() {
            if let Some(session) = self.sessions.get_mut(&key).filter(|s| s.opens.is_empty()) {
                // It was ended for good and is about to be gone: the next process opens with this.
                session.opens.push(saved);
            }
            self.opened(job, Vec::new());
        } else {
            let Some(deadline) = self.requests.get(&job).map(|job| job.deadline) else { return };
            let (state_dir, _) = self.places(&key);
            let message = open_message(&key, saved, true, false, state_dir);
            self.request(&key, Method::AppOpen, &message, deadline, Purpose::Attach(job));
        }
    }

    /// A running session took in a further open.
    pub(crate) fn attach_answered(&mut self, job: RequestId, answered: AppReply) {
        let Some(RequestState::Opening(key)) = self.requests.get(&job).map(|job| &job.task) else {
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
                    self.fail_job(job, fault);
                }
            },
            AppReply::Fault(fault) => self.fail_job(job, fault),
            AppReply::Lost { delivered, why, hints, .. } => {
                let mut fault =
                    if delivered { Fault::unknown(why) } else { Fault::unavailable(why) };
                fault.hints = hints;
                self.fail_job(job, fault);
            }
        }
    }

    fn remember_open(&mut self, job: RequestId, key: &SessionKey) {
        let Some(job) = self.requests.get(&job) else { return };
        let Verb::Open(open) = &job.call.verb else { return };
        let Some(session) = self.sessions.get_mut(key) else { return };
        let saved = SavedOpen {
            env: environment(open, &session.manifest),
            args: open.args.clone(),
            cwd: open.cwd.clone(),
        };
        if !session.opens.contains(&saved) {
            session.opens.push(saved);
        }
        if session.opens.len() > OPENS_MAX {
            session.opens.remove(0);
        }
        self.save_session(key);
    }

    /// The app has taken an open in: the window is added and shown.
    pub(crate) fn opened(&mut self, job: RequestId, notes: Vec<String>) {
        let Some(RequestState::Opening(key)) = self.requests.get(&job).map(|job| &job.task) else {
            return;
        };
        let key = key.clone();
        self.close_opening(&key, job);
        let Some(found) = self.requests.get(&job) else { return };
        let (at, lod, budget) = (found.workspace.clone(), found.call.lod, found.call.budget);
        let pin = match &found.call.verb {
            Verb::Open(open) => open.pin,
            _ => None,
        };
        let reader = found.call.reader.clone();
        let number = match self.prefetched_number(job, &key) {
            Some(number) => number,
            None => self.next_number(),
        };
        let Some(workspace) = self.workspaces.get_mut(&at) else { return };
        let fresh = workspace.window(&key).is_none();
        if fresh {
            let actions = self.sessions.get(&key).map(|session| session.prototypes.clone());
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
            self.tell(What::Opened, place, Some(&reader), &format!("{key} was opened"));
        }
        self.save_session(&key);
        self.save_window(&at, &key);
        let want = WantedWindow { session: key, lod: None, budget: None };
        self.show(job, vec![want], AnswerKind::Open { notes });
    }

    /// The start of a session no longer answers this request; another one's it still does.
    pub(crate) fn close_opening(&mut self, key: &SessionKey, job: RequestId) {
        if self.opening.get(key) == Some(&job) {
            self.opening.remove(key);
        }
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
        self.out.push(Effect::Persist(record));
    }

    pub(crate) fn save_session(&mut self, key: &SessionKey) {
        let Some(session) = self.sessions.get(key) else { return };
        let fingerprint = session.opens_fingerprint();
        if session.saved == fingerprint {
            return;
        }
        let record = Record::Session {
            workspace: key.workspace.as_deref().map(Into::into),
            session: key.to_string(),
            opens: session.opens.clone(),
        };
        if let Some(session) = self.sessions.get_mut(key) {
            session.saved = fingerprint;
        }
        self.out.push(Effect::Persist(record));
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
fn environment(open: &Open, manifest: &Manifest) -> Vec<(String, String)> {
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
