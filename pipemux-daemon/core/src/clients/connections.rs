//! Clients: greeted, heard, gone.

use bytes::Bytes;
use pipemux_proto::app::Empty;
use pipemux_proto::client::Seen;
use pipemux_proto::envelope::{Envelope, Method};
use pipemux_proto::hello::SEEN_EVENT;
use pipemux_proto::{Fault, Frame, Hello, Kind, Role, decode};

use crate::Core;
use crate::clients::requests::RequestState;
use crate::event::{ClientId, Effect};
use crate::keys::RequestId;
use crate::limits::{CLIENTS_MAX, GREET_MS};
use crate::processes::requests::ReplyTo;
use crate::timers::Timer;

/// A connected client.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client {
    /// True once it has greeted.
    pub greeted: bool,
    /// When it must have.
    pub greet_by: u64,
    /// Its requests that have no answer yet.
    pub open: usize,
    /// Its exchanges that have no answer yet, and the bytes of their bodies.
    pub exchanges: usize,
    /// See `exchanges`.
    pub exchanged: usize,
}

impl Core {
    pub(crate) fn client_opened(&mut self, client: ClientId) {
        self.clients.insert(client, Client::default());
        if self.clients.len() > CLIENTS_MAX {
            self.clients.remove(&client);
            let envelope = Envelope {
                kind: Kind::Fault,
                ..Envelope::event(Method::Hello, Default::default())
            };
            let fault =
                Fault::refused(format!("{CLIENTS_MAX} clients are connected, no more are taken"))
                    .hint("try again once one of them is gone");
            self.send_client(client, &envelope, &fault);
            self.turn.effects.push(Effect::CloseClient { client });
            return;
        }
        let at = self.turn.now.mono_ms + GREET_MS;
        self.clients.insert(client, Client { greet_by: at, ..Client::default() });
        self.turn.set_timer(at, Timer::Greet(client));
        let hello = Envelope::event(Method::Hello, Default::default());
        let features = vec![SEEN_EVENT.to_owned()];
        let software = self.config.software.clone();
        let greeting = Hello { features, ..Hello::new(Role::Daemon, software) };
        self.send_client(client, &hello, &greeting);
    }

    /// A client is gone: what it asked for goes on to the end of the step that is with an app, and
    /// no further.
    pub(crate) fn client_closed(&mut self, client: ClientId) {
        if let Some(gone) = self.clients.remove(&client).filter(|gone| !gone.greeted) {
            self.turn.clear_timer(gone.greet_by, Timer::Greet(client));
        }
        self.orphan_exchanges(client);
        let mut jobs: Vec<RequestId> = self
            .requests
            .iter()
            .filter(|(_, job)| job.client == client)
            .map(|(id, _)| *id)
            .collect();
        jobs.sort_unstable();
        for job in jobs {
            self.abandon(job);
        }
    }

    /// Takes back the steps of a run that were not begun.
    fn abandon(&mut self, id: RequestId) {
        // A step that still waits for its app to start has not begun either.
        if self.processes.take_back_unsent(&mut self.turn, &ReplyTo::Invoke(id)) {
            return;
        }
        let Some(job) = self.requests.get_mut(&id) else { return };
        match &mut job.task {
            // The step that is with an app goes on to its end; the next one doesn't begin.
            RequestState::Running(run) => run.cancelled = true,
            RequestState::Waiting(..) | RequestState::Log(_) => self.abandon_wait(id),
            RequestState::Preparing(_) => {
                self.fail_job(id, Fault::unavailable("cancelled, nothing was sent to an app"));
            }
            _ => {}
        }
    }

    /// A client that connected and said nothing makes room.
    pub(crate) fn greet_expired(&mut self, client: ClientId) {
        let Some(known) = self.clients.get(&client) else { return };
        if !known.greeted {
            let envelope = Envelope {
                kind: Kind::Fault,
                ..Envelope::event(Method::Hello, Default::default())
            };
            let fault = Fault::refused(format!("no Hello within {} s", GREET_MS / 1000));
            self.send_client(client, &envelope, &fault);
            self.turn.effects.push(Effect::CloseClient { client });
        }
    }

    pub(crate) fn client_broken(&mut self, client: ClientId, why: &str) {
        let envelope =
            Envelope { kind: Kind::Fault, ..Envelope::event(Method::Verb, Default::default()) };
        self.send_client(client, &envelope, &Fault::refused(format!("not a PipeMux frame: {why}")));
        self.turn.effects.push(Effect::CloseClient { client });
    }

    pub(crate) fn handle_client_frame(&mut self, client: ClientId, frame: &Frame) {
        let Some(greeted) = self.clients.get(&client).map(|client| client.greeted) else { return };
        let envelope = frame.envelope;
        match (envelope.kind, envelope.method) {
            (Kind::Event, Method::Hello) => self.handle_client_hello(client, frame),
            (Kind::Cancel, _) => {
                let cancelled = self
                    .requests
                    .iter()
                    .find(|(_, job)| job.client == client && job.request.id == envelope.id);
                match cancelled.map(|(id, _)| *id) {
                    Some(id) => self.abandon(id),
                    None => self.cancel_exchange(client, envelope.id),
                }
            }
            (Kind::Request, _) if !greeted => {
                self.refuse(client, &envelope, &Fault::refused("say Hello first"));
                self.turn.effects.push(Effect::CloseClient { client });
            }
            (Kind::Request, Method::Verb) => self.handle_verb(client, frame),
            (Kind::Request, Method::Seen) => {
                match decode::<Seen>(&frame.body) {
                    Ok(seen) => self.handle_seen(seen.delivery),
                    Err(error) => {
                        let fault = Fault::refused(format!("an unreadable Seen: {error}"));
                        return self.refuse(client, &envelope, &fault);
                    }
                }
                self.send_client(client, &envelope.answer(Kind::Reply), &Empty {});
            }
            // The client's last word: it has gone already, or is about to, and waits for nothing.
            (Kind::Event, Method::Seen) if greeted => {
                if let Ok(seen) = decode::<Seen>(&frame.body) {
                    self.handle_seen(seen.delivery);
                }
                self.turn.effects.push(Effect::CloseClient { client });
            }
            (Kind::Request, Method::Attach) => self.handle_attach(client, frame),
            (Kind::Request, Method::Ping) => {
                self.send_client(client, &envelope.answer(Kind::Reply), &Empty {});
            }
            (Kind::Request, method) => {
                let fault = Fault::refused(format!("a client can't ask for {method:?}"));
                self.refuse(client, &envelope, &fault);
            }
            _ => {}
        }
    }

    fn handle_client_hello(&mut self, client: ClientId, frame: &Frame) {
        let checked = decode::<Hello>(&frame.body)
            .map_err(|error| Fault::refused(format!("an unreadable Hello: {error}")))
            .and_then(|hello| hello.check());
        match checked {
            Ok(()) => {
                if let Some(known) = self.clients.get_mut(&client)
                    && !std::mem::replace(&mut known.greeted, true)
                {
                    self.turn.clear_timer(known.greet_by, Timer::Greet(client));
                }
            }
            Err(fault) => {
                self.refuse(client, &frame.envelope, &fault);
                self.turn.effects.push(Effect::CloseClient { client });
            }
        }
    }

    pub(crate) fn refuse(&mut self, client: ClientId, request: &Envelope, fault: &Fault) {
        self.send_client(client, &request.answer(Kind::Fault), fault);
    }

    pub(crate) fn send_client<T: serde::Serialize>(
        &mut self,
        client: ClientId,
        envelope: &Envelope,
        body: &T,
    ) {
        let bytes = Frame::encode(envelope, body).unwrap_or_else(|error| {
            let fault =
                Fault::refused(error.to_string()).hint("a smaller --budget fits one answer");
            Frame::fault(envelope, &fault).unwrap_or_else(|_| Bytes::new())
        });
        self.turn.effects.push(Effect::ToClient { client, bytes });
    }
}
