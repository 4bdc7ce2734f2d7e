//! A scenario while it is played: the clock, the frames in flight, and all models.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pipemux_core::{ClientId, DiskFailure, Event, Exit, Now};
use pipemux_proto::{Frame, Incarnation};

use crate::action::{Action, Behaviour};
use crate::clients::Connection;
use crate::daemon::Daemon;
use crate::jobs::JobsModel;
use crate::knowledge::ReaderKnowledge;
use crate::law::{LawResult, Statistics, law};
use crate::pins::Pins;
use crate::process::Process;
use crate::requests::Request;
use crate::rounds::Rounds;
use crate::runs::Runs;
use crate::scenario::ScenarioKind;
use crate::sessions::{READERS, SESSIONS, SessionKey};
use crate::store::Store;
use crate::undos::Undos;
use crate::windows::Windows;

/// Something that will arrive later.
#[derive(Debug)]
pub enum InFlight {
    /// A frame, to a process.
    ToApp(Incarnation, Frame),
    /// A frame, from a process.
    FromApp(Incarnation, Frame),
    Started(Incarnation),
    StartFailed(Incarnation),
    Closed(Incarnation),
    BrokenLaw(Incarnation),
    Exited(Incarnation, Exit),
    ClientGone(ClientId),
    LogRead(u64),
}

/// The world around the daemon, and the models of what clients and apps saw.
pub struct Sim {
    pub kind: ScenarioKind,
    /// Milliseconds since the scenario began. Each daemon's own clock begins with the daemon.
    pub time: u64,
    began: u64,
    pub daemon: Daemon,
    pub stores: BTreeMap<SessionKey, Store>,
    pub behaviours: BTreeMap<SessionKey, Behaviour>,
    pub processes: BTreeMap<Incarnation, Process>,
    /// All incarnations that were ever begun, and the processes whose end this daemon knows.
    pub begun: BTreeSet<Incarnation>,
    pub ended: BTreeSet<Incarnation>,
    /// The last incarnation of all earlier daemons.
    pub last_before: Incarnation,
    /// The sessions whose directory was made.
    pub prepared: BTreeSet<SessionKey>,
    pub in_flight: BTreeMap<(u64, u64), InFlight>,
    sequence: u64,
    pub queue: VecDeque<Event>,
    pub clients: BTreeMap<ClientId, Connection>,
    pub next_client: u64,
    pub kept: [Option<ClientId>; READERS.len()],
    pub requests: Vec<Request>,
    pub next_run: u64,
    /// The ids that clients gave runs, by what apps know them by.
    pub pseudonyms: BTreeMap<String, String>,
    pub knowledge: ReaderKnowledge,
    pub runs: Runs,
    pub rounds: Rounds,
    pub undos: Undos,
    pub windows: Windows,
    pub pins: Pins,
    pub jobs: JobsModel,
    /// The answers in the calm workspace.
    pub calm: Vec<String>,
    pub statistics: Statistics,
    paces: BTreeMap<SessionKey, u64>,
    /// Until when each session has been open.
    pub open_until: BTreeMap<SessionKey, u64>,
    /// The number of stores that each session had.
    pub discarded: BTreeMap<SessionKey, u32>,
    /// True once a daemon ended while the disk was full, so that records may be lost.
    pub lossy: bool,
}

impl Sim {
    pub fn new(kind: ScenarioKind, twin: bool) -> Self {
        let store = |session_key: SessionKey| {
            let mut store = Store::new(session_key.tag(), 1);
            store.works = !session_key.is_calm();
            (session_key, store)
        };
        Self {
            kind,
            time: 0,
            began: 0,
            daemon: Daemon::first(kind.hosts, twin),
            stores: (0..SESSIONS).map(SessionKey).map(store).collect(),
            behaviours: BTreeMap::new(),
            processes: BTreeMap::new(),
            begun: BTreeSet::new(),
            ended: BTreeSet::new(),
            last_before: Incarnation(0),
            prepared: BTreeSet::new(),
            in_flight: BTreeMap::new(),
            sequence: 0,
            queue: VecDeque::new(),
            clients: BTreeMap::new(),
            next_client: 0,
            kept: [None; READERS.len()],
            requests: Vec::new(),
            next_run: 0,
            pseudonyms: BTreeMap::new(),
            knowledge: ReaderKnowledge::default(),
            runs: Runs::default(),
            rounds: Rounds::default(),
            undos: Undos::default(),
            windows: Windows::default(),
            pins: Pins::default(),
            jobs: JobsModel::default(),
            calm: Vec::new(),
            statistics: Statistics::default(),
            paces: BTreeMap::new(),
            open_until: BTreeMap::new(),
            discarded: BTreeMap::new(),
            lossy: false,
        }
    }

    /// Plays one action and everything that follows from it at once.
    pub fn step(&mut self, action: &Action) -> LawResult {
        self.statistics.count("steps");
        if self.act(action)? {
            self.statistics.count(format!("action {}", crate::coverage::action(action)));
        }
        self.settle(self.time)?;
        self.check_log_watches()?;
        self.check_deadlines()
    }

    /// Lets all timers run out, and checks that every request was answered and nothing is left.
    pub fn end(&mut self) -> LawResult {
        self.daemon.crash_in = None;
        for round in 0..10_000 {
            if !self.requests.iter().any(Request::is_open) && !self.behaviours.is_empty() {
                // Every request was answered in spite of the misbehaving apps. They behave from now
                // on, because a daemon never stops looking after an app that misbehaves for ever.
                for session_key in std::mem::take(&mut self.behaviours).into_keys() {
                    self.behave(session_key, Behaviour::Normal)?;
                }
                self.behaviours.clear();
            }
            if !self.requests.iter().any(Request::is_open) {
                // A session with a running job doesn't sleep.
                self.finish_jobs();
            }
            let first = self.in_flight.keys().next().map(|(at, _)| *at);
            let due = self.daemon.next_timeout().map(|at| self.time_of(at));
            let rests = self.pins.ever && round > 300 && first.is_none();
            let rests = rests && !self.requests.iter().any(Request::is_open);
            let Some(at) = [first, due].into_iter().flatten().min().filter(|_| !rests) else {
                self.check_log_watches()?;
                self.check_deadlines()?;
                self.check_all_answered()?;
                self.check_idle()?;
                self.check_no_job_left()?;
                return self.check_promises();
            };
            self.settle(at.max(self.time))?;
            self.check_deadlines()?;
        }
        law!(false, "timers run out", "next at {:?}", self.daemon.next_timeout());
        Ok(())
    }

    fn act(&mut self, action: &Action) -> LawResult<bool> {
        match action {
            Action::Ask(who, ask, options) => self.ask(*who, ask, *options),
            Action::Repeat(pick) => self.repeat_request(*pick),
            Action::Confirm(pick) => self.confirm_late(*pick),
            Action::Cancel(pick) => self.cancel(*pick),
            Action::Vanish(pick, late) => self.vanish(*pick, *late),
            Action::BreakProtocol(breach) => self.break_protocol(*breach),
            Action::FloodClient(who) => self.flood_client(*who),
            Action::FloodApp(who, addr) => self.flood_app(*who, addr),
            Action::Change(session_key, change) => {
                let store = self.stores.get_mut(&SessionKey(*session_key));
                Ok(store.map(|store| store.change(*change)).is_some())
            }
            Action::Behaviour(session_key, behaviour) => {
                self.behave(SessionKey(*session_key), *behaviour)
            }
            Action::Kill(session_key) => self.kill(SessionKey(*session_key)),
            Action::HalfOpen(session_key) => self.half_open(SessionKey(*session_key)),
            Action::RogueMessage(session_key, rogue) => {
                self.rogue(SessionKey(*session_key), *rogue)
            }
            Action::Chatter(session_key, times, news) => {
                self.chatter(SessionKey(*session_key), *times, *news)
            }
            Action::LauncherLost => self.lose_launcher(),
            Action::Pass(ms) => self.settle(self.time + ms).map(|()| true),
            Action::CrashDaemon(0) => self.crash().map(|()| true),
            Action::CrashDaemon(after) => {
                self.daemon.crash_in = Some(*after);
                Ok(true)
            }
            Action::DiskFull(full) if *full == self.daemon.disk_full => Ok(false),
            Action::DiskFull(full) => {
                self.daemon.disk_full = *full;
                if !full {
                    let unwritten = std::mem::take(&mut self.daemon.unwritten);
                    self.daemon.records.extend(unwritten);
                }
                let next = "make room".to_owned();
                let failing = full.then(|| DiskFailure { why: "no space left".into(), next });
                self.handle_event(Event::Disk { failing }).map(|()| true)
            }
            Action::Stop => {
                self.daemon.stopping = true;
                self.handle_event(Event::Stop).map(|()| true)
            }
            Action::Compact => {
                self.daemon.compact();
                Ok(true)
            }
        }
    }

    /// Returns the daemon's clocks.
    pub fn now(&self) -> Now {
        let mono_ms = 1 + self.time - self.began;
        Now { mono_ms, unix_ms: 1_765_360_800_000 + self.time }
    }

    fn time_of(&self, mono_ms: u64) -> u64 {
        (mono_ms + self.began).saturating_sub(1)
    }

    /// Lets time pass, with everything that is due in it.
    pub fn settle(&mut self, until: u64) -> LawResult {
        for turns in 0.. {
            law!(turns < 100_000, "due events run out", "at {} ms", self.time);
            let first = self.in_flight.keys().next().copied();
            let due = self.daemon.next_timeout().map(|at| self.time_of(at));
            match (first.filter(|(at, _)| *at <= until), due.filter(|at| *at <= until)) {
                (Some(key), due) if due.is_none_or(|at| key.0 <= at) => {
                    self.time = self.time.max(key.0);
                    if let Some(due) = self.in_flight.remove(&key) {
                        self.deliver(due)?;
                    }
                }
                (_, Some(at)) => {
                    self.time = self.time.max(at);
                    let effects = self.daemon.handle_timeout(self.now())?;
                    self.carry_out(effects)?;
                    self.drain()?;
                }
                _ => break,
            }
        }
        self.time = self.time.max(until);
        Ok(())
    }

    /// Puts something in flight.
    pub fn send(&mut self, after: u64, due: InFlight) {
        self.sequence += 1;
        self.in_flight.insert((self.time + after, self.sequence), due);
    }

    /// Returns how long a process takes for its next answer, in milliseconds; the same each time a
    /// scenario is played.
    pub fn pace(&mut self, session_key: SessionKey) -> u64 {
        let count = self.paces.entry(session_key).or_default();
        *count += 1;
        match *count * 7 % 11 {
            0..7 => 0,
            7..9 => 1,
            _ => 6,
        }
    }

    /// Hands an event to the daemon, and everything that follows from it at once.
    pub fn handle_event(&mut self, event: Event) -> LawResult {
        self.queue.push_back(event);
        self.drain()
    }

    pub fn drain(&mut self) -> LawResult {
        let daemon = self.daemon.nth;
        for turns in 0.. {
            law!(turns < 100_000, "an event causes finitely many events", "at {} ms", self.time);
            let Some(event) = self.queue.pop_front() else { break };
            self.note_event(&event);
            let effects = self.daemon.handle(event, self.now())?;
            self.carry_out(effects)?;
            if self.daemon.nth != daemon {
                break;
            }
        }
        Ok(())
    }

    /// Kills the daemon and everything with it; another one starts on the same disk.
    pub fn crash(&mut self) -> LawResult {
        self.statistics.count("daemon killed");
        crate::play::trace(|| format!("daemon {} is killed", self.daemon.nth));
        self.lossy |= self.daemon.disk_full;
        self.restart_daemon()
    }

    pub fn restart_daemon(&mut self) -> LawResult {
        if !self.daemon.unwritten.is_empty() {
            self.knowledge.lose_all();
            self.requests.iter_mut().for_each(|request| request.clicked = None);
            self.windows.forget_all();
            self.pins.forget_all();
            self.rounds.forget_all(self.requests.len());
            self.undos.forget_all();
            self.jobs.forget_unwritten(&self.daemon.records);
            self.begun.clear();
        }
        self.queue.clear();
        self.in_flight.clear();
        self.processes.clear();
        self.open_until.values_mut().for_each(|until| *until = self.time.min(*until));
        self.ended.clear();
        self.last_before = self.begun.last().copied().unwrap_or_default();
        self.clients.clear();
        self.kept = Default::default();
        self.began = self.time;
        self.next_client = 0;
        for index in 0..self.requests.len() {
            if self.requests[index].is_open() {
                self.requests[index].lost = true;
                self.note_lost(index);
            }
        }
        self.knowledge.lose_daemon();
        self.jobs.lose_daemon();
        self.runs.kept.lose_daemon();
        self.daemon.restart()
    }
}
