//! Requests to apps: sent or kept until the session is ready, and ended exactly once.

use bytes::Bytes;
use pipemux_proto::codec::encode;
use pipemux_proto::envelope::{Envelope, Kind, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::projection::Lod;
use pipemux_proto::{Fault, Frame};
use serde::Serialize;

use crate::Core;
use crate::event::Effect;
use crate::keys::{RequestId, SessionKey};
use crate::limits::APP_REQUESTS_MAX;
use crate::processes::session::{AppRequest, ProcessState, QueuedRequest};
use crate::timers::Timer;

/// What a request to an app is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// An `Open` of the start: the index among the session's opens.
    StartOpen(usize),
    /// An `Open` of a running session.
    Attach(RequestId),
    /// A window's content.
    Project(RequestId),
    /// A window's content, before it is known that it will be shown.
    Prefetch(RequestId),
    /// A window's content, so that a stale step can be sent again.
    Refresh(RequestId, ProjectionKey),
    /// A step.
    Invoke(RequestId),
    /// Where a thing is.
    Locate(RequestId),
    /// A thing's value.
    Read(RequestId),
    /// Whether it is still there.
    Ping,
    /// Its state, written down before it sleeps.
    Save,
    /// The end; nobody waits for the reply.
    Close,
}

/// Which window was asked for, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProjectionKey {
    /// The window's number.
    pub window: u64,
    /// Its level of detail.
    pub lod: Lod,
    /// The tokens that it is for.
    pub budget: u32,
}

/// How a request to an app ended.
#[derive(Debug)]
pub enum AppReply {
    /// With this body.
    Reply(Bytes),
    /// Refused by the app.
    Fault(Fault),
    /// Without an answer.
    Lost {
        /// True when the app may have acted on it.
        delivered: bool,
        /// True when its process ended with it.
        died: bool,
        /// What happened.
        why: String,
        /// The app's last words, when it could not start.
        hints: Vec<String>,
    },
}

impl Core {
    /// Sends a request to a session, waking it if need be. Ends in exactly one call of
    /// [`Core::answered`], possibly at once.
    pub(crate) fn request<T: Serialize>(
        &mut self,
        session: &SessionKey,
        method: Method,
        body: &T,
        deadline: u64,
        purpose: Purpose,
    ) {
        let body = match encode(body) {
            Ok(body) => Bytes::from(body),
            Err(error) => return self.answered(session, purpose, undelivered(error.to_string())),
        };
        if let Err(fault) = self.wake(session) {
            let (why, hints) = (fault.message, fault.hints);
            let lost = AppReply::Lost { delivered: false, died: false, why, hints };
            return self.answered(session, purpose, lost);
        }
        let Some(live) = self.sessions.get_mut(session) else { return };
        let ready = live.ready();
        if live.owes >= APP_REQUESTS_MAX {
            let why = format!("{session} has {} open requests, no more are taken", live.owes);
            return self.answered(session, purpose, undelivered(why));
        }
        live.owes += 1;
        live.hibernation.used = self.now.mono_ms;
        self.next_request += 1;
        let id = self.next_request;
        self.timers.set(deadline, Timer::AppRequest(id));
        let session = session.clone();
        match ready {
            Some(app) => {
                let pending = AppRequest { session, app: Some(app), deadline, purpose };
                self.app_requests.insert(id, pending);
                self.deliver(id, app, method, deadline, &body);
            }
            None => {
                live.waiting.push_back(QueuedRequest { id, method, body });
                self.app_requests.insert(id, AppRequest { session, app: None, deadline, purpose });
            }
        }
    }

    /// Sends what waited for the session to become ready.
    pub(crate) fn send_waiting(&mut self, session: &SessionKey, app: Incarnation) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        for waiting in std::mem::take(&mut live.waiting) {
            let Some(pending) = self.app_requests.get_mut(&waiting.id) else { continue };
            pending.app = Some(app);
            let deadline = pending.deadline;
            self.deliver(waiting.id, app, waiting.method, deadline, &waiting.body);
        }
    }

    /// Sends a request straight to a process that isn't ready yet, or no longer.
    pub(crate) fn send_now<T: Serialize>(
        &mut self,
        session: &SessionKey,
        app: Incarnation,
        method: Method,
        body: &T,
        deadline: u64,
        purpose: Purpose,
    ) {
        self.next_request += 1;
        let id = self.next_request;
        self.timers.set(deadline, Timer::AppRequest(id));
        let pending = AppRequest { session: session.clone(), app: Some(app), deadline, purpose };
        self.app_requests.insert(id, pending);
        if let Some(live) = self.sessions.get_mut(session) {
            live.owes += 1;
        }
        match encode(body) {
            Ok(body) => self.deliver(id, app, method, deadline, &body),
            Err(error) => self.end_request(id, undelivered(error.to_string())),
        }
    }

    fn deliver(&mut self, id: u64, app: Incarnation, method: Method, deadline: u64, body: &[u8]) {
        let deadline_ms = deadline.saturating_sub(self.now.mono_ms);
        let deadline_ms = u32::try_from(deadline_ms).unwrap_or(u32::MAX);
        let envelope = Envelope { deadline_ms, ..Envelope::request(method, id, app) };
        match Frame::forward(&envelope, body) {
            Ok(bytes) => {
                self.out.push(Effect::ToApp { app, bytes });
                self.watch_health(app);
            }
            Err(error) => self.end_request(id, undelivered(error.to_string())),
        }
    }

    /// Takes an app's answer. One that was given up, or that another life owes, is dropped.
    pub(crate) fn handle_answer(&mut self, app: Incarnation, frame: Frame) {
        let id = frame.envelope.id;
        if self.app_requests.get(&id).is_none_or(|pending| pending.app != Some(app)) {
            return;
        }
        let answered = if frame.envelope.kind == Kind::Reply {
            AppReply::Reply(frame.body)
        } else {
            match pipemux_proto::decode::<Fault>(&frame.body) {
                Ok(fault) => AppReply::Fault(fault),
                Err(error) => return self.break_app(app, format!("an unreadable fault: {error}")),
            }
        };
        self.end_request(id, answered);
    }

    /// Ends a request whose deadline has come.
    pub(crate) fn request_expired(&mut self, id: u64) {
        let Some(pending) = self.app_requests.get(&id) else { return };
        let session = pending.session.clone();
        let delivered = pending.app.is_some();
        if let Some(app) = pending.app {
            let now = self.now.mono_ms;
            if let Some(live) = self.sessions.get_mut(&session) {
                live.health.miss(now);
            }
            self.cancel_request(id, app);
        }
        let why = if delivered {
            format!("{session} did not answer in time")
        } else {
            format!("{session} was not ready in time")
        };
        self.end_request(id, AppReply::Lost { delivered, died: false, why, hints: Vec::new() });
    }

    /// Tells a process that nobody waits for its answer any more.
    pub(crate) fn cancel_request(&mut self, id: u64, app: Incarnation) {
        let envelope = Envelope {
            kind: Kind::Cancel,
            method: Method::Ping,
            id,
            incarnation: app,
            deadline_ms: 0,
        };
        if let Ok(bytes) = Frame::forward(&envelope, &[0x80]) {
            self.out.push(Effect::ToApp { app, bytes });
        }
    }

    /// Ends all requests of a process or, without one, those that wait for the session.
    pub(crate) fn end_requests(
        &mut self,
        session: &SessionKey,
        app: Option<Incarnation>,
        why: &str,
        hints: &[String],
    ) {
        let mut ids: Vec<u64> = self
            .app_requests
            .iter()
            .filter(|(_, pending)| pending.session == *session && pending.app == app)
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        if app.is_none()
            && let Some(live) = self.sessions.get_mut(session)
        {
            live.waiting.clear();
        }
        for id in ids {
            let (why, hints) = (why.to_owned(), hints.to_vec());
            let delivered = app.is_some();
            self.end_request(id, AppReply::Lost { delivered, died: delivered, why, hints });
        }
    }

    /// Ends the actions that wait for a session; what only looks at it goes on.
    pub(crate) fn end_waiting_invokes(&mut self, session: &SessionKey, why: &str) {
        let Some(live) = self.sessions.get(session) else { return };
        let of_it = |waiting: &&QueuedRequest| waiting.method == Method::Invoke;
        let ids: Vec<u64> = live.waiting.iter().filter(of_it).map(|waiting| waiting.id).collect();
        for id in ids {
            let hints = vec![format!("pipemux view {session} shows it as it is now")];
            let why = why.to_owned();
            self.end_request(id, AppReply::Lost { delivered: false, died: false, why, hints });
        }
    }

    /// Ends a request that is no longer wanted.
    pub(crate) fn take_back(&mut self, id: u64) {
        self.end_request(id, undelivered("cancelled".into()));
    }

    fn end_request(&mut self, id: u64, answered: AppReply) {
        let Some(pending) = self.app_requests.remove(&id) else { return };
        self.timers.clear(pending.deadline, Timer::AppRequest(id));
        if let Some(live) = self.sessions.get_mut(&pending.session) {
            live.owes = live.owes.saturating_sub(1);
            if !matches!(pending.purpose, Purpose::Ping | Purpose::Save) {
                live.hibernation.used = self.now.mono_ms;
            }
            if pending.app.is_none() {
                live.waiting.retain(|waiting| waiting.id != id);
            }
        }
        self.answered(&pending.session, pending.purpose, answered);
    }

    /// Hands an ended request to whom it was for.
    fn answered(&mut self, session: &SessionKey, purpose: Purpose, answered: AppReply) {
        match purpose {
            Purpose::StartOpen(index) => self.start_open_answered(session, index, answered),
            Purpose::Attach(job) => self.attach_answered(job, answered),
            Purpose::Project(job) => self.project_answered(job, session, answered),
            Purpose::Prefetch(job) => drop(self.prefetches.remove(&job)),
            Purpose::Refresh(job, look) => self.refresh_answered(job, session, look, answered),
            Purpose::Invoke(job) => self.invoke_answered(job, answered),
            Purpose::Locate(job) => self.locate_answered(job, answered),
            Purpose::Read(job) => self.read_answered(job, answered),
            Purpose::Ping => self.ping_answered(session),
            Purpose::Save => self.save_answered(session, answered),
            // In a process of its own, the end of that process is the end.
            Purpose::Close => {
                if !matches!(answered, AppReply::Lost { .. }) {
                    self.leave(session);
                }
            }
        }
    }

    /// True while the session's process isn't ready to take requests.
    pub(crate) fn is_starting(&self, session: &SessionKey) -> bool {
        self.sessions.get(session).is_some_and(|s| !matches!(s.process, ProcessState::Ready { .. }))
    }
}

fn undelivered(why: String) -> AppReply {
    AppReply::Lost { delivered: false, died: false, why, hints: Vec::new() }
}
