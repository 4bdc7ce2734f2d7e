//! Every decision of the PipeMux daemon, and no IO.
//!
//! [`Core::handle`] takes an [`Event`] and the time and gives [`Effect`]s; [`Core::handle_timeout`] is
//! called when [`Core::next_timeout`] has come.
//!
//! | module | decides |
//! |---|---|
//! | `clients`, `jobs`, `records` | who asks, a request and its one answer, answers kept |
//! | `verbs` | what each verb does |
//! | `act` | runs: checked as a whole, carried out step by step, questions |
//! | `requests` | a request to an app, ended exactly once |
//! | [`exchange`] | bytes between a client and an app |
//! | `lifecycle`, `opening`, `session` | a process from start to end |
//! | `hosts` | processes that sessions share |
//! | `health`, `suspects`, `sleep` | whether it still answers, what it dies of, when it rests |
//! | `workspace`, `anchors` | windows, ids, epochs, what each reader has seen |
//! | `shown` | what the windows of a session are told of it |
//! | `sent` | a window as its app sent it, within its bounds |
//! | `deliver`, `render`, `context` | slots to Markdown, deltas, answers |
//! | `feed` | what happened, for those who watch |
//! | `saved`, `restore`, [`Loss`], `history` | what survives the daemon, what was done |
//!
//! **Invariant: nothing here waits.** No runtime, no socket, no file, no clock and no randomness: the
//! same events and times give the same effects. `tests/dependencies.rs` holds the dependency tree to
//! that.
//!
//! **Invariant: values pass undecoded.** Arguments and results are placed by name and forwarded as
//! bytes; only what is shown to a reader is decoded, for showing.
//!
//! **Invariant: exactly one answer.** A request of a client leaves `jobs` only through
//! `Core::answer`, a request to an app leaves `pending` only through `Core::end_request`.
#![forbid(unsafe_code)]

mod act;
mod anchors;
pub mod bounds;
mod clients;
mod context;
mod deliver;
pub mod event;
pub mod exchange;
mod feed;
mod health;
mod history;
mod hosts;
mod jobs;
mod keys;
mod lifecycle;
pub mod limits;
mod loss;
pub mod manifest;
mod opening;
mod rate;
mod records;
mod render;
mod requests;
mod restore;
pub mod saved;
mod sent;
mod session;
mod shown;
mod sleep;
mod suspects;
mod timers;
mod verbs;
mod workspace;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use pipemux_proto::ProviderId;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;

pub use event::{ClientId, Effect, Event, Exit, Limit, LogText, Manifests, Now, Signal, Start};
pub use loss::Loss;
pub use manifest::{Idle, Isolation, Limits, Manifest, Restart, Scope, Size, State, Transport};

use clients::Client;
use feed::Feed;
use jobs::Job;
use keys::{JobId, SessionKey, WorkspaceKey};
use records::Records;
use session::{Pending, Session};
use timers::{Timer, Timers};
use workspace::Workspace;

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
    config: Config,
    providers: BTreeMap<ProviderId, Rc<Manifest>>,
    clients: BTreeMap<ClientId, Client>,
    sessions: BTreeMap<SessionKey, Session>,
    /// What each provider's app said it can do when it last greeted.
    prototypes: BTreeMap<ProviderId, Rc<Vec<Prototype>>>,
    /// Which session a process is of.
    lives: HashMap<Incarnation, SessionKey>,
    pids: HashMap<Incarnation, u32>,
    /// Processes that sessions share.
    hosts: hosts::Hosts,
    workspaces: BTreeMap<WorkspaceKey, Workspace>,
    /// Ids and epochs of workspaces that made room: they are never used again.
    retired: BTreeMap<WorkspaceKey, (u64, u64)>,
    /// What was lost of the saved state.
    lost: loss::Lost,
    /// Requests to apps.
    pending: HashMap<u64, Pending>,
    /// Exchanges that have no answer yet.
    exchanges: exchange::Exchanges,
    attaching: Vec<exchange::Attaching>,
    /// Requests of clients.
    jobs: HashMap<JobId, Job>,
    /// Windows that runs asked for before they ended.
    ahead: HashMap<JobId, act::ahead::Ahead>,
    /// Requests whose `open` is part of a start that is under way.
    opening: BTreeMap<SessionKey, JobId>,
    /// Answers that were not confirmed yet: where and by whom.
    deliveries: BTreeMap<u64, (WorkspaceKey, String)>,
    records: Records,
    /// What happened.
    feed: Feed,
    /// Requests that wait for something to happen.
    waits: BTreeSet<JobId>,
    timers: Timers,
    /// Numbers of incarnations, windows and questions: never used again, not by a later daemon either.
    numbers: Numbers,
    /// Numbers that mean nothing outside this daemon's life.
    locals: u64,
    next_request: u64,
    /// Why records can't be written down now: acts are refused then, views go on.
    disk: Option<String>,
    stopping: bool,
    stopped: bool,
    began: Now,
    now: Now,
    out: Vec<Effect>,
}

/// Numbers that only rise, reserved on disk in blocks.
#[derive(Debug, Default)]
struct Numbers {
    next: u64,
    reserved: u64,
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
            Event::AppFrame { app, frame } if self.hosts.is_empty() => {
                self.handle_app_frame(app, frame);
            }
            Event::AppFrame { app, frame } => self.shared_frame(app, frame),
            Event::AppBroken { app, why } if self.hosts.is_process(app) => {
                self.shared_broken(app, &why, Signal::Kill);
            }
            Event::AppBroken { app, why } => self.break_app(app, why),
            Event::AppClosed { app } if self.hosts.is_process(app) => {
                self.shared_broken(app, "it closed its connection", Signal::Terminate);
            }
            Event::AppClosed { app } => self.app_closed(app),
            Event::Started { app, pid } => self.started(app, pid),
            Event::StartFailed { app, why } if self.hosts.is_process(app) => {
                self.shared_ended(app, Err(why));
            }
            Event::StartFailed { app, why } => self.start_failed(app, &why),
            Event::Exited { app, exit, last_lines } if self.hosts.is_process(app) => {
                self.shared_ended(app, Ok((exit, last_lines)));
            }
            Event::Exited { app, exit, last_lines } => self.exited(app, exit, last_lines),
            Event::LogRead { request, read } => self.log_read(JobId(request), read),
            Event::Providers { request, read } => self.providers_loaded(JobId(request), read),
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
                Timer::Request(id) => self.request_expired(id),
                Timer::Job(id) => self.job_expired(id),
                Timer::Backoff(app) => self.backoff_over(app),
                Timer::Start(app) => self.start_expired(app),
                Timer::Drain(app) => self.drain_expired(app),
                Timer::Look(app) => self.look(app),
                Timer::Rest(app) => self.rest_due(app),
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

    fn tick(&mut self, now: Now) {
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
        if self.lives.contains_key(&app) || self.hosts.is_process(app) {
            self.pids.insert(app, pid);
        }
    }

    /// A number that no earlier or later daemon of this state uses.
    fn next_number(&mut self) -> u64 {
        self.numbers.next += 1;
        if self.numbers.next >= self.numbers.reserved {
            self.numbers.reserved = self.numbers.next + limits::BLOCK;
            let numbers_below = self.numbers.reserved;
            self.out.push(Effect::Persist(saved::Record::Reserved { numbers_below }));
        }
        self.numbers.next
    }

    fn next_local(&mut self) -> u64 {
        self.locals += 1;
        self.locals
    }
}
