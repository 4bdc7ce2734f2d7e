//! What becomes of jobs: what apps report of them, and what the ends of processes mean for them.
//!
//! **Invariant: exactly one end is told for each job.** Every path ends a job by [`Core::end_job`]: its app's report, a
//! process that doesn't go on with it, a session that has no process any more. A session that loses its process while a
//! job runs gets the next one at once, so that nobody waits in vain.

use pipemux_proto::job::JobState;
use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::core::Shutdown;
use crate::feed::{Audience, Happening};
use crate::foreign::{ForeignText, JobReport, Progress, Started};
use crate::jobs::{JobReader, Reported};
use crate::keys::{ReaderId, RequestId, SessionKey, WorkspaceKey};
use crate::processes::crash_history::Crash;
use crate::processes::session::RunningJobs;
use crate::processes::starting::wake;
use crate::processes::{EndedProcess, ReadyProcess};

impl Core {
    /// Takes in a job that an action of a session began. Returns its number; none if the session has too many.
    pub(crate) fn start_job(
        &mut self,
        session: &SessionKey,
        started: Started,
        owner: Option<JobReader>,
    ) -> Option<u64> {
        let own = || session.workspace.clone().unwrap_or_else(|| WorkspaceKey::from(""));
        let owner = owner.unwrap_or_else(|| (own(), ReaderId::default()));
        let readers = self.readers_of(session);
        let number = self.jobs.start(&mut self.turn, session, started, owner, readers)?;
        self.sync_jobs(session);
        self.publish_job(number, false);
        Some(number)
    }

    /// Takes in what an app reports of a job.
    pub(crate) fn job_reported(&mut self, session: &SessionKey, report: JobReport) {
        match self.jobs.report(&mut self.turn, session, report) {
            Reported::Nothing => {}
            Reported::Progress(number) => self.publish_job(number, true),
            Reported::Ended(number, state, result) => self.end_job(number, state, result),
        }
    }

    /// Tells those who watch of the progress that was put off.
    pub(crate) fn job_report_due(&mut self, number: u64) {
        if self.jobs.report_due(&self.turn, number) {
            self.publish_job(number, true);
        }
    }

    /// Ends a job, unless it has ended.
    fn end_job(&mut self, number: u64, state: JobState, result: ForeignText) {
        let Some(session) = self.jobs.get(number).map(|job| job.session.clone()) else { return };
        let readers = self.readers_of(&session);
        if self.jobs.finish(&mut self.turn, number, (state, result), readers) {
            self.sync_jobs(&session);
            self.publish_job(number, false);
            self.job_ended(number);
        }
    }

    /// Ends all running jobs of a session that will have no process to go on with them.
    pub(crate) fn lose_jobs(&mut self, session: &SessionKey, why: &str) {
        let lost: Vec<u64> = self.jobs.running(session).map(|job| job.number).collect();
        for number in lost {
            self.end_job(number, JobState::Lost, why.into());
        }
    }

    /// Ends the jobs that the new process of a session doesn't go on with.
    pub(super) fn settle_jobs(&mut self, ready: &ReadyProcess) {
        let ReadyProcess { session, crash, jobs, .. } = ready;
        for number in self.jobs.not_resumed(session, jobs) {
            let restored = self.jobs.get(number).is_some_and(|job| job.restored);
            let why = match crash {
                Some(Crash { how, .. }) => format!("{session} died while it ran ({how})"),
                None if restored => "the daemon was lost or restarted".to_owned(),
                None => format!("{session} was restarted"),
            };
            self.end_job(number, JobState::Lost, why.into());
        }
    }

    /// Decides what the end of a process means for its running jobs: the next process says which it goes on with, if
    /// there can be one.
    pub(super) fn jobs_after_end(&mut self, end: &EndedProcess) {
        let key = &end.session;
        if self.jobs.running(key).next().is_none() || self.shutdown != Shutdown::Running {
            return;
        }
        let words = match end.wanted {
            true => format!("{key} was ended"),
            false => end.words.clone(),
        };
        let Some(session) = self.processes.get(key) else { return self.lose_jobs(key, &words) };
        if session.app().is_some() || session.hibernation.asleep.is_some() {
            return;
        }
        if session.opens.is_empty() && !self.has_window(key) {
            return self.lose_jobs(key, &words);
        }
        if session.failed.is_some() || wake(&mut self.turn, &mut self.processes, key).is_err() {
            self.lose_jobs(key, &words);
        }
    }

    /// Has the sessions whose jobs ran under an earlier daemon say which of these they go on with.
    pub(super) fn resume_jobs(&mut self) {
        for key in self.jobs.sessions() {
            let why = match self.processes.get(&key) {
                None => format!("{key} is gone"),
                Some(session) if session.hibernation.asleep.is_some() => continue,
                Some(_) => match wake(&mut self.turn, &mut self.processes, &key) {
                    Ok(()) => continue,
                    Err(fault) => fault.message,
                },
            };
            self.lose_jobs(&key, &why);
        }
    }

    /// Tells the clients whose requests wait for something of an app how far it is.
    pub(super) fn request_progressed(&mut self, id: RequestId, progress: &Progress) {
        self.clients.send_progress(&mut self.turn, id, progress);
    }

    /// Tells a session which jobs it has.
    pub(super) fn sync_jobs(&mut self, session: &SessionKey) {
        let (mut keys, mut works) = (Vec::new(), false);
        for job in self.jobs.running(session) {
            keys.push(job.key.clone());
            works |= !job.sleeps;
        }
        if let Some(session) = self.processes.get_mut(session) {
            session.jobs = RunningJobs { keys, need_process: works };
        }
    }

    /// Returns the readers of all workspaces that have a window of a session.
    fn readers_of(&self, session: &SessionKey) -> Vec<JobReader> {
        let having = self.workspaces.iter().filter(|(_, found)| found.window(session).is_some());
        having
            .flat_map(|(key, found)| found.readers.ids().map(|name| (key.clone(), name.clone())))
            .collect()
    }

    /// Tells those who watch, and those who wait for it, of a job.
    fn publish_job(&mut self, number: u64, progress: bool) {
        let Some(job) = self.jobs.get(number) else { return };
        let now = self.turn.now;
        let status = job.status(now.unix_ms);
        let text = match (progress, job.is_running()) {
            (false, true) => format!("job {number} started · {}", job.what()),
            (true, true) => format!("job {number} · {} · {}", job.what(), job.progress_words()),
            (_, false) => format!("{} · {}", job.state_words(now.unix_ms), job.what()),
        };
        let text = format!("{} {text}", job.session);
        let audience = Audience::Session(job.session.clone());
        let (kind, reader) = (EventKind::Job, job.owner.1.clone());
        let reader = Some(reader.as_str()).filter(|name| !name.is_empty() && !progress);
        let told = job.progress.clone();
        let happening = Happening::new(kind, audience, &text);
        let job = Some(Box::new(status));
        self.feed.tell(now, Happening { reader, job, progress, ..happening });
        if progress {
            for id in self.tasks.waiting_for_job(number) {
                self.clients.send_progress(&mut self.turn, id, &told);
            }
        }
    }
}
