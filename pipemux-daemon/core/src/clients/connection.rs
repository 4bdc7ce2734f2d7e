//! Connections of clients: greeted, heard, gone.

use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::app::Empty;
use pipemux_proto::client::{Attach, Attached, VerbRequest};
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::hello::{DaemonIdentity, PROGRESS, SEEN_EVENT};
use pipemux_proto::{Fault, Frame, Hello, Kind, Role, decode};

use crate::clients::fitting;
use crate::event::{ClientId, Effect};
use crate::keys::RequestId;
use crate::limits::{CLIENTS_MAX, GREET_MS};
use crate::measurement::{Measurement, UNREAD};
use crate::peer::PeerProcess;
use crate::timers::Timer;
use crate::turn::Turn;

/// The connection of a client.
#[derive(Debug, Default)]
pub struct Connection {
    /// True once it has greeted.
    pub(super) greeted: bool,
    /// True once it has asked for the progress of its requests.
    pub(super) wants_progress: bool,
    /// The deadline for the client's greeting, on the monotonic clock.
    pub(super) greet_by: u64,
    /// The number of requests that have no answer yet.
    pub(super) open: usize,
    /// The bytes of the bodies of these requests.
    pub(super) asked: usize,
    /// The number of exchanges that have no answer yet.
    pub(super) exchanges: usize,
    /// The bytes of the bodies of these exchanges.
    pub(super) exchanged: usize,
    /// True once it sends nothing more.
    pub(super) ended: bool,
    /// The time of the last message, or of the connection, on the monotonic clock.
    pub(super) heard_at: u64,
    /// True once it was told that it is closed.
    pub(super) turned_away: bool,
    /// The client's process, once the client has acted.
    pub(super) peer: Option<Rc<PeerProcess>>,
    /// The inputs that are held back until the client's process is known.
    pub(super) held: Vec<ClientInput>,
    /// The totals of the client's exchanges so far.
    pub(super) totals: ExchangeTotals,
}

/// The totals of a client's exchanges so far.
#[derive(Debug, Default)]
pub(super) struct ExchangeTotals {
    /// The workspace in which the client attached last.
    pub(super) workspace: String,
    /// Exchanges.
    pub(super) count: u64,
    /// Bytes of their bodies.
    pub(super) sent: u64,
    /// Bytes of their answers.
    pub(super) received: u64,
}

/// The demand of a client's frame on the rest of the core.
#[derive(Debug)]
pub enum ClientInput {
    /// A verb, admitted, with the length of its body in bytes: see
    /// [`Clients::begin`](super::Clients::begin).
    Verb(Envelope, Box<VerbRequest>, usize),
    /// An answer was written out: the envelope that says so, and its delivery's number.
    /// [`Connections::seen`] tells the client that it counts.
    Seen(Envelope, u64),
    /// Exchanges with a session.
    Attach(Envelope, Attach),
    /// The client cancels a request.
    Cancel(RequestId),
}

/// The clients that are connected.
#[derive(Debug, Default)]
pub struct Connections {
    /// What the greeting calls this software.
    pub(super) software: String,
    /// The identity of the daemon in the greeting.
    identity: Option<DaemonIdentity>,
    by_client: BTreeMap<ClientId, Connection>,
}

impl Connections {
    /// Makes connections that greet with these names.
    pub(super) fn new(software: String, identity: Option<DaemonIdentity>) -> Self {
        Self { software, identity, by_client: BTreeMap::new() }
    }

    /// Returns how many clients are connected.
    pub fn len(&self) -> usize {
        self.by_client.len()
    }

    /// Returns how many requests of a client have no answer yet.
    pub fn open_requests(&self, client: ClientId) -> usize {
        self.get(client).map_or(0, |connection| connection.open)
    }

    pub(super) fn get(&self, client: ClientId) -> Option<&Connection> {
        self.by_client.get(&client)
    }

    pub(super) fn get_mut(&mut self, client: ClientId) -> Option<&mut Connection> {
        self.by_client.get_mut(&client)
    }

    /// Takes in a connection, and greets it.
    pub fn opened(&mut self, turn: &mut Turn, client: ClientId) {
        if self.by_client.len() >= CLIENTS_MAX && !self.make_room(turn) {
            let fault = Fault::refused(format!(
                "too many clients: {CLIENTS_MAX} are connected, and all of them wait for something"
            ))
            .hint("try again once one of them is gone");
            return self.turn_away(turn, client, Method::Hello, &fault);
        }
        let heard_at = turn.mono_ms();
        let greet_by = heard_at + GREET_MS;
        self.by_client.insert(client, Connection { greet_by, heard_at, ..Connection::default() });
        turn.set_timer(greet_by, Timer::Greet(client));
        let hello = Envelope::event(Method::Hello, Default::default());
        let features = vec![SEEN_EVENT.to_owned()];
        let daemon = self.identity.clone();
        let greeting =
            Hello { features, daemon, ..Hello::new(Role::Daemon, self.software.clone()) };
        self.send(turn, client, &hello, &greeting);
    }

    /// True while a client's connection is open.
    pub fn is_connected(&self, client: ClientId) -> bool {
        self.by_client.get(&client).is_some_and(|known| !known.turned_away)
    }

    /// Closes the connection of an idle client to make room for another, so that no client can lock
    /// others out. A client that hasn't sent a greeting goes first; among equals, the one silent
    /// for longest. Returns false if there is none.
    fn make_room(&mut self, turn: &mut Turn) -> bool {
        let waits_for_nothing = |known: &Connection| {
            known.open == 0 && known.exchanges == 0 && known.held.is_empty() && !known.turned_away
        };
        let idle = self.by_client.iter().filter(|(_, known)| waits_for_nothing(known));
        let first = idle.min_by_key(|(id, known)| {
            (known.greeted, !known.totals.workspace.is_empty(), known.heard_at, **id)
        });
        let Some(client) = first.map(|(client, _)| *client) else { return false };
        let fault = Fault::refused(format!(
            "closed to make room: {CLIENTS_MAX} clients are connected, and this one was silent longest"
        ))
        .hint("connect again");
        self.turn_away(turn, client, Method::Hello, &fault);
        true
    }

    /// Closes the connection of a client that has stopped sending, once all of its requests are
    /// answered.
    pub fn ended(&mut self, turn: &mut Turn, client: ClientId) {
        let Some(connection) = self.by_client.get_mut(&client) else { return };
        connection.ended = true;
        self.close_if_served(turn, client);
    }

    /// Closes a connection that has ended and waits for nothing.
    pub(super) fn close_if_served(&self, turn: &mut Turn, client: ClientId) {
        let connection = self.by_client.get(&client);
        if connection.is_some_and(|connection| connection.ended && connection.open == 0) {
            turn.effects.push(Effect::CloseClient { client });
        }
    }

    /// Removes a connection that is gone.
    pub(super) fn remove(&mut self, turn: &mut Turn, client: ClientId) -> Option<Connection> {
        let gone = self.by_client.remove(&client)?;
        if !gone.greeted {
            turn.clear_timer(gone.greet_by, Timer::Greet(client));
        }
        Some(gone)
    }

    /// Disconnects a client that hasn't greeted in time.
    pub fn greet_expired(&mut self, turn: &mut Turn, client: ClientId) {
        if self.by_client.get(&client).is_some_and(|connection| !connection.greeted) {
            let fault = Fault::refused(format!("no Hello within {} s", GREET_MS / 1000));
            self.turn_away(turn, client, Method::Hello, &fault);
        }
    }

    /// Refuses a client that sent invalid framing.
    pub fn broken(&mut self, turn: &mut Turn, client: ClientId, why: &str) {
        let fault = Fault::refused(format!("not a PipeMux frame: {why}"));
        self.turn_away(turn, client, Method::Verb, &fault);
    }

    /// Tells a client why its connection is closed, and closes it.
    fn turn_away(&mut self, turn: &mut Turn, client: ClientId, method: Method, fault: &Fault) {
        let envelope =
            Envelope { kind: Kind::Fault, ..Envelope::event(method, Default::default()) };
        self.send_fault(turn, client, &envelope, fault);
        turn.effects.push(Effect::CloseClient { client });
        if let Some(known) = self.by_client.get_mut(&client) {
            known.turned_away = true;
        }
    }

    /// Tells a client that its confirmed answer counts as seen. This is sent after the
    /// corresponding records, so a later daemon can't contradict it.
    pub fn seen(&self, turn: &mut Turn, client: ClientId, envelope: &Envelope) {
        match envelope.kind {
            Kind::Event => turn.effects.push(Effect::CloseClient { client }),
            _ => self.send(turn, client, &envelope.answer(Kind::Reply), &Empty {}),
        }
    }

    /// The body of a request, which is refused when it can't be read.
    pub(super) fn read<T: serde::de::DeserializeOwned>(
        &self,
        turn: &mut Turn,
        client: ClientId,
        frame: &Frame,
        name: &str,
    ) -> Option<T> {
        match decode::<T>(&frame.body) {
            Ok(body) => Some(body),
            Err(error) => {
                let fault = Fault::refused(format!("an unreadable {name}: {error}"));
                self.refuse(turn, client, &frame.envelope, &fault);
                None
            }
        }
    }

    pub(super) fn handle_hello(&mut self, turn: &mut Turn, client: ClientId, frame: &Frame) {
        let checked = decode::<Hello>(&frame.body)
            .map_err(|error| Fault::refused(format!("an unreadable Hello: {error}")))
            .and_then(|hello| hello.check().map(|()| hello));
        match checked {
            Ok(hello) => {
                if let Some(known) = self.by_client.get_mut(&client)
                    && !std::mem::replace(&mut known.greeted, true)
                {
                    known.wants_progress = hello.features.iter().any(|name| name == PROGRESS);
                    turn.clear_timer(known.greet_by, Timer::Greet(client));
                }
            }
            Err(fault) => {
                self.refuse(turn, client, &frame.envelope, &fault);
                turn.effects.push(Effect::CloseClient { client });
            }
        }
    }

    /// Refuses what a client asked for, before anything came of it.
    pub fn refuse(&self, turn: &mut Turn, client: ClientId, request: &Envelope, fault: &Fault) {
        if request.method == Method::Verb {
            let (request, exit) = (request.id, fault.code.exit_status());
            turn.measure(|| Measurement::Answered { client, request, verb: UNREAD, exit });
        }
        self.send_fault(turn, client, &request.answer(Kind::Fault), fault);
    }

    /// An exchange of a client has ended: it may have others.
    pub(super) fn release_exchange(&mut self, client: ClientId, length: usize) {
        if let Some(known) = self.get_mut(client) {
            known.exchanges = known.exchanges.saturating_sub(1);
            known.exchanged = known.exchanged.saturating_sub(length);
        }
    }

    /// Sends a message of the daemon's own, which is never long.
    pub(super) fn send<T: ShortMessage>(
        &self,
        turn: &mut Turn,
        client: ClientId,
        envelope: &Envelope,
        body: &T,
    ) {
        let bytes = Frame::encode(envelope, body).unwrap_or_default();
        turn.effects.push(Effect::ToClient { client, bytes });
    }

    /// Sends a fault.
    pub(super) fn send_fault(
        &self,
        turn: &mut Turn,
        client: ClientId,
        envelope: &Envelope,
        fault: &Fault,
    ) {
        let bytes = fitting::encode_fault(envelope, fault);
        turn.effects.push(Effect::ToClient { client, bytes });
    }
}

/// Messages that always fit a frame. Answers are none: see [`fitting`].
pub(super) trait ShortMessage: serde::Serialize {}

impl ShortMessage for Hello {}
impl ShortMessage for Empty {}
impl ShortMessage for Attached {}
