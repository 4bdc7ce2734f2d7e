//! Accepts clients, and serves each peer within its share of the turn.

use std::os::unix::net::UnixStream;
use std::task::Poll;

use pipemux_core::Event;

use super::Driver;
use crate::daemon_log::log;
use crate::limits::ACCEPT_TURN;
use crate::ready_queue::Peer;

impl Driver {
    /// Accepts the clients that wait.
    pub(super) fn accept(&mut self) {
        // The next daemon answers those who come now: they wait at the service manager's socket.
        let next_daemon_answers =
            self.acceptor.listener().is_passed() && self.core.status().is_stopping();
        if self.lifecycle.is_exiting() || next_daemon_answers {
            return;
        }
        for _ in 0..ACCEPT_TURN {
            match self.acceptor.poll(self.connections.clients(), self.turn.now_ms()) {
                Poll::Pending => return,
                Poll::Ready(stream) => stream.into_iter().for_each(|one| self.add_client(one)),
            }
        }
        self.acceptor.wake();
    }

    fn add_client(&mut self, stream: UnixStream) {
        match self.connections.add_client(stream) {
            Ok(client) => {
                self.handle(Event::ClientOpened { client });
                self.serve(Peer::Client(client));
            }
            Err(error) => log(format_args!("can't watch a connection: {error}")),
        }
    }

    /// Reads what arrived and resumes writes that had to wait; a large transfer is served later in
    /// the turn.
    pub(super) fn serve(&mut self, peer: Peer) {
        let Some(connection) = self.connections.get(peer) else { return };
        if let Peer::Client(client) = peer
            && connection.is_abandoned()
        {
            self.connections.close_client(client, &mut self.turn);
            self.handle_queued();
        } else if connection.is_bulky() {
            self.shares.postpone(peer);
        } else {
            self.serve_now(peer);
        }
    }

    fn serve_now(&mut self, peer: Peer) {
        self.connections.resume_writing(peer);
        if !self.read(peer, self.shares.read(self.turn.now_ms()))
            && let Some(connection) = self.connections.get(peer)
        {
            connection.wake();
        }
    }

    /// Serves the large transfers, once the small frames of the turn are written.
    pub(super) fn serve_bulky(&mut self) {
        if !self.shares.begin_bulky() {
            return;
        }
        while let Some(peer) = self.shares.next_bulky() {
            self.serve_now(peer);
        }
        self.write_scheduled();
        self.shares.end_bulky();
    }

    /// Writes the turn's records, and then to each scheduled connection once.
    pub(super) fn write_scheduled(&mut self) {
        loop {
            self.records.write(&mut self.turn);
            // A failing disk and closed clients produce events, whose effects may have to be
            // written, too.
            self.handle_queued();
            if self.records.are_pending() {
                continue;
            }
            let share = self.shares.write(self.turn.now_ms());
            if !self.connections.write_scheduled(share, &mut self.turn) {
                return;
            }
        }
    }
}
