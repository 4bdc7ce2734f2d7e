//! Connections of clients: greeted, heard, gone.

use std::rc::Rc;

use pipemux_proto::app::Empty;
use pipemux_proto::client::{Attach, DeliveryAck, VerbRequest};
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::hello::{PROGRESS, SEEN_EVENT};
use pipemux_proto::{Fault, Frame, Hello, Kind, Role, decode};

use crate::clients::Clients;
use crate::event::{ClientId, Effect};
use crate::keys::RequestId;
use crate::limits::{CLIENTS_MAX, GREET_MS};
use crate::measurement::{Measurement, UNREAD};
use crate::peer::PeerProcess;
use crate::timers::Timer;
use crate::turn::Turn;

/// A connected client.
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// True once it has greeted.
    pub(super) greeted: bool,
    /// True once it has asked for the progress of its requests.
    pub(super) wants_progress: bool,
    /// When it must have greeted, on the monotonic clock.
    pub(super) greet_by: u64,
    /// Its requests that have no answer yet.
    pub(super) open: usize,
    /// The bytes of their bodies.
    pub(super) asked: usize,
    /// Its exchanges that have no answer yet.
    pub(super) exchanges: usize,
    /// The bytes of their bodies.
    pub(super) exchanged: usize,
    /// True once it sends nothing more.
    pub(super) ended: bool,
    /// When it was opened or sent something last, on the monotonic clock.
    pub(super) heard_at: u64,
    /// True once it was told that it is closed.
    pub(super) turned_away: bool,
    /// Its process, once it has acted.
    pub(super) peer: Option<Rc<PeerProcess>>,
    /// What waits until its process is known.
    pub(super) held: Vec<ClientInput>,
    /// What it has exchanged so far.
    pub(super) totals: ExchangeTotals,
}

/// What a client has exchanged so far.
#[derive(Debug, Default)]
pub(super) struct ExchangeTotals {
    /// The workspace in which it attached last.
    pub(super) workspace: String,
    /// Exchanges.
    pub(super) count: u64,
    /// Bytes of their bodies.
    pub(super) sent: u64,
    /// Bytes of their answers.
    pub(super) received: u64,
}

/// What a client's frame asks of the rest of the core.
#[derive(Debug)]
pub enum ClientInput {
    /// A verb, admitted, with the length of its body in bytes: see [`Clients::begin`].
    Verb(Envelope, Box<VerbRequest>, usize),
    /// An answer was written out: the envelope that says so, and its delivery's number. [`Clients::seen`] tells the
    /// client that it counts.
    Seen(Envelope, u64),
    /// Exchanges with a session.
    Attach(Envelope, Attach),
    /// A request is no longer wanted.
    Cancel(RequestId),
}

impl Clients {
    /// Takes in a connection, and greets it.
    pub fn opened(&mut self, turn: &mut Turn, client: ClientId) {
        if self.connections.len() >= CLIENTS_MAX && !self.make_room(turn) {
            let fault = Fault::refused(format!(
                "too many clients: {CLIENTS_MAX} are connected, and all of them wait for something"
            ))
            .hint("try again once one of them is gone");
            return self.turn_away(turn, client, Method::Hello, &fault);
        }
        let heard_at = turn.mono_ms();
        let greet_by = heard_at + GREET_MS;
        self.connections.insert(client, Connection { greet_by, heard_at, ..Connection::default() });
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
        self.connections.get(&client).is_some_and(|known| !known.turned_away)
    }

    /// Turns a client away that waits for nothing, so that nobody locks others out: one that hasn't greeted before one that
    /// has, and of these the one that was silent longest. False if there is none.
    fn make_room(&mut self, turn: &mut Turn) -> bool {
        let waits_for_nothing = |known: &Connection| {
            known.open == 0 && known.exchanges == 0 && known.held.is_empty() && !known.turned_away
        };
        let idle = self.connections.iter().filter(|(_, known)| waits_for_nothing(known));
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

    /// Closes the connection of a client that sends nothing more, once all that it asked for is answered.
    pub fn ended(&mut self, turn: &mut Turn, client: ClientId) {
        let Some(connection) = self.connections.get_mut(&client) else { return };
        connection.ended = true;
        self.close_if_served(turn, client);
    }

    /// Closes a connection that has ended and waits for nothing.
    pub(super) fn close_if_served(&self, turn: &mut Turn, client: ClientId) {
        let connection = self.connections.get(&client);
        if connection.is_some_and(|connection| connection.ended && connection.open == 0) {
            turn.effects.push(Effect::CloseClient { client });
        }
    }

    /// Forgets a connection that is gone. Returns its requests that have no answer yet: each goes on to the end of the
    /// step that is with an app, and no further.
    pub fn closed(&mut self, turn: &mut Turn, client: ClientId) -> Vec<RequestId> {
        if let Some(gone) = self.connections.remove(&client) {
            if !gone.greeted {
                turn.clear_timer(gone.greet_by, Timer::Greet(client));
            }
            self.close_identity(turn, gone);
        }
        self.orphan_exchanges(turn, client);
        let own = self.requests.iter().filter(|(_, request)| request.client == client);
        let mut own: Vec<RequestId> = own.map(|(id, _)| *id).collect();
        own.sort_unstable();
        own
    }

    /// A client that connected and said nothing makes room.
    pub fn greet_expired(&mut self, turn: &mut Turn, client: ClientId) {
        if self.connections.get(&client).is_some_and(|connection| !connection.greeted) {
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
        if let Some(known) = self.connections.get_mut(&client) {
            known.turned_away = true;
        }
    }

    /// Takes a frame of a client. Returns what the rest of the core has to do.
    pub fn handle_frame(
        &mut self,
        turn: &mut Turn,
        client: ClientId,
        frame: &Frame,
    ) -> Option<ClientInput> {
        let now = turn.mono_ms();
        let known = self.connections.get_mut(&client)?;
        known.heard_at = now;
        let greeted = known.greeted;
        let envelope = frame.envelope;
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.handle_hello(turn, client, frame),
            (Kind::Cancel, _) => {
                let mut all = self.requests.iter();
                let cancelled = all.find(|(_, request)| {
                    request.client == client && request.envelope.id == envelope.id
                });
                match cancelled.map(|(id, _)| *id) {
                    Some(id) => return Some(ClientInput::Cancel(id)),
                    None => self.cancel_exchange(turn, client, envelope.id),
                }
            }
            (Kind::Request, _) if !greeted => {
                self.refuse(turn, client, &envelope, &Fault::refused("say Hello first"));
                turn.effects.push(Effect::CloseClient { client });
            }
            (Kind::Request, Method::Verb) => return self.admit(turn, client, frame),
            (Kind::Request, Method::Seen) => {
                let seen = self.read::<DeliveryAck>(turn, client, frame, "Seen")?;
                return Some(ClientInput::Seen(envelope, seen.delivery));
            }
            // The client's last word: it has gone already, or is about to, and waits for nothing.
            (Kind::Event, Method::Seen) if greeted => match decode::<DeliveryAck>(&frame.body) {
                Ok(seen) => return Some(ClientInput::Seen(envelope, seen.delivery)),
                Err(_) => turn.effects.push(Effect::CloseClient { client }),
            },
            (Kind::Request, Method::Attach) => {
                let attach = self.read::<Attach>(turn, client, frame, "Attach")?;
                return Some(ClientInput::Attach(envelope, attach));
            }
            (Kind::Request, Method::Ping) => {
                self.send(turn, client, &envelope.answer(Kind::Reply), &Empty {});
            }
            (Kind::Request, method) => {
                let fault = Fault::refused(format!("a client can't ask for {method:?}"));
                self.refuse(turn, client, &envelope, &fault);
            }
            _ => {}
        }
        None
    }

    /// Tells a client that the answer it has confirmed counts as seen. It comes after the records of that, so no later
    /// daemon can contradict it.
    pub fn seen(&self, turn: &mut Turn, client: ClientId, envelope: &Envelope) {
        match envelope.kind {
            Kind::Event => turn.effects.push(Effect::CloseClient { client }),
            _ => self.send(turn, client, &envelope.answer(Kind::Reply), &Empty {}),
        }
    }

    /// The body of a request, which is refused when it can't be read.
    fn read<T: serde::de::DeserializeOwned>(
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

    fn handle_hello(&mut self, turn: &mut Turn, client: ClientId, frame: &Frame) {
        let checked = decode::<Hello>(&frame.body)
            .map_err(|error| Fault::refused(format!("an unreadable Hello: {error}")))
            .and_then(|hello| hello.check().map(|()| hello));
        match checked {
            Ok(hello) => {
                if let Some(known) = self.connections.get_mut(&client)
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
}
