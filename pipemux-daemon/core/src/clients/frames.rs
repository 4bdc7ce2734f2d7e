//! Handles the frames of clients, and the requests of clients that disconnect.

use pipemux_proto::app::Empty;
use pipemux_proto::client::{Attach, DeliveryAck};
use pipemux_proto::envelope::Method;
use pipemux_proto::{Fault, Frame, Kind, decode};

use crate::clients::Clients;
use crate::clients::connection::ClientInput;
use crate::clients::idempotency::ActKey;
use crate::event::{ClientId, Effect};
use crate::keys::RequestId;
use crate::turn::Turn;

impl Clients {
    /// Handles a frame from a client. Returns the work for the rest of the core. Acting requests
    /// are held until the client's process is known.
    pub fn receive(
        &mut self,
        turn: &mut Turn,
        client: ClientId,
        frame: &Frame,
    ) -> Option<ClientInput> {
        let input = self.handle_frame(turn, client, frame)?;
        self.connections.hold_until_identified(turn, client, input)
    }

    /// Removes a closed connection. Returns its unanswered requests: each finishes the step that an
    /// app is carrying out, and then stops.
    pub fn closed(&mut self, turn: &mut Turn, client: ClientId) -> Vec<RequestId> {
        if let Some(gone) = self.connections.remove(turn, client) {
            for input in &gone.held {
                // It never began.
                if let ClientInput::Verb(_, call, _) = input
                    && call.verb.acts()
                {
                    self.records.forget(&ActKey::of(call));
                }
            }
            gone.audit_exchanges(turn);
        }
        self.exchanges.orphan(turn, client);
        let own = self.requests.iter().filter(|(_, request)| request.client == client);
        let mut own: Vec<RequestId> = own.map(|(id, _)| *id).collect();
        own.sort_unstable();
        own
    }

    fn handle_frame(
        &mut self,
        turn: &mut Turn,
        client: ClientId,
        frame: &Frame,
    ) -> Option<ClientInput> {
        let now = turn.mono_ms();
        let known = self.connections.get_mut(client)?;
        known.heard_at = now;
        let greeted = known.greeted;
        let envelope = frame.envelope;
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.connections.handle_hello(turn, client, frame),
            (Kind::Cancel, _) => {
                let mut all = self.requests.iter();
                let cancelled = all.find(|(_, request)| {
                    request.client == client && request.envelope.id == envelope.id
                });
                match cancelled.map(|(id, _)| *id) {
                    Some(id) => return Some(ClientInput::Cancel(id)),
                    None => self.exchanges.cancel(&self.connections, turn, client, envelope.id),
                }
            }
            (Kind::Request, _) if !greeted => {
                self.connections.refuse(
                    turn,
                    client,
                    &envelope,
                    &Fault::refused("say Hello first"),
                );
                turn.effects.push(Effect::CloseClient { client });
            }
            (Kind::Request, Method::Verb) => return self.admit(turn, client, frame),
            (Kind::Request, Method::Seen) => {
                let seen = self.connections.read::<DeliveryAck>(turn, client, frame, "Seen")?;
                return Some(ClientInput::Seen(envelope, seen.delivery));
            }
            // The client's last word: it has gone already, or is about to, and waits for nothing.
            (Kind::Event, Method::Seen) if greeted => match decode::<DeliveryAck>(&frame.body) {
                Ok(seen) => return Some(ClientInput::Seen(envelope, seen.delivery)),
                Err(_) => turn.effects.push(Effect::CloseClient { client }),
            },
            (Kind::Request, Method::Attach) => {
                let attach = self.connections.read::<Attach>(turn, client, frame, "Attach")?;
                return Some(ClientInput::Attach(envelope, attach));
            }
            (Kind::Request, Method::Ping) => {
                self.connections.send(turn, client, &envelope.answer(Kind::Reply), &Empty {});
            }
            (Kind::Request, method) => {
                let fault = Fault::refused(format!("a client can't ask for {method:?}"));
                self.connections.refuse(turn, client, &envelope, &fault);
            }
            _ => {}
        }
        None
    }
}
