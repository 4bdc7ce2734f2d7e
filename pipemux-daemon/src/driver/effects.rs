//! Runs the core's effects in order.

use std::io::{self, PipeReader};
use std::path::Path;

use bytes::Bytes;
use pipemux_core::saved::Record;
use pipemux_core::{ClientId, DiskFailure, Effect, Event, Manifests, Signal, Start, limits};
use pipemux_proto::Incarnation;
use pipemux_proto::client::ProvidersArgs;

use super::Driver;
use crate::connection::Connection;
use crate::daemon_log::log;
use crate::directories;
use crate::limits::{DISK_RETRY_MS, FLUSH_MS, LINGER_MS, RECORDS_BATCH};
use crate::manifests::{Applied, LoadedManifests};
use crate::ready_queue::{Peer, ReadySource};
use crate::value_files;

impl Driver {
    /// Runs the effects that are there; what follows from them is queued as events.
    pub(super) fn run_effects(&mut self) {
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            if is_irrevocable(&effect) {
                self.write_records();
            }
            match effect {
                Effect::ToClient { client, bytes } => self.send_to_client(client, [bytes]),
                Effect::ToClientInParts { client, parts } => self.send_to_client(client, parts),
                Effect::CloseClient { client } => self.close_client_when_written(client),
                Effect::IdentifyClient { client } => self.identify_client(client),
                Effect::Audit(entry) => self.audit_log.append(&entry),
                Effect::ToApp { app, bytes } => self.send_to_app(app, bytes),
                Effect::Start(start) => self.start(&start),
                Effect::Signal { app, signal } => self.processes.signal(app, signal),
                Effect::StoreValue { request, path, offset, data } => {
                    let base = self.journal.directory();
                    let stored = value_files::append(base, Path::new(&path), offset, &data);
                    let stored = stored.map(|()| path).map_err(|error| error.to_string());
                    self.events.push_back(Event::ValueStored { request, stored });
                }
                Effect::RemoveValues { paths } => {
                    for path in paths {
                        value_files::remove(self.journal.directory(), Path::new(&path));
                    }
                }
                Effect::ReadLog { request, log, lines, after } => {
                    self.read_log(request, &log, lines, after);
                }
                Effect::WatchLog { request, log, lines, after } => {
                    self.watch_log(request, &log, lines, after);
                }
                Effect::UnwatchLog { request } => self.app_output.unwatch(request),
                Effect::ReadUsage { request, sessions } => self.usage.ask(request, sessions),
                Effect::LoadProviders { request, change } => self.load_providers(request, &change),
                Effect::Persist(record) => self.persist(&record),
                Effect::Prepare { state_dir } => {
                    directories::prepare_session(self.journal.directory(), &state_dir);
                }
                Effect::Discard { state_dir } => {
                    let base = self.journal.directory();
                    directories::remove_session(base, &state_dir, self.now.unix_ms);
                }
                Effect::NoteLog { app, line } => {
                    self.app_output.note(app, &line, self.now.mono_ms);
                    self.queue_log_updates();
                }
                Effect::EndLog { log, kept } => self.app_output.end_log(Path::new(&log), kept),
                Effect::Stopped => self.stopped(),
            }
        }
        // Put back for its capacity, so that a turn allocates nothing.
        self.effects = effects;
    }

    fn send_to_client(&mut self, client: ClientId, parts: impl IntoIterator<Item = Bytes>) {
        let peer = Peer::Client(client);
        let queued = parts.into_iter().fold(0, |_, bytes| self.push(peer, bytes));
        if queued > limits::CLIENT_QUEUE_MAX {
            log(format_args!("client {} reads too slowly: disconnected", client.0));
            self.close_client(client);
        } else if queued > FAIR_QUEUE {
            self.bound_client_queues();
        }
    }

    /// Disconnects those who leave most unread until all clients together leave no more unread than they may.
    fn bound_client_queues(&mut self) {
        while let Some((slowest, queued, all)) =
            self.slowest(|peer| matches!(peer, Peer::Client(_)))
            && all > limits::CLIENT_QUEUES_MAX
            && let Peer::Client(client) = slowest
        {
            log(format_args!(
                "clients leave {all} bytes unread: client {} with {queued} is disconnected",
                client.0
            ));
            self.close_client(client);
        }
    }

    /// Returns the peer that leaves most unread, how much, and how much all such peers do.
    fn slowest(&self, is_one: impl Fn(&Peer) -> bool) -> Option<(Peer, usize, usize)> {
        let queued = self.connections.iter().filter(|(peer, _)| is_one(peer));
        let queued = queued.map(|(peer, connection)| (*peer, connection.queued()));
        let all = queued.clone().map(|(_, queued)| queued).sum();
        queued.max_by_key(|(_, queued)| *queued).map(|(peer, queued)| (peer, queued, all))
    }

    /// Finds out which process a client is. The core waits for that before it takes anything else.
    fn identify_client(&mut self, client: ClientId) {
        // A client that is gone by now needs no identity.
        let Some(connection) = self.connections.get(&Peer::Client(client)) else { return };
        let peer = self.peers.identify(connection.stream(), self.processes.origin());
        self.events.push_front(Event::ClientIdentified { client, peer });
    }

    fn close_client_when_written(&mut self, client: ClientId) {
        let Some(connection) = self.connections.get_mut(&Peer::Client(client)) else { return };
        connection.can_read = false;
        connection.close_when_written = true;
        self.closing_clients.push_back((self.now.mono_ms + LINGER_MS, client));
        // The write that empties its queue closes it.
        self.schedule_write(Peer::Client(client));
    }

    fn send_to_app(&mut self, app: Incarnation, bytes: Bytes) {
        let queued = self.push(Peer::App(app), bytes);
        if queued > limits::APP_QUEUE_MAX {
            self.break_unread(app, limits::APP_QUEUE_MAX);
        } else if queued > FAIR_QUEUE {
            while let Some((slowest, queued, all)) =
                self.slowest(|peer| matches!(peer, Peer::App(_)))
                && all > limits::APP_QUEUES_MAX
                && let Peer::App(app) = slowest
            {
                self.break_unread(app, queued);
            }
        }
    }

    /// Has the core end an app that doesn't read what it is sent.
    fn break_unread(&mut self, app: Incarnation, unread: usize) {
        let peer = Peer::App(app);
        if let Some(connection) = self.connections.get_mut(&peer) {
            connection.clear(&mut self.spares);
            connection.can_read = false;
            connection.can_write = false;
            let why = format!("it left {unread} bytes unread");
            self.events.push_back(Event::AppBroken { app, why });
        }
    }

    fn start(&mut self, start: &Start) {
        if let Err(why) = self.start_process(start) {
            self.abort_start(start.app, why);
        }
    }

    /// Orders the process. Its log is opened when the process is known to run, so that the launcher needn't wait for
    /// it; nothing is written to the log before that.
    fn start_process(&mut self, start: &Start) -> Result<(), String> {
        let app = start.app;
        self.pinned_programs.check(&start.pinned)?;
        let (output, app_end) =
            io::pipe().map_err(|error| format!("can't create a pipe: {error}"))?;
        // The app works here if it can't work in the opener's directory. Only the launcher finds out whether it can:
        // that may take arbitrarily long on a network file system.
        directories::create_below(self.journal.directory(), Path::new(&start.state_dir))
            .map_err(|error| format!("can't create {}: {error}", start.state_dir))?;
        let stream = self.processes.start(start, app_end.into())?;
        let waker = self.ready_queue.waker(ReadySource::Peer(Peer::App(app)));
        let mut connection = Connection::new(stream, waker, false)
            .map_err(|error| format!("can't watch its connection: {error}"))?;
        // Counts as scheduled until the process runs, so that nothing is written before that.
        connection.write_scheduled = true;
        self.connections.insert(Peer::App(app), connection);
        if start.watched {
            self.dev_programs.watch(app, start);
        }
        let log_path = start.log.clone();
        let note = start
            .confinement
            .as_ref()
            .map(|confinement| (confinement.note.clone(), confinement.network));
        let log_max = start.limits.log.map_or(limits::LOG_MAX, |max| max.0);
        self.starting_apps.insert(app, StartingApp { log_path, log_max, output, note });
        Ok(())
    }

    /// Opens the log of a process that was ordered.
    pub(super) fn open_log(&mut self, app: Incarnation) -> Result<(), String> {
        let Some(starting) = self.starting_apps.remove(&app) else { return Ok(()) };
        let StartingApp { log_path, log_max, output, note } = starting;
        let directory = Path::new(&log_path).parent().unwrap_or(Path::new("/"));
        directories::create_below(self.journal.directory(), directory)
            .map_err(|error| format!("can't create {}: {error}", directory.display()))?;
        let waker = self.ready_queue.waker(ReadySource::AppOutput(app));
        self.app_output.open(app, Path::new(&log_path), log_max, output, waker, self.now)?;
        if let Some((note, network)) = note {
            self.app_output.explain_denials(app, note, network);
        }
        Ok(())
    }

    /// Gives up a process that can't be started, or not with everything it needs.
    pub(super) fn abort_start(&mut self, app: Incarnation, why: String) {
        self.starting_apps.remove(&app);
        self.connections.remove(&Peer::App(app));
        self.app_output.finish(app, &mut [], self.now.mono_ms);
        // The launcher may have started it already.
        self.processes.signal(app, Signal::Kill);
        self.processes.forget(app);
        self.events.push_back(Event::StartFailed { app, why });
    }

    fn load_providers(&mut self, request: u64, change: &ProvidersArgs) {
        let read = self.manifests.apply(change).map(|Applied { added, said }| {
            let LoadedManifests { manifests, problems } = self.manifests.load();
            Manifests { manifests, problems, added, said }
        });
        self.events.push_back(Event::Providers { request, read });
    }

    fn persist(&mut self, record: &Record) {
        if let Err(lost) = self.journal.append(record) {
            self.report_disk(Err(lost));
        }
        self.records_pending = true;
        if self.journal.pending_bytes() >= RECORDS_BATCH {
            self.write_records();
        }
    }

    /// Writes the pending records. This happens before anything goes out that may follow from them, so that the
    /// daemon's loss never takes back what anyone was told.
    pub(super) fn write_records(&mut self) {
        if std::mem::take(&mut self.records_pending) {
            let written = self.journal.flush();
            self.report_disk(written);
        }
        self.audit_log.flush(self.now.unix_ms);
    }

    /// Compacts the journal when it is time.
    pub(super) fn maintain_journal(&mut self) {
        let mut compacted = self.journal.poll_compaction();
        if compacted.is_ok() && self.journal.needs_compaction() {
            compacted = self.journal.start_compaction(self.core.snapshot());
        }
        if let Err(error) = compacted {
            log(format_args!("can't compact the saved state: {error}"));
        }
    }

    /// Tells the core when records can't be written, and when they can be written again.
    pub(super) fn report_disk(&mut self, written: io::Result<()>) {
        let failing = written.err().map(|error| self.disk_failure(&error));
        // Acts that are refused meanwhile don't put the next try off.
        let retry_at = self.disk_retry_at.unwrap_or(self.now.mono_ms + DISK_RETRY_MS);
        self.disk_retry_at = failing.as_ref().map(|_| retry_at);
        if failing.is_some() == self.disk_failing {
            return;
        }
        self.disk_failing = failing.is_some();
        match &failing {
            Some(DiskFailure { why, .. }) => {
                log(format_args!("can't save the state, acts are refused: {why}"));
            }
            None => log("the state can be saved again"),
        }
        self.events.push_back(Event::Disk { failing });
    }

    fn stopped(&mut self) {
        self.exit_deadline.get_or_insert(self.now.mono_ms + FLUSH_MS);
    }
}

/// Bytes that one peer may leave unread without anybody looking at how much all of them do.
const FAIR_QUEUE: usize = 256 * 1024;

/// What a process that was ordered needs once it runs.
#[derive(Debug)]
pub(super) struct StartingApp {
    log_path: String,
    /// Longest log file, in bytes.
    log_max: u64,
    /// The read end of the pipe that takes what the process prints.
    output: PipeReader,
    /// What to add to the log once the process prints that something was refused, and whether it may use the network.
    note: Option<(String, bool)>,
}

/// True for effects that can't be taken back, unlike bytes that stay queued until the end of the turn.
fn is_irrevocable(effect: &Effect) -> bool {
    match effect {
        Effect::Start(_)
        | Effect::Signal { .. }
        | Effect::LoadProviders { .. }
        | Effect::Prepare { .. }
        | Effect::Discard { .. }
        | Effect::EndLog { .. }
        | Effect::RemoveValues { .. }
        | Effect::Stopped => true,
        Effect::ToClient { .. }
        | Effect::ToClientInParts { .. }
        | Effect::CloseClient { .. }
        | Effect::IdentifyClient { .. }
        | Effect::Audit(_)
        | Effect::ToApp { .. }
        | Effect::StoreValue { .. }
        | Effect::ReadLog { .. }
        | Effect::ReadUsage { .. }
        | Effect::WatchLog { .. }
        | Effect::UnwatchLog { .. }
        | Effect::NoteLog { .. }
        | Effect::Persist(_) => false,
    }
}
