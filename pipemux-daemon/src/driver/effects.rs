//! What the core wants, carried out in order.

use std::io::{self, PipeReader};
use std::path::Path;

use bytes::Bytes;
use pipemux_core::saved::Record;
use pipemux_core::{ClientId, Effect, Event, Manifests, Signal, Start, limits};
use pipemux_proto::Incarnation;
use pipemux_proto::client::Providers;

use super::Driver;
use crate::connection::Connection;
use crate::limits::{DISK_PAUSE_MS, FLUSH_MS, LINGER_MS, RECORDS_TURN};
use crate::logs;
use crate::note::note;
use crate::wake::{Peer, Token};

impl Driver {
    /// Carries out the effects that are there; what comes of them is queued as events.
    pub(super) fn carry_out(&mut self) {
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            if happens_at_once(&effect) {
                self.write_records();
            }
            match effect {
                Effect::ToClient { client, bytes } => self.send_to_client(client, [bytes]),
                Effect::ToClientInParts { client, parts } => self.send_to_client(client, parts),
                Effect::CloseClient { client } => self.end_client(client),
                Effect::ToApp { app, bytes } => self.send_to_app(app, bytes),
                Effect::Start(start) => self.start(&start),
                Effect::Signal { app, signal } => self.children.signal(app, signal),
                Effect::ReadLog { request, log, lines, after } => {
                    self.read_log(request, &log, lines, after);
                }
                Effect::WatchLog { request, log, lines, after } => {
                    self.watch_log(request, &log, lines, after);
                }
                Effect::UnwatchLog { request } => self.prints.unwatch(request),
                Effect::LoadProviders { request, change } => self.load_providers(request, &change),
                Effect::Persist(record) => self.persist(&record),
                Effect::Prepare { state_dir } => prepare(&state_dir),
                Effect::Discard { state_dir } => discard(&state_dir, self.now.unix_ms),
                Effect::Stopped => self.stopped(),
            }
        }
        // Kept, so that a turn allocates nothing.
        self.effects = effects;
    }

    fn send_to_client(&mut self, client: ClientId, parts: impl IntoIterator<Item = Bytes>) {
        let peer = Peer::Client(client);
        let queued = parts.into_iter().fold(0, |_, bytes| self.push(peer, bytes));
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
            connection.clear(&mut self.spares);
            connection.reading = false;
            connection.writing = false;
            let why = format!("it left {} bytes unread", limits::APP_QUEUE_MAX);
            self.events.push_back(Event::AppBroken { app, why });
        }
    }

    fn start(&mut self, start: &Start) {
        if let Err(why) = self.start_process(start) {
            self.give_up(start.app, why);
        }
    }

    /// Orders the process. Its log is made when it is known to run, so that the launcher needn't wait for it;
    /// nothing is written to it before that either.
    fn start_process(&mut self, start: &Start) -> Result<(), String> {
        let app = start.app;
        let (printed, output) = io::pipe().map_err(|error| format!("no pipe: {error}"))?;
        // Where it works if it can't where it was opened from: whether it can, only the launcher finds out, since
        // that may take as long as a file system on the network likes.
        make_own(&start.state_dir)?;
        let stream = self.children.start(start, output.into())?;
        let waker = self.wakes.waker(Token::Peer(Peer::App(app)));
        let mut connection = Connection::over(stream, waker, false)
            .map_err(|error| format!("its connection can't be watched: {error}"))?;
        // Not to be listed for writing yet.
        connection.listed = true;
        self.connections.insert(Peer::App(app), connection);
        let log = start.log.clone();
        let max = start.limits.log.map_or(limits::LOG_MAX, |max| max.0);
        self.starting.insert(app, Starting { log, max, printed });
        Ok(())
    }

    /// Makes a process's log.
    pub(super) fn furnish(&mut self, app: Incarnation) -> Result<(), String> {
        let Some(starting) = self.starting.remove(&app) else { return Ok(()) };
        let Starting { log, max, printed } = starting;
        let waker = self.wakes.waker(Token::Print(app));
        self.prints.open(app, Path::new(&log), max, printed, waker, self.now.mono_ms)
    }

    /// Takes back a process that can't be started, or not with what it needs.
    pub(super) fn give_up(&mut self, app: Incarnation, why: String) {
        self.starting.remove(&app);
        self.connections.remove(&Peer::App(app));
        self.prints.finish(app, &mut [], self.now.mono_ms);
        // It may be on its way already.
        self.children.signal(app, Signal::Kill);
        self.children.forget(app);
        self.events.push_back(Event::StartFailed { app, why });
    }

    fn load_providers(&mut self, request: u64, change: &Providers) {
        let read = self.manifests.change(change).map(|said| {
            let found = self.manifests.load();
            Manifests { manifests: found.manifests, problems: found.problems, said }
        });
        self.events.push_back(Event::Providers { request, read });
    }

    fn persist(&mut self, record: &Record) {
        if let Err(lost) = self.journal.note(record) {
            self.note_disk(Err(lost));
        }
        self.recording = true;
        if self.journal.unwritten() >= RECORDS_TURN {
            self.write_records();
        }
    }

    /// Writes the records that were made since it was last done: before anything goes out that may follow from
    /// them, so that what anybody was told of is never lost with the daemon.
    pub(super) fn write_records(&mut self) {
        if std::mem::take(&mut self.recording) {
            let written = self.journal.write_kept();
            self.note_disk(written);
        }
    }

    /// Has the log written anew when it is time.
    pub(super) fn keep_journal(&mut self) {
        let mut kept = self.journal.go_on();
        if kept.is_ok() && self.journal.is_overgrown() {
            kept = self.journal.begin_rewrite(self.core.snapshot());
        }
        if let Err(error) = kept {
            note(format_args!("the saved state can't be written anew: {error}"));
        }
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

/// What a process that was ordered still lacks.
#[derive(Debug)]
pub(super) struct Starting {
    log: String,
    /// Bytes of a log's file.
    max: u64,
    /// What it prints.
    printed: PipeReader,
}

/// True for what can't be taken back once it is carried out, unlike bytes that are queued until the turn ends.
fn happens_at_once(effect: &Effect) -> bool {
    match effect {
        Effect::Start(_)
        | Effect::Signal { .. }
        | Effect::LoadProviders { .. }
        | Effect::Prepare { .. }
        | Effect::Discard { .. }
        | Effect::Stopped => true,
        Effect::ToClient { .. }
        | Effect::ToClientInParts { .. }
        | Effect::CloseClient { .. }
        | Effect::ToApp { .. }
        | Effect::ReadLog { .. }
        | Effect::WatchLog { .. }
        | Effect::UnwatchLog { .. }
        | Effect::Persist(_) => false,
    }
}

fn make_own(state_dir: &str) -> Result<(), String> {
    logs::make_directory(Path::new(state_dir))
        .map_err(|error| format!("can't make {state_dir}: {error}"))
}

/// A directory that can't be made is the app's to tell: its `open` says what it lacks.
fn prepare(state_dir: &str) {
    if let Err(error) = logs::make_directory(Path::new(state_dir)) {
        note(format_args!("{state_dir} can't be made: {error}"));
    }
}

/// Moves the directory aside, so that the session may be opened anew at once, and removes it on a
/// thread of its own: an app may have put any number of files there.
fn discard(state_dir: &str, number: u64) {
    let path = format!("{state_dir}~{number}");
    match std::fs::rename(state_dir, &path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => return note(format_args!("{state_dir} can't be removed: {error}")),
    }
    let remove = move || match std::fs::remove_dir_all(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => note(format_args!("{path} can't be removed: {error}")),
    };
    if let Err(error) = std::thread::Builder::new().name("discard".into()).spawn(remove) {
        note(format_args!("{state_dir} is not removed: {error}"));
    }
}
