//! Requests to apps on behalf of clients: sending, withdrawing, redirecting and dropping them.

use pipemux_proto::Fault;
use pipemux_proto::codec::encode_into;
use pipemux_proto::envelope::Method;
use serde::Serialize;

use crate::keys::SessionKey;
use crate::limits::APP_REQUESTS_MAX;
use crate::processes::open_requests::{RequestHead, cancel};
use crate::processes::reply::{AppReply, Purpose, ReplyTo};
use crate::processes::starting::wake;
use crate::processes::{ProcessEvent, Processes};
use crate::turn::Turn;

/// Initial capacity in bytes of a body; it is enough for most requests, which saves growing the
/// buffer.
const USUAL_BODY: usize = 512;

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
        if let Err(Fault { message: why, hints, .. }) = wake(turn, self, session) {
            let lost = AppReply::Lost { delivered: false, died: false, why, hints };
            return refuse(self, lost);
        }
        let Some(found) = self.sessions.get_mut(session) else {
            return refuse(self, AppReply::undelivered(format!("no session {session}")));
        };
        if found.owed.count >= APP_REQUESTS_MAX {
            let why = format!("{session} has too many open requests (limit {APP_REQUESTS_MAX})");
            return refuse(self, AppReply::undelivered(why));
        }
        let head = RequestHead { method, deadline, purpose: Purpose::Client(to) };
        self.requests.send_when_ready(turn, &mut self.events, found, head, encoded)
    }
}

/// Sends a request of a client straight to a process that is starting. Returns its number unless it
/// has ended already.
pub fn request_from_starting<T: Serialize>(
    turn: &mut Turn,
    processes: &mut Processes,
    session: &SessionKey,
    (method, body): (Method, &T),
    deadline: u64,
    to: ReplyTo,
) -> Option<u64> {
    let session = processes.sessions.get_mut(session)?;
    let head = RequestHead { method, deadline, purpose: Purpose::Client(to) };
    processes.requests.send(turn, &mut processes.events, session, head, body)
}

/// Ends a request whose deadline has come.
pub fn request_expired(turn: &mut Turn, processes: &mut Processes, id: u64) {
    let Processes { requests, sessions, events, .. } = processes;
    let Some(request) = requests.get(id) else { return };
    let (key, is_ping) = (&request.session, request.purpose == Purpose::Ping);
    let acts = matches!(request.purpose, Purpose::Client(ReplyTo::Invoke(_)));
    let lost = match request.app {
        Some(app) => {
            if let Some(session) = sessions.get_mut(key) {
                let ready = session.ready();
                session.health.note_missed(turn, (key, ready), is_ping, acts);
            }
            cancel(turn, id, app);
            AppReply::timed_out(key)
        }
        None => AppReply::undelivered(format!("{key} was not ready in time")),
    };
    requests.lose(turn, events, sessions, id, lost);
}

/// Ends what waits for a session that will have no process.
pub fn refuse_waiting(turn: &mut Turn, processes: &mut Processes, key: &SessionKey, why: &Fault) {
    let Processes { requests, sessions, events, .. } = processes;
    requests.lose_all(turn, events, sessions, (key, None), why);
}

/// Takes back a request that still waits for its session. False when there is none that does.
pub fn take_back_unsent(turn: &mut Turn, processes: &mut Processes, to: &ReplyTo) -> bool {
    let Processes { requests, sessions, events, .. } = processes;
    let Some(id) = requests.unsent(to) else { return false };
    requests.lose(turn, events, sessions, id, AppReply::undelivered("cancelled".into()));
    true
}

/// Drops a request whose reply nobody wants any more, without a [`ProcessEvent::Replied`].
pub fn drop_request(turn: &mut Turn, processes: &mut Processes, id: u64) {
    processes.requests.drop(turn, &mut processes.sessions, id);
}

/// Has the reply to a request go elsewhere, by another deadline. False when its process is about to
/// end, or the request has ended.
pub fn redirect(
    turn: &mut Turn,
    processes: &mut Processes,
    id: u64,
    to: ReplyTo,
    deadline: u64,
) -> bool {
    processes.requests.redirect(turn, &processes.sessions, id, to, deadline)
}
