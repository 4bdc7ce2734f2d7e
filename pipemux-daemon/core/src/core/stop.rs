//! Ends jobs, sessions and the daemon, and resumes the requests that wait for that.

use pipemux_proto::Fault;
use pipemux_proto::report::StepStatus;

use crate::Core;
use crate::core::Shutdown;
use crate::core::restore::save_numbers;
use crate::event::Effect;
use crate::keys::{RequestId, SessionKey};
use crate::processes::draining;
use crate::processes::session::Session;
use crate::verbs::job_events::{JobEnd, lost_jobs};
use crate::verbs::jobs::end_job_wait;
use crate::verbs::next::{Next, RunWork};
use crate::verbs::stop::{begin_restart, ended, remove_session};
use crate::verbs::tasks::Task;

impl Core {
    /// Ends jobs, and goes on with the requests that wait for them.
    pub(super) fn end_jobs(&mut self, ends: Vec<JobEnd>) {
        for end in ends {
            let number = end.number;
            if job_events!(self).end(end) {
                for id in self.tasks.waiting_for_job(number) {
                    self.end_job_wait(id);
                }
            }
        }
    }

    /// Resumes a request that waits for a job, even if the job hasn't ended. Returns false if the
    /// request doesn't wait for a job.
    pub(super) fn end_job_wait(&mut self, id: RequestId) -> bool {
        let Some(wait) = self.tasks.take_job_wait(&mut self.turn, id) else { return false };
        if let Some(request) = self.clients.request(id) {
            let (turn, tasks, workspaces) = (&mut self.turn, &self.tasks, &mut self.workspaces);
            let next = end_job_wait(turn, tasks, workspaces, &self.jobs, request, wait);
            self.follow(id, next);
        }
        true
    }

    /// Resumes the requests that wait for the end of a session's process, if that has ended.
    /// Removes a session that was ended and isn't needed any more.
    pub(super) fn session_ended(&mut self, key: &SessionKey) {
        let is_restarting = |task: &Task| matches!(task, Task::Restarting(of) if of == key);
        let restarting = self.tasks.requests_with(is_restarting);
        let is_idle = |session: &Session| {
            session.opens.is_empty()
                && session.owed.waiting.is_empty()
                && !session.opens.has_request()
        };
        let session = self.processes.get(key);
        if session.is_some_and(|session| session.app().is_some()) {
            return;
        }
        let exists = session.is_some();
        let idle = session.is_some_and(is_idle) && restarting.is_empty();
        if idle && !self.workspaces.have_window(key) {
            let log = remove_session(&mut self.turn, &mut self.processes, key);
            self.authoring.forget(key);
            self.end_jobs(lost_jobs(&self.jobs, key, &format!("{key} was ended")));
            // It can't be asked for any more, and there is no bound on the names of sessions.
            self.turn.effects.extend(log.map(|log| Effect::EndLog { log, kept: 0 }));
        }
        for id in self.tasks.ending(key) {
            self.follow(id, Ok(ended(key)));
        }
        for id in restarting.into_iter().filter(|_| exists) {
            let (turn, processes) = (&mut self.turn, &mut self.processes);
            let next = begin_restart(turn, processes, &self.providers, id, key);
            self.follow(id, next);
        }
    }

    /// Ends all processes, then the daemon. Windows and sessions are kept on disk.
    pub(super) fn stop(&mut self) {
        if self.shutdown == Shutdown::Running {
            self.shutdown = Shutdown::Draining;
        }
        let waiting: Vec<RequestId> = self.tasks.job_waits.keys().copied().collect();
        for id in waiting {
            self.end_job_wait(id);
        }
        draining::stop(&mut self.turn, &mut self.processes);
    }

    /// Answers all requests and stops the daemon, if it was asked to end and no process is left. To
    /// be called once everything that follows from an event was handled.
    pub(super) fn stop_if_done(&mut self) {
        if self.shutdown == Shutdown::Running || !self.processes.incarnations().is_empty() {
            return;
        }
        for id in self.tasks.requests_with(|task| matches!(task, Task::Stopping)) {
            self.follow(id, Ok(Next::Data("down\n".into(), "down".into())));
        }
        for id in self.clients.open() {
            let fault = Fault::unavailable("the daemon is going down");
            // The answer of a run tells which steps took effect, with the windows as they were.
            if let Some(mut run) = self.tasks.take_run(id) {
                run.fail(StepStatus::Failed, fault.clone());
                self.follow(id, Ok(Next::Run(RunWork::End(run))));
            }
            let shown = window_answers!(self).finish_early(id, &fault.message);
            self.follow(id, shown.map(|()| Next::Nothing));
            self.follow(id, Err(fault));
        }
        if std::mem::replace(&mut self.shutdown, Shutdown::Stopped) != Shutdown::Stopped {
            save_numbers(&mut self.turn, &self.workspaces);
            self.turn.effects.push(Effect::Stopped);
        }
    }
}
