//! Exchanges: bytes from a client to an app and back that the daemon doesn't read.
//!
//! They are for programs: a bulk transfer, a page, a plotter. The client attaches to a session,
//! which wakes it, and then names that incarnation of it in each envelope. An exchange means
//! nothing to the workspace: no window changes by it unless the app says so, and it isn't written
//! down.
//!
//! **The one way around `Event` and `Effect`:** a body stays with the driver. The core is told the
//! envelope and how long the body is, and says where it goes under which envelope ([`Forward`]); so
//! nothing is copied, decoded or queued here.
//!
//! **Invariant: exactly one answer.** An exchange leaves the table only by an answer, a deadline or
//! the end of its process, and each of these answers it.

mod table;

use pipemux_proto::app::Empty;
use pipemux_proto::client::{Attach, Attached};
use pipemux_proto::envelope::{Envelope, Kind, Method};
use pipemux_proto::ids::Incarnation;
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::{Fault, Frame};

use crate::clients::client_request::patience;
use crate::clients::connection::Connections;
use crate::event::{ClientId, Effect};
use crate::keys::SessionKey;
use crate::limits::{
    APP_EXCHANGE_BYTES, APP_EXCHANGES_MAX, CLIENT_EXCHANGE_BYTES, CLIENT_EXCHANGES_MAX,
    CLIENT_REQUESTS_MAX, REQUEST_MS,
};
use crate::manifest::Scope;
use crate::processes::Processes;
use crate::processes::health_checks::note_missed_exchange;
use crate::processes::starting::wake;
use crate::turn::Turn;

pub use table::PeerQuota;
use table::{ExchangeTable, OpenExchange};

/// The destination of a body, and its envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forward {
    /// The receiving end.
    pub to: End,
    /// The envelope that precedes the body.
    pub envelope: Envelope,
}

/// One end of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Client(ClientId),
    /// An app's process.
    App(Incarnation),
}

/// A client that waits for its session to become ready.
#[derive(Debug)]
struct PendingAttach {
    client: ClientId,
    request: Envelope,
    session: SessionKey,
    /// The deadline after which the client is refused, on the monotonic clock.
    deadline: u64,
}

/// The exchanges that have no answer yet, and the clients that wait for a session to exchange with
/// it.
#[derive(Debug, Default)]
pub struct Exchanges {
    table: ExchangeTable,
    attaching: Vec<PendingAttach>,
}

/// Bodies on their way.
impl Exchanges {
    /// Routes the envelope of an exchange that a client or an app sent, whose body has `length`
    /// bytes. Returns the destination of the body, or `None` if it has none; the sender is then
    /// told why by an effect.
    pub fn forward(
        &mut self,
        connections: &mut Connections,
        turn: &mut Turn,
        from: End,
        envelope: &Envelope,
        length: usize,
    ) -> Option<Forward> {
        match (from, envelope.kind) {
            (End::Client(client), Kind::Request) => {
                self.ask(connections, turn, client, envelope, length)
            }
            (End::App(app), Kind::Reply | Kind::Fault) => {
                self.answer(connections, turn, app, envelope, length)
            }
            (End::App(app), Kind::Request) => {
                let fault = Fault::refused("an app can't ask for an exchange");
                if let Ok(bytes) = Frame::fault(envelope, &fault) {
                    turn.effects.push(Effect::ToApp { app, bytes });
                }
                None
            }
            _ => None,
        }
    }

    /// Handles an answer that can't be queued because its client has too much unread data: the
    /// client gets a fault instead.
    pub fn unread(&self, connections: &Connections, turn: &mut Turn, forward: &Forward) {
        if let End::Client(client) = forward.to {
            let fault = Fault::unknown("answered, but this connection leaves too much unread")
                .hint("read what is there; ask for less at once");
            connections.refuse(turn, client, &forward.envelope, &fault);
        }
    }

    fn ask(
        &mut self,
        connections: &mut Connections,
        turn: &mut Turn,
        client: ClientId,
        request: &Envelope,
        length: usize,
    ) -> Option<Forward> {
        let app = request.incarnation;
        let quota = self.table.quota(app);
        let fault = match (connections.get_mut(client)?, quota) {
            (known, _) if !known.greeted => {
                connections.refuse(turn, client, request, &Fault::refused("say Hello first"));
                turn.effects.push(Effect::CloseClient { client });
                return None;
            }
            (known, _) if known.peer.is_none() => Fault::refused("attach to the session first"),
            _ if length > EXCHANGE_MAX => {
                Fault::refused(format!("the body has {length} bytes (limit {EXCHANGE_MAX})"))
                    .hint("send it in several")
            }
            (known, _)
                if known.exchanges >= CLIENT_EXCHANGES_MAX
                    || known.exchanged + length > CLIENT_EXCHANGE_BYTES =>
            {
                let (open, bytes) = (known.exchanges, known.exchanged);
                Fault::refused(format!(
                    "too many open exchanges: {open} of {bytes} bytes in all (limits {CLIENT_EXCHANGES_MAX} and {CLIENT_EXCHANGE_BYTES})"
                ))
                .hint("wait for some of their answers")
            }
            (_, None) => {
                Fault::unavailable(format!("not delivered: incarnation {app} no longer runs"))
                    .hint("attach to the session again")
            }
            (_, Some(quota))
                if quota.open >= APP_EXCHANGES_MAX || quota.bytes + length > APP_EXCHANGE_BYTES =>
            {
                Fault::unavailable(format!("not delivered: the app has {} open", quota.open))
                    .hint("wait for some of their answers")
            }
            (known, Some(_)) => {
                known.exchanges += 1;
                known.exchanged += length;
                known.totals.count += 1;
                known.totals.sent += length as u64;
                let wanted = patience(request.deadline_ms, REQUEST_MS);
                let deadline = turn.mono_ms() + wanted;
                let client = Some(client);
                let open = OpenExchange { client, request: request.id, app, deadline, length };
                let id = self.table.add(open, turn.mono_ms());
                let deadline_ms = u32::try_from(wanted).unwrap_or(u32::MAX);
                let envelope = Envelope { id, deadline_ms, ..*request };
                return Some(Forward { to: End::App(app), envelope });
            }
        };
        connections.refuse(turn, client, request, &fault);
        None
    }

    fn answer(
        &mut self,
        connections: &mut Connections,
        turn: &mut Turn,
        app: Incarnation,
        answer: &Envelope,
        length: usize,
    ) -> Option<Forward> {
        // An answer to one that was given up, or that another incarnation owes, is dropped.
        let open = self.table.take(answer.id, app)?;
        let client = open.client?;
        connections.release_exchange(client, open.length);
        if let Some(known) = connections.get_mut(client) {
            known.totals.received += length as u64;
        }
        let envelope = Envelope { id: open.request, deadline_ms: 0, ..*answer };
        if length > EXCHANGE_MAX {
            let fault = Fault::failed(format!(
                "the app answered with {length} bytes (limit {EXCHANGE_MAX})"
            ));
            connections.refuse(turn, client, &envelope, &fault);
            return None;
        }
        Some(Forward { to: End::Client(client), envelope })
    }

    /// A client no longer wants an exchange: its app is told, and its answer comes all the same.
    pub(super) fn cancel(
        &mut self,
        connections: &Connections,
        turn: &mut Turn,
        client: ClientId,
        request: u64,
    ) {
        if connections.get(client).is_none_or(|known| known.exchanges == 0) {
            return;
        }
        let wanted = |open: &OpenExchange| open.client == Some(client) && open.request == request;
        for (number, open) in self.table.find(wanted) {
            send_cancel(turn, open.app, number);
        }
    }

    /// Handles the loss of a client: cancels its exchanges with apps, whose answers will be
    /// dropped. The exchanges count towards the limits until the apps answer.
    pub(super) fn orphan(&mut self, turn: &mut Turn, client: ClientId) {
        self.attaching.retain(|waiting| waiting.client != client);
        for (number, open) in self.table.find(|open| open.client == Some(client)) {
            send_cancel(turn, open.app, number);
        }
        self.table.orphan(client);
    }

    fn give_up(
        &mut self,
        connections: &mut Connections,
        turn: &mut Turn,
        (number, app): (u64, Incarnation),
        fault: &Fault,
    ) {
        let Some(open) = self.table.take(number, app) else { return };
        let Some(client) = open.client else { return };
        connections.release_exchange(client, open.length);
        let request = Envelope::request(Method::Exchange, open.request, app);
        connections.refuse(turn, client, &request, fault);
    }
}

/// Processes that take exchanges, and clients that wait for one.
impl Exchanges {
    /// A process takes requests: those who waited for it are told its number.
    pub fn admit(
        &mut self,
        connections: &Connections,
        turn: &mut Turn,
        session: &SessionKey,
        app: Incarnation,
    ) {
        self.table.admit(app);
        for waiting in self.take_attaching(|waiting| waiting.session == *session) {
            let attached = Attached { incarnation: app };
            connections.send(turn, waiting.client, &waiting.request.answer(Kind::Reply), &attached);
        }
    }

    /// Stops admitting exchanges to a process; those that it has stay open.
    pub fn dismiss(&mut self, app: Incarnation) {
        self.table.dismiss(app);
    }

    /// The open exchanges of a process, if it takes exchanges.
    pub fn quota(&self, app: Incarnation) -> Option<PeerQuota> {
        self.table.quota(app)
    }

    /// A process ended: the exchanges that it had end with it.
    pub fn end(
        &mut self,
        connections: &mut Connections,
        turn: &mut Turn,
        app: Incarnation,
        why: &str,
        hints: &[String],
    ) {
        self.table.dismiss(app);
        let mut fault = Fault::unknown(format!("{why}; it may or may not have acted"));
        fault.hints = hints.to_vec();
        for (number, _) in self.table.find(|open| open.app == app) {
            self.give_up(connections, turn, (number, app), &fault);
        }
    }

    /// True while a client waits for a session to become ready.
    pub fn has_attaching(&self, session: &SessionKey) -> bool {
        self.attaching.iter().any(|waiting| waiting.session == *session)
    }

    /// Refuses those who wait for a session to become ready.
    pub fn refuse_attaching(
        &mut self,
        connections: &Connections,
        turn: &mut Turn,
        session: &SessionKey,
        fault: &Fault,
    ) {
        for waiting in self.take_attaching(|waiting| waiting.session == *session) {
            connections.refuse(turn, waiting.client, &waiting.request, fault);
        }
    }

    /// Gives up what is due.
    pub fn expire(
        &mut self,
        connections: &mut Connections,
        turn: &mut Turn,
        processes: &mut Processes,
    ) {
        let now = turn.mono_ms();
        for (number, open) in self.table.due(now) {
            send_cancel(turn, open.app, number);
            note_missed_exchange(turn, processes, open.app);
            let fault =
                Fault::unknown("the app did not answer in time; it may or may not have acted");
            self.give_up(connections, turn, (number, open.app), &fault);
        }
        for waiting in self.take_attaching(|waiting| waiting.deadline <= now) {
            let why = format!("{} was not ready in time", waiting.session);
            let fault = Fault::unavailable(why).hint(format!("pipemux logs {}", waiting.session));
            connections.refuse(turn, waiting.client, &waiting.request, &fault);
        }
    }

    /// When [`Self::expire`] is next to be called.
    pub fn next_timeout(&self) -> Option<u64> {
        let attaching = self.attaching.iter().map(|waiting| waiting.deadline);
        self.table.next_timeout().into_iter().chain(attaching).min()
    }

    /// Attaches a client to a session, which is started or woken if necessary. `scope` is the scope
    /// of the session's app.
    pub fn attach(
        &mut self,
        connections: &mut Connections,
        (turn, processes): (&mut Turn, &mut Processes),
        client: ClientId,
        (envelope, attach): (Envelope, Attach),
        scope: Result<Scope, Fault>,
    ) {
        if let Some(known) = connections.get_mut(client) {
            known.totals.workspace.clone_from(&attach.workspace.key);
        }
        match self.try_attach(turn, processes, client, (envelope, attach), scope) {
            Ok(Some(incarnation)) => {
                let attached = Attached { incarnation };
                connections.send(turn, client, &envelope.answer(Kind::Reply), &attached);
            }
            Ok(None) => {}
            Err(fault) => connections.refuse(turn, client, &envelope, &fault),
        }
    }

    /// The session's incarnation; `None` if the client has to wait for it.
    fn try_attach(
        &mut self,
        turn: &mut Turn,
        processes: &mut Processes,
        client: ClientId,
        (envelope, attach): (Envelope, Attach),
        scope: Result<Scope, Fault>,
    ) -> Result<Option<Incarnation>, Fault> {
        let own = scope? == Scope::Workspace;
        let workspace = own.then(|| attach.workspace.key.as_str().into());
        let session = SessionKey { workspace, addr: attach.session };
        wake(turn, processes, &session)?;
        if let Some(app) = processes.get(&session).and_then(|found| found.ready()) {
            return Ok(Some(app));
        }
        let waiting = self.attaching.iter().filter(|waiting| waiting.client == client).count();
        if waiting >= CLIENT_REQUESTS_MAX {
            return Err(Fault::refused(format!(
                "too many open requests (limit {CLIENT_REQUESTS_MAX})"
            )));
        }
        let deadline = turn.mono_ms() + patience(envelope.deadline_ms, REQUEST_MS);
        self.attaching.push(PendingAttach { client, request: envelope, session, deadline });
        Ok(None)
    }

    fn take_attaching(&mut self, wanted: impl Fn(&PendingAttach) -> bool) -> Vec<PendingAttach> {
        if self.attaching.is_empty() {
            return Vec::new();
        }
        let (taken, left) = std::mem::take(&mut self.attaching).into_iter().partition(wanted);
        self.attaching = left;
        taken
    }
}

/// Tells an app that nobody waits for its answer any more.
fn send_cancel(turn: &mut Turn, app: Incarnation, number: u64) {
    let request = Envelope::request(Method::Exchange, number, app);
    let envelope = request.answer(Kind::Cancel);
    if let Ok(bytes) = Frame::encode(&envelope, &Empty {}) {
        turn.effects.push(Effect::ToApp { app, bytes });
    }
}
