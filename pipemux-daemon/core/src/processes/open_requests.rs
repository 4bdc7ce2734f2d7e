//! The requests to apps that have no reply yet: sent, or kept until the session is ready, and ended
//! exactly once.

use std::collections::VecDeque;

use bytes::Bytes;
use pipemux_proto::app::{Empty, Invoke, OPTIONAL_VERSIONS};
use pipemux_proto::codec::encode;
use pipemux_proto::envelope::{Envelope, Kind, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::event::Effect;
use crate::intake;
use crate::keys::SessionKey;
use crate::limits::{APP_REQUESTS_MAX, SAVE_MS};
use crate::processes::event::{ProcessEvent, ProcessEvents};
use crate::processes::owed_requests::QueuedRequest;
use crate::processes::reply::{AppReply, Purpose, ReplyTo};
use crate::processes::session::{Session, Sessions};
use crate::timers::Timer;
use crate::turn::Turn;

/// A request to an app that has no reply yet.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub session: SessionKey,
    /// The process that has it; none while it waits for the session to be ready.
    pub app: Option<Incarnation>,
    /// The time at which the request is abandoned, on the monotonic clock.
    deadline: u64,
    pub purpose: Purpose,
}

/// What a request is, apart from its body.
#[derive(Debug)]
pub(super) struct RequestHead {
    pub method: Method,
    /// The time at which the exchange is abandoned, on the monotonic clock.
    pub deadline: u64,
    pub purpose: Purpose,
}

/// The requests that have no reply yet, by number. A number is never used again in this daemon's
/// life.
///
/// **Invariant: a request ends exactly once.** It leaves the table only in
/// [`OpenRequests::remove`].
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    open: FxHashMap<u64, OpenRequest>,
    last: u64,
    /// The dropped requests, newest first, at most [`APP_REQUESTS_MAX`]. An app may still answer
    /// one of them.
    dropped: VecDeque<u64>,
}

impl OpenRequests {
    pub fn get(&self, id: u64) -> Option<&OpenRequest> {
        self.open.get(&id)
    }

    /// The request of that number, if it is with that process.
    pub fn with(&self, app: Incarnation, id: u64) -> Option<&OpenRequest> {
        self.open.get(&id).filter(|request| request.app == Some(app))
    }

    /// Returns whom the reply to a client's request is for that is with a process.
    pub fn client_of(&self, app: Incarnation, id: u64) -> Option<ReplyTo> {
        match &self.with(app, id)?.purpose {
            Purpose::Client(to) => Some(to.clone()),
            _ => None,
        }
    }

    /// True when a process has a request other than a ping.
    pub fn has_from(&self, app: Incarnation) -> bool {
        let of_it =
            |request: &OpenRequest| request.app == Some(app) && request.purpose != Purpose::Ping;
        self.open.values().any(of_it)
    }

    /// The number of a client's request that still waits for its session.
    pub fn unsent(&self, to: &ReplyTo) -> Option<u64> {
        let waits = |request: &OpenRequest| {
            request.app.is_none() && matches!(&request.purpose, Purpose::Client(of) if of == to)
        };
        self.open.iter().find(|(_, request)| waits(request)).map(|(id, _)| *id)
    }

    /// True for a request whose reply nobody wanted any more.
    pub fn was_dropped(&self, id: u64) -> bool {
        self.dropped.contains(&id)
    }

    /// Sends a request to a session's process, which may not be ready yet, or no longer. Returns
    /// its number unless it has ended already.
    pub fn send<T: Serialize>(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        session: &mut Session,
        head: RequestHead,
        body: &T,
    ) -> Option<u64> {
        let method = head.method;
        let id = self.add(turn, session, session.app(), head);
        match encode(body) {
            Ok(body) => self.deliver(turn, events, session, id, (method, &body)),
            Err(error) => {
                let lost = AppReply::undelivered(error.to_string());
                self.lose_of(turn, events, Some(session), id, lost);
            }
        }
        self.open.contains_key(&id).then_some(id)
    }

    /// Sends a request with an encoded body, or keeps it until the session is ready. Returns its
    /// number unless it has ended already.
    pub fn send_when_ready(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        session: &mut Session,
        head: RequestHead,
        body: Vec<u8>,
    ) -> Option<u64> {
        let method = head.method;
        session.hibernation.used = turn.mono_ms();
        let ready = session.ready();
        let id = self.add(turn, session, ready, head);
        match ready {
            Some(_) => self.deliver(turn, events, session, id, (method, &body)),
            None => {
                let body = Bytes::from(body.into_boxed_slice());
                session.owed.waiting.push_back(QueuedRequest { id, method, body });
            }
        }
        self.open.contains_key(&id).then_some(id)
    }

    /// Asks a session's process to write its state down, so that it can end.
    pub fn ask_to_save(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        session: &mut Session,
    ) {
        let now = turn.mono_ms();
        session.hibernation.saving = Some(now);
        let (method, deadline) = (Method::Save, now + SAVE_MS);
        let head = RequestHead { method, deadline, purpose: Purpose::Save };
        self.send(turn, events, session, head, &Empty {});
    }

    fn add(
        &mut self,
        turn: &mut Turn,
        session: &mut Session,
        app: Option<Incarnation>,
        head: RequestHead,
    ) -> u64 {
        self.last += 1;
        let RequestHead { deadline, purpose, .. } = head;
        let request = OpenRequest { session: session.key.clone(), app, deadline, purpose };
        self.open.insert(self.last, request);
        session.owed.count += 1;
        turn.set_timer(deadline, Timer::AppRequest(self.last));
        self.last
    }

    /// Sends what waited for a session to become ready.
    pub fn send_waiting(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        session: &mut Session,
    ) {
        for QueuedRequest { id, method, body } in std::mem::take(&mut session.owed.waiting) {
            let Some(request) = self.open.get_mut(&id) else { continue };
            request.app = session.app();
            self.deliver(turn, events, session, id, (method, &body));
        }
    }

    /// Sends a request to the process that it is with.
    fn deliver(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        session: &mut Session,
        id: u64,
        (method, body): (Method, &[u8]),
    ) {
        let Some(request) = self.open.get(&id) else { return };
        let Some(app) = request.app else { return };
        let deadline_ms = request.deadline.saturating_sub(turn.mono_ms());
        let deadline_ms = u32::try_from(deadline_ms).unwrap_or(u32::MAX);
        let envelope = Envelope { deadline_ms, ..Envelope::request(method, id, app) };
        let required = method == Method::Invoke && session.profile.minor < OPTIONAL_VERSIONS;
        let older = if required { with_seen_version(body) } else { None };
        match Frame::forward(&envelope, older.as_deref().unwrap_or(body)) {
            Ok(bytes) => {
                turn.effects.push(Effect::ToApp { app, bytes });
                session.health.watch(turn, app);
            }
            Err(error) => {
                let lost = AppReply::undelivered(error.to_string());
                self.lose_of(turn, events, Some(session), id, lost);
            }
        }
    }

    /// Ends a request that gets no answer.
    pub fn lose(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        sessions: &mut Sessions,
        id: u64,
        lost: AppReply,
    ) {
        let session = self.open.get(&id).and_then(|request| sessions.get_mut(&request.session));
        self.lose_of(turn, events, session, id, lost);
    }

    fn lose_of(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        mut session: Option<&mut Session>,
        id: u64,
        lost: AppReply,
    ) {
        if let Some(request) = self.remove(turn, session.as_deref_mut(), id) {
            tell_end(events, session, request, lost);
        }
    }

    /// Ends all requests of a session that are with a process or, without one, those that wait. The
    /// fault says why.
    pub fn lose_all(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        sessions: &mut Sessions,
        (key, app): (&SessionKey, Option<Incarnation>),
        why: &Fault,
    ) {
        let of_it =
            |(_, request): &(&u64, &OpenRequest)| request.session == *key && request.app == app;
        let mut ids: Vec<u64> = self.open.iter().filter(of_it).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        if app.is_none()
            && let Some(session) = sessions.get_mut(key)
        {
            session.owed.waiting.clear();
        }
        for id in ids {
            let (delivered, hints) = (app.is_some(), why.hints.clone());
            let why = why.message.clone();
            let lost = AppReply::Lost { delivered, died: delivered, why, hints };
            self.lose(turn, events, sessions, id, lost);
        }
    }

    /// Ends the steps that wait for a session; what only looks at it goes on.
    pub fn lose_waiting_invokes(
        &mut self,
        turn: &mut Turn,
        events: &mut ProcessEvents,
        session: &mut Session,
        why: &str,
    ) {
        let waiting = session.owed.waiting.iter();
        let invokes = waiting.filter(|queued| queued.method == Method::Invoke);
        let ids: Vec<u64> = invokes.map(|queued| queued.id).collect();
        for id in ids {
            let hints = vec![format!("pipemux view {}", session.key)];
            let why = why.to_owned();
            let lost = AppReply::Lost { delivered: false, died: false, why, hints };
            self.lose_of(turn, events, Some(session), id, lost);
        }
    }

    /// Drops a request whose reply is no longer wanted, without a [`ProcessEvent::Replied`]. The
    /// app is told, if its process is running.
    pub fn drop(&mut self, turn: &mut Turn, sessions: &mut Sessions, id: u64) {
        let Some(request) = self.open.get(&id) else { return };
        let session = sessions.get_mut(&request.session);
        let up = session.as_ref().and_then(|session| session.up());
        if let Some(app) = request.app.filter(|app| up == Some(*app)) {
            cancel(turn, id, app);
            self.dropped.truncate(APP_REQUESTS_MAX - 1);
            self.dropped.push_front(id);
        }
        self.remove(turn, session, id);
    }

    /// Redirects the reply to a request to another requester, with another deadline. Returns false
    /// if the request has ended or its process is about to end.
    pub fn redirect(
        &mut self,
        turn: &mut Turn,
        sessions: &Sessions,
        id: u64,
        to: ReplyTo,
        deadline: u64,
    ) -> bool {
        let Some(request) = self.open.get_mut(&id) else { return false };
        let up = sessions.get(&request.session).and_then(|session| session.up());
        if up.is_none() || request.app != up {
            return false;
        }
        turn.clear_timer(request.deadline, Timer::AppRequest(id));
        (request.purpose, request.deadline) = (Purpose::Client(to), deadline);
        turn.set_timer(deadline, Timer::AppRequest(id));
        true
    }

    /// Takes a request out of the table; `session` is the one that it was sent to, if there still
    /// is one.
    pub fn remove(
        &mut self,
        turn: &mut Turn,
        session: Option<&mut Session>,
        id: u64,
    ) -> Option<OpenRequest> {
        let request = self.open.remove(&id)?;
        turn.clear_timer(request.deadline, Timer::AppRequest(id));
        if let Some(session) = session {
            session.owed.count = session.owed.count.saturating_sub(1);
            if !matches!(request.purpose, Purpose::Ping | Purpose::Save) {
                session.hibernation.used = turn.mono_ms();
            }
            if request.app.is_none() {
                session.owed.waiting.retain(|queued| queued.id != id);
            }
        }
        Some(request)
    }
}

/// Reports the end of a request to whoever asked for it. The requests that start and end a session
/// are reported only with an answer: without one, the end of the process is reported anyway.
pub(super) fn tell_end(
    events: &mut ProcessEvents,
    session: Option<&mut Session>,
    request: OpenRequest,
    reply: AppReply,
) {
    match request.purpose {
        Purpose::StartOpen(_) | Purpose::Close => {}
        // What it says of the app's health is known from its frames.
        Purpose::Ping => {
            if let Some(session) = session {
                session.health.pinged = false;
            }
        }
        Purpose::Save => {
            events.push_back(ProcessEvent::SaveReplied { session: request.session, reply });
        }
        Purpose::Client(to) => {
            events.push_back(ProcessEvent::Replied { session: request.session, to, reply });
        }
    }
}

/// Returns the body of an `Invoke` with `seen_version` set, for apps of older protocol versions,
/// which require the field and read 0 as "nothing seen". Returns `None` if the field is already
/// set.
fn with_seen_version(body: &[u8]) -> Option<Vec<u8>> {
    let invoke = intake::as_sent::<Invoke>(body).ok()?;
    match invoke.seen_version {
        Some(_) => None,
        None => encode(&Invoke { seen_version: Some(0), ..invoke }).ok(),
    }
}

/// Tells a process that nobody waits for its answer any more.
pub(super) fn cancel(turn: &mut Turn, id: u64, app: Incarnation) {
    let envelope =
        Envelope { kind: Kind::Cancel, method: Method::Ping, id, incarnation: app, deadline_ms: 0 };
    if let Ok(bytes) = Frame::forward(&envelope, &[0x80]) {
        turn.effects.push(Effect::ToApp { app, bytes });
    }
}
