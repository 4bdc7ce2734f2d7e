//! The driver: the only place that touches both the core and IO.
//!
//! It is one task that works in turns: take everything that is ready, hand it to the core, run the effects that the
//! core returns, and finally write to each destination once. The driver doesn't decide what an event means, it
//! doesn't touch files itself, and it never waits.
//!
//! | module | contents |
//! |---|---|
//! | `driver` | one turn, timeouts, the exit |
//! | `driver::effects` | runs the core's effects |
//! | `driver::connections` | accepts, writes and closes connections |
//! | `driver::frames` | reads frames and hands them to the core or forwards them |
//! | `driver::app_lifecycle` | handles what the launcher reports |
//! | `driver::app_output` | handles what apps print |
//! | `driver::measuring` | counts for the metrics, if the user wants them |
//! | `driver::files` | notices when files of the daemon are gone |
//! | `driver::timer` | the single timer |

mod app_lifecycle;
mod app_output;
mod connections;
mod effects;
mod files;
mod frames;
mod measuring;
mod timer;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pipemux_core::{ClientId, Core, Effect, Event, Now};
use pipemux_proto::Incarnation;
use pipemux_write_queue::SpareBuffers;
use rustc_hash::FxHashMap;
use sd_notify::NotifyState;

use crate::app_output::AppOutput;
use crate::app_processes::AppProcesses;
use crate::audit_log::AuditLog;
use crate::buffer_pool::BufferPool;
use crate::busy_poll::{BusyPoll, ParkHook};
use crate::connection::Connection;
use crate::daemon_log::log;
use crate::dev_programs::DevPrograms;
use crate::file_watch::FileWatch;
use crate::journal::Journal;
use crate::limits::{FILES_CHECK_MS, SCRATCH_BUFFER, SLOW_TURN_MS};
use crate::listener::ClientListener;
use crate::lock::DaemonLock;
use crate::manifests::ManifestDirs;
use crate::memory::MemoryTrim;
use crate::peer_process::PeerProcesses;
use crate::pinned_programs::PinnedPrograms;
use crate::ready_queue::{Peer, ReadyQueue, ReadySource};
use crate::service_manager::{self, Watchdog};
use crate::settings::SettingsFile;
use crate::shutdown::{Shutdown, ShutdownRequests, Urgency};
use crate::usage::UsageReader;
use measuring::Measuring;
use timer::Timer;

/// The daemon's loop and everything that it owns.
pub struct Driver {
    core: Core,
    now: Now,
    started: Instant,
    events: VecDeque<Event>,
    effects: Vec<Effect>,

    ready_queue: Arc<ReadyQueue>,
    listener: ClientListener,
    accept_waker: Waker,
    /// When to accept again after accepting failed.
    accept_retry_at: Option<u64>,
    /// The lock of the state directory, shared with whoever ends the processes.
    lock: Rc<RefCell<DaemonLock>>,
    file_watch: FileWatch,
    files_waker: Waker,
    /// True once this turn has looked whether the state file is in its place.
    state_file_checked: bool,
    settings_file: SettingsFile,
    /// When to check next that the files of the daemon are still in their places.
    files_check_at: u64,
    /// True once the state directory is another one; logged once.
    directory_lost: bool,
    /// True while the lock's file can't be restored; logged once.
    lock_failing: bool,
    /// True while the socket can't be restored; logged once.
    socket_failing: bool,
    /// True while clients are turned away; logged once.
    refusing: bool,
    /// True while accepting fails; logged once.
    accept_failing: bool,
    connections: FxHashMap<Peer, Connection>,
    clients: usize,
    next_client: u64,
    /// Connections to write to at the end of the turn.
    peers_to_write: Vec<Peer>,
    /// Clients to be closed, with the latest time for it, in milliseconds.
    closing_clients: VecDeque<(u64, ClientId)>,
    /// Connections with large transfers, served after all others.
    bulky_peers: Vec<Peer>,
    /// Until when large transfers take small shares of a turn, because small frames arrived.
    small_frames_until: u64,
    /// How many connections with large transfers share the rest of the current turn; 0 outside of that part.
    bulk_sharers: usize,
    busy_poll: BusyPoll,
    park_hook: Arc<ParkHook>,
    /// The buffer that all connections and pipes are read into.
    scratch: Box<[u8]>,
    spares: SpareBuffers,
    buffer_pool: BufferPool,
    memory: MemoryTrim,

    processes: AppProcesses,
    /// Processes that were ordered and aren't known to run yet.
    starting_apps: FxHashMap<Incarnation, effects::StartingApp>,
    app_output: AppOutput,
    peers: PeerProcesses,
    usage: UsageReader,
    journal: Journal,
    audit_log: AuditLog,
    manifests: ManifestDirs,
    pinned_programs: PinnedPrograms,
    dev_programs: DevPrograms,
    /// True while the journal has records that aren't written yet.
    records_pending: bool,
    /// True while records can't be written.
    disk_failing: bool,
    /// When to try to write records again.
    disk_retry_at: Option<u64>,
    timer: Timer,
    shutdown: ShutdownRequests,
    /// True once the service manager, if there is one, knows that the daemon stops.
    stop_notified: bool,
    watchdog: Option<Watchdog>,
    /// What is counted, if the user wants metrics.
    measuring: Option<Box<Measuring>>,
    /// Set by the core's last effect: the latest time to exit, in milliseconds.
    exit_deadline: Option<u64>,
}

/// The parts that a driver is built from.
pub struct DriverParts {
    /// Makes all decisions.
    pub core: Core,
    /// Accepts clients.
    pub listener: ClientListener,
    /// The lock of the state directory.
    pub lock: Rc<RefCell<DaemonLock>>,
    /// Watches the files of the daemon.
    pub file_watch: FileWatch,
    /// The apps' processes.
    pub processes: AppProcesses,
    /// The saved state.
    pub journal: Journal,
    /// Who did what.
    pub audit_log: AuditLog,
    /// The directories of manifests.
    pub manifests: ManifestDirs,
    /// Wakes the driver.
    pub ready_queue: Arc<ReadyQueue>,
    /// Runs before the runtime parks its thread.
    pub park_hook: Arc<ParkHook>,
}

impl Driver {
    /// Creates a driver that stops when `shutdown` asks for it. Must be called within a runtime.
    pub fn new(parts: DriverParts, shutdown: &Shutdown) -> Self {
        let DriverParts { core, listener, lock, file_watch, processes, journal, .. } = parts;
        let DriverParts { audit_log, manifests, ready_queue, park_hook, .. } = parts;
        let waker = ready_queue.waker(ReadySource::Usage);
        let state_dir = journal.directory().to_owned();
        let settings_file = SettingsFile::new(manifests.settings_file(), &state_dir);
        let driver = Self {
            usage: UsageReader::new(processes.origin(), state_dir, waker),
            core,
            now: Now::default(),
            started: Instant::now(),
            events: VecDeque::new(),
            effects: Vec::new(),
            listener,
            accept_waker: ready_queue.waker(ReadySource::Accept),
            accept_retry_at: None,
            lock,
            file_watch,
            files_waker: ready_queue.waker(ReadySource::Files),
            state_file_checked: false,
            settings_file,
            files_check_at: FILES_CHECK_MS,
            directory_lost: false,
            lock_failing: false,
            socket_failing: false,
            refusing: false,
            accept_failing: false,
            connections: FxHashMap::default(),
            spares: SpareBuffers::default(),
            buffer_pool: BufferPool::default(),
            memory: MemoryTrim::new(),
            clients: 0,
            next_client: 1,
            peers_to_write: Vec::new(),
            bulky_peers: Vec::new(),
            small_frames_until: 0,
            bulk_sharers: 0,
            busy_poll: BusyPoll::default(),
            park_hook,
            closing_clients: VecDeque::new(),
            scratch: vec![0; SCRATCH_BUFFER].into(),
            processes,
            starting_apps: FxHashMap::default(),
            app_output: AppOutput::default(),
            peers: PeerProcesses::default(),
            journal,
            audit_log,
            manifests,
            pinned_programs: PinnedPrograms::default(),
            dev_programs: DevPrograms::default(),
            records_pending: false,
            disk_failing: false,
            disk_retry_at: None,
            timer: Timer::new(ready_queue.waker(ReadySource::Timer)),
            shutdown: shutdown.requests(ready_queue.waker(ReadySource::Shutdown)),
            stop_notified: false,
            watchdog: Watchdog::from_env(),
            measuring: None,
            exit_deadline: None,
            ready_queue,
        };
        // The first turn polls each of these, which registers its waker.
        driver.accept_waker.wake_by_ref();
        driver.shutdown.wake();
        driver.files_waker.wake_by_ref();
        driver.ready_queue.waker(ReadySource::Launcher).wake();
        driver
    }

    /// The path of the socket that clients connect to.
    pub fn socket(&self) -> &Path {
        self.listener.path()
    }

    /// Serves until the core has ended everything or an immediate stop is asked for; returns the processes, so that
    /// the caller can end them.
    pub async fn run(mut self) -> AppProcesses {
        let mut ready = Vec::new();
        let written = self.journal.flush();
        self.report_disk(written);
        poll_fn(|context| self.turn(context.waker(), &mut ready)).await;
        self.end_journal();
        self.processes
    }

    fn turn(&mut self, driver: &Waker, ready: &mut Vec<ReadySource>) -> Poll<()> {
        self.now = self.read_clocks();
        self.state_file_checked = false;
        self.ready_queue.take(driver, ready);
        for source in ready.drain(..) {
            match source {
                ReadySource::Accept => self.accept(),
                ReadySource::Launcher => self.poll_launcher(),
                ReadySource::Shutdown => self.poll_shutdown(),
                ReadySource::Timer => self.timer.elapsed(),
                ReadySource::Files => self.poll_files(),
                ReadySource::Metrics => self.answer_scrapes(),
                ReadySource::Usage => self.pass_usage(),
                ReadySource::Peer(peer) => self.serve(peer),
                ReadySource::AppOutput(app) => self.read_app_output(app),
            }
        }
        self.handle_timeouts();
        self.write_scheduled_peers();
        self.serve_bulky();
        self.maintain_journal();
        if self.core.is_stopping() && !std::mem::replace(&mut self.stop_notified, true) {
            service_manager::notify(NotifyState::Stopping);
        }
        if self.may_exit() {
            return Poll::Ready(());
        }
        let next = [self.core.next_timeout(), self.next_io_timeout()].into_iter().flatten().min();
        self.timer.set(self.started, next);
        if self.busy_poll.should_poll(Instant::now) {
            self.park_hook.request_poll(driver);
        }
        Poll::Pending
    }

    /// Hands an event to the core and runs its effects, and then the same for all events that follow from them.
    fn handle(&mut self, event: Event) {
        if matches!(event, Event::ClientFrame { .. }) {
            self.check_state_file();
            // A client that uses an app after its program changed uses the new one.
            for app in self.dev_programs.take_changed() {
                self.hand_in(Event::ProgramChanged { app });
                self.run_effects();
            }
        }
        self.hand_in(event);
        self.run_effects();
        while let Some(event) = self.events.pop_front() {
            self.hand_in(event);
            self.run_effects();
        }
    }

    /// Hands an event to the core. The log says for whom a turn was that took long.
    fn hand_in(&mut self, event: Event) {
        let (peer, length) = match &event {
            Event::AppFrame { app, frame } => (Some(Peer::App(*app)), frame.body.len()),
            Event::ClientFrame { client, frame } => (Some(Peer::Client(*client)), frame.body.len()),
            _ => (None, 0),
        };
        self.memory.passed(length, self.now.mono_ms);
        self.measure_event(&event);
        let began = Instant::now();
        self.core.handle(event, self.now, &mut self.effects);
        let took = began.elapsed();
        self.take_measurements();
        if took >= Duration::from_millis(SLOW_TURN_MS) {
            let whose = match peer {
                Some(Peer::App(app)) => self.core.session_name(app).unwrap_or_default(),
                Some(Peer::Client(client)) => format!("client {}", client.0),
                None => "the daemon itself".to_owned(),
            };
            log(format_args!(
                "a slow turn: {} ms, {} units of work, {length} bytes of {whose}",
                took.as_millis(),
                self.core.last_work(),
            ));
        }
    }

    /// Hands in what was read of sessions' usage.
    fn pass_usage(&mut self) {
        for (request, report) in self.usage.poll() {
            self.handle(Event::UsageRead { request, report });
        }
    }

    /// Hands in the events that are queued.
    fn drain_events(&mut self) {
        while let Some(event) = self.events.pop_front() {
            self.handle(event);
        }
    }

    fn handle_timeouts(&mut self) {
        let now = self.now.mono_ms;
        let due = |at: Option<u64>| at.is_some_and(|at| at <= now);
        if due(self.core.next_timeout()) {
            self.core.handle_timeout(self.now, &mut self.effects);
            self.take_measurements();
            self.run_effects();
        }
        if due(self.disk_retry_at) {
            self.write_records_again();
        }
        if due(self.accept_retry_at) {
            self.accept_retry_at = None;
            self.accept();
        }
        if now >= self.files_check_at {
            self.check_files();
        }
        self.buffer_pool.tidy(now);
        self.memory.tidy(now);
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.notify(now);
        }
        if due(self.app_output.next_timeout()) {
            self.handle_output_timeouts();
        }
        while let Some((at, client)) = self.closing_clients.front().copied() {
            if at > now {
                break;
            }
            self.closing_clients.pop_front();
            self.close_client(client);
        }
        self.drain_events();
    }

    /// Returns the earliest deadline of the driver itself, in milliseconds.
    fn next_io_timeout(&self) -> Option<u64> {
        [
            self.accept_retry_at,
            self.disk_retry_at,
            Some(self.files_check_at),
            self.closing_clients.front().map(|(at, _)| *at),
            self.app_output.next_timeout(),
            self.buffer_pool.next_timeout(),
            self.memory.next_timeout(),
            self.exit_deadline,
            self.watchdog.as_ref().map(Watchdog::next_timeout),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn poll_shutdown(&mut self) {
        while let Poll::Ready(urgency) = self.shutdown.poll_next() {
            match urgency {
                Urgency::Orderly => self.handle(Event::Stop),
                Urgency::Immediate => {
                    log("a second signal arrived: stopping at once");
                    self.exit_deadline = Some(self.now.mono_ms);
                }
            }
        }
    }

    fn may_exit(&self) -> bool {
        let Some(latest) = self.exit_deadline else { return false };
        let mut clients =
            self.connections.iter().filter(|(peer, _)| matches!(peer, Peer::Client(_)));
        latest <= self.now.mono_ms || clients.all(|(_, connection)| !connection.has_output())
    }

    fn read_clocks(&self) -> Now {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Now { mono_ms: ms(self.started.elapsed()), unix_ms: ms(unix) }
    }
}
