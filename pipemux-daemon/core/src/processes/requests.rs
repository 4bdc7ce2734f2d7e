//! Requests to apps: sent or kept until the session is ready, and ended exactly once.

use std::collections::VecDeque;

use bytes::Bytes;
use pipemux_proto::app::{Invoke, OPTIONAL_VERSIONS};
use pipemux_proto::codec::{encode, encode_into};
use pipemux_proto::envelope::{Envelope, Kind, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::{Fault, Frame};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::event::Effect;
use crate::foreign::{Outcome, Speaker};
use crate::intake;
use crate::keys::SessionKey;
use crate::limits::APP_REQUESTS_MAX;
use crate::processes::reply::{AppReply, Purpose, ReplyTo};
use crate::processes::session::QueuedRequest;
use crate::processes::{ProcessEvent, Processes, Sessions};
use crate::timers::Timer;
use crate::turn::Turn;

/// Initial capacity in bytes of a body; it is enough for most requests, which saves growing the buffer.
const USUAL_BODY: usize = 512;

/// A request to an app that has no reply yet.
#[derive(Debug)]
struct AppRequest {
    session: SessionKey,
    /// The process that has it; none while it waits for the session to be ready.
    app: Option<Incarnation>,
    /// When it is given up, on the monotonic clock.
    deadline: u64,
    purpose: Purpose,
}

/// The requests that have no reply yet, by number. A number is never used again in this daemon's life.
#[derive(Debug, Default)]
pub(super) struct AppRequests {
    open: FxHashMap<u64, AppRequest>,
    last: u64,
    /// Those that were dropped, up to [`APP_REQUESTS_MAX`] and the newest first: an app that answers one all the same
    /// makes no mistake.
    dropped: VecDeque<u64>,
}

impl AppRequests {
    fn add(&mut self, request: AppRequest) -> u64 {
        self.last += 1;
        self.open.insert(self.last, request);
        self.last
    }

    /// True when a process has a request other than a ping.
    pub(super) fn has_from(&self, app: Incarnation) -> bool {
        let of_it =
            |request: &AppRequest| request.app == Some(app) && request.purpose != Purpose::Ping;
        self.open.values().any(of_it)
    }
}

/// Returns whose sentences come from a session.
pub fn speaker<'a>(sessions: &Sessions, key: &'a SessionKey) -> Speaker<'a> {
    let manifest = sessions.get(key).map(|session| &session.manifest);
    let built_in = manifest.is_some_and(|manifest| manifest.built_in.is_some());
    Speaker { provider: key.addr.provider.as_str(), built_in }
}

impl Processes {
    /// Sends a request to a session, which is started or woken if need be. It ends in exactly one
    /// [`ProcessEvent::Replied`]. Returns its number unless it has ended already.
    pub fn request<T: Serialize>(
        &mut self,
        turn: &mut Turn,
        session: &SessionKey,
        method: Method,
        body: &T,
        deadline: u64,
        to: ReplyTo,
    ) -> Option<u64> {
        let refuse = |this: &mut Self, reply| {
            let session = session.clone();
            this.events.push_back(ProcessEvent::Replied { session, to: to.clone(), reply });
            None
        };
        let mut encoded = Vec::with_capacity(USUAL_BODY);
        if let Err(error) = encode_into(&mut encoded, body) {
            return refuse(self, AppReply::undelivered(error.to_string()));
        }
        if let Err(Fault { message: why, hints, .. }) = self.wake(turn, session) {
            let lost = AppReply::Lost { delivered: false, died: false, why, hints };
            return refuse(self, lost);
        }
        let Some(found) = self.sessions.get_mut(session) else {
            return refuse(self, AppReply::undelivered(format!("no session {session}")));
        };
        if found.owes >= APP_REQUESTS_MAX {
            let why = format!("{session} has too many open requests (limit {APP_REQUESTS_MAX})");
            return refuse(self, AppReply::undelivered(why));
        }
        found.owes += 1;
        found.hibernation.used = turn.mono_ms();
        let (app, purpose) = (found.ready(), Purpose::Client(to));
        let id = self.requests.add(AppRequest { session: session.clone(), app, deadline, purpose });
        turn.set_timer(deadline, Timer::AppRequest(id));
        match app {
            Some(app) => self.deliver(turn, id, app, method, deadline, &encoded),
            None => {
                let body = Bytes::from(encoded.into_boxed_slice());
                found.waiting.push_back(QueuedRequest { id, method, body });
            }
        }
        self.requests.open.contains_key(&id).then_some(id)
    }

    /// Sends a request straight to a process that isn't ready yet, or no longer. Returns its number unless it
    /// has ended already.
    pub(super) fn send_now<T: Serialize>(
        &mut self,
        turn: &mut Turn,
        (session, app): (&SessionKey, Incarnation),
        method: Method,
        body: &T,
        deadline: u64,
        purpose: Purpose,
    ) -> Option<u64> {
        let request = AppRequest { session: session.clone(), app: Some(app), deadline, purpose };
        let id = self.requests.add(request);
        turn.set_timer(deadline, Timer::AppRequest(id));
        if let Some(found) = self.sessions.get_mut(session) {
            found.owes += 1;
        }
        match encode(body) {
            Ok(body) => self.deliver(turn, id, app, method, deadline, &body),
            Err(error) => self.end_request(turn, id, AppReply::undelivered(error.to_string())),
        }
        self.requests.open.contains_key(&id).then_some(id)
    }

    /// Sends a request of a client straight to a process that is starting.
    pub fn request_from_starting<T: Serialize>(
        &mut self,
        turn: &mut Turn,
        target: (&SessionKey, Incarnation),
        method: Method,
        body: &T,
        deadline: u64,
        to: ReplyTo,
    ) -> Option<u64> {
        self.send_now(turn, target, method, body, deadline, Purpose::Client(to))
    }

    /// Sends what waited for the session to become ready.
    pub(super) fn send_waiting(&mut self, turn: &mut Turn, key: &SessionKey, app: Incarnation) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        for queued in std::mem::take(&mut session.waiting) {
            let Some(request) = self.requests.open.get_mut(&queued.id) else { continue };
            request.app = Some(app);
            let deadline = request.deadline;
            self.deliver(turn, queued.id, app, queued.method, deadline, &queued.body);
        }
    }

    fn deliver(
        &mut self,
        turn: &mut Turn,
        id: u64,
        app: Incarnation,
        method: Method,
        deadline: u64,
        body: &[u8],
    ) {
        let deadline_ms = deadline.saturating_sub(turn.mono_ms());
        let deadline_ms = u32::try_from(deadline_ms).unwrap_or(u32::MAX);
        let envelope = Envelope { deadline_ms, ..Envelope::request(method, id, app) };
        let session = self.incarnations.session_of(app).and_then(|key| self.sessions.get(key));
        let minor = session.map_or(0, |session| session.profile.minor);
        let required = method == Method::Invoke && minor < OPTIONAL_VERSIONS;
        let older = if required { with_seen_version(body) } else { None };
        match Frame::forward(&envelope, older.as_deref().unwrap_or(body)) {
            Ok(bytes) => {
                turn.effects.push(Effect::ToApp { app, bytes });
                self.watch_health(turn, app);
            }
            Err(error) => self.end_request(turn, id, AppReply::undelivered(error.to_string())),
        }
    }

    /// Returns whose sentences come from a session.
    pub fn speaker<'a>(&self, key: &'a SessionKey) -> Speaker<'a> {
        speaker(&self.sessions, key)
    }

    /// Takes an app's answer. One to a request that was given up, or that another incarnation owes, is dropped.
    ///
    /// # Errors
    /// Why it is dropped.
    pub(super) fn handle_reply(
        &mut self,
        turn: &mut Turn,
        app: Incarnation,
        frame: Frame,
    ) -> Result<(), String> {
        let id = frame.envelope.id;
        let open = self.requests.open.get(&id);
        let Some(request) = open.filter(|request| request.app == Some(app)) else {
            return self.take_late_reply(app, &frame);
        };
        let reply = if frame.envelope.kind == Kind::Reply {
            AppReply::Reply(frame.body)
        } else {
            // The line of a step names its action, that of a value its thing, and so whose error it is.
            let named = |to: &ReplyTo| matches!(to, ReplyTo::Invoke(_) | ReplyTo::Read(_));
            let is_named = matches!(&request.purpose, Purpose::Client(to) if named(to));
            match intake::read_error(&frame.body, self.speaker(&request.session), !is_named) {
                Ok(mut fault) => {
                    if let Some(key) = self.incarnations.session_of(app) {
                        self.explain_denial(key, &mut fault);
                    }
                    AppReply::Fault(fault)
                }
                Err(error) => {
                    self.break_app(turn, app, format!("an unreadable fault: {error}"));
                    return Ok(());
                }
            }
        };
        self.end_request(turn, id, reply);
        Ok(())
    }

    /// Takes an answer that nobody waits for any more: of what it says, a job that began still has to be told.
    ///
    /// # Errors
    /// Why it is dropped.
    fn take_late_reply(&mut self, app: Incarnation, frame: &Frame) -> Result<(), String> {
        if (frame.envelope.kind, frame.envelope.method) == (Kind::Reply, Method::Invoke)
            && let Some(session) = self.incarnations.session_of(app)
            && let Ok(started) = intake::read_said::<Outcome>(&frame.body, self.speaker(session))
            && let Outcome::Started(started) = started
        {
            let session = session.clone();
            self.events.push_back(ProcessEvent::JobStarted { session, started });
            return Ok(());
        }
        let id = frame.envelope.id;
        if self.requests.dropped.contains(&id) {
            return Ok(());
        }
        Err(format!(
            "nobody waits for an answer to the request {id}: it came late, twice, or for an unknown id"
        ))
    }

    /// Returns whom the reply to a client's request is for that is with a process.
    pub(super) fn client_of(&self, app: Incarnation, id: u64) -> Option<ReplyTo> {
        let request = self.requests.open.get(&id).filter(|request| request.app == Some(app))?;
        match &request.purpose {
            Purpose::Client(to) => Some(to.clone()),
            _ => None,
        }
    }

    /// Ends a request whose deadline has come.
    pub fn request_expired(&mut self, turn: &mut Turn, id: u64) {
        let Some(request) = self.requests.open.get(&id) else { return };
        let (key, is_ping) = (request.session.clone(), request.purpose == Purpose::Ping);
        let acts = matches!(request.purpose, Purpose::Client(ReplyTo::Invoke(_)));
        let reply = match request.app {
            Some(app) => {
                self.note_missed(turn, &key, (is_ping, acts));
                cancel(turn, id, app);
                AppReply::timed_out(&key)
            }
            None => AppReply::undelivered(format!("{key} was not ready in time")),
        };
        self.end_request(turn, id, reply);
    }

    /// Ends all requests of a process or, without one, those that wait for the session.
    pub(super) fn end_requests(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        app: Option<Incarnation>,
        why: &str,
        hints: &[String],
    ) {
        let of_it =
            |(_, request): &(&u64, &AppRequest)| request.session == *key && request.app == app;
        let mut ids: Vec<u64> =
            self.requests.open.iter().filter(of_it).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        if app.is_none()
            && let Some(session) = self.sessions.get_mut(key)
        {
            session.waiting.clear();
        }
        for id in ids {
            let (why, hints) = (why.to_owned(), hints.to_vec());
            let delivered = app.is_some();
            self.end_request(turn, id, AppReply::Lost { delivered, died: delivered, why, hints });
        }
    }

    /// Ends what waits for a session that will have no process.
    pub fn refuse_waiting(
        &mut self,
        turn: &mut Turn,
        key: &SessionKey,
        why: &str,
        hints: &[String],
    ) {
        self.end_requests(turn, key, None, why, hints);
    }

    /// Ends the steps that wait for a session; what only looks at it goes on.
    pub(super) fn end_waiting_invokes(&mut self, turn: &mut Turn, key: &SessionKey, why: &str) {
        let Some(session) = self.sessions.get(key) else { return };
        let invokes = session.waiting.iter().filter(|queued| queued.method == Method::Invoke);
        let ids: Vec<u64> = invokes.map(|queued| queued.id).collect();
        for id in ids {
            let hints = vec![format!("pipemux view {key}")];
            let why = why.to_owned();
            let lost = AppReply::Lost { delivered: false, died: false, why, hints };
            self.end_request(turn, id, lost);
        }
    }

    /// Takes back a request that still waits for its session. False when there is none that does.
    pub fn take_back_unsent(&mut self, turn: &mut Turn, to: &ReplyTo) -> bool {
        let waits = |request: &AppRequest| {
            request.app.is_none() && matches!(&request.purpose, Purpose::Client(of) if of == to)
        };
        let found = self.requests.open.iter().find(|(_, request)| waits(request));
        let Some(id) = found.map(|(id, _)| *id) else { return false };
        self.end_request(turn, id, AppReply::undelivered("cancelled".into()));
        true
    }

    /// Drops a request whose reply nobody wants any more, without a [`ProcessEvent::Replied`]; the app is told,
    /// if its process lives.
    pub fn drop_request(&mut self, turn: &mut Turn, id: u64) {
        let Some(request) = self.requests.open.get(&id) else { return };
        let up = self.sessions.get(&request.session).and_then(|session| session.up());
        if let Some(app) = request.app.filter(|app| up == Some(*app)) {
            cancel(turn, id, app);
            self.requests.dropped.truncate(APP_REQUESTS_MAX - 1);
            self.requests.dropped.push_front(id);
        }
        self.remove_request(turn, id);
    }

    /// Has the reply to a request go elsewhere, by another deadline. False when its process is about to end, or the
    /// request has ended.
    pub fn redirect(&mut self, turn: &mut Turn, id: u64, to: ReplyTo, deadline: u64) -> bool {
        let Some(request) = self.requests.open.get_mut(&id) else { return false };
        let up = self.sessions.get(&request.session).and_then(|session| session.up());
        if up.is_none() || request.app != up {
            return false;
        }
        turn.clear_timer(request.deadline, Timer::AppRequest(id));
        (request.purpose, request.deadline) = (Purpose::Client(to), deadline);
        turn.set_timer(deadline, Timer::AppRequest(id));
        true
    }

    fn end_request(&mut self, turn: &mut Turn, id: u64, reply: AppReply) {
        let Some(request) = self.remove_request(turn, id) else { return };
        let session = request.session;
        match request.purpose {
            Purpose::StartOpen(index) => self.start_open_replied(turn, &session, index, reply),
            Purpose::Ping => self.ping_replied(&session),
            Purpose::Save => self.events.push_back(ProcessEvent::SaveReplied { session, reply }),
            // In a process of its own, the end of that process is the end.
            Purpose::Close => {
                if !matches!(reply, AppReply::Lost { .. }) {
                    self.leave(turn, &session);
                }
            }
            Purpose::Client(to) => {
                self.events.push_back(ProcessEvent::Replied { session, to, reply });
            }
        }
    }

    fn remove_request(&mut self, turn: &mut Turn, id: u64) -> Option<AppRequest> {
        let request = self.requests.open.remove(&id)?;
        turn.clear_timer(request.deadline, Timer::AppRequest(id));
        if let Some(session) = self.sessions.get_mut(&request.session) {
            session.owes = session.owes.saturating_sub(1);
            if !matches!(request.purpose, Purpose::Ping | Purpose::Save) {
                session.hibernation.used = turn.mono_ms();
            }
            if request.app.is_none() {
                session.waiting.retain(|queued| queued.id != id);
            }
        }
        Some(request)
    }
}

/// Returns an `Invoke` that has a `seen_version`, which apps of older protocols require: they mean by 0 that the reader
/// has seen nothing. None if it has one.
fn with_seen_version(body: &[u8]) -> Option<Vec<u8>> {
    let invoke = intake::as_sent::<Invoke>(body).ok()?;
    match invoke.seen_version {
        Some(_) => None,
        None => encode(&Invoke { seen_version: Some(0), ..invoke }).ok(),
    }
}

/// Tells a process that nobody waits for its answer any more.
fn cancel(turn: &mut Turn, id: u64, app: Incarnation) {
    let envelope =
        Envelope { kind: Kind::Cancel, method: Method::Ping, id, incarnation: app, deadline_ms: 0 };
    if let Ok(bytes) = Frame::forward(&envelope, &[0x80]) {
        turn.effects.push(Effect::ToApp { app, bytes });
    }
}
