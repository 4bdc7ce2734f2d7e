//! Cuts what arrives on connections into frames, and hands these in.
//!
//! A frame is decoded where it lies. An exchange is forwarded to its destination from there; other
//! frames are copied for the core, because their messages are small.

use bytes::Bytes;
use pipemux_core::Event;
use pipemux_core::exchange::{End, Forward};
use pipemux_proto::frame::FrameSlice;
use pipemux_proto::{Envelope, Frame, Incarnation, Kind, Method};
use pipemux_socket::COPIED_FRAME_MAX;

use super::Driver;
use crate::connection::ReadOutcome;
use crate::exchange_body::ExchangeBody;
use crate::inbound::{Inbound, undecodable, unknown_method_fault};
use crate::limits::FINAL_READ_MAX;
use crate::ready_queue::Peer;

impl Driver {
    /// Reads at most `left` bytes, or one buffer more, and hands in the frames; returns false when
    /// there may be more to read.
    pub(super) fn read(&mut self, peer: Peer, left: usize) -> bool {
        let mut scratch = std::mem::take(&mut self.scratch);
        let done = self.read_into(&mut scratch, peer, left);
        self.scratch = scratch;
        done
    }

    /// Reads what an app sent before its process exited, and hands in the frames.
    pub(super) fn read_remaining(&mut self, peer: Peer) {
        self.read(peer, FINAL_READ_MAX);
        // The runtime learns of new bytes only when it polls the system; the exit may have been
        // reported sooner.
        let mut left = FINAL_READ_MAX;
        while left > 0 {
            let length = self.connections.read_unpolled(peer, &mut self.scratch);
            if length == 0 {
                return;
            }
            self.process_buffered(peer);
            left = left.saturating_sub(length);
        }
    }

    fn read_into(&mut self, scratch: &mut [u8], peer: Peer, mut left: usize) -> bool {
        while left > 0 {
            match self.connections.read(peer, scratch, left) {
                ReadOutcome::InScratch(length) => {
                    left = left.saturating_sub(length);
                    self.process_scratch(peer, &scratch[..length]);
                    // A small frame among these bytes lowers the share.
                    left = left.min(self.shares.read(self.turn.now_ms()));
                }
                ReadOutcome::Buffered(length) => {
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
            if !self.connections.can_read(peer) {
                return;
            }
        }
        self.connections.buffer_partial(peer, bytes);
    }

    fn process_buffered(&mut self, peer: Peer) {
        while let Some(next) = self.connections.next_inbound(peer) {
            match next {
                Inbound::Frame(frame) if is_exchange(peer, &frame.envelope) => {
                    self.route_exchange(peer, &frame.envelope, ExchangeBody::Owned(frame.body));
                }
                other => self.handle_inbound(peer, other),
            }
        }
    }

    fn handle_inbound(&mut self, peer: Peer, inbound: Inbound) {
        match inbound {
            Inbound::Frame(frame) => {
                self.shares.record_small_frame(self.turn.now_ms());
                self.connections.count_received(frame.body.len(), self.turn.now_ms());
                match peer {
                    Peer::Client(client) => {
                        self.prepare_for_client();
                        self.handle(Event::ClientFrame { client, frame });
                    }
                    Peer::App(app) => self.handle(Event::AppFrame { app, frame }),
                }
            }
            Inbound::UnknownMethod { request: None, .. } => {}
            Inbound::UnknownMethod { number, request: Some(id) } => {
                let incarnation = match peer {
                    Peer::Client(_) => Incarnation::default(),
                    Peer::App(app) => app,
                };
                if let Some(fault) = unknown_method_fault(number, id, incarnation) {
                    self.connections.refuse(peer, fault, &mut self.turn);
                }
            }
            Inbound::Invalid(why) => {
                self.connections.stop_reading(peer);
                let why = self.apps.explain_invalid(peer, why);
                self.handle(match peer {
                    Peer::Client(client) => Event::ClientBroken { client, why },
                    Peer::App(app) => Event::AppBroken { app, why },
                });
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
            self.shares.record_small_frame(self.turn.now_ms());
        }
        match self.core.exchange(from, envelope, length, self.turn.now, &mut self.effects) {
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
        // Frames that are queued for the same destination may go out with this one.
        self.records.write(&mut self.turn);
        let share = self.shares.write(self.turn.now_ms());
        if self.connections.forward(peer, &head, body, share, &mut self.turn).is_err() {
            self.core.exchange_unread(forward, &mut self.effects);
            self.finish_exchange();
        }
    }

    fn finish_exchange(&mut self) {
        self.run_effects();
        self.handle_queued();
    }

    fn handle_read_end(&mut self, peer: Peer) {
        match peer {
            Peer::Client(client) => {
                if self.connections.end_input(client) {
                    self.handle(Event::ClientEnded { client });
                } else {
                    self.connections.close_client(client, &mut self.turn);
                    self.handle_queued();
                }
            }
            Peer::App(app) => {
                self.connections.stop_reading(peer);
                self.handle(Event::AppClosed { app });
            }
        }
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
