//! What becomes of jobs: what apps report of them, and what the ends of processes mean for them.
//!
//! **Invariant: exactly one end is told for each job.** Every path ends a job by
//! [`JobEvents::end`]: its app's report, a process that doesn't go on with it, a session that has
//! no process any more. A session that loses its process while a job runs gets the next one at
//! once, so that nobody waits in vain.

use pipemux_proto::job::JobState;
use pipemux_proto::watch::EventKind;

use crate::clients::Clients;
use crate::feed::{Audience, Feed, Happening};
use crate::foreign::{ForeignText, JobReport, Started};
use crate::jobs::{JobReader, Jobs, Reported};
use crate::keys::{ReaderId, SessionKey, WorkspaceKey};
use crate::processes::crash_history::Crash;
use crate::processes::session::RunningJobs;
use crate::processes::starting::wake;
use crate::processes::{EndedProcess, Processes, ReadyProcess};
use crate::turn::Turn;
use crate::verbs::tasks::Tasks;
use crate::workspaces::Workspaces;

/// The end of a job, which is still to be told.
#[derive(Debug)]
pub(crate) struct JobEnd {
    pub number: u64,
    pub state: JobState,
    /// The result, or why there is none.
    pub result: ForeignText,
}

impl JobEnd {
    fn lost(number: u64, why: &str) -> Self {
        Self { number, state: JobState::Lost, result: why.into() }
    }
}

/// What takes in the events of jobs.
pub(crate) struct JobEvents<'a> {
    pub turn: &'a mut Turn,
    pub jobs: &'a mut Jobs,
    pub processes: &'a mut Processes,
    pub workspaces: &'a Workspaces,
    /// Tells those who watch.
    pub feed: &'a mut Feed,
    /// Knows the requests that wait for jobs.
    pub tasks: &'a mut Tasks,
    /// Tells the clients of these requests of progress.
    pub clients: &'a mut Clients,
}

impl JobEvents<'_> {
    /// Takes in a job that an action of a session began. Returns its number; none if the session
    /// has too many.
    pub(crate) fn start(
        &mut self,
        session: &SessionKey,
        started: Started,
        owner: Option<JobReader>,
    ) -> Option<u64> {
        let own = || session.workspace.clone().unwrap_or_else(|| WorkspaceKey::from(""));
        let owner = owner.unwrap_or_else(|| (own(), ReaderId::default()));
        let readers = readers_of(self.workspaces, session);
        let number = self.jobs.start(self.turn, session, started, owner, readers)?;
        sync_jobs(self.jobs, self.processes, session);
        self.publish(number, false);
        Some(number)
    }

    /// Takes in what an app reports of a job. Returns the job's end, if it reports that.
    pub(crate) fn report(&mut self, session: &SessionKey, report: JobReport) -> Option<JobEnd> {
        match self.jobs.report(self.turn, session, report) {
            Reported::Nothing => None,
            Reported::Progress(number) => {
                self.publish(number, true);
                None
            }
            Reported::Ended(number, state, result) => Some(JobEnd { number, state, result }),
        }
    }

    /// Tells those who watch of the progress that was put off.
    pub(crate) fn report_due(&mut self, number: u64) {
        if self.jobs.report_due(self.turn, number) {
            self.publish(number, true);
        }
    }

    /// Ends a job. Returns false if it had ended before.
    pub(crate) fn end(&mut self, JobEnd { number, state, result }: JobEnd) -> bool {
        let Some(session) = self.jobs.get(number).map(|job| job.session.clone()) else {
            return false;
        };
        let readers = readers_of(self.workspaces, &session);
        let ended = self.jobs.finish(self.turn, number, (state, result), readers);
        if ended {
            sync_jobs(self.jobs, self.processes, &session);
            self.publish(number, false);
        }
        ended
    }

    /// Returns the ends of the jobs that the new process of a session doesn't go on with.
    pub(crate) fn not_resumed(&mut self, ready: &ReadyProcess) -> Vec<JobEnd> {
        let ReadyProcess { session, crash, jobs, .. } = ready;
        let numbers = self.jobs.not_resumed(session, jobs);
        let ends = numbers.into_iter().map(|number| {
            let restored = self.jobs.get(number).is_some_and(|job| job.restored);
            let why = match crash {
                Some(Crash { how, .. }) => format!("{session} died while it ran ({how})"),
                None if restored => "the daemon was lost or restarted".to_owned(),
                None => format!("{session} was restarted"),
            };
            JobEnd::lost(number, &why)
        });
        ends.collect()
    }

    /// Starts the next process of a session whose process ended while jobs ran; it will say which
    /// of them it resumes. If no such process is possible, returns the ends of the jobs.
    pub(crate) fn after_process(&mut self, end: &EndedProcess) -> Vec<JobEnd> {
        let key = &end.session;
        if self.jobs.running(key).next().is_none() {
            return Vec::new();
        }
        let words = match end.wanted {
            true => format!("{key} was ended"),
            false => end.words.clone(),
        };
        let Some(session) = self.processes.get(key) else {
            return lost_jobs(self.jobs, key, &words);
        };
        if session.app().is_some() || session.hibernation.asleep.is_some() {
            return Vec::new();
        }
        let unused = session.opens.is_empty() && !self.workspaces.have_window(key);
        if unused || session.failed.is_some() || wake(self.turn, self.processes, key).is_err() {
            return lost_jobs(self.jobs, key, &words);
        }
        Vec::new()
    }

    /// Starts the sessions whose jobs ran under an earlier daemon; each says which jobs it resumes.
    /// Returns the ends of the jobs whose sessions can't be started.
    pub(crate) fn resume(&mut self) -> Vec<JobEnd> {
        let mut ends = Vec::new();
        for key in self.jobs.sessions() {
            let why = match self.processes.get(&key) {
                None => format!("{key} is gone"),
                Some(session) if session.hibernation.asleep.is_some() => continue,
                Some(_) => match wake(self.turn, self.processes, &key) {
                    Ok(()) => continue,
                    Err(fault) => fault.message,
                },
            };
            ends.extend(lost_jobs(self.jobs, &key, &why));
        }
        ends
    }

    /// Tells those who watch, and those who wait for it, of a job.
    fn publish(&mut self, number: u64, progress: bool) {
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
                self.clients.send_progress(self.turn, id, &told);
            }
        }
    }
}

/// Returns the ends of all running jobs of a session that will have no process to go on with them.
pub(crate) fn lost_jobs(jobs: &Jobs, session: &SessionKey, why: &str) -> Vec<JobEnd> {
    jobs.running(session).map(|job| JobEnd::lost(job.number, why)).collect()
}

/// Tells a session which jobs it has.
pub(crate) fn sync_jobs(jobs: &Jobs, processes: &mut Processes, session: &SessionKey) {
    let (mut keys, mut works) = (Vec::new(), false);
    for job in jobs.running(session) {
        keys.push(job.key.clone());
        works |= !job.sleeps;
    }
    if let Some(session) = processes.get_mut(session) {
        session.jobs = RunningJobs { keys, need_process: works };
    }
}

/// Returns the readers of all workspaces that have a window of a session.
fn readers_of(workspaces: &Workspaces, session: &SessionKey) -> Vec<JobReader> {
    let having = workspaces.iter().filter(|(_, found)| found.window(session).is_some());
    having
        .flat_map(|(key, found)| found.readers.ids().map(|name| (key.clone(), name.clone())))
        .collect()
}
