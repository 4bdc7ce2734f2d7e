//! What is queued for peers during a turn, and written at its end, to each of them once.
//!
//! A peer that leaves too much unread is disconnected: one alone at its own bound, and the slowest
//! ones once all peers of a kind together exceed theirs.

use bytes::Bytes;
use pipemux_core::{ClientId, Event, limits};
use pipemux_proto::Incarnation;

use super::super::turn::Turn;
use super::Connections;
use crate::connection::{Connection, WriteOutcome};
use crate::daemon_log::log;
use crate::exchange_body::ExchangeBody;
use crate::metrics::Direction;
use crate::ready_queue::Peer;

/// Bytes that one peer may leave unread without anybody looking at how much all of them do.
const FAIR_QUEUE: usize = 256 * 1024;

/// A client doesn't read: what was to be forwarded to it exceeds what may be queued for it.
pub(in crate::driver) struct QueueFull;

impl Connections {
    /// Queues bytes for a peer, unless it is gone; returns how many bytes are queued for it.
    fn push(&mut self, peer: Peer, bytes: Bytes, now_ms: u64) -> usize {
        let connection = self.by_peer.get_mut(&peer).filter(|connection| connection.can_write);
        let Some(connection) = connection else { return 0 };
        let length = bytes.len();
        self.memory.passed(length, now_ms);
        let queued = connection.push(bytes, &mut self.spares);
        self.schedule_write(peer);
        self.count(peer, Direction::Out, length);
        queued
    }

    /// Queues the parts of an answer for a client.
    pub(in crate::driver) fn send_to_client(
        &mut self,
        client: ClientId,
        parts: impl IntoIterator<Item = Bytes>,
        turn: &mut Turn,
    ) {
        let peer = Peer::Client(client);
        let queued = parts.into_iter().fold(0, |_, bytes| self.push(peer, bytes, turn.now_ms()));
        if queued > limits::CLIENT_QUEUE_MAX {
            log(format_args!("client {} reads too slowly: disconnected", client.0));
            return self.close_client(client, turn);
        }
        while queued > FAIR_QUEUE
            && let Some((Peer::Client(client), queued, all)) = self.slowest(Peer::is_client)
            && all > limits::CLIENT_QUEUES_MAX
        {
            log(format_args!(
                "clients leave {all} bytes unread: client {} with {queued} is disconnected",
                client.0
            ));
            self.close_client(client, turn);
        }
    }

    /// Queues a frame for an app.
    pub(in crate::driver) fn send_to_app(
        &mut self,
        app: Incarnation,
        bytes: Bytes,
        turn: &mut Turn,
    ) {
        let queued = self.push(Peer::App(app), bytes, turn.now_ms());
        if queued > limits::APP_QUEUE_MAX {
            return self.break_unread(app, limits::APP_QUEUE_MAX, turn);
        }
        while queued > FAIR_QUEUE
            && let Some((Peer::App(app), queued, all)) = self.slowest(Peer::is_app)
            && all > limits::APP_QUEUES_MAX
        {
            self.break_unread(app, queued, turn);
        }
    }

    /// Returns the peer of a kind that leaves most unread, how much, and how much all of them do.
    fn slowest(&self, is_one: fn(&Peer) -> bool) -> Option<(Peer, usize, usize)> {
        let queued = self.by_peer.iter().filter(|(peer, _)| is_one(peer));
        let queued = queued.map(|(peer, connection)| (*peer, connection.queued()));
        let all = queued.clone().map(|(_, queued)| queued).sum();
        queued.max_by_key(|(_, queued)| *queued).map(|(peer, queued)| (peer, queued, all))
    }

    /// Has the core end an app that doesn't read what it is sent.
    fn break_unread(&mut self, app: Incarnation, unread: usize, turn: &mut Turn) {
        if let Some(connection) = self.by_peer.get_mut(&Peer::App(app)) {
            connection.clear(&mut self.spares);
            connection.can_read = false;
            connection.can_write = false;
            let why = format!("it left {unread} bytes unread");
            turn.push(Event::AppBroken { app, why });
        }
    }

    /// Answers a request whose method this release doesn't know.
    pub(in crate::driver) fn refuse(&mut self, peer: Peer, fault: Bytes, turn: &mut Turn) {
        let queued = self.push(peer, fault, turn.now_ms());
        if let Peer::Client(client) = peer
            && queued > limits::CLIENT_QUEUE_MAX
        {
            self.close_client(client, turn);
        }
    }

    /// Forwards a frame that another peer sent, as far as its share of the turn allows; the rest
    /// is queued. Nothing happens for a peer that is gone or can't be written to: it is about to
    /// be reported, which ends the exchange.
    ///
    /// # Errors
    /// The peer is a client that leaves too much unread.
    pub(in crate::driver) fn forward(
        &mut self,
        peer: Peer,
        head: &[u8],
        body: ExchangeBody<'_>,
        share: usize,
        turn: &mut Turn,
    ) -> Result<(), QueueFull> {
        let connection = self.by_peer.get_mut(&peer).filter(|connection| connection.can_write);
        let Some(connection) = connection else { return Ok(()) };
        let unread = connection.queued() + body.bytes().len();
        if peer.is_client() && unread > limits::CLIENT_QUEUE_MAX {
            return Err(QueueFull);
        }
        let length = head.len() + body.bytes().len();
        let outcome = connection.forward(head, body, &mut self.spares, share);
        self.count(peer, Direction::Out, length);
        match outcome {
            WriteOutcome::Complete | WriteOutcome::TurnUsed => {}
            WriteOutcome::Incomplete => self.schedule_write(peer),
            WriteOutcome::Failed => self.handle_write_failure(peer, turn),
        }
        Ok(())
    }

    /// Has a peer's queue written at the end of the turn, if there is any.
    pub(in crate::driver) fn resume_writing(&mut self, peer: Peer) {
        if self.by_peer.get(&peer).is_some_and(Connection::has_output) {
            self.schedule_write(peer);
        }
    }

    pub(super) fn schedule_write(&mut self, peer: Peer) {
        if let Some(connection) = self.by_peer.get_mut(&peer)
            && !std::mem::replace(&mut connection.write_scheduled, true)
        {
            self.to_write.push(peer);
        }
    }

    /// Writes to each scheduled connection once, at most `share` bytes; returns whether any was
    /// scheduled.
    pub(in crate::driver) fn write_scheduled(&mut self, share: usize, turn: &mut Turn) -> bool {
        let mut peers = std::mem::take(&mut self.to_write);
        let any = !peers.is_empty();
        for peer in peers.drain(..) {
            self.write(peer, share, turn);
        }
        if self.to_write.is_empty() {
            // Put back for its capacity, so that a turn allocates nothing.
            self.to_write = peers;
        }
        any
    }

    fn write(&mut self, peer: Peer, share: usize, turn: &mut Turn) {
        let Some(connection) = self.by_peer.get_mut(&peer) else { return };
        connection.write_scheduled = false;
        match (connection.flush(&mut self.spares, share), peer) {
            (WriteOutcome::Complete, Peer::Client(client)) if connection.close_when_written => {
                self.close_client(client, turn);
            }
            (WriteOutcome::Failed, _) => self.handle_write_failure(peer, turn),
            (WriteOutcome::Complete | WriteOutcome::TurnUsed | WriteOutcome::Incomplete, _) => {}
        }
    }

    /// Handles a connection that its peer no longer reads.
    fn handle_write_failure(&mut self, peer: Peer, turn: &mut Turn) {
        match peer {
            Peer::Client(client) => self.close_client(client, turn),
            Peer::App(_) => {
                // Reading finds the end of the connection, which is reported then.
                if let Some(connection) = self.by_peer.get_mut(&peer) {
                    connection.clear(&mut self.spares);
                    connection.can_write = false;
                }
            }
        }
    }
}
