//! Requests to the app, with the rules that hold for each of them. A lost app is started again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pipemux_core::lint::{self, Lint};
use pipemux_proto::app::{Empty, Opened};
use pipemux_proto::codec::explain;
use pipemux_proto::hello::{FORMS, JOBS, UNREPORTED_CHANGES};
use pipemux_proto::prototype::Prototype;
use pipemux_proto::{Envelope, Fault, Hello, Incarnation, Method, Role, decode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::job_table::JobTable;
use crate::launch::{Launch, Start};
use crate::limits::{
    ACTION, ANSWER, END, END_WAIT, LOCATE, PING, PING_AFTER, PROJECT, RESTARTS, SLOW_TRIES,
};
use crate::process::{Answer, Process};
use crate::report::Report;
use crate::shown_objects::ShownObjects;
use crate::subject::{Opening, Subject};

/// A session of the app that is checked, and all that is known of it.
pub struct Session<'a> {
    pub subject: &'a Subject,
    launch: &'a mut dyn Launch,
    pub report: Report,
    /// None once the app was lost too often.
    pub process: Option<Process>,
    /// The app's actions, as it declared them first.
    pub actions: Vec<Prototype>,
    /// The minor version of the app's protocol.
    pub minor: u16,
    /// True when its state changes without a request: then fewer rules can be checked.
    pub restless: bool,
    /// The objects that its windows showed.
    pub objects: ShownObjects,
    pub jobs: JobTable,
    starts: u64,
    restarts: usize,
    /// The methods whose late answers were already reported.
    slow: BTreeSet<u8>,
}

impl<'a> Session<'a> {
    pub fn new(subject: &'a Subject, launch: &'a mut dyn Launch) -> Self {
        Self {
            subject,
            launch,
            report: Report { app: subject.main.provider.to_string(), ..Report::default() },
            process: None,
            actions: Vec::new(),
            minor: 0,
            restless: false,
            objects: ShownObjects::default(),
            jobs: JobTable::default(),
            starts: 0,
            restarts: 0,
            slow: BTreeSet::new(),
        }
    }

    /// Starts a process and opens the session. Returns none when that failed, which is reported.
    pub fn start(&mut self, place: &str, opening: Opening) -> Option<Opened> {
        self.starts += 2;
        let process = Incarnation(1000 + self.starts);
        let shared = self.subject.shares_process;
        let in_session = if shared { Incarnation(process.0 + 1) } else { process };
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
        let process = self.process.insert(Process::new(stream, process, in_session));
        let mut hello = Hello::new(Role::Daemon, concat!("pipemux ", env!("CARGO_PKG_VERSION")));
        hello.features = [FORMS, JOBS].map(str::to_owned).to_vec();
        process.send(&Envelope::event(Method::Hello, process.incarnation), &hello);
        let request = process.envelope(Method::AppOpen, ANSWER);
        let open = self.subject.open_request(&self.subject.main, opening);
        if !shared {
            process.send(&request, &open);
        }
        let greeting = process.hello(ANSWER);
        self.report.requests += 1;
        let hello = self.read_answer::<Hello>(&format!("{place} · Hello"), greeting)?.ok()?;
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
        match self.read_answer::<Opened>(&place, answer)? {
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

    /// Sends a request. Returns none when no usable answer came, which is reported; a lost app was
    /// started again.
    pub fn ask<R: DeserializeOwned>(
        &mut self,
        place: &str,
        method: Method,
        body: &impl Serialize,
    ) -> Option<Result<R, Fault>> {
        self.ask_timed(place, method, body).0
    }

    /// Like [`Checker::ask`], but also returns how long the answer took.
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
        let answered = self.read_answer(place, answer);
        match &answered {
            Some(_) => self.check_time(place, &request, body, took),
            None => self.restart(place),
        }
        (answered, took)
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

    /// Asks again what was answered late: if that is late each time, it isn't the machine. Each
    /// kind of request is reported once.
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
    fn read_answer<R: DeserializeOwned>(
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
        let process = self.process.as_ref().map_or(0, |process| process.incarnation.0);
        let end = self.launch.wait(process, END_WAIT);
        let end = end.unwrap_or_else(|| "its connection was closed, but it runs on".to_owned());
        match self.launch.last_lines().last() {
            Some(line) => format!("the process {end}; it printed last: {line}"),
            None => format!("the process {end}"),
        }
    }

    /// Reports what the app sent unasked and shouldn't have, and what its jobs reported.
    pub fn report_strays(&mut self, place: &str) {
        let Some(process) = &mut self.process else { return };
        for stray in std::mem::take(&mut process.strays) {
            self.report.add(place, stray.rule, stray.text);
        }
        for job_report in std::mem::take(&mut process.job_reports) {
            self.lints(&format!("{place} · JobReport"), lint::job_report(&job_report));
            if let Some(text) = self.jobs.record(job_report) {
                self.report.add(place, "job", text);
            }
        }
    }

    /// Waits for the end of a process that should end by itself, and kills it otherwise.
    pub fn expect_end(&mut self, place: &str, process: u64, when: &str) {
        if self.launch.wait(process, END_WAIT).is_none() {
            let text =
                format!("runs on {when}: a process that does after {} s is killed", END.as_secs());
            self.report.add(place, "end", text);
        }
        self.end_process();
        self.launch.kill(process);
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
        self.objects.forget_window();
        self.start(&format!("start after {place}"), Opening::AGAIN);
    }

    /// Kills the process.
    pub fn end_process(&mut self) {
        let Some(process) = self.process.take() else { return };
        let number = process.incarnation.0;
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
