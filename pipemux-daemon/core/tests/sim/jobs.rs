//! Jobs: what the daemon writes down of them and tells of them, against what apps report.
//!
//! | law | why it must hold |
//! |---|---|
//! | a job has one end | readers act on it: a job that failed after it was done would be reported twice, differently |
//! | a number names one job | `pipemux read job:3` would show another job's output |
//! | an end is told as it is | the reader acts on it |
//! | a confirmed end isn't told again | its reader would take it for another job's |
//! | an end counts as told only when it was | its reader would never hear of it |
//! | no job is left running without a process | whoever waits for it would wait in vain |

use std::collections::{BTreeMap, BTreeSet};

use pipemux_core::ClientId;
use pipemux_core::saved::{Record, SavedJob};
use pipemux_proto::client::{Answer, Body, Verb};
use pipemux_proto::job::{JobEnd, JobReport};
use pipemux_proto::{Envelope, Incarnation, Method, Value};

use crate::action::Behaviour;
use crate::law::{LawResult, law};
use crate::process::frame;
use crate::sessions::{READERS, SessionKey, WORKSPACES};
use crate::sim::Sim;

/// A reader: the key of its workspace, and its name.
type JobReader = (String, String);

/// What is known of all jobs.
#[derive(Debug, Default)]
pub struct JobsModel {
    by_number: BTreeMap<u64, SavedJob>,
    /// The ends that answers told each reader, and those that it has confirmed.
    told: BTreeSet<(u64, JobReader)>,
    confirmed: BTreeSet<(u64, JobReader)>,
    /// The ends that answers told which their readers haven't confirmed, by delivery.
    deliveries: BTreeMap<u64, (JobReader, Vec<u64>)>,
    /// True once there was a flood of requests whose answers nobody sees: they push out deliveries,
    /// and nobody knows which.
    flooded: bool,
    /// The deliveries of the confirmations that the daemon hasn't replied to, by client and
    /// request.
    confirming: BTreeMap<(ClientId, u64), u64>,
}

impl JobsModel {
    /// Takes in a record.
    pub fn record(&mut self, record: &Record) -> LawResult {
        match record {
            Record::Job(job) => {
                if let Some(known) = self.by_number.get(&job.number) {
                    let same = (&known.session, &known.workspace, &known.key)
                        == (&job.session, &job.workspace, &job.key);
                    law!(same, "a number names one job", "{known:?}, then {job:?}");
                    law!(
                        known.end.is_none() || known.end == job.end,
                        "a job has one end",
                        "{known:?}, then {job:?}"
                    );
                }
                self.by_number.insert(job.number, (**job).clone());
            }
            Record::JobTold { job, workspace, reader } => {
                let told = (*job, (workspace.clone(), reader.clone()));
                law!(
                    self.told.contains(&told),
                    "an end counts as told only when it was",
                    "{told:?}"
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// The daemon was lost with what it had not written: whatever it said may be unknown now, but
    /// for what the disk has.
    pub fn forget_unwritten(&mut self, written: &[Record]) {
        *self = Self::default();
        for record in written {
            if let Record::Job(job) = record {
                self.by_number.insert(job.number, (**job).clone());
            }
        }
    }

    /// The daemon was lost: the next one numbers its deliveries from the beginning.
    pub fn lose_daemon(&mut self) {
        self.deliveries.clear();
        self.flooded = false;
        self.confirming.clear();
    }

    /// Returns the jobs that answers tell by this name: a number, as data always has it, or a key,
    /// with the session where that isn't the main one.
    fn named<'j>(&'j self, name: &'j str) -> impl Iterator<Item = &'j SavedJob> {
        self.by_number.values().filter(move |job| {
            let key = name.strip_prefix(&*job.session).and_then(|rest| rest.strip_prefix(':'));
            name.parse() == Ok(job.number) || (job.named && key.unwrap_or(name) == job.key)
        })
    }

    /// A client is about to confirm a delivery.
    pub fn note_confirmation(&mut self, client: ClientId, id: u64, delivery: u64) {
        if !self.flooded {
            self.confirming.insert((client, id), delivery);
        }
    }

    /// A flood of requests begins whose answers nobody sees.
    pub fn note_flood(&mut self) {
        self.flooded = true;
    }
}

impl Sim {
    /// Checks the ends that an answer tells.
    pub fn check_jobs(&mut self, index: usize, answer: &Answer) -> LawResult {
        let request = &self.requests[index];
        let (workspace, reader) = READERS[request.who];
        let reader = (format!("/{}", WORKSPACES[workspace]), reader.to_owned());
        let lines: Vec<String> = match &answer.body {
            Body::Text(text) => text.lines().map(str::to_owned).collect(),
            Body::Report(report) => report.notices.clone(),
            Body::Data(Value::Map(job)) => {
                let field = |name: &str| job.iter().find(|(key, _)| key == name).map(|(_, of)| of);
                match (field("number"), field("state")) {
                    (Some(Value::Int(number)), Some(Value::Str(state))) => {
                        vec![format!("job {number} {state} after")]
                    }
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        };
        let mut ends = Vec::new();
        for line in &lines {
            let Some((name, state)) = told_end(line) else { continue };
            // Jobs of several sessions may have the same name: which of them is told can't be seen
            // from here.
            let named: Vec<&SavedJob> = self.jobs.named(name).collect();
            let ended = |job: &&&SavedJob| job.end.as_ref().is_some_and(|end| end.state == state);
            let meant: Vec<u64> = named.iter().filter(ended).map(|job| job.number).collect();
            law!(!meant.is_empty(), "an end is told as it is", "{line}: {named:?}");
            let mut confirmed = meant.iter().map(|number| (*number, reader.clone()));
            let again = confirmed.all(|end| self.jobs.confirmed.contains(&end));
            // Who asks for the job is told what became of it as often as it is asked.
            let asked = matches!(request.call.verb, Verb::Click { .. } | Verb::Read { .. });
            law!(
                !again || asked || request.repeats.is_some() || self.lossy,
                "a confirmed end isn't told again",
                "{line} to {reader:?}"
            );
            self.statistics.count(format!("job {state} told"));
            self.jobs.told.extend(meant.iter().map(|number| (*number, reader.clone())));
            if let [number] = *meant {
                ends.push(number);
            }
        }
        if answer.delivery != 0 && !ends.is_empty() {
            self.jobs.deliveries.insert(answer.delivery, (reader, ends));
        }
        Ok(())
    }

    /// The daemon has replied to the confirmation of a delivery. From here on it counts: a daemon
    /// that is killed before may not have written it down.
    pub fn note_confirmed(&mut self, client: ClientId, id: u64) {
        let Some(delivery) = self.jobs.confirming.remove(&(client, id)) else { return };
        if let Some((reader, ends)) = self.jobs.deliveries.remove(&delivery) {
            self.jobs.confirmed.extend(ends.into_iter().map(|number| (number, reader.clone())));
        }
    }

    /// Has all processes end their jobs. Returns true if there were any.
    pub fn finish_jobs(&mut self) -> bool {
        self.stores.values_mut().for_each(|store| store.works = false);
        let mut reports = Vec::new();
        for (app, process) in self.processes.iter_mut().filter(|(_, process)| process.alive) {
            for (incarnation, keys) in std::mem::take(&mut process.jobs) {
                let sends = |key| (*app, incarnation, key);
                reports.extend(keys.into_iter().map(sends));
            }
        }
        let any = !reports.is_empty();
        for (app, incarnation, key) in reports {
            let frame = job_report(incarnation, ended(key, JobEnd::Cancelled));
            self.say(app, 0, (frame, Behaviour::Normal));
        }
        any
    }

    /// Checks, when nothing is left to be done, that no job is left behind.
    pub fn check_no_job_left(&self) -> LawResult {
        let running = self.jobs.by_number.values().filter(|job| job.end.is_none());
        for job in running.filter(|_| !self.lossy) {
            let of_it = |key: &SessionKey| {
                let owner = key.workspace().map(|at| format!("/{}", WORKSPACES[at]));
                key.addr() == job.session && owner == job.workspace
            };
            let session_key = self.stores.keys().find(|key| of_it(key)).copied();
            let runs = session_key.is_some_and(|key| self.process_of(key).is_some());
            // It sleeps with its session.
            law!(
                job.sleeps && !runs,
                "no job is left running without a process",
                "{job:?}, process: {runs}"
            );
        }
        Ok(())
    }
}

/// Returns the name of a job and the state in a line that tells of its end.
fn told_end(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("job ")?.split_once(' ')?;
    let (state, rest) = rest.split_once(' ')?;
    let ended = matches!(state, "done" | "failed" | "cancelled" | "lost");
    (ended && rest.starts_with("after")).then_some((name, state))
}

/// The frame of a report.
pub fn job_report(incarnation: Incarnation, report: JobReport) -> pipemux_proto::Frame {
    frame(&Envelope::event(Method::JobReport, incarnation), &report)
}

/// The report of an end.
pub fn ended(key: String, end: JobEnd) -> JobReport {
    JobReport { job: key, state: Some(end), brief: "it ended".into(), ..JobReport::default() }
}
