//! The core.

pub mod loss;
mod restore;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;

use crate::clients::connections::Client;
use crate::clients::exchange;
use crate::clients::idempotency::IdempotencyRecords;
use crate::clients::requests::ClientRequest;
use crate::event::{ClientId, Effect, Event, Now, Signal};
use crate::feed::Feed;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::manifest::Manifest;
use crate::persist::records as saved;
use crate::processes::session::AppRequest;
use crate::processes::session::Session;
use crate::processes::shared_processes;
use crate::timers::{Timer, Timers};
use crate::verbs::prefetch::Prefetch;
use crate::workspaces::Workspace;
use crate::{bounds, limits};

/// How a core is set up.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The registered providers.
    pub providers: Vec<Manifest>,
    /// Where sessions keep their state and logs; an absolute path.
    pub state_dir: String,
    /// The daemon's process id, for `status`.
    pub pid: u32,
    /// What the greeting calls this software.
    pub software: String,
    /// The socket's path, for `status`.
    pub socket: String,
    /// The bounds of the daemon's IO, for `status --limits`.
    pub bounds: &'static [bounds::Bound],
}

/// The daemon's whole state.
#[derive(Debug, Default)]
pub struct Core {
    pub(crate) config: Config,
    pub(crate) providers: BTreeMap<ProviderId, Rc<Manifest>>,
    pub(crate) clients: BTreeMap<ClientId, Client>,
    pub(crate) sessions: BTreeMap<SessionKey, Session>,
    /// What each provider's app said it can do when it last greeted.
    pub(crate) prototypes: BTreeMap<ProviderId, Rc<Vec<Prototype>>>,
    /// Which session a process is of.
    pub(crate) session_by_incarnation: HashMap<Incarnation, SessionKey>,
    pub(crate) pids: HashMap<Incarnation, u32>,
    /// Processes that sessions share.
    pub(crate) shared: shared_processes::SharedProcesses,
    pub(crate) workspaces: BTreeMap<WorkspaceKey, Workspace>,
    /// Ids and epochs of workspaces that made room: they are never used again.
    pub(crate) retired: BTreeMap<WorkspaceKey, (u64, u64)>,
    /// What was lost of the saved state.
    pub(crate) lost: loss::Lost,
    /// Requests to apps.
    pub(crate) app_requests: HashMap<u64, AppRequest>,
    /// Exchanges that have no answer yet.
    pub(crate) exchanges: exchange::Exchanges,
    pub(crate) attaching: Vec<exchange::PendingAttach>,
    /// Requests of clients.
    pub(crate) requests: HashMap<RequestId, ClientRequest>,
    /// Windows that runs asked for before they ended.
    pub(crate) prefetches: HashMap<RequestId, Prefetch>,
    /// Requests whose `open` is part of a start that is under way.
    pub(crate) opening: BTreeMap<SessionKey, RequestId>,
    /// Answers that were not confirmed yet: where and by whom.
    pub(crate) deliveries: BTreeMap<u64, (WorkspaceKey, String)>,
    pub(crate) records: IdempotencyRecords,
    /// What happened.
    pub(crate) feed: Feed,
    /// Requests that wait for something to happen.
    pub(crate) waits: BTreeSet<RequestId>,
    pub(crate) timers: Timers,
    /// Numbers of incarnations, windows and questions: never used again, not by a later daemon either.
    pub(crate) numbers: Numbers,
    /// Numbers that mean nothing outside this daemon's life.
    pub(crate) locals: u64,
    pub(crate) next_request: u64,
    /// Why records can't be written down now: acts are refused then, views go on.
    pub(crate) disk: Option<String>,
    pub(crate) stopping: bool,
    pub(crate) stopped: bool,
    pub(crate) began: Now,
    pub(crate) now: Now,
    pub(crate) out: Vec<Effect>,
}

/// Numbers that only rise, reserved on disk in blocks.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) next: u64,
    pub(crate) reserved: u64,
}

impl Core {
    /// Takes in what happened and appends what is to be done, in order.
    pub fn handle(&mut self, event: Event, now: Now, out: &mut Vec<Effect>) {
        self.tick(now);
        match event {
            Event::ClientOpened { client } => self.client_opened(client),
            Event::ClientFrame { client, frame } => self.handle_client_frame(client, &frame),
            Event::ClientBroken { client, why } => self.client_broken(client, &why),
            Event::ClientClosed { client } => self.client_closed(client),
            Event::AppFrame { app, frame } if self.shared.is_empty() => {
                self.handle_app_frame(app, frame);
            }
            Event::AppFrame { app, frame } => self.shared_frame(app, frame),
            Event::AppBroken { app, why } if self.shared.is_process(app) => {
                self.shared_broken(app, &why, Signal::Kill);
            }
            Event::AppBroken { app, why } => self.break_app(app, why),
            Event::AppClosed { app } if self.shared.is_process(app) => {
                self.shared_broken(app, "it closed its connection", Signal::Terminate);
            }
            Event::AppClosed { app } => self.app_closed(app),
            Event::Started { app, pid } => self.started(app, pid),
            Event::StartFailed { app, why } if self.shared.is_process(app) => {
                self.shared_ended(app, Err(why));
            }
            Event::StartFailed { app, why } => self.start_failed(app, &why),
            Event::Exited { app, exit, last_lines } if self.shared.is_process(app) => {
                self.shared_ended(app, Ok((exit, last_lines)));
            }
            Event::Exited { app, exit, last_lines } => self.exited(app, exit, last_lines),
            Event::LogRead { request, read } => self.log_read(RequestId(request), read),
            Event::Providers { request, read } => self.providers_loaded(RequestId(request), read),
            Event::Disk { failing } => self.disk = failing,
            Event::Stop => self.stop(),
        }
        self.settle_waits();
        self.stop_if_done();
        self.address_processes();
        out.append(&mut self.out);
    }

    /// When [`Core::handle_timeout`] is next due, on the monotonic clock, in milliseconds.
    pub fn next_timeout(&self) -> Option<u64> {
        [self.timers.next(), self.next_exchange_timeout()].into_iter().flatten().min()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Now, out: &mut Vec<Effect>) {
        self.tick(now);
        while let Some(timer) = self.timers.pop(now.mono_ms) {
            match timer {
                Timer::AppRequest(id) => self.request_expired(id),
                Timer::ClientRequest(id) => self.job_expired(id),
                Timer::Backoff(app) => self.backoff_over(app),
                Timer::Start(app) => self.start_expired(app),
                Timer::Drain(app) => self.drain_expired(app),
                Timer::HealthCheck(app) => self.look(app),
                Timer::IdleCheck(app) => self.rest_due(app),
                Timer::Greet(client) => self.greet_expired(client),
                Timer::Question(number) => self.question_expired(number),
                Timer::Wait(job) => self.wait_over(job),
            }
        }
        self.exchanges_due();
        self.settle_waits();
        self.stop_if_done();
        self.address_processes();
        out.append(&mut self.out);
    }

    pub(crate) fn tick(&mut self, now: Now) {
        if self.began == Now::default() {
            self.began = now;
            // What was asked before this daemon's time waits as long as what is asked now.
            for number in self.workspaces.values().flat_map(|workspace| workspace.questions.keys())
            {
                self.timers.set(now.mono_ms + limits::QUESTION_MS, Timer::Question(*number));
            }
        }
        self.now = now;
    }

    fn started(&mut self, app: Incarnation, pid: u32) {
        if self.session_by_incarnation.contains_key(&app) || self.shared.is_process(app) {
            self.pids.insert(app, pid);
        }
    }

    /// A number that no earlier or later daemon of this state uses.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.numbers.next += 1;
        if self.numbers.next >= self.numbers.reserved {
            self.numbers.reserved = self.numbers.next + limits::BLOCK;
            let numbers_below = self.numbers.reserved;
            self.out.push(Effect::Persist(saved::Record::Reserved { numbers_below }));
        }
        self.numbers.next
    }

    pub(crate) fn next_local(&mut self) -> u64 {
        self.locals += 1;
        self.locals
    }
}
