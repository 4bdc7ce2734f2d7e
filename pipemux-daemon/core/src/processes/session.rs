//! The state of one session: its process, its opens, its crashes.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use pipemux_proto::ids::Incarnation;
use pipemux_proto::prototype::Prototype;

use crate::event::{Exit, Limit, Signal};
use crate::foreign::{ForeignText, Speaker, quote};
use crate::keys::{RequestId, SessionKey};
use crate::manifest::{Isolation, Manifest};
use crate::persist::records::SavedOpen;
use crate::processes::app_profile::AppProfile;
use crate::processes::crash_history::CrashHistory;
use crate::processes::health::Health;
use crate::processes::hibernation::Hibernation;
use crate::processes::opens::Opens;
use crate::processes::owed_requests::OwedRequests;
use crate::processes::passed_variables::PassedVariables;
use crate::processes::quarantine::Quarantine;
use crate::rate::Rate;
use crate::turn::Turn;

/// All sessions, by key.
pub type Sessions = BTreeMap<SessionKey, Session>;

/// Returns whose sentences come from a session.
pub fn speaker<'a>(sessions: &Sessions, key: &'a SessionKey) -> Speaker<'a> {
    let manifest = sessions.get(key).map(|session| &session.manifest);
    let built_in = manifest.is_some_and(|manifest| manifest.built_in.is_some());
    Speaker { provider: key.addr.provider.as_str(), built_in }
}

/// An instance of an app.
#[derive(Debug)]
pub struct Session {
    pub key: SessionKey,
    pub manifest: Rc<Manifest>,
    /// The opens of the session, which are repeated after a restart.
    pub opens: Opens,
    /// The variables of the openers that the manifest names.
    pub passed: PassedVariables,
    pub process: ProcessState,
    /// The actions of the session, known since its first greeting.
    pub prototypes: Rc<Vec<Prototype>>,
    /// The other properties that the app declared in its last greeting.
    pub profile: AppProfile,
    /// The requests that it has not answered.
    pub owed: OwedRequests,
    /// Client requests that go on once it is ready or has failed.
    pub ready_waiters: Vec<RequestId>,
    /// The losses of the session's processes.
    pub crashes: CrashHistory,
    /// The reason why the session stays down until somebody asks for it.
    pub failed: Option<String>,
    /// True when an earlier daemon had it: readers may refer to what they saw then.
    pub restored: bool,
    /// The app's messages during the start, for those who have a window.
    pub notes: Vec<ForeignText>,
    pub health: Health,
    /// Requests that its process died with.
    pub quarantine: Quarantine,
    /// The rate limit of the session's notices.
    pub notices: Rate,
    pub hibernation: Hibernation,
    pub jobs: RunningJobs,
    /// The newest version of its state that the session named.
    pub version: u64,
    /// The tokens of answers that showed or used the session since the daemon started.
    pub tokens: Cell<u64>,
}

/// The state of a session's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessState {
    /// There is no process; the next use of the session starts one.
    Down,
    /// A process was wanted soon after a crash, and starts when its wait is over.
    Backoff {
        /// The incarnation of the process to be started.
        app: Incarnation,
        /// The time of the start, on the monotonic clock.
        at: u64,
    },
    /// Started, but not greeted and opened yet.
    Starting {
        app: Incarnation,
        /// The time at which the start counts as failed, on the monotonic clock.
        deadline: u64,
        /// True once its greeting came.
        greeted: bool,
    },
    /// The process accepts requests.
    Ready { app: Incarnation },
    /// Asked or made to end.
    Draining {
        app: Incarnation,
        /// The time at which the process is killed, on the monotonic clock.
        deadline: u64,
        /// The reason why the process was forced to end; `None` if it was asked to.
        why: Option<String>,
        /// The signal that was sent; `None` if the process was asked to end.
        sent: Option<Signal>,
        /// True when it took requests before.
        was_ready: bool,
    },
}

/// The unfinished jobs of a session.
#[derive(Debug, Default)]
pub struct RunningJobs {
    /// The app's keys of the jobs.
    pub keys: Vec<String>,
    /// True while one of them needs the session's process.
    pub need_process: bool,
}

impl Session {
    /// Creates a session without a process.
    pub fn new(key: SessionKey, manifest: Rc<Manifest>) -> Self {
        Self {
            key,
            manifest,
            opens: Opens::default(),
            passed: PassedVariables::default(),
            process: ProcessState::Down,
            prototypes: Rc::new(Vec::new()),
            profile: AppProfile::default(),
            owed: OwedRequests::default(),
            ready_waiters: Vec::new(),
            crashes: CrashHistory::default(),
            failed: None,
            notes: Vec::new(),
            restored: false,
            health: Health::default(),
            quarantine: Quarantine::default(),
            notices: Rate::default(),
            hibernation: Hibernation::default(),
            jobs: RunningJobs::default(),
            version: 0,
            tokens: Cell::new(0),
        }
    }

    /// Creates a session of an earlier daemon. Variable values that an older release saved are from
    /// now on kept in memory only.
    pub(super) fn restored(
        key: SessionKey,
        manifest: Rc<Manifest>,
        mut opens: Vec<SavedOpen>,
    ) -> Self {
        let values: Vec<PassedVariables> = opens.iter_mut().map(SavedOpen::take_values).collect();
        let mut session = Self::new(key, manifest);
        session.opens = Opens::restored(opens);
        for newer in values {
            session.passed.update(newer);
        }
        session
    }

    /// The incarnation of the session's process, if it has one.
    pub fn app(&self) -> Option<Incarnation> {
        match self.process {
            ProcessState::Down | ProcessState::Backoff { .. } => None,
            ProcessState::Starting { app, .. }
            | ProcessState::Ready { app }
            | ProcessState::Draining { app, .. } => Some(app),
        }
    }

    /// The process and version of the session's current state; for a hibernated session, those of
    /// the process that saved it.
    pub fn state_version(&self) -> Option<(Incarnation, u64)> {
        let asleep = self.hibernation.asleep;
        match self.ready() {
            Some(app) => Some((app, self.version)),
            None => asleep.and_then(|asleep| Some((asleep.app, asleep.version?))),
        }
    }

    /// The incarnation of the session's process, if that accepts requests.
    pub fn ready(&self) -> Option<Incarnation> {
        match self.process {
            ProcessState::Ready { app } => Some(app),
            _ => None,
        }
    }

    /// The incarnation of the session's process, if that is ready or starting.
    pub fn up(&self) -> Option<Incarnation> {
        match self.process {
            ProcessState::Ready { app } | ProcessState::Starting { app, .. } => Some(app),
            _ => None,
        }
    }

    /// True once its process was asked or made to end.
    pub fn is_draining(&self) -> bool {
        matches!(self.process, ProcessState::Draining { .. })
    }

    /// True if its process is about to exit and no open is left: its first open was refused, or the
    /// session was ended.
    pub fn is_ending_for_good(&self) -> bool {
        self.is_draining() && self.opens.is_empty()
    }

    /// True while its process isn't ready to take requests.
    pub fn is_starting(&self) -> bool {
        self.ready().is_none()
    }

    /// True when it shares its process, or will.
    pub fn shares_process(&self) -> bool {
        self.manifest.isolation == Isolation::Provider
    }

    /// A client's request goes on once it is ready ([`ReadyProcess::waiters`]) or has ended
    /// ([`EndedProcess::waiters`]).
    ///
    /// [`ReadyProcess::waiters`]: crate::processes::ReadyProcess::waiters
    /// [`EndedProcess::waiters`]: crate::processes::EndedProcess::waiters
    pub fn wait_until_ready(&mut self, request: RequestId) {
        self.ready_waiters.push(request);
    }

    /// Forgets the opens of a session that its user ended for good; it may be started again.
    pub fn forget_opens(&mut self) {
        self.opens.forget();
        self.failed = None;
    }

    /// A user asks for a fresh start: failures, crashes and quarantined requests are forgotten.
    pub fn forgive(&mut self) {
        self.failed = None;
        self.crashes.forgive();
        self.quarantine.lift();
    }

    /// Records the version of the app's state. Returns true if it is newer than before.
    pub fn set_version(&mut self, version: u64) -> bool {
        let newer = version > self.version;
        self.version = self.version.max(version);
        newer
    }

    /// Writes its opens down, unless they already are.
    pub fn save(&mut self, turn: &mut Turn) {
        self.opens.save(turn, &self.key);
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
        let jobs = match self.jobs.keys.len() {
            0 => None,
            1 => Some("1 job".to_owned()),
            n => Some(format!("{n} jobs")),
        };
        let busy = self.hibernation.busy.as_ref().filter(|(_, until)| *until > now);
        let busy = busy.map(|(what, _)| format!("busy: {}", quote::in_sentence(what)));
        busy.or(jobs).or(quarantined)
    }

    /// The state of the session in one word, for `sessions`.
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
