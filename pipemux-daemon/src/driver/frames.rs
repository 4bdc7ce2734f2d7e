//! Cuts what arrives on connections into frames, and hands these in.
//!
//! A frame is decoded where it lies. An exchange is forwarded to its destination from there; other frames are copied
//! for the core, because their messages are small.

use bytes::Bytes;
use pipemux_core::exchange::{End, Forward};
use pipemux_core::{Event, limits};
use pipemux_proto::frame::FrameSlice;
use pipemux_proto::{Envelope, Frame, Incarnation, Kind, Method};
use pipemux_write_queue::COPIED_FRAME_MAX;

use super::Driver;
use crate::connection::{ReadOutcome, WriteOutcome};
use crate::exchange_body::ExchangeBody;
use crate::inbound::{Inbound, undecodable, unknown_method_fault};
use crate::limits::FINAL_READ_MAX;
use crate::metrics::Direction;
use crate::ready_queue::Peer;

impl Driver {
    /// Reads at most `left` bytes, or one buffer more, and hands in the frames; returns false when there may be more
    /// to read.
    pub(super) fn read(&mut self, peer: Peer, left: usize) -> bool {
        let mut scratch = std::mem::take(&mut self.scratch);
        let done = self.read_into(&mut scratch, peer, left);
        self.scratch = scratch;
        done
    }

    /// Reads what an app sent before its process exited, and hands in the frames.
    pub(super) fn read_remaining(&mut self, peer: Peer) {
        self.read(peer, FINAL_READ_MAX);
        // The runtime learns of new bytes only when it polls the system; the exit may have been reported sooner.
        let mut left = FINAL_READ_MAX;
        while left > 0
            && self.can_read(peer)
            && let Some(connection) = self.connections.get_mut(&peer)
        {
            let length = connection.read_unpolled(&mut self.scratch);
            if length == 0 {
                return;
            }
            connection.buffer_partial(&self.scratch[..length], &mut self.buffer_pool);
            self.process_buffered(peer);
            left = left.saturating_sub(length);
        }
    }

    fn read_into(&mut self, scratch: &mut [u8], peer: Peer, mut left: usize) -> bool {
        while left > 0 {
            // Looked up in each round, because a frame may have closed the connection.
            let Some(connection) = self.connections.get_mut(&peer) else { return true };
            if !connection.can_read {
                return true;
            }
            match connection.read(scratch, &mut self.buffer_pool, left) {
                ReadOutcome::InScratch(length) => {
                    self.measure_bytes(peer, Direction::In, length);
                    left = left.saturating_sub(length);
                    self.process_scratch(peer, &scratch[..length]);
                    // A small frame among these bytes lowers the share.
                    left = left.min(self.read_share());
                }
                ReadOutcome::Buffered(length) => {
                    self.measure_bytes(peer, Direction::In, length);
                    left = left.saturating_sub(length);
                    self.process_buffered(peer);
                }
                ReadOutcome::Pending => return true,
                ReadOutcome::Closed => {
                    self.handle_read_end(peer);
                    return true;
                }
            }
        }
        false
    }

    fn process_scratch(&mut self, peer: Peer, mut bytes: &[u8]) {
        loop {
            let cut = match FrameSlice::first(bytes) {
                Ok(Some(cut)) => cut,
                Ok(None) => break,
                Err(error) => {
                    return self.handle_inbound(peer, Inbound::Invalid(error.to_string()));
                }
            };
            bytes = &bytes[cut.length..];
            match cut.envelope {
                Ok(envelope) if is_exchange(peer, &envelope) => {
                    self.route_exchange(peer, &envelope, ExchangeBody::Borrowed(cut.body));
                }
                Ok(envelope) => {
                    let body = Bytes::copy_from_slice(cut.body);
                    self.handle_inbound(peer, Inbound::Frame(Frame { envelope, body }));
                }
                Err(error) => self.handle_inbound(peer, undecodable(error)),
            }
            if !self.can_read(peer) {
                return;
            }
        }
        if !bytes.is_empty()
            && let Some(connection) = self.connections.get_mut(&peer)
        {
            connection.buffer_partial(bytes, &mut self.buffer_pool);
        }
    }

    fn process_buffered(&mut self, peer: Peer) {
        while self.can_read(peer)
            && let Some(connection) = self.connections.get_mut(&peer)
            && let Some(next) = connection.next_inbound(&mut self.buffer_pool)
        {
            match next {
                Inbound::Frame(frame) if is_exchange(peer, &frame.envelope) => {
                    self.route_exchange(peer, &frame.envelope, ExchangeBody::Owned(frame.body));
                }
                other => self.handle_inbound(peer, other),
            }
        }
    }

    fn can_read(&self, peer: Peer) -> bool {
        self.connections.get(&peer).is_some_and(|connection| connection.can_read)
    }

    fn handle_inbound(&mut self, peer: Peer, inbound: Inbound) {
        match inbound {
            Inbound::Frame(frame) => {
                self.record_small_frame();
                if matches!(peer, Peer::Client(_)) {
                    // A full disk must be known before another act begins.
                    self.write_records();
                    self.drain_events();
                }
                self.handle(frame_event(peer, frame));
            }
            Inbound::UnknownMethod { number, request } => {
                self.refuse_unknown_method(peer, number, request);
            }
            Inbound::Invalid(why) => {
                if let Some(connection) = self.connections.get_mut(&peer) {
                    connection.can_read = false;
                }
                let why = self.explain_invalid(peer, why);
                self.handle(invalid_event(peer, why));
            }
        }
    }

    fn route_exchange(&mut self, peer: Peer, envelope: &Envelope, body: ExchangeBody<'_>) {
        let from = match peer {
            Peer::Client(client) => End::Client(client),
            Peer::App(app) => End::App(app),
        };
        let length = body.bytes().len();
        if length <= COPIED_FRAME_MAX {
            self.busy_poll.record_frame(length);
            self.record_small_frame();
        }
        match self.core.exchange(from, envelope, length, self.now, &mut self.effects) {
            Some(forward) => self.forward(&forward, body),
            None => self.finish_exchange(),
        }
    }

    fn forward(&mut self, forward: &Forward, body: ExchangeBody<'_>) {
        let Ok(head) = Frame::head(&forward.envelope, body.bytes().len()) else { return };
        let peer = match forward.to {
            End::Client(client) => Peer::Client(client),
            End::App(app) => Peer::App(app),
        };
        let turn = self.write_share();
        // Frames that are queued for the same destination may go out with this one.
        self.write_records();
        // A peer that is gone, or can't be written to, is about to be reported, which ends the exchange.
        let Some(connection) = self.connections.get_mut(&peer).filter(|found| found.can_write)
        else {
            return;
        };
        let client = matches!(peer, Peer::Client(_));
        if client && connection.queued() + body.bytes().len() > limits::CLIENT_QUEUE_MAX {
            self.core.exchange_unread(forward, &mut self.effects);
            return self.finish_exchange();
        }
        let length = head.len() + body.bytes().len();
        let outcome = connection.forward(&head, body, &mut self.spares, turn);
        self.measure_bytes(peer, Direction::Out, length);
        match outcome {
            WriteOutcome::Complete | WriteOutcome::TurnUsed => {}
            WriteOutcome::Incomplete => self.schedule_write(peer),
            WriteOutcome::Failed => self.handle_write_failure(peer),
        }
    }

    fn finish_exchange(&mut self) {
        self.run_effects();
        self.drain_events();
    }

    fn refuse_unknown_method(&mut self, peer: Peer, number: u64, request: Option<u64>) {
        let Some(id) = request else { return };
        let incarnation = match peer {
            Peer::Client(_) => Incarnation::default(),
            Peer::App(app) => app,
        };
        if let Some(bytes) = unknown_method_fault(number, id, incarnation) {
            let queued = self.push(peer, bytes);
            if let Peer::Client(client) = peer
                && queued > limits::CLIENT_QUEUE_MAX
            {
                self.close_client(client);
            }
        }
    }

    fn handle_read_end(&mut self, peer: Peer) {
        match peer {
            Peer::Client(client) => {
                let Some(connection) = self.connections.get_mut(&peer) else { return };
                if connection.end_input() {
                    self.handle(Event::ClientEnded { client });
                } else {
                    self.close_client(client);
                    self.drain_events();
                }
            }
            Peer::App(app) => {
                if let Some(connection) = self.connections.get_mut(&peer) {
                    connection.can_read = false;
                }
                self.handle(Event::AppClosed { app });
            }
        }
    }
}

fn frame_event(peer: Peer, frame: Frame) -> Event {
    match peer {
        Peer::Client(client) => Event::ClientFrame { client, frame },
        Peer::App(app) => Event::AppFrame { app, frame },
    }
}

fn invalid_event(peer: Peer, why: String) -> Event {
    match peer {
        Peer::Client(client) => Event::ClientBroken { client, why },
        Peer::App(app) => Event::AppBroken { app, why },
    }
}

/// True for frames that are forwarded without the core's reading their bodies.
fn is_exchange(peer: Peer, envelope: &Envelope) -> bool {
    let kind = match peer {
        Peer::Client(_) => envelope.kind == Kind::Request,
        Peer::App(_) => matches!(envelope.kind, Kind::Reply | Kind::Fault),
    };
    kind && envelope.method == Method::Exchange
}
