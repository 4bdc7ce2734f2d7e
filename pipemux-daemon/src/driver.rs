//! The driver: the only place that touches both the core and IO.
//!
//! It is one task that works in turns: take everything that is ready, hand it to the core, run the
//! effects that the core returns, and finally write to each destination once. The driver doesn't
//! decide what an event means, it doesn't touch files itself, and it never waits.
//!
//! It consists of components, which don't know it. What happens in one of them is queued as an
//! event, and handed to the core once the component has returned.
//!
//! | module | contents |
//! |---|---|
//! | `driver` | one turn: from what is ready to the core, and back |
//! | `driver::turn` | the time, and the events that wait for the core |
//! | `driver::effects` | runs the core's effects |
//! | `driver::serving` | accepts clients, and serves each peer within its share of the turn |
//! | `driver::frames` | reads frames and hands them to the core or forwards them |
//! | `driver::app_lifecycle` | handles what the launcher reports, and what apps print |
//! | `driver::acceptor` | the socket that clients connect to |
//! | `driver::connections` | the connections of clients and apps |
//! | `driver::turn_shares` | how much of a turn each connection gets |
//! | `driver::apps` | the apps' processes and output |
//! | `driver::records` | the saved state and the audit log |
//! | `driver::file_guard` | notices when files of the daemon are gone |
//! | `driver::lifecycle` | requests to stop, and the exit |
//! | `driver::clock` | the clocks and the single timer |
//! | `driver::measuring` | counts for the metrics, if the user wants them |

mod acceptor;
mod app_lifecycle;
mod apps;
mod clock;
mod connections;
mod effects;
mod file_guard;
mod frames;
mod lifecycle;
mod measuring;
mod records;
mod serving;
mod turn;
mod turn_shares;

use std::future::poll_fn;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use pipemux_core::{Core, Effect, Event};

use crate::app_processes::AppProcesses;
use crate::audit_log::AuditLog;
use crate::busy_poll::{BusyPoll, ParkHook};
use crate::daemon_log::log;
use crate::file_watch::FileWatch;
use crate::journal::Journal;
use crate::limits::{SCRATCH_BUFFER, SLOW_TURN_MS};
use crate::listener::ClientListener;
use crate::lock::SharedLock;
use crate::manifests::ManifestDirs;
use crate::metrics::Scrapes;
use crate::ready_queue::{Peer, ReadyQueue, ReadySource};
use crate::settings::SettingsFile;
use crate::shutdown::Shutdown;
use crate::usage::UsageReader;
use acceptor::ClientAcceptor;
use apps::Apps;
use clock::Clock;
use connections::Connections;
use file_guard::FileGuard;
use lifecycle::Lifecycle;
use measuring::Measuring;
use records::Records;
use turn::Turn;
use turn_shares::TurnShares;

/// The daemon's loop and all state that it owns.
pub struct Driver {
    core: Core,
    turn: Turn,
    clock: Clock,
    /// What the core has returned.
    effects: Vec<Effect>,
    ready_queue: Arc<ReadyQueue>,
    busy_poll: BusyPoll,
    acceptor: ClientAcceptor,
    connections: Connections,
    shares: TurnShares,
    /// The buffer that all connections and pipes are read into.
    scratch: Box<[u8]>,
    apps: Apps,
    usage: UsageReader,
    manifests: ManifestDirs,
    settings_file: SettingsFile,
    records: Records,
    file_guard: FileGuard,
    /// True once this turn has looked whether the settings and the state file have changed.
    files_checked: bool,
    lifecycle: Lifecycle,
    measuring: Option<Box<Measuring>>,
}

/// The parts that a driver is built from.
pub struct DriverParts {
    pub core: Core,
    pub listener: ClientListener,
    /// The lock of the state directory, shared with whoever ends the processes.
    pub lock: SharedLock,
    pub file_watch: FileWatch,
    pub processes: AppProcesses,
    pub journal: Journal,
    pub audit_log: AuditLog,
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
        let waker = |source| ready_queue.waker(source);
        let state_dir = journal.directory().to_owned();
        // Each of these wakes its source, so that the first turn polls it and registers its waker.
        let acceptor = ClientAcceptor::new(listener, waker(ReadySource::Accept));
        let lifecycle = Lifecycle::new(shutdown, waker(ReadySource::Shutdown));
        let file_guard = FileGuard::new(file_watch, waker(ReadySource::Files), Rc::clone(&lock));
        waker(ReadySource::Launcher).wake();
        Self {
            core,
            turn: Turn::default(),
            clock: Clock::new(waker(ReadySource::Timer)),
            effects: Vec::new(),
            busy_poll: BusyPoll::new(park_hook),
            acceptor,
            connections: Connections::new(Arc::clone(&ready_queue)),
            shares: TurnShares::default(),
            scratch: vec![0; SCRATCH_BUFFER].into(),
            usage: UsageReader::new(
                processes.origin(),
                state_dir.clone(),
                waker(ReadySource::Usage),
            ),
            settings_file: SettingsFile::new(manifests.settings_file(), &state_dir),
            apps: Apps::new(processes, state_dir, Arc::clone(&ready_queue)),
            manifests,
            records: Records::new(journal, audit_log, lock),
            file_guard,
            files_checked: false,
            lifecycle,
            measuring: None,
            ready_queue,
        }
    }

    pub fn socket(&self) -> &Path {
        self.acceptor.listener().path()
    }

    /// Counts for the metrics from now on. Returns the way in which readers ask for them.
    pub fn measure(&mut self) -> Scrapes {
        let waker = self.ready_queue.waker(ReadySource::Metrics);
        let now = self.clock.now();
        let measuring = Measuring::start(&mut self.core, &mut self.connections, now, waker);
        self.measuring.insert(Box::new(measuring)).scrapes()
    }

    /// Serves until the core has ended everything or an immediate stop is asked for; returns the
    /// processes, so that the caller can end them.
    pub async fn run(mut self) -> AppProcesses {
        let mut ready = Vec::new();
        poll_fn(|context| self.turn(context.waker(), &mut ready)).await;
        self.records.end(&self.core);
        self.apps.processes
    }

    fn turn(&mut self, driver: &Waker, ready: &mut Vec<ReadySource>) -> Poll<()> {
        self.turn.now = self.clock.now();
        self.files_checked = false;
        self.ready_queue.take(driver, ready);
        for source in ready.drain(..) {
            self.handle_source(source);
        }
        self.handle_timeouts();
        self.write_scheduled();
        self.serve_bulky();
        self.records.maintain(&self.core);
        let now = self.turn.now_ms();
        self.lifecycle.notify_service_manager(self.core.status().is_stopping(), now);
        let connections = &self.connections;
        if self.lifecycle.may_exit(now, || connections.queue(Peer::is_client).waiting == 0) {
            return Poll::Ready(());
        }
        if let Some(next) = self.next_timeout() {
            self.clock.set_timer(next);
        }
        self.busy_poll.end_turn(driver);
        Poll::Pending
    }

    fn handle_source(&mut self, source: ReadySource) {
        match source {
            ReadySource::Accept => self.accept(),
            ReadySource::Launcher => self.poll_launcher(),
            ReadySource::Shutdown => {
                self.lifecycle.poll(&mut self.turn);
                self.handle_queued();
            }
            ReadySource::Timer => self.clock.timer_fired(),
            ReadySource::Files => {
                if self.file_guard.poll() {
                    self.guard_files();
                }
            }
            ReadySource::Metrics => {
                if let Some(measuring) = &self.measuring {
                    measuring.answer(&self.core, &self.connections);
                }
            }
            ReadySource::Usage => {
                for (request, report) in self.usage.poll() {
                    self.handle(Event::UsageRead { request, report });
                }
            }
            ReadySource::Peer(peer) => self.serve(peer),
            ReadySource::AppOutput(app) => self.read_app_output(app),
        }
    }

    /// Hands an event to the core and runs its effects, and then the same for all that follows.
    fn handle(&mut self, event: Event) {
        self.step(event);
        self.handle_queued();
    }

    /// Handles the events that are queued, and all that follow from them.
    fn handle_queued(&mut self) {
        while let Some(event) = self.turn.events.pop_front() {
            self.step(event);
        }
    }

    /// Hands an event to the core and runs its effects. The log says for whom a step was that took
    /// long.
    fn step(&mut self, event: Event) {
        let (peer, length) = match &event {
            Event::AppFrame { app, frame } => (Some(Peer::App(*app)), frame.body.len()),
            Event::ClientFrame { client, frame } => (Some(Peer::Client(*client)), frame.body.len()),
            _ => (None, 0),
        };
        if let Some(measuring) = &mut self.measuring {
            measuring.record_event(&event);
        }
        let began = Instant::now();
        self.core.handle(event, self.turn.now, &mut self.effects);
        let took = began.elapsed();
        if took >= Duration::from_millis(SLOW_TURN_MS) {
            let whose = match peer {
                Some(Peer::App(app)) => self.core.status().session_name(app).unwrap_or_default(),
                Some(Peer::Client(client)) => format!("client {}", client.0),
                None => "the daemon itself".to_owned(),
            };
            log(format_args!(
                "a slow turn: {} ms, {} units of work, {length} bytes of {whose}",
                took.as_millis(),
                self.core.status().last_work(),
            ));
        }
        self.finish_step();
    }

    fn finish_step(&mut self) {
        if let Some(measuring) = &mut self.measuring {
            measuring.collect(&mut self.core);
        }
        self.run_effects();
    }

    fn handle_timeouts(&mut self) {
        let now = self.turn.now_ms();
        let due = |at: Option<u64>| at.is_some_and(|at| at <= now);
        if due(self.core.next_timeout()) {
            self.core.handle_timeout(self.turn.now, &mut self.effects);
            self.finish_step();
        }
        if due(self.records.next_timeout()) {
            self.records.retry(&mut self.turn);
        }
        if self.acceptor.end_pause(now) {
            self.accept();
        }
        if now >= self.file_guard.next_timeout() {
            self.guard_files();
        }
        if due(self.apps.output.next_timeout()) {
            self.apps.output.handle_timeout(&mut self.scratch, now);
            self.apps.queue_log_updates(&mut self.turn);
        }
        self.connections.handle_timeouts(&mut self.turn);
        self.handle_queued();
    }

    /// Returns the earliest deadline, in milliseconds.
    fn next_timeout(&self) -> Option<u64> {
        let timeouts = [
            self.core.next_timeout(),
            self.records.next_timeout(),
            self.acceptor.next_timeout(),
            Some(self.file_guard.next_timeout()),
            self.apps.output.next_timeout(),
            self.connections.next_timeout(),
            self.lifecycle.next_timeout(),
        ];
        timeouts.into_iter().flatten().min()
    }

    /// Brings the core up to date before it is handed what a client asks for. Nothing is answered
    /// that isn't written where the next daemon finds it.
    fn prepare_for_client(&mut self) {
        // A full disk must be known before another act begins.
        self.records.write(&mut self.turn);
        self.handle_queued();
        self.check_files();
        // A client that uses an app after its program changed uses the new one.
        for app in self.apps.dev_programs.take_changed() {
            self.step(Event::ProgramChanged { app });
        }
    }

    /// Looks, once a turn, whether the settings have changed and the state file is in its place.
    fn check_files(&mut self) {
        if std::mem::replace(&mut self.files_checked, true) {
            return;
        }
        if let Some(rules) = self.settings_file.changed() {
            if let Some(why) = &rules.broken {
                log(format_args!("{why}: acts are refused until it is mended"));
            }
            self.step(Event::Rules(rules));
        }
        self.records.check_state_file(&mut self.turn);
        self.handle_queued();
    }

    /// Looks whether all files are in their places, and restores those that can be.
    fn guard_files(&mut self) {
        self.file_guard.postpone(self.turn.now_ms());
        if self.lifecycle.is_exiting() {
            return;
        }
        if self.records.is_state_file_lost() {
            self.records.retry(&mut self.turn);
        } else {
            self.files_checked = false;
            self.check_files();
        }
        let Self { records, acceptor, turn, .. } = self;
        self.file_guard.restore(records, acceptor, turn);
        self.handle_queued();
    }
}
