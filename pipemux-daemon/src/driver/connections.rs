//! Accepts, writes to and closes connections.

use std::os::unix::net::UnixStream;
use std::task::Poll;

use bytes::Bytes;
use pipemux_core::{ClientId, Event, limits};

use super::Driver;
use crate::connection::{Connection, WriteOutcome};
use crate::daemon_log::log;
use crate::limits::{
    ACCEPT_RETRY_MS, ACCEPT_TURN, BULK_ONLY_TURN, BULKY_TURN, READ_TURN, REFUSED_MAX,
    SMALL_FRAME_QUIET_MS, WRITE_TURN,
};
use crate::metrics::Direction;
use crate::ready_queue::{Peer, ReadySource};

impl Driver {
    /// Accepts the clients that wait.
    pub(super) fn accept(&mut self) {
        if self.exit_deadline.is_some() || self.accept_retry_at.is_some() {
            return;
        }
        // The next daemon answers those who come now: they wait at the service manager's socket.
        if self.listener.is_passed() && self.core.is_stopping() {
            return;
        }
        for _ in 0..ACCEPT_TURN {
            match self.listener.poll_accept(&self.accept_waker) {
                Poll::Pending => {
                    self.accept_failing = false;
                    return;
                }
                Poll::Ready(Err(error)) => {
                    // Most likely no descriptor is free. Clients keep waiting, and a pause keeps this from spinning.
                    if !std::mem::replace(&mut self.accept_failing, true) {
                        log(format_args!("can't accept connections, clients wait: {error}"));
                    }
                    self.accept_retry_at = Some(self.now.mono_ms + ACCEPT_RETRY_MS);
                    return;
                }
                // The core answers the first clients beyond the bound; of a flood the rest is closed at once.
                Poll::Ready(Ok(_)) if self.clients >= limits::CLIENTS_MAX + REFUSED_MAX => {
                    if !std::mem::replace(&mut self.refusing, true) {
                        log(format_args!("refusing clients: {} are connected", self.clients));
                    }
                }
                Poll::Ready(Ok(stream)) => self.add_client(stream),
            }
        }
        self.accept_waker.wake_by_ref();
    }

    fn add_client(&mut self, stream: UnixStream) {
        let client = ClientId(self.next_client);
        let peer = Peer::Client(client);
        let waker = self.ready_queue.waker(ReadySource::Peer(peer));
        let connection = match Connection::new(stream, waker, true) {
            Ok(connection) => connection,
            Err(error) => return log(format_args!("can't watch a connection: {error}")),
        };
        self.refusing &= self.clients >= limits::CLIENTS_MAX;
        self.next_client += 1;
        self.clients += 1;
        self.connections.insert(peer, connection);
        self.handle(Event::ClientOpened { client });
        self.serve(peer);
    }

    /// Reads what arrived and resumes writes that had to wait; a large transfer is served later in the turn.
    pub(super) fn serve(&mut self, peer: Peer) {
        let Some(connection) = self.connections.get(&peer) else { return };
        if let Peer::Client(client) = peer
            && connection.is_abandoned()
        {
            self.close_client(client);
            return self.drain_events();
        }
        if connection.is_bulky() {
            self.bulky_peers.push(peer);
        } else {
            self.serve_now(peer);
        }
    }

    /// Serves the large transfers, once the small frames of the turn are written.
    pub(super) fn serve_bulky(&mut self) {
        if self.bulky_peers.is_empty() {
            return;
        }
        let mut bulky = std::mem::take(&mut self.bulky_peers);
        self.bulk_sharers = bulky.len();
        for peer in bulky.drain(..) {
            self.serve_now(peer);
        }
        self.bulky_peers = bulky;
        self.write_scheduled_peers();
        self.bulk_sharers = 0;
    }

    fn serve_now(&mut self, peer: Peer) {
        if self.connections.get(&peer).is_some_and(Connection::has_output) {
            self.schedule_write(peer);
        }
        if !self.read(peer, self.read_share())
            && let Some(connection) = self.connections.get(&peer)
        {
            connection.wake();
        }
    }

    /// Notes that a small frame arrived: for a while large transfers take smaller shares of a turn.
    pub(super) fn record_small_frame(&mut self) {
        self.small_frames_until = self.now.mono_ms + SMALL_FRAME_QUIET_MS;
    }

    /// Returns how many bytes one connection may read in this turn.
    pub(super) fn read_share(&self) -> usize {
        self.turn_share(READ_TURN)
    }

    /// Returns how many bytes may be written to one connection in this turn.
    pub(super) fn write_share(&self) -> usize {
        self.turn_share(WRITE_TURN)
    }

    fn turn_share(&self, usual: usize) -> usize {
        match self.bulk_sharers {
            // No small frames: large transfers divide the whole turn, with at least the usual share for each.
            sharers if self.now.mono_ms >= self.small_frames_until => {
                (BULK_ONLY_TURN / sharers.max(1)).max(usual)
            }
            0 => usual,
            _ => BULKY_TURN,
        }
    }

    /// Queues bytes for a connection that still exists; returns how many bytes are queued for it.
    pub(super) fn push(&mut self, peer: Peer, bytes: Bytes) -> usize {
        match self.connections.get_mut(&peer) {
            Some(connection) if connection.can_write => {
                let length = bytes.len();
                self.memory.passed(length, self.now.mono_ms);
                let queued = connection.push(bytes, &mut self.spares);
                self.schedule_write(peer);
                self.measure_bytes(peer, Direction::Out, length);
                queued
            }
            _ => 0,
        }
    }

    /// Has the connection written to at the end of the turn.
    pub(super) fn schedule_write(&mut self, peer: Peer) {
        if let Some(connection) = self.connections.get_mut(&peer)
            && !std::mem::replace(&mut connection.write_scheduled, true)
        {
            self.peers_to_write.push(peer);
        }
    }

    /// Writes the turn's records, and then to each scheduled connection once.
    pub(super) fn write_scheduled_peers(&mut self) {
        loop {
            self.write_records();
            // A failing disk and closed clients produce events, whose effects may have to be written, too.
            self.drain_events();
            if self.records_pending {
                continue;
            }
            if self.peers_to_write.is_empty() {
                return;
            }
            let mut peers = std::mem::take(&mut self.peers_to_write);
            for peer in peers.drain(..) {
                self.write(peer);
            }
            if self.peers_to_write.is_empty() {
                // Put back for its capacity, so that a turn allocates nothing.
                self.peers_to_write = peers;
            }
        }
    }

    /// Closes a client's connection and drops what is queued for it.
    pub(super) fn close_client(&mut self, client: ClientId) {
        if self.connections.remove(&Peer::Client(client)).is_some() {
            self.clients -= 1;
            self.events.push_back(Event::ClientClosed { client });
        }
    }

    fn write(&mut self, peer: Peer) {
        let turn = self.write_share();
        let Some(connection) = self.connections.get_mut(&peer) else { return };
        connection.write_scheduled = false;
        match (connection.flush(&mut self.spares, turn), peer) {
            (WriteOutcome::Complete, Peer::Client(client)) if connection.close_when_written => {
                self.close_client(client);
            }
            (WriteOutcome::Failed, _) => self.handle_write_failure(peer),
            (WriteOutcome::Complete | WriteOutcome::TurnUsed | WriteOutcome::Incomplete, _) => {}
        }
    }

    /// Handles a connection that its peer no longer reads.
    pub(super) fn handle_write_failure(&mut self, peer: Peer) {
        match peer {
            Peer::Client(client) => self.close_client(client),
            Peer::App(_) => {
                // Reading finds the end of the connection, which is reported then.
                if let Some(connection) = self.connections.get_mut(&peer) {
                    connection.clear(&mut self.spares);
                    connection.can_write = false;
                }
            }
        }
    }
}
