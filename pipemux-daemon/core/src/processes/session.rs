//! What is known of one session: its process, what it was opened with, its crashes.

use std::cell::Cell;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use bytes::Bytes;
use pipemux_proto::envelope::Method;
use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;

use crate::event::{Exit, Limit, Now, Signal};
use crate::foreign::{ForeignText, quote};
use crate::keys::RequestId;
use crate::limits::{BACKOFF_MAX_MS, BACKOFF_MS, CRASH_WINDOW_MS, CRASHES_MAX};
use crate::manifest::Manifest;
use crate::persist::records::SavedOpen;
use crate::processes::health::Health;
use crate::processes::hibernation::Hibernation;
use crate::processes::passed::PassedVariables;
use crate::processes::quarantine::Quarantine;
use crate::rate::Rate;

/// One instance of an app.
#[derive(Debug)]
pub struct Session {
    /// The manifest of its app.
    pub manifest: Rc<Manifest>,
    /// What it was opened with, oldest first; repeated after a restart.
    pub opens: Vec<SavedOpen>,
    /// The variables that its manifest names, of its openers.
    pub passed: PassedVariables,
    /// Its process.
    pub process: ProcessState,
    /// Its actions; known since its first greeting.
    pub prototypes: Rc<Vec<Prototype>>,
    /// The prefix of its own tokens (`MT`), if it has any; known since its first greeting.
    pub token_prefix: Option<String>,
    /// The minor version of the protocol that its last process spoke; 0 before its first one.
    pub minor: u16,
    /// True for an app whose state may change without an event; known since its first greeting.
    pub changes_unreported: bool,
    /// True for an app that shows each reader something else; known since its first greeting.
    pub per_reader: bool,
    /// True for an app that takes long values as files; known since its first greeting.
    pub takes_value_files: bool,
    /// The number of requests that it owes an answer to, including those that wait.
    pub owes: usize,
    /// Requests that wait until it is ready.
    pub waiting: VecDeque<QueuedRequest>,
    /// Client requests that go on once it is ready or has failed.
    pub ready_waiters: Vec<RequestId>,
    /// When it crashed, on the monotonic clock, within the last [`CRASH_WINDOW_MS`].
    pub crashes: VecDeque<u64>,
    /// Why it stays down until somebody asks for it.
    pub failed: Option<String>,
    /// How its last process ended, when that was a crash that no reader was told of yet.
    pub crashed: Option<Crash>,
    /// True when an earlier daemon had it: readers may refer to what they saw then.
    pub restored: bool,
    /// What the app said while it started, for those who have a window.
    pub notes: Vec<ForeignText>,
    /// Whether its process still answers.
    pub health: Health,
    /// Requests that its process died with.
    pub quarantine: Quarantine,
    /// How many of its notices are passed on.
    pub notices: Rate,
    /// Whether it may sleep, or does.
    pub hibernation: Hibernation,
    /// Its running jobs, by the app's keys.
    pub jobs: Vec<String>,
    /// True while a job runs that needs its process.
    pub works: bool,
    /// The last lines of its log, when it was lost.
    pub last_lines: Vec<String>,
    /// Fingerprint of the opens that were last written to disk; 0 if none were.
    pub saved: u64,
    /// The newest version of its state that it told.
    pub version: u64,
    /// The tokens of the answers that showed or used it, since the daemon started.
    pub tokens: Cell<u64>,
}

/// The state of a session's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    /// There is none; the next touch starts one.
    Down,
    /// One was wanted soon after a crash, and is started when its wait is over.
    Backoff {
        /// The incarnation that it will be.
        app: Incarnation,
        /// When it is started, on the monotonic clock.
        at: u64,
    },
    /// Started, but not greeted and opened yet.
    Starting {
        /// Its incarnation.
        app: Incarnation,
        /// When it counts as failed, on the monotonic clock.
        deadline: u64,
        /// True once its greeting came.
        greeted: bool,
    },
    /// It takes requests.
    Ready {
        /// Its incarnation.
        app: Incarnation,
    },
    /// Asked or made to end.
    Draining {
        /// Its incarnation.
        app: Incarnation,
        /// When it is killed, on the monotonic clock.
        deadline: u64,
        /// Why it was made to end; none if it was asked to.
        why: Option<String>,
        /// The signal that was sent; none if it was asked to end.
        sent: Option<Signal>,
        /// True when it took requests before.
        was_ready: bool,
    },
}

/// How a process was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// In words: `killed by signal 9`.
    pub how: String,
    /// When it was lost.
    pub at: Now,
    /// Its number within [`CRASH_WINDOW_MS`], from 1.
    pub nth: usize,
}

/// A request that waits until its session is ready.
#[derive(Debug)]
pub struct QueuedRequest {
    /// The request's number.
    pub id: u64,
    /// Its method.
    pub method: Method,
    /// The encoded body.
    pub body: Bytes,
}

impl Session {
    /// A session without a process.
    pub fn new(manifest: Rc<Manifest>, opens: Vec<SavedOpen>) -> Self {
        Self {
            manifest,
            opens,
            passed: PassedVariables::default(),
            process: ProcessState::Down,
            prototypes: Rc::new(Vec::new()),
            token_prefix: None,
            minor: 0,
            changes_unreported: false,
            per_reader: false,
            takes_value_files: false,
            owes: 0,
            waiting: VecDeque::new(),
            ready_waiters: Vec::new(),
            crashes: VecDeque::new(),
            failed: None,
            crashed: None,
            notes: Vec::new(),
            restored: false,
            health: Health::default(),
            quarantine: Quarantine::default(),
            notices: Rate::default(),
            hibernation: Hibernation::default(),
            jobs: Vec::new(),
            works: false,
            last_lines: Vec::new(),
            saved: 0,
            version: 0,
            tokens: Cell::new(0),
        }
    }

    /// A number that differs when its opens do; never 0.
    pub fn opens_fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.opens.hash(&mut hasher);
        hasher.finish().max(1)
    }

    /// Its process, if it has one.
    pub fn app(&self) -> Option<Incarnation> {
        match self.process {
            ProcessState::Down | ProcessState::Backoff { .. } => None,
            ProcessState::Starting { app, .. }
            | ProcessState::Ready { app }
            | ProcessState::Draining { app, .. } => Some(app),
        }
    }

    /// The state that it has: that of its process or, while it sleeps, of the process that saved it.
    pub fn state_version(&self) -> Option<(Incarnation, u64)> {
        let asleep = self.hibernation.asleep;
        match self.ready() {
            Some(app) => Some((app, self.version)),
            None => asleep.and_then(|asleep| Some((asleep.app, asleep.version?))),
        }
    }

    /// Its process, if that takes requests.
    pub fn ready(&self) -> Option<Incarnation> {
        match self.process {
            ProcessState::Ready { app } => Some(app),
            _ => None,
        }
    }

    /// Its process, unless that is down, waits to be started or is about to end.
    pub fn up(&self) -> Option<Incarnation> {
        match self.process {
            ProcessState::Ready { app } | ProcessState::Starting { app, .. } => Some(app),
            _ => None,
        }
    }

    /// Counts a crash. Returns how many there were within the window.
    pub fn count_crash(&mut self, now: Now) -> usize {
        self.crashes.push_back(now.mono_ms);
        while self.crashes.front().is_some_and(|at| at + CRASH_WINDOW_MS < now.mono_ms) {
            self.crashes.pop_front();
        }
        self.crashes.len()
    }

    /// How long it stays down after its last crash, in milliseconds from that crash. `salt` differs by incarnation, so
    /// that sessions which crash together don't come back at the same time.
    pub fn backoff_ms(&self, salt: u64) -> u64 {
        let again = self.crashes.len().saturating_sub(1);
        if again == 0 {
            return 0;
        }
        let wait = BACKOFF_MS.saturating_mul(1 << (again - 1).min(16)).min(BACKOFF_MAX_MS);
        let jitter = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        wait + jitter % (wait / 2 + 1)
    }

    /// True once it has crashed so often that it stays down.
    pub fn crashed_out(&self) -> bool {
        self.crashes.len() > CRASHES_MAX
    }

    /// Describes what it waits for or is busy with, for `sessions`.
    pub fn doing(&self, now: u64) -> Option<String> {
        if let ProcessState::Backoff { at, .. } = self.process {
            let ms = at.saturating_sub(now);
            return Some(format!("next start in {}.{} s", ms / 1000, ms % 1000 / 100));
        }
        let quarantined = match self.quarantine.quarantined() {
            0 => None,
            n => Some(format!("{n} in quarantine")),
        };
        let jobs = match self.jobs.len() {
            0 => None,
            1 => Some("1 job".to_owned()),
            n => Some(format!("{n} jobs")),
        };
        let busy = self.hibernation.busy.as_ref().filter(|(_, until)| *until > now);
        let busy = busy.map(|(what, _)| format!("busy: {}", quote::in_sentence(what)));
        busy.or(jobs).or(quarantined)
    }

    /// Its state in one word, for `sessions`.
    pub fn state(&self) -> &'static str {
        match &self.process {
            ProcessState::Down if self.failed.is_some() => "failed",
            ProcessState::Down if self.hibernation.asleep.is_some() => "asleep",
            ProcessState::Down => "down",
            ProcessState::Backoff { .. } => "waiting",
            ProcessState::Starting { .. } => "starting",
            ProcessState::Ready { .. } if self.health.silent() => "silent",
            ProcessState::Ready { .. } => "ready",
            ProcessState::Draining { .. } => "ending",
        }
    }
}

/// Describes an exit in words.
pub fn exit_words(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("ended with status {code}"),
        Exit::Signal(signal) => format!("killed by signal {signal}"),
        Exit::OverLimit(Limit::Cpu(seconds)) => {
            format!("ended for using more than its {seconds} s of processor time")
        }
        Exit::OverLimit(Limit::Processes(most)) => {
            format!("ended for having more than its {most} processes")
        }
        Exit::OverLimit(Limit::Memory(most)) => {
            format!(
                "ended for using more than its {} MiB of memory in all its processes",
                most >> 20
            )
        }
        Exit::OverLimit(Limit::Threads(most)) => {
            format!("ended for having more than its {most} threads")
        }
        Exit::OverLimit(Limit::Disk(most)) => {
            format!("ended for keeping more than its {} MiB on disk", most >> 20)
        }
        Exit::NearMemoryLimit { status, used, limit } => {
            let exit = if status < 0 { Exit::Signal(-status) } else { Exit::Code(status) };
            let mib = |bytes: u64| bytes.div_ceil(1 << 20);
            format!(
                "{}, with {} of its {} MiB of memory used",
                exit_words(exit),
                mib(used),
                mib(limit)
            )
        }
        Exit::Lost => "lost with the launcher".into(),
    }
}
