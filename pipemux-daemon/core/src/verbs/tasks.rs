//! The tasks of clients' requests: plain state that no verb has to be known for.
//!
//! A verb that can't answer at once leaves a [`Task`] here, and goes on with it when an app
//! replies, a process starts or a timer fires. The modules below hold the state of each kind of
//! task; the verbs work on it.

mod after_loading;
mod after_start;
mod hidden_link;
mod job_wait;
mod log_read;
mod opening;
mod resolving;
mod trace_wait;
mod value_read;
mod wait;

use std::collections::{BTreeMap, BTreeSet};

use pipemux_proto::client::OpenArgs;
use rustc_hash::FxHashMap;

use crate::answers::pending::PendingView;
use crate::answers::prefetches::Prefetches;
use crate::keys::{RequestId, SessionKey};
use crate::processes::Processes;
use crate::runs::Run;
use crate::timers::Timer;
use crate::turn::Turn;

pub(crate) use after_loading::AfterLoading;
pub(crate) use after_start::{AfterStart, RefLookup};
pub(crate) use hidden_link::HiddenLink;
pub(crate) use job_wait::JobWait;
pub(crate) use log_read::LogRead;
pub(crate) use opening::{AfterOpen, Opening};
pub(crate) use resolving::Resolving;
pub(crate) use trace_wait::TraceWait;
pub(crate) use value_read::ValueRead;
pub(crate) use wait::{Wait, WaitLimits};

/// The state of a client's request that has no answer yet.
#[derive(Debug)]
pub(crate) enum Task {
    /// Waits for an app that is being opened.
    Opening(Box<Opening>),
    /// Waits for a session that is being replaced by one with wider grants, to open in it.
    Widening(Box<OpenArgs>),
    /// Waits for the end of a process that opens nothing more, to open in the next one.
    Reopening(Box<OpenArgs>),
    /// Waits for sessions that are being started or replaced.
    Preparing { sessions: Vec<SessionKey>, then: AfterStart },
    /// Carries out a run.
    Running(Box<Run>),
    /// Waits for windows that are being projected.
    Viewing(Box<PendingView>),
    /// Reads the value of an object.
    Reading(Box<ValueRead>),
    /// Looks up the refs and tokens of a text.
    Resolving(Box<Resolving>),
    /// Looks for a link that was clicked and that its window didn't show.
    Finding(Box<HiddenLink>),
    /// Reads a log.
    Log(LogRead),
    /// Waits for frames.
    Tracing(TraceWait),
    /// Waits for manifests that are being read.
    Loading(AfterLoading),
    /// Waits for what these sessions use.
    ReadingUsage(Vec<SessionKey>),
    /// Waits for something to happen.
    Waiting(Box<Wait>, WaitLimits),
    /// Waits for a session that is being restarted.
    Restarting(SessionKey),
    /// Waits for the end of a session.
    Ending(SessionKey),
    /// Waits for the end of the job that it reads.
    ReadingJob,
    /// Waits for the end of the job that it cancels.
    CancellingJob,
    /// Waits for the end of the daemon.
    Stopping,
}

/// The tasks of all requests. A task that is being worked on is taken out: the code that took it
/// puts it back or answers the request.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    by_request: FxHashMap<RequestId, Task>,
    /// The requests with a [`Task::Waiting`].
    pub(crate) waits: BTreeSet<RequestId>,
    /// The requests that wait for the end of a job.
    pub(crate) job_waits: BTreeMap<RequestId, JobWait>,
    /// The windows that were requested ahead of time, by the client's request that may show them.
    pub(crate) prefetches: Prefetches,
}

impl Tasks {
    /// Replaces a request's task.
    pub(crate) fn set(&mut self, request: RequestId, task: Task) {
        self.by_request.insert(request, task);
    }

    /// Returns a request's task.
    pub(crate) fn get(&self, request: RequestId) -> Option<&Task> {
        self.by_request.get(&request)
    }

    /// Returns a request's task, to change it.
    pub(crate) fn get_mut(&mut self, request: RequestId) -> Option<&mut Task> {
        self.by_request.get_mut(&request)
    }

    /// Returns the windows that a request waits for, if any, and the prefetched windows.
    pub(crate) fn view_and_prefetches(
        &mut self,
        request: RequestId,
    ) -> (Option<&mut PendingView>, &mut Prefetches) {
        let view = match self.by_request.get_mut(&request) {
            Some(Task::Viewing(view)) => Some(&mut **view),
            _ => None,
        };
        (view, &mut self.prefetches)
    }

    /// Removes a request's task, either because the request is answered or to work on the task.
    pub(crate) fn remove(&mut self, request: RequestId) -> Option<Task> {
        self.by_request.remove(&request)
    }

    /// Removes a request's task if it is of the wanted kind.
    pub(crate) fn take_if(
        &mut self,
        request: RequestId,
        is_wanted: impl Fn(&Task) -> bool,
    ) -> Option<Task> {
        is_wanted(self.by_request.get(&request)?).then(|| self.by_request.remove(&request))?
    }

    /// Iterates over all tasks.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Task> {
        self.by_request.values()
    }

    /// Iterates over the runs under way.
    pub(crate) fn running(&self) -> impl Iterator<Item = &Run> {
        self.all().filter_map(|task| match task {
            Task::Running(run) => Some(&**run),
            _ => None,
        })
    }

    /// Iterates over all tasks, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&RequestId, &mut Task)> {
        self.by_request.iter_mut()
    }

    /// Takes the wait of a request that waits for something to happen, and clears its timers.
    pub(crate) fn take_wait(&mut self, turn: &mut Turn, request: RequestId) -> Option<Wait> {
        self.waits.remove(&request);
        match self.take_if(request, |task| matches!(task, Task::Waiting(..)))? {
            Task::Waiting(wait, limits) => {
                turn.clear_timer(limits.timer_at, Timer::Wait(request));
                if let Some(at) = limits.check_at {
                    turn.clear_timer(at, Timer::WaitCheck(request));
                }
                Some(*wait)
            }
            _ => None,
        }
    }

    /// Has a request wait for the end of a job.
    pub(crate) fn wait_for_job(&mut self, turn: &mut Turn, request: RequestId, wait: JobWait) {
        turn.set_timer(wait.until, Timer::Wait(request));
        self.job_waits.insert(request, wait);
    }

    /// Takes the wait of a request that waits for the end of a job, and clears its timer.
    pub(crate) fn take_job_wait(&mut self, turn: &mut Turn, request: RequestId) -> Option<JobWait> {
        let wait = self.job_waits.remove(&request)?;
        turn.clear_timer(wait.until, Timer::Wait(request));
        Some(wait)
    }

    /// Drops the task of a request that is about to be answered, and its prefetched window.
    pub(crate) fn end(&mut self, turn: &mut Turn, processes: &mut Processes, request: RequestId) {
        self.remove(request);
        self.take_job_wait(turn, request);
        self.prefetches.cancel(request, processes, turn);
    }

    /// Returns the run that a request carries out.
    pub(crate) fn run(&self, request: RequestId) -> Option<&Run> {
        match self.get(request)? {
            Task::Running(run) => Some(run),
            _ => None,
        }
    }

    /// Returns the run that a request carries out, to change it.
    pub(crate) fn run_mut(&mut self, request: RequestId) -> Option<&mut Run> {
        match self.get_mut(request)? {
            Task::Running(run) => Some(run),
            _ => None,
        }
    }

    /// Takes the run that a request carries out.
    pub(crate) fn take_run(&mut self, request: RequestId) -> Option<Box<Run>> {
        match self.take_if(request, |task| matches!(task, Task::Running(_)))? {
            Task::Running(run) => Some(run),
            _ => None,
        }
    }

    /// Returns the requests that wait for a job, oldest first.
    pub(crate) fn waiting_for_job(&self, number: u64) -> Vec<RequestId> {
        let waiting = self.job_waits.iter().filter(|(_, wait)| wait.number == number);
        waiting.map(|(id, _)| *id).collect()
    }

    /// Returns the requests that wait for the end of a session, oldest first.
    pub(crate) fn ending(&self, session: &SessionKey) -> Vec<RequestId> {
        self.requests_with(|task| matches!(task, Task::Ending(waited) if waited == session))
    }

    /// Returns the requests whose task is of the wanted kind, oldest first.
    pub(crate) fn requests_with(&self, is_wanted: impl Fn(&Task) -> bool) -> Vec<RequestId> {
        let matching = self.by_request.iter().filter(|(_, task)| is_wanted(task));
        let mut requests: Vec<RequestId> = matching.map(|(id, _)| *id).collect();
        requests.sort_unstable();
        requests
    }
}
