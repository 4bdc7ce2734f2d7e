//! Requests to the app, with the rules that hold for each of them. A lost app is started again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pipemux_core::lint::{self, Lint};
use pipemux_proto::app::{Empty, OpenRequest, Opened};
use pipemux_proto::codec::explain;
use pipemux_proto::hello::{FORMS, JOBS, UNREPORTED_CHANGES};
use pipemux_proto::prototype::{Prototype, Risk};
use pipemux_proto::{Envelope, Fault, Hello, Incarnation, Method, Role, SessionAddr, decode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::launch::{Launch, Start};
use crate::limits::{
    ACTION, ANSWER, END_WAIT, LOCATE, PING, PING_AFTER, PROJECT, RESTARTS, SLOW_TRIES,
};
use crate::process::{Answer, Process};
use crate::report::Report;
use crate::run::Subject;
use crate::things::Things;

/// An app that is checked.
pub struct Checker<'a> {
    pub subject: &'a Subject,
    pub launch: &'a mut dyn Launch,
    pub report: Report,
    pub process: Option<Process>,
    /// What the app can do, as it said first.
    pub actions: Vec<Prototype>,
    /// The minor version of the protocol that it speaks.
    pub minor: u16,
    /// True when its state changes without a request: then fewer rules can be checked.
    pub restless: bool,
    /// How often its state has changed without a request.
    pub own_changes: u32,
    /// True once it was waited for a change without a request, and none came.
    pub calm: bool,
    /// The newest version that an outcome named in this life.
    pub outcome_version: u64,
    /// True when the app named a time to be woken.
    pub names_wake_time: bool,
    /// True while it is started because that time has come.
    pub due: bool,
    /// The risk of the action whose effect is looked at.
    pub cause: Option<Risk>,
    /// True when an action was sent since all of the window was looked at.
    pub sent: bool,
    /// The things that its windows showed.
    pub things: Things,
    lives: u64,
    restarts: usize,
    runs: u64,
    /// Actions that took long, and are tried once only.
    pub long: BTreeSet<String>,
    /// Each destructive action, and whether there was something that it could be tried on.
    pub tried: BTreeMap<String, bool>,
    /// Each action that was called as its prototype has it: why it failed last, or `None` once it was done.
    pub failing: BTreeMap<String, Option<String>>,
    /// The keys of the jobs that were started, and of those that ended.
    pub jobs: BTreeSet<String>,
    pub ended_jobs: BTreeSet<String>,
    /// The methods whose answers were reported as late.
    slow: BTreeSet<u8>,
}

impl<'a> Checker<'a> {
    pub fn new(subject: &'a Subject, launch: &'a mut dyn Launch) -> Self {
        Self {
            subject,
            launch,
            report: Report { app: subject.main.provider.to_string(), ..Report::default() },
            process: None,
            actions: Vec::new(),
            minor: 0,
            restless: false,
            own_changes: 0,
            calm: false,
            outcome_version: 0,
            names_wake_time: false,
            due: false,
            cause: None,
            sent: false,
            things: Things::default(),
            lives: 0,
            restarts: 0,
            runs: 0,
            long: BTreeSet::new(),
            tried: BTreeMap::new(),
            failing: BTreeMap::new(),
            jobs: BTreeSet::new(),
            ended_jobs: BTreeSet::new(),
            slow: BTreeSet::new(),
        }
    }

    /// Returns an id for the next run.
    pub fn next_run(&mut self) -> String {
        self.runs += 1;
        format!("check-{}", self.runs)
    }

    /// Starts a process and opens the session. Returns none when that failed, which is reported.
    pub fn start(&mut self, place: &str, again: bool, woken: Option<u64>) -> Option<Opened> {
        self.lives += 2;
        let process = Incarnation(1000 + self.lives);
        let shared = self.subject.shares_process;
        let life = if shared { Incarnation(process.0 + 1) } else { process };
        let start = Start {
            incarnation: process.0,
            cwd: self.subject.root.join("work"),
            env: self.subject.env.clone(),
        };
        let stream = match self.launch.start(&start) {
            Ok(stream) => stream,
            Err(why) => {
                self.report.add(place, "start", why);
                return None;
            }
        };
        self.outcome_version = 0;
        let process = self.process.insert(Process::new(stream, process, life));
        let mut hello = Hello::new(Role::Daemon, concat!("pipemux ", env!("CARGO_PKG_VERSION")));
        hello.features = [FORMS, JOBS].map(str::to_owned).to_vec();
        process.send(&Envelope::event(Method::Hello, process.process), &hello);
        let request = process.envelope(Method::AppOpen, ANSWER);
        let mut open = self.subject.open_request(&self.subject.main, again, woken);
        open.due = self.due;
        if !shared {
            process.send(&request, &open);
        }
        let greeting = process.hello(ANSWER);
        self.report.requests += 1;
        let hello = self.taken::<Hello>(&format!("{place} · Hello"), greeting)?.ok()?;
        if self.actions.is_empty() {
            self.lints("hello", lint::hello(&hello));
            self.restless |= hello.features.iter().any(|feature| feature == UNREPORTED_CHANGES);
            self.minor = hello.protocol.minor;
            self.actions = hello.prototypes;
        }
        if hello.protocol.major != pipemux_proto::hello::PROTOCOL.major {
            return None;
        }
        let process = self.process.as_mut()?;
        if shared {
            process.send(&request, &open);
        }
        let answer = process.answer(&request, ANSWER);
        let place = format!("{place} · AppOpen");
        match self.taken::<Opened>(&place, answer)? {
            Ok(opened) => {
                self.lints(&place, lint::opened(&opened));
                if !opened.jobs.is_empty() {
                    let text = "names jobs that the open didn't: only those among its `jobs` go on";
                    self.report.add(&place, "jobs", text);
                }
                Some(opened)
            }
            Err(fault) => {
                let args = self.subject.args.join(" ");
                self.report.add(
                    &place,
                    "open",
                    format!("refused to open with the arguments [{args}]: {}; name some that it takes: pipemux app check MANIFEST -- ARGS", fault.message),
                );
                self.end_process();
                None
            }
        }
    }

    /// Sends a request. Returns none when no usable answer came, which is reported; a lost app was started again.
    pub fn ask<R: DeserializeOwned>(
        &mut self,
        place: &str,
        method: Method,
        body: &impl Serialize,
    ) -> Option<Result<R, Fault>> {
        self.ask_timed(place, method, body).0
    }

    /// As [`Checker::ask`]; returns how long the answer took, too.
    pub fn ask_timed<R: DeserializeOwned>(
        &mut self,
        place: &str,
        method: Method,
        body: &impl Serialize,
    ) -> (Option<Result<R, Fault>>, Duration) {
        let Some(process) = self.process.as_mut() else { return (None, Duration::ZERO) };
        self.report.requests += 1;
        let most = if method == Method::Invoke { ACTION } else { ANSWER };
        let request = process.envelope(method, most);
        let began = Instant::now();
        process.send(&request, body);
        let answer = match method {
            Method::Invoke => self.wait_for_action(place, &request),
            _ => process.answer(&request, most),
        };
        let took = began.elapsed();
        let taken = self.taken(place, answer);
        match &taken {
            Some(_) => self.check_time(place, &request, body, took),
            None => self.restart(place),
        }
        (taken, took)
    }

    /// Waits for the outcome of an action, which may take long as long as the app answers a `Ping`.
    fn wait_for_action(&mut self, place: &str, request: &Envelope) -> Answer {
        let Some(process) = self.process.as_mut() else { return Answer::Late };
        match process.answer(request, PING_AFTER) {
            Answer::Late => {}
            answer => return answer,
        }
        let ping = process.envelope(Method::Ping, PING);
        process.send(&ping, &Empty {});
        let answer = process.answer(&ping, PING);
        match answer {
            Answer::Lost(why) => return Answer::Lost(why),
            Answer::Late => {
                process.give_up(&ping);
                let text = format!(
                    "works for more than {} s without answering a Ping: views show it as silent; work on another thread, or in pieces",
                    PING_AFTER.as_secs()
                );
                self.report.add(place, "ping", text);
            }
            Answer::Reply(_) | Answer::Fault(_) => {}
        }
        let Some(process) = self.process.as_mut() else { return Answer::Late };
        process.answer(request, ACTION - PING_AFTER - PING)
    }

    /// Asks again what was answered late: if that is late each time, it isn't the machine. Each kind of request is
    /// reported once.
    fn check_time(
        &mut self,
        place: &str,
        request: &Envelope,
        body: &impl Serialize,
        took: Duration,
    ) {
        let method = request.method;
        let Some(most) = time_for(method).filter(|most| took > *most) else { return };
        if self.slow.contains(&(method as u8)) {
            return;
        }
        for _ in 1..SLOW_TRIES {
            let Some(process) = self.process.as_mut() else { return };
            let request = process.envelope(method, ANSWER);
            let began = Instant::now();
            process.send(&request, body);
            let answer = process.answer(&request, ANSWER);
            if began.elapsed() <= most || !matches!(answer, Answer::Reply(_) | Answer::Fault(_)) {
                return;
            }
        }
        self.slow.insert(method as u8);
        let text = format!(
            "takes longer than {} ms, {SLOW_TRIES} times in a row: readers get what was shown before, or no answer",
            most.as_millis()
        );
        self.report.add(place, "slow", text);
    }

    /// Reads an answer. Returns none when there is no usable one, which is reported.
    fn taken<R: DeserializeOwned>(
        &mut self,
        place: &str,
        answer: Answer,
    ) -> Option<Result<R, Fault>> {
        self.report_strays(place);
        match answer {
            Answer::Reply(body) => match decode(&body) {
                Ok(message) => Some(Ok(message)),
                Err(_) => {
                    let why = explain::<R>(&body);
                    let text = format!("can't be read, for which the process is ended: {why}");
                    self.report.add(place, "unreadable", text);
                    None
                }
            },
            Answer::Fault(fault) => {
                self.lints(place, lint::fault(&fault));
                Some(Err(fault))
            }
            Answer::Late => {
                self.report.add(place, "no-answer", "no answer came; every request gets one");
                None
            }
            Answer::Lost(Some(why)) => {
                self.report.add(place, "framing", why);
                None
            }
            Answer::Lost(None) => {
                let text = self.end_words();
                self.report.add(place, "crash", text);
                None
            }
        }
    }

    /// Says how the process ended, and what it printed last.
    fn end_words(&mut self) -> String {
        let process = self.process.as_ref().map_or(0, |process| process.process.0);
        let end = self.launch.wait(process, END_WAIT);
        let end = end.unwrap_or_else(|| "its connection was closed, but it runs on".to_owned());
        match self.launch.last_lines().last() {
            Some(line) => format!("the process {end}; it printed last: {line}"),
            None => format!("the process {end}"),
        }
    }

    pub fn report_strays(&mut self, place: &str) {
        let strays = self.process.as_mut().map(|process| std::mem::take(&mut process.strays));
        for stray in strays.unwrap_or_default() {
            self.report.add(place, stray.rule, stray.text);
        }
        let reports = self.process.as_mut().map(|process| std::mem::take(&mut process.job_reports));
        self.job_reports(place, reports.unwrap_or_default());
    }

    /// Adds what is to be mended in a message.
    pub fn lints(&mut self, place: &str, lints: Vec<Lint>) {
        for Lint { path, rule, text } in lints {
            self.report.add(&format!("{place} · {path}"), rule, text);
        }
    }

    /// Starts a lost app again, unless it was lost too often.
    fn restart(&mut self, place: &str) {
        self.end_process();
        self.restarts += 1;
        if self.restarts > RESTARTS {
            self.report.note(format!("the rest, since the app was lost {RESTARTS} times"));
            return;
        }
        self.things.forget_windows();
        self.start(&format!("start after {place}"), true, None);
    }

    /// Kills the process.
    pub fn end_process(&mut self) {
        let Some(process) = self.process.take() else { return };
        let number = process.process.0;
        process.close();
        self.launch.kill(number);
        self.launch.wait(number, END_WAIT);
    }
}

/// Returns how long an answer may take before readers notice.
fn time_for(method: Method) -> Option<Duration> {
    match method {
        Method::Project => Some(PROJECT),
        Method::Locate => Some(LOCATE),
        Method::AppRead => Some(PING),
        _ => None,
    }
}

impl Subject {
    /// Makes the message for an open of a session.
    pub fn open_request(
        &self,
        session: &SessionAddr,
        again: bool,
        woken: Option<u64>,
    ) -> OpenRequest {
        let path = |name: &str| self.root.join(name);
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let state = path("state").join(session.session.as_str());
        // Without it the app itself says what it misses.
        let _ = std::fs::create_dir_all(&state);
        OpenRequest {
            session: session.clone(),
            attach: false,
            again,
            args: self.args.clone(),
            cwd: text(path("work")),
            env: self.env.iter().cloned().collect(),
            state_dir: text(state),
            woken,
            due: false,
            jobs: Vec::new(),
        }
    }
}
