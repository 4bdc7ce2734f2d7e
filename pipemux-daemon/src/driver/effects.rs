//! What the core wants, carried out in order.

use std::io;
use std::path::Path;

use bytes::Bytes;
use pipemux_core::saved::Record;
use pipemux_core::{ClientId, Effect, Event, Start, limits};
use pipemux_proto::Incarnation;

use super::Driver;
use crate::connection::Connection;
use crate::limits::{DISK_PAUSE_MS, FLUSH_MS, LINGER_MS, LOG_READ};
use crate::logs;
use crate::note::note;
use crate::wake::{Peer, Token};

impl Driver {
    /// Carries out the effects that are there; what comes of them is queued as events.
    pub(super) fn carry_out(&mut self) {
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::ToClient { client, bytes } => self.send_to_client(client, bytes),
                Effect::CloseClient { client } => self.end_client(client),
                Effect::ToApp { app, bytes } => self.send_to_app(app, bytes),
                Effect::Start(start) => self.start(&start),
                Effect::Signal { app, signal } => self.children.signal(app, signal),
                Effect::ReadLog { request, log, lines } => self.read_log(request, &log, lines),
                Effect::Persist(record) => self.persist(&record),
                Effect::Discard { state_dir } => discard(&state_dir),
                Effect::Stopped => self.stopped(),
            }
        }
        // Kept, so that a turn allocates nothing.
        self.effects = effects;
    }

    fn send_to_client(&mut self, client: ClientId, bytes: Bytes) {
        let queued = self.push(Peer::Client(client), bytes);
        if queued > limits::CLIENT_QUEUE_MAX {
            note(format_args!("client {} reads too slowly: disconnected", client.0));
            self.close_client(client);
        }
    }

    fn end_client(&mut self, client: ClientId) {
        let Some(connection) = self.connections.get_mut(&Peer::Client(client)) else { return };
        connection.reading = false;
        connection.closing = true;
        self.lingering.push_back((self.now.mono_ms + LINGER_MS, client));
        // Closed when it is its turn to be written to.
        self.list(Peer::Client(client));
    }

    fn send_to_app(&mut self, app: Incarnation, bytes: Bytes) {
        let peer = Peer::App(app);
        if self.push(peer, bytes) <= limits::APP_QUEUE_MAX {
            return;
        }
        if let Some(connection) = self.connections.get_mut(&peer) {
            connection.clear();
            connection.reading = false;
            connection.writing = false;
            let why = format!("it left {} bytes unread", limits::APP_QUEUE_MAX);
            self.events.push_back(Event::AppBroken { app, why });
        }
    }

    fn start(&mut self, start: &Start) {
        let app = start.app;
        match self.children.start(start) {
            Ok(stream) => {
                let waker = self.wakes.waker(Token::Peer(Peer::App(app)));
                // Read once it is known to run, so that nothing of it comes before that.
                let connection = Connection::new(stream, waker, false);
                self.connections.insert(Peer::App(app), connection);
            }
            Err(why) => self.events.push_back(Event::StartFailed { app, why }),
        }
    }

    fn read_log(&mut self, request: u64, log: &str, lines: u32) {
        let text = logs::tail(Path::new(log), lines as usize, LOG_READ)
            .map_err(|error| format!("can't read {log}: {error}"));
        self.events.push_back(Event::LogRead { request, text });
    }

    fn persist(&mut self, record: &Record) {
        let written = self.journal.append(record);
        self.note_disk(written);
    }

    /// Tells the core when records can't be written, and when they can again.
    pub(super) fn note_disk(&mut self, written: io::Result<()>) {
        let failing = written.err().map(|error| error.to_string());
        self.disk_again = failing.as_ref().map(|_| self.now.mono_ms + DISK_PAUSE_MS);
        if failing.is_some() == self.disk_failing {
            return;
        }
        self.disk_failing = failing.is_some();
        match &failing {
            Some(why) => note(format_args!("the state can't be saved, acts are refused: {why}")),
            None => note("the state can be saved again"),
        }
        self.events.push_back(Event::Disk { failing });
    }

    fn stopped(&mut self) {
        self.leave.get_or_insert(self.now.mono_ms + FLUSH_MS);
    }
}

/// On a thread of its own: an app may have put any number of files there.
fn discard(state_dir: &str) {
    let path = state_dir.to_owned();
    let remove = move || match std::fs::remove_dir_all(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => note(format_args!("{path} can't be removed: {error}")),
    };
    if let Err(error) = std::thread::Builder::new().name("discard".into()).spawn(remove) {
        note(format_args!("{state_dir} is not removed: {error}"));
    }
}
