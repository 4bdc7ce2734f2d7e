//! Connections: accepted, written to, closed.

use std::task::Poll;

use bytes::Bytes;
use pipemux_core::{ClientId, Event, limits};

use super::Driver;
use crate::connection::{Connection, Written};
use crate::limits::{
    ACCEPT_PAUSE_MS, ACCEPT_TURN, ALONE_MS, ALONE_TURN, BULKY_TURN, READ_TURN, REFUSED_MAX,
    SOCKET_LOOK_MS, WRITE_TURN,
};
use crate::note::note;
use crate::wake::{Peer, Token};

impl Driver {
    /// Accepts who waits.
    pub(super) fn accept(&mut self) {
        if self.leave.is_some() || self.accept_again.is_some() {
            return;
        }
        for _ in 0..ACCEPT_TURN {
            match self.listener.poll_accept(&self.accept) {
                Poll::Pending => {
                    self.accept_failing = false;
                    return;
                }
                Poll::Ready(Err(error)) => {
                    // Out of descriptors, most likely; who waits keeps waiting, and nobody spins.
                    if !std::mem::replace(&mut self.accept_failing, true) {
                        note(format_args!("can't accept connections, clients wait: {error}"));
                    }
                    self.accept_again = Some(self.now.mono_ms + ACCEPT_PAUSE_MS);
                    return;
                }
                // The core tells the first ones beyond the bound; a flood of them is closed.
                Poll::Ready(Ok(_)) if self.clients >= limits::CLIENTS_MAX + REFUSED_MAX => {
                    if !std::mem::replace(&mut self.refusing, true) {
                        note(format_args!("refusing clients: {} are connected", self.clients));
                    }
                }
                Poll::Ready(Ok(stream)) => {
                    let client = ClientId(self.next_client);
                    let peer = Peer::Client(client);
                    let waker = self.wakes.waker(Token::Peer(peer));
                    let connection = match Connection::over(stream, waker, true) {
                        Ok(connection) => connection,
                        Err(error) => {
                            note(format_args!("a connection can't be watched: {error}"));
                            continue;
                        }
                    };
                    self.refusing &= self.clients >= limits::CLIENTS_MAX;
                    self.next_client += 1;
                    self.clients += 1;
                    self.connections.insert(peer, connection);
                    self.handle(Event::ClientOpened { client });
                    self.serve(peer);
                }
            }
        }
        self.accept.wake_by_ref();
    }

    /// Puts the socket back where clients look for it; daemons outlive what cleans up temporary files.
    pub(super) fn look_at_socket(&mut self) {
        self.socket_look = self.now.mono_ms + SOCKET_LOOK_MS;
        if self.leave.is_some() {
            return;
        }
        match self.listener.restore() {
            Ok(false) => self.socket_failing = false,
            Ok(true) => {
                self.socket_failing = false;
                note("the socket was gone: it is back");
                self.accept.wake_by_ref();
            }
            Err(error) => {
                if !std::mem::replace(&mut self.socket_failing, true) {
                    note(format_args!("the socket is gone and can't be put back: {error}"));
                }
            }
        }
    }

    /// Reads what came, and writes again where that had to wait; later in the turn where it is much.
    pub(super) fn serve(&mut self, peer: Peer) {
        let Some(connection) = self.connections.get(&peer) else { return };
        if connection.is_bulky() {
            self.bulky.push(peer);
        } else {
            self.serve_now(peer);
        }
    }

    /// Serves those that were put off, once small frames are on their way.
    pub(super) fn serve_bulky(&mut self) {
        if self.bulky.is_empty() {
            return;
        }
        let mut bulky = std::mem::take(&mut self.bulky);
        self.sharing = bulky.len();
        for peer in bulky.drain(..) {
            self.serve_now(peer);
        }
        self.bulky = bulky;
        self.write_all();
        self.sharing = 0;
    }

    fn serve_now(&mut self, peer: Peer) {
        if self.connections.get(&peer).is_some_and(Connection::has_output) {
            self.list(peer);
        }
        if !self.read(peer, self.read_turn())
            && let Some(connection) = self.connections.get(&peer)
        {
            connection.wake();
        }
    }

    /// A small frame came: for a while large ones take smaller shares of a turn.
    pub(super) fn small_came(&mut self) {
        self.small_until = self.now.mono_ms + ALONE_MS;
    }

    /// Bytes that one connection may read in this turn.
    pub(super) fn read_turn(&self) -> usize {
        self.share(READ_TURN)
    }

    /// Bytes that one connection may be written in this turn.
    pub(super) fn write_turn(&self) -> usize {
        self.share(WRITE_TURN)
    }

    fn share(&self, usual: usize) -> usize {
        match self.sharing {
            _ if self.now.mono_ms >= self.small_until => self.alone(usual),
            0 => usual,
            _ => BULKY_TURN,
        }
    }

    /// What nobody else wants of a turn, shared by those who have much; at least what they have beside others.
    fn alone(&self, least: usize) -> usize {
        (ALONE_TURN / self.sharing.max(1)).max(least)
    }

    /// Queues bytes for a connection that is still there; returns how many wait.
    pub(super) fn push(&mut self, peer: Peer, bytes: Bytes) -> usize {
        match self.connections.get_mut(&peer) {
            Some(connection) if connection.writing => {
                let queued = connection.push(bytes, &mut self.spares);
                self.list(peer);
                queued
            }
            _ => 0,
        }
    }

    /// Has the connection written to at the end of the turn.
    pub(super) fn list(&mut self, peer: Peer) {
        if let Some(connection) = self.connections.get_mut(&peer)
            && !std::mem::replace(&mut connection.listed, true)
        {
            self.dirty.push(peer);
        }
    }

    /// Writes the turn's records, and then to each listed connection, once a turn.
    pub(super) fn write_all(&mut self) {
        loop {
            self.write_records();
            // A disk that fails, clients that are gone: what follows may have to be written, too.
            self.finish_events();
            if self.recording {
                continue;
            }
            if self.dirty.is_empty() {
                return;
            }
            let mut dirty = std::mem::take(&mut self.dirty);
            for peer in dirty.drain(..) {
                self.write(peer);
            }
            if self.dirty.is_empty() {
                // Kept, so that a turn allocates nothing.
                self.dirty = dirty;
            }
        }
    }

    /// Closes a client's connection, whatever waits to be written.
    pub(super) fn close_client(&mut self, client: ClientId) {
        if self.connections.remove(&Peer::Client(client)).is_some() {
            self.clients -= 1;
            self.events.push_back(Event::ClientClosed { client });
        }
    }

    fn write(&mut self, peer: Peer) {
        let turn = self.write_turn();
        let Some(connection) = self.connections.get_mut(&peer) else { return };
        connection.listed = false;
        match (connection.flush(&mut self.spares, turn), peer) {
            (Written::All, Peer::Client(client)) if connection.closing => self.close_client(client),
            (Written::Failed, _) => self.cannot_write(peer),
            (Written::All | Written::Share | Written::Some, _) => {}
        }
    }

    /// Nobody reads a connection any more.
    pub(super) fn cannot_write(&mut self, peer: Peer) {
        match peer {
            Peer::Client(client) => self.close_client(client),
            Peer::App(_) => {
                // Its end is told when reading finds it.
                if let Some(connection) = self.connections.get_mut(&peer) {
                    connection.clear(&mut self.spares);
                    connection.writing = false;
                }
            }
        }
    }
}
