//! What comes on connections: cut into frames and handed in.
//!
//! A frame is looked at where it lies. An exchange goes on to its destination from there; of others a copy
//! goes to the core, whose messages are small.

use bytes::Bytes;
use pipemux_core::exchange::{End, Forward};
use pipemux_core::{Event, limits};
use pipemux_proto::frame::Cut;
use pipemux_proto::output::GATHERED_MAX;
use pipemux_proto::{Envelope, Frame, Incarnation, Kind, Method};

use super::Driver;
use crate::body::Body;
use crate::connection::{Read, Written};
use crate::incoming::{Incoming, incoming, refusal};
use crate::limits::LAST_WORDS;
use crate::wake::Peer;

impl Driver {
    /// Reads at most so many bytes, or one buffer more, and hands in the frames; false when there may
    /// be more to read.
    pub(super) fn read(&mut self, peer: Peer, left: usize) -> bool {
        let mut shared = std::mem::take(&mut self.shared);
        let done = self.read_through(&mut shared, peer, left);
        self.shared = shared;
        done
    }

    /// Reads what an app sent before its process ended, and hands in the frames.
    pub(super) fn read_last(&mut self, peer: Peer) {
        self.read(peer, LAST_WORDS);
        // The runtime hears of what comes when it waits; the process's end may have been heard sooner.
        let mut left = LAST_WORDS;
        while left > 0
            && self.is_read(peer)
            && let Some(connection) = self.connections.get_mut(&peer)
        {
            let length = connection.read_now(&mut self.shared);
            if length == 0 {
                return;
            }
            connection.keep(&self.shared[..length], &mut self.large);
            self.take_held(peer);
            left = left.saturating_sub(length);
        }
    }

    fn read_through(&mut self, shared: &mut [u8], peer: Peer, mut left: usize) -> bool {
        while left > 0 {
            // Looked up each time: what a frame led to may have closed the connection.
            let Some(connection) = self.connections.get_mut(&peer) else { return true };
            if !connection.reading {
                return true;
            }
            match connection.read(shared, &mut self.large, left) {
                Read::Shared(length) => {
                    left = left.saturating_sub(length);
                    self.take_shared(peer, &shared[..length]);
                    // What came may have been a small frame.
                    left = left.min(self.read_turn());
                }
                Read::Held(length) => {
                    left = left.saturating_sub(length);
                    self.take_held(peer);
                }
                Read::Nothing => return true,
                Read::End => {
                    self.ended(peer);
                    return true;
                }
            }
        }
        false
    }

    fn take_shared(&mut self, peer: Peer, mut bytes: &[u8]) {
        loop {
            let cut = match Cut::first(bytes) {
                Ok(Some(cut)) => cut,
                Ok(None) => break,
                Err(error) => return self.take(peer, Incoming::Broken(error.to_string())),
            };
            bytes = &bytes[cut.length..];
            match cut.envelope {
                Ok(envelope) if is_exchange(peer, &envelope) => {
                    self.exchange(peer, &envelope, Body::Shared(cut.body));
                }
                Ok(envelope) => {
                    let body = Bytes::copy_from_slice(cut.body);
                    self.take(peer, Incoming::Frame(Frame { envelope, body }));
                }
                Err(error) => self.take(peer, incoming(error)),
            }
            if !self.is_read(peer) {
                return;
            }
        }
        if !bytes.is_empty()
            && let Some(connection) = self.connections.get_mut(&peer)
        {
            connection.keep(bytes, &mut self.large);
        }
    }

    fn take_held(&mut self, peer: Peer) {
        while self.is_read(peer)
            && let Some(connection) = self.connections.get_mut(&peer)
            && let Some(next) = connection.next_incoming(&mut self.large)
        {
            match next {
                Incoming::Frame(frame) if is_exchange(peer, &frame.envelope) => {
                    self.exchange(peer, &frame.envelope, Body::Held(frame.body));
                }
                other => self.take(peer, other),
            }
        }
    }

    fn is_read(&self, peer: Peer) -> bool {
        self.connections.get(&peer).is_some_and(|connection| connection.reading)
    }

    fn take(&mut self, peer: Peer, incoming: Incoming) {
        match incoming {
            Incoming::Frame(frame) => {
                self.small_came();
                if matches!(peer, Peer::Client(_)) {
                    // A disk that is full is known before another act begins.
                    self.write_records();
                    self.finish_events();
                }
                self.handle(frame_of(peer, frame));
            }
            Incoming::Unknown { number, request } => self.refuse(peer, number, request),
            Incoming::Broken(why) => {
                if let Some(connection) = self.connections.get_mut(&peer) {
                    connection.reading = false;
                }
                let why = self.explained(peer, why);
                self.handle(broken(peer, why));
            }
        }
    }

    fn exchange(&mut self, peer: Peer, envelope: &Envelope, body: Body<'_>) {
        let from = match peer {
            Peer::Client(client) => End::Client(client),
            Peer::App(app) => End::App(app),
        };
        let length = body.bytes().len();
        if length <= GATHERED_MAX {
            self.look.frame_came(length);
            self.small_came();
        }
        match self.core.exchange(from, envelope, length, self.now, &mut self.effects) {
            Some(forward) => self.forward(&forward, body),
            None => self.finish_effects(),
        }
    }

    fn forward(&mut self, forward: &Forward, body: Body<'_>) {
        let Ok(head) = Frame::head(&forward.envelope, body.bytes().len()) else { return };
        let peer = match forward.to {
            End::Client(client) => Peer::Client(client),
            End::App(app) => Peer::App(app),
        };
        let turn = self.write_turn();
        // What waits for the same destination may go out with it.
        self.write_records();
        // One that is gone, or can't be written to, is about to be reported: that ends the exchange.
        let Some(connection) = self.connections.get_mut(&peer).filter(|there| there.writing) else {
            return;
        };
        let client = matches!(peer, Peer::Client(_));
        if client && connection.queued() + body.bytes().len() > limits::CLIENT_QUEUE_MAX {
            self.core.exchange_unread(forward, &mut self.effects);
            return self.finish_effects();
        }
        match connection.forward(&head, body, &mut self.spares, turn) {
            Written::All | Written::Share => {}
            Written::Some => self.list(peer),
            Written::Failed => self.cannot_write(peer),
        }
    }

    fn finish_effects(&mut self) {
        self.carry_out();
        self.finish_events();
    }

    fn refuse(&mut self, peer: Peer, number: u64, request: Option<u64>) {
        let Some(id) = request else { return };
        let incarnation = match peer {
            Peer::Client(_) => Incarnation::default(),
            Peer::App(app) => app,
        };
        if let Some(bytes) = refusal(number, id, incarnation) {
            let queued = self.push(peer, bytes);
            if let Peer::Client(client) = peer
                && queued > limits::CLIENT_QUEUE_MAX
            {
                self.close_client(client);
            }
        }
    }

    fn ended(&mut self, peer: Peer) {
        match peer {
            Peer::Client(client) => {
                self.close_client(client);
                self.finish_events();
            }
            Peer::App(app) => {
                if let Some(connection) = self.connections.get_mut(&peer) {
                    connection.reading = false;
                }
                self.handle(Event::AppClosed { app });
            }
        }
    }
}

fn frame_of(peer: Peer, frame: Frame) -> Event {
    match peer {
        Peer::Client(client) => Event::ClientFrame { client, frame },
        Peer::App(app) => Event::AppFrame { app, frame },
    }
}

fn broken(peer: Peer, why: String) -> Event {
    match peer {
        Peer::Client(client) => Event::ClientBroken { client, why },
        Peer::App(app) => Event::AppBroken { app, why },
    }
}

/// True for what goes on without the core's reading it.
fn is_exchange(peer: Peer, envelope: &Envelope) -> bool {
    let kind = match peer {
        Peer::Client(_) => envelope.kind == Kind::Request,
        Peer::App(_) => matches!(envelope.kind, Kind::Reply | Kind::Fault),
    };
    kind && envelope.method == Method::Exchange
}
