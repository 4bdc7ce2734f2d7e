//! The connections of all clients and apps: which there are, what is read from them, and, in
//! `output`, what is queued for them.

mod output;

use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use pipemux_core::peer::PeerProcess;
use pipemux_core::{ClientId, Event};
use pipemux_launcher::MarkOrigin;
use pipemux_proto::Incarnation;
use pipemux_socket::SpareBuffers;
use rustc_hash::FxHashMap;

use super::turn::Turn;
use crate::buffer_pool::BufferPool;
use crate::connection::{Connection, ReadOutcome};
use crate::inbound::Inbound;
use crate::limits::LINGER_MS;
use crate::memory::MemoryTrim;
use crate::metrics::{ByteCounter, Direction, Queue};
use crate::peer_process::PeerProcesses;
use crate::ready_queue::{Peer, ReadyQueue, ReadySource};

/// All connections. Each peer has one at most.
pub(super) struct Connections {
    by_peer: FxHashMap<Peer, Connection>,
    ready_queue: Arc<ReadyQueue>,
    clients: usize,
    next_client: u64,
    /// Connections to write to at the end of the turn.
    to_write: Vec<Peer>,
    /// Clients to be closed, with the latest time for it, in milliseconds.
    closing: VecDeque<(u64, ClientId)>,
    spares: SpareBuffers,
    pool: BufferPool,
    memory: MemoryTrim,
    client_processes: PeerProcesses,
    /// Counts bytes, if the user wants metrics.
    counter: Option<ByteCounter>,
}

impl Connections {
    /// Connections wake their peers' sources of `ready_queue`.
    pub(super) fn new(ready_queue: Arc<ReadyQueue>) -> Self {
        Self {
            by_peer: FxHashMap::default(),
            ready_queue,
            clients: 0,
            next_client: 1,
            to_write: Vec::new(),
            closing: VecDeque::new(),
            spares: SpareBuffers::default(),
            pool: BufferPool::default(),
            memory: MemoryTrim::new(),
            client_processes: PeerProcesses::default(),
            counter: None,
        }
    }

    /// Counts bytes from now on.
    pub(super) fn measure(&mut self, counter: ByteCounter) {
        self.counter = Some(counter);
    }

    pub(super) fn clients(&self) -> usize {
        self.clients
    }

    /// Sums up the connections to peers of a kind.
    pub(super) fn queue(&self, is_one: fn(&Peer) -> bool) -> Queue {
        let found = self.by_peer.iter().filter(|(peer, _)| is_one(peer));
        found.fold(Queue::default(), |queue, (_, connection)| Queue {
            connections: queue.connections + 1,
            waiting: queue.waiting + usize::from(connection.has_output()),
            bytes: queue.bytes + connection.queued(),
        })
    }

    /// Adds a client that connected.
    ///
    /// # Errors
    /// The connection can't be watched.
    pub(super) fn add_client(&mut self, stream: UnixStream) -> io::Result<ClientId> {
        let client = ClientId(self.next_client);
        self.add(Peer::Client(client), stream)?;
        self.next_client += 1;
        self.clients += 1;
        Ok(client)
    }

    /// Adds the connection to an app that was ordered. Nothing is read or written before
    /// [`Connections::open_app`].
    ///
    /// # Errors
    /// The connection can't be watched.
    pub(super) fn add_app(&mut self, app: Incarnation, stream: UnixStream) -> io::Result<()> {
        // Counts as scheduled, so that nothing schedules a write.
        self.add(Peer::App(app), stream)?.write_scheduled = true;
        Ok(())
    }

    fn add(&mut self, peer: Peer, stream: UnixStream) -> io::Result<&mut Connection> {
        let waker = self.ready_queue.waker(ReadySource::Peer(peer));
        let connection = Connection::new(stream, waker, peer.is_client())?;
        Ok(self.by_peer.entry(peer).insert_entry(connection).into_mut())
    }

    /// Allows reading from and writing to an app, whose process runs now.
    pub(super) fn open_app(&mut self, app: Incarnation) {
        if let Some(connection) = self.by_peer.get_mut(&Peer::App(app)) {
            connection.write_scheduled = false;
            connection.can_read = connection.can_write;
        }
    }

    pub(super) fn remove_app(&mut self, app: Incarnation) {
        self.by_peer.remove(&Peer::App(app));
    }

    /// Closes a client's connection and drops what is queued for it.
    pub(super) fn close_client(&mut self, client: ClientId, turn: &mut Turn) {
        if self.by_peer.remove(&Peer::Client(client)).is_some() {
            self.clients -= 1;
            turn.push(Event::ClientClosed { client });
        }
    }

    /// Closes a client's connection once it has read its last answers, or doesn't do so in time.
    pub(super) fn close_client_when_written(&mut self, client: ClientId, now_ms: u64) {
        let Some(connection) = self.by_peer.get_mut(&Peer::Client(client)) else { return };
        connection.can_read = false;
        connection.close_when_written = true;
        self.closing.push_back((now_ms + LINGER_MS, client));
        // The write that empties its queue closes it.
        self.schedule_write(Peer::Client(client));
    }

    /// Closes the clients that didn't read their last answers in time, and frees unused buffers.
    pub(super) fn handle_timeouts(&mut self, turn: &mut Turn) {
        let now_ms = turn.now_ms();
        self.pool.tidy(now_ms);
        self.memory.tidy(now_ms);
        while let Some((_, client)) = self.closing.pop_front_if(|(at, _)| *at <= now_ms) {
            self.close_client(client, turn);
        }
    }

    /// When [`Connections::handle_timeouts`] is due, in milliseconds.
    pub(super) fn next_timeout(&self) -> Option<u64> {
        let closing = self.closing.front().map(|(at, _)| *at);
        let timeouts = [closing, self.pool.next_timeout(), self.memory.next_timeout()];
        timeouts.into_iter().flatten().min()
    }

    /// Finds out which process a client is; `None` for a client that is gone. The marks of this
    /// daemon's apps are of `origin`.
    pub(super) fn identify(&mut self, client: ClientId, origin: MarkOrigin) -> Option<PeerProcess> {
        let connection = self.by_peer.get(&Peer::Client(client))?;
        Some(self.client_processes.identify(connection.stream(), origin))
    }

    pub(super) fn get(&self, peer: Peer) -> Option<&Connection> {
        self.by_peer.get(&peer)
    }

    /// Takes note that a client has sent everything; returns false when it is gone altogether.
    pub(super) fn end_input(&mut self, client: ClientId) -> bool {
        self.by_peer.get_mut(&Peer::Client(client)).is_some_and(Connection::end_input)
    }

    /// True while frames may be read from a peer.
    pub(super) fn can_read(&self, peer: Peer) -> bool {
        self.by_peer.get(&peer).is_some_and(|connection| connection.can_read)
    }

    /// Reads nothing more from a peer.
    pub(super) fn stop_reading(&mut self, peer: Peer) {
        if let Some(connection) = self.by_peer.get_mut(&peer) {
            connection.can_read = false;
        }
    }

    /// Reads once from a peer: see [`Connection::read`]. Nothing is pending for a peer that is
    /// gone.
    pub(super) fn read(&mut self, peer: Peer, scratch: &mut [u8], max: usize) -> ReadOutcome {
        let connection = self.by_peer.get_mut(&peer).filter(|connection| connection.can_read);
        let Some(connection) = connection else { return ReadOutcome::Pending };
        let outcome = connection.read(scratch, &mut self.pool, max);
        if let ReadOutcome::InScratch(length) | ReadOutcome::Buffered(length) = outcome {
            self.count(peer, Direction::In, length);
        }
        outcome
    }

    /// Reads what a peer has sent although the runtime doesn't know of it yet, and keeps it for
    /// [`Connections::next_inbound`]; returns how many bytes that is.
    pub(super) fn read_unpolled(&mut self, peer: Peer, scratch: &mut [u8]) -> usize {
        let connection = self.by_peer.get_mut(&peer).filter(|connection| connection.can_read);
        let Some(connection) = connection else { return 0 };
        let length = connection.read_unpolled(scratch);
        if length > 0 {
            connection.buffer_partial(&scratch[..length], &mut self.pool);
        }
        length
    }

    /// Keeps the beginning of a frame until the rest arrives.
    pub(super) fn buffer_partial(&mut self, peer: Peer, bytes: &[u8]) {
        if !bytes.is_empty()
            && let Some(connection) = self.by_peer.get_mut(&peer)
        {
            connection.buffer_partial(bytes, &mut self.pool);
        }
    }

    /// Returns the next frame of what was buffered, or what stands in its place.
    pub(super) fn next_inbound(&mut self, peer: Peer) -> Option<Inbound> {
        let connection = self.by_peer.get_mut(&peer).filter(|connection| connection.can_read)?;
        connection.next_inbound(&mut self.pool)
    }

    /// Counts what was received and stays in memory for a while, in bytes.
    pub(super) fn count_received(&mut self, length: usize, now_ms: u64) {
        self.memory.passed(length, now_ms);
    }

    fn count(&self, peer: Peer, direction: Direction, bytes: usize) {
        if let Some(counter) = &self.counter {
            counter.add(peer, direction, bytes);
        }
    }
}
