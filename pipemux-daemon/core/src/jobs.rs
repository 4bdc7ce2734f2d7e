//! Jobs: work of apps that outlasts the requests that began it.
//!
//! | module | holds |
//! |---|---|
//! | [`job`] | one job, and the last bytes of its output |
//! | `report_times` | when those who watch are told of a job's progress |
//! | `saved`, `words` | jobs on disk, and in words |
//!
//! **Invariant: a job ends exactly once.** It leaves the state *running* only in [`Jobs::finish`],
//! which does nothing for a job that has ended. From then on each reader who knew of it is told so,
//! until it has confirmed that.
//!
//! **Invariant: nothing here knows a process, a window or a run.** The core says when a process was
//! lost, which jobs its successor goes on with, and who reads the windows of a session.

pub mod job;
mod report_times;
mod saved;
pub mod words;

use std::collections::{BTreeMap, VecDeque};

use pipemux_proto::job::JobState;

use crate::foreign::{ForeignText, JobReport, Progress, Started};
use crate::keys::SessionKey;
use crate::limits::{
    JOB_NAME_MAX, JOB_READERS_MAX, JOBS_ENDED_MAX, JOBS_KEPT_MAX, JOBS_OUTPUT_BYTES,
    JOBS_RUNNING_MAX,
};
use crate::persist::records::Record;
use crate::turn::Turn;

use job::Output;
pub use job::{Job, JobReader};
use report_times::ReportTimes;

/// The running jobs, and the ones that ended last.
#[derive(Debug, Default)]
pub struct Jobs {
    by_number: BTreeMap<u64, Job>,
    /// For each session, the numbers of its jobs by the app's key.
    by_key: BTreeMap<SessionKey, BTreeMap<String, u64>>,
    /// The numbers of the jobs that have ended, in the order of their ends.
    ended: VecDeque<u64>,
    /// The size of all outputs, in bytes.
    output_bytes: usize,
}

/// The effect of a job report.
#[derive(Debug, PartialEq, Eq)]
pub enum Reported {
    /// There is nothing to announce now.
    Nothing,
    /// The progress of this job is to be announced now.
    Progress(u64),
    /// This job has ended, in this way and with this result: [`Jobs::finish`] is to be called.
    Ended(u64, JobState, ForeignText),
}

impl Jobs {
    /// Returns a job.
    pub fn get(&self, number: u64) -> Option<&Job> {
        self.by_number.get(&number)
    }

    /// Iterates over all jobs, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Job> {
        self.by_number.values()
    }

    /// Returns the jobs that have a name, with or without their session, the newest first.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Job> {
        let jobs = self.by_number.values().rev().filter(|job| job.named);
        jobs.filter(move |job| job.key == name || job.full_name() == name)
    }

    /// Iterates over the running jobs of a session, the oldest first.
    pub fn running(&self, session: &SessionKey) -> impl Iterator<Item = &Job> {
        let own = self.by_key.get(session);
        let mut numbers: Vec<u64> = own.into_iter().flat_map(|own| own.values().copied()).collect();
        numbers.sort_unstable();
        let jobs = numbers.into_iter().filter_map(|number| self.by_number.get(&number));
        jobs.filter(|job| job.is_running())
    }

    /// Returns the sessions with running jobs.
    pub fn sessions(&self) -> Vec<SessionKey> {
        let sessions = self.by_key.keys();
        sessions.filter(|session| self.running(session).next().is_some()).cloned().collect()
    }

    /// Notes that a job was begun by an act that changes nothing.
    pub fn note_only_looks(&mut self, number: u64) {
        self.by_number.entry(number).and_modify(|job| job.only_looks = true);
    }

    /// Returns the number of a session's job.
    pub fn number_of(&self, session: &SessionKey, key: &str) -> Option<u64> {
        self.by_key.get(session)?.get(key).copied()
    }

    /// Adds a started job. Returns its number, or `None` if the session has too many jobs. A key
    /// always names the same job: if the app starts a key twice, the job keeps its number.
    pub fn start(
        &mut self,
        turn: &mut Turn,
        session: &SessionKey,
        started: Started,
        owner: JobReader,
        readers: impl IntoIterator<Item = JobReader>,
    ) -> Option<u64> {
        if let Some(number) = self.by_key.get(session).and_then(|own| own.get(&started.job)) {
            return Some(*number);
        }
        if self.running(session).count() >= JOBS_RUNNING_MAX {
            return None;
        }
        let number = turn.next_number();
        let Started { job: key, brief, total, sleeps, named, ran_ms, .. } = started;
        let mut job = Job {
            number,
            session: session.clone(),
            named: named && is_name(&key),
            key,
            brief,
            owner: owner.clone(),
            started_ms: turn.now.unix_ms.saturating_sub(ran_ms),
            ended_ms: 0,
            sleeps,
            state: JobState::Running,
            progress: Progress { done: 0, total, text: ForeignText::default() },
            result: ForeignText::default(),
            output: Output::default(),
            rev: 1,
            restored: false,
            only_looks: false,
            readers: [owner].into(),
            told_early: Default::default(),
            reports: ReportTimes::default(),
        };
        readers.into_iter().for_each(|reader| job.add_reader(reader));
        turn.persist(saved::to_record(&job));
        self.insert(job);
        Some(number)
    }

    fn insert(&mut self, job: Job) {
        self.remove(job.number);
        let own = self.by_key.entry(job.session.clone()).or_default();
        own.insert(job.key.clone(), job.number);
        if !job.is_running() {
            self.ended.push_back(job.number);
        }
        self.output_bytes += job.output.len();
        let (number, session) = (job.number, job.session.clone());
        self.by_number.insert(number, job);
        self.make_room(&session);
    }

    fn remove(&mut self, number: u64) {
        let Some(job) = self.by_number.remove(&number) else { return };
        self.output_bytes -= job.output.len();
        self.ended.retain(|ended| *ended != number);
        if let Some(own) = self.by_key.get_mut(&job.session) {
            own.retain(|_, known| *known != number);
            if own.is_empty() {
                self.by_key.remove(&job.session);
            }
        }
    }

    /// Forgets the oldest jobs that have ended: of a session that has too many, and of all.
    fn make_room(&mut self, session: &SessionKey) {
        let of_session =
            |number: &u64| self.by_number.get(number).is_some_and(|job| job.session == *session);
        let own = self.ended.iter().filter(|number| of_session(number)).count();
        let oldest = match own > JOBS_ENDED_MAX {
            true => self.ended.iter().find(|number| of_session(number)).copied(),
            false => self.ended.front().copied().filter(|_| self.ended.len() > JOBS_KEPT_MAX),
        };
        if let Some(oldest) = oldest {
            self.remove(oldest);
        }
    }

    /// Takes in an app's report of a job; that of a job that isn't running says nothing.
    pub fn report(
        &mut self,
        turn: &mut Turn,
        session: &SessionKey,
        mut report: JobReport,
    ) -> Reported {
        let number = self.by_key.get(session).and_then(|own| own.get(&report.job)).copied();
        let job = number.and_then(|number| self.by_number.get_mut(&number));
        let Some(job) = job.filter(|job| job.is_running()) else { return Reported::Nothing };
        if let Some(piece) = &report.output {
            let before = job.output.len();
            job.output.push(piece);
            self.output_bytes = self.output_bytes + job.output.len() - before;
        }
        let (number, changed) = (job.number, job.take_progress(&mut report));
        let reported = match report.state {
            Some(end) => Reported::Ended(number, end.into(), report.brief),
            None if changed && job.reports.may_tell_now(turn, number) => Reported::Progress(number),
            None => Reported::Nothing,
        };
        self.bound_output();
        reported
    }

    /// Drops the outputs of the oldest jobs, as far as all of them are too long together.
    fn bound_output(&mut self) {
        let mut oldest = self.by_number.values_mut();
        while self.output_bytes > JOBS_OUTPUT_BYTES
            && let Some(job) = oldest.next()
        {
            self.output_bytes -= job.output.len();
            job.output.clear();
        }
    }

    /// Handles the due time of a postponed progress report. Returns true if there is something to
    /// report.
    pub fn report_due(&mut self, turn: &Turn, number: u64) -> bool {
        let Some(job) = self.by_number.get_mut(&number) else { return false };
        job.reports.due(turn) && job.is_running()
    }

    /// Ends a running job; `readers` will be told, in addition to those who know of the job.
    /// Returns false and does nothing if the job has ended before.
    pub fn finish(
        &mut self,
        turn: &mut Turn,
        number: u64,
        (state, result): (JobState, ForeignText),
        readers: impl IntoIterator<Item = JobReader>,
    ) -> bool {
        let Some(job) = self.by_number.get_mut(&number).filter(|job| job.is_running()) else {
            return false;
        };
        job.reports.end(turn, number);
        (job.state, job.result, job.ended_ms) = (state, result, turn.now.unix_ms);
        job.rev += 1;
        readers.into_iter().for_each(|reader| job.add_reader(reader));
        for reader in std::mem::take(&mut job.told_early) {
            job.readers.remove(&reader);
        }
        let job = job.clone();
        turn.persist(saved::to_record(&job));
        self.insert(job);
        true
    }

    /// Marks the jobs that a session's new process resumes. Returns the other running jobs of the
    /// session, which are lost.
    pub fn not_resumed(&mut self, session: &SessionKey, resumed: &[String]) -> Vec<u64> {
        let all: Vec<u64> = self.running(session).map(|job| job.number).collect();
        let mut lost = Vec::new();
        for number in all {
            match self.by_number.get_mut(&number) {
                Some(job) if resumed.contains(&job.key) => job.restored = false,
                _ => lost.push(number),
            }
        }
        lost
    }

    /// Iterates over the jobs whose end a reader knows nothing of, in the order of their numbers.
    pub fn untold<'a>(&'a self, reader: &'a JobReader) -> impl Iterator<Item = &'a Job> {
        let ended = self.by_number.values().filter(|job| !job.is_running());
        ended.filter(move |job| job.readers.contains(reader))
    }

    /// Notes that a reader was shown a running job: it is told of its end, too.
    pub fn shown(&mut self, turn: &mut Turn, number: u64, reader: &JobReader) {
        let job = self.by_number.get_mut(&number).filter(|job| job.is_running());
        let Some(job) = job.filter(|job| !job.readers.contains(reader)) else { return };
        job.add_reader(reader.clone());
        turn.persist(saved::to_record(job));
    }

    /// Notes that a reader was told of the end of a job. An outcome may have said so before the app
    /// reported it.
    pub fn told(&mut self, turn: &mut Turn, number: u64, reader: &JobReader) {
        let Some(job) = self.by_number.get_mut(&number) else { return };
        if job.is_running() {
            if job.told_early.len() < JOB_READERS_MAX {
                job.told_early.insert(reader.clone());
            }
        } else if job.readers.remove(reader) {
            let (workspace, reader) = (reader.0.to_string(), reader.1.to_string());
            turn.persist(Record::JobTold { job: number, workspace, reader });
        }
    }
}

/// Returns true if a key can be the name of a job: no number, and nothing that would have to be
/// quoted.
pub fn is_name(key: &str) -> bool {
    key.len() <= JOB_NAME_MAX
        && key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}
