//! Drives runs: resumes a run with what happened, and carries out what it needs next.
//!
//! A run stays with its client's request from its begin to its end and is resumed in place, so that it can't
//! get lost between two steps. If one is missing nevertheless, its outcome is unknown.

use std::collections::HashMap;
use std::rc::Rc;

use pipemux_proto::Fault;
use pipemux_proto::app::{Invoke, Outcome};
use pipemux_proto::envelope::Method;
use pipemux_proto::watch::What;

use crate::Core;
use crate::clients::requests::{ClientRequest, RequestState};
use crate::event::Effect;
use crate::feed::Audience;
use crate::keys::{RequestId, SessionKey, WorkspaceKey};
use crate::limits::LOCATE_MS;
use crate::persist::records::Record;
use crate::processes::quarantine::Fingerprint;
use crate::processes::requests::{AppReply, ProjectionKey, Purpose};
use crate::processes::session::Session;
use crate::runs::history_round::history_round;
use crate::runs::rebase::ArrivedWindow;
use crate::runs::{Run, RunContext, RunInput, RunOutput, StepReply};
use crate::verbs::deliver::rewrite;
use crate::verbs::run_exit_status;
use crate::workspaces::raw_projection::RawProjection;

impl Core {
    /// Gives a client's request a run, and starts it.
    pub(super) fn start_run(&mut self, job: RequestId, run: Run, input: RunInput) {
        if let Some(request) = self.requests.get_mut(&job) {
            request.task = RequestState::Running(Box::new(run));
            self.resume_run(job, input);
        }
    }

    /// Resumes a run and carries out what it needs next.
    fn resume_run(&mut self, job: RequestId, input: RunInput) {
        let Some(request) = self.requests.get_mut(&job) else { return };
        let deadline = request.deadline;
        let RequestState::Running(run) = &mut request.task else { return self.run_is_lost(job) };
        let Some(workspace) = self.workspaces.get(&run.workspace) else {
            return self.run_is_lost(job);
        };
        let context = RunContext { workspace, sessions: &self.sessions };
        match run.resume(input, &context) {
            RunOutput::Invoke { session, invoke, prefetch } => {
                let purpose = Purpose::Invoke(job);
                self.request(&session, Method::Invoke, &*invoke, deadline, purpose);
                if prefetch {
                    self.prefetch_window(job, &session, deadline);
                }
            }
            RunOutput::Locate { session, locate } => {
                let soon = deadline.min(self.now.mono_ms + LOCATE_MS);
                self.request(&session, Method::Locate, &locate, soon, Purpose::Locate(job));
            }
            RunOutput::Read { session, read } => {
                self.request(&session, Method::AppRead, &read, deadline, Purpose::Read(job));
            }
            RunOutput::Refresh { session, key, project } => {
                let purpose = Purpose::Refresh(job, key);
                self.request(&session, Method::Project, &project, deadline, purpose);
            }
            RunOutput::Ask { needs, asker } => self.ask(job, needs, asker),
            RunOutput::Finished => match self.take_run(job) {
                Some(run) => self.finish_run(job, run),
                None => self.run_is_lost(job),
            },
        }
    }

    /// An app replied to a step, or can't any more.
    pub(crate) fn invoke_answered(&mut self, job: RequestId, reply: AppReply) {
        let Some((session, invoke)) = running(&self.requests, job).and_then(Run::in_flight) else {
            return self.run_is_lost(job);
        };
        let session = session.clone();
        if let Some(live) = self.sessions.get_mut(&session) {
            update_quarantine(live, invoke, &reply);
        }
        let reply = StepReply::read(reply);
        match &reply {
            StepReply::Outcome(Outcome::Done(done)) => self.session_changed(&session, done.version),
            StepReply::Unreadable(_) => {
                if let Some(app) = self.sessions.get(&session).and_then(Session::app) {
                    self.break_app(app, "its answer could not be read".into());
                }
            }
            StepReply::Outcome(_) | StepReply::Lost { .. } => {}
        }
        self.resume_run(job, RunInput::Replied(reply));
    }

    /// An app told where an object is.
    pub(crate) fn locate_answered(&mut self, job: RequestId, reply: AppReply) {
        if self.is_reading(job) {
            return self.read_located(job, reply);
        }
        self.resume_run(job, RunInput::Located(reply));
    }

    /// An app sent a part of an object's value.
    pub(crate) fn read_answered(&mut self, job: RequestId, reply: AppReply) {
        if self.is_reading(job) {
            return self.read_chunk(job, reply);
        }
        self.resume_run(job, RunInput::ValueRead(reply));
    }

    /// The window that a run asked for arrived, or didn't.
    pub(crate) fn refresh_answered(
        &mut self,
        job: RequestId,
        session: &SessionKey,
        key: ProjectionKey,
        reply: AppReply,
    ) {
        let Some(run) = running(&self.requests, job) else { return self.run_is_lost(job) };
        let (at, rebases) = (run.workspace.clone(), run.is_rebasing());
        let arrived = self.hold_window(&at, session, key, rebases, reply);
        if rebases && arrived.is_ok() {
            self.reserve(&at);
        }
        self.resume_run(job, RunInput::WindowArrived(arrived));
    }

    /// Makes a window that an app sent the workspace's own. With `write` it is also written, so that the ids
    /// of what it shows are known.
    fn hold_window(
        &mut self,
        at: &WorkspaceKey,
        session: &SessionKey,
        key: ProjectionKey,
        write: bool,
        reply: AppReply,
    ) -> Result<ArrivedWindow, Fault> {
        let now = self.now;
        let live = self.sessions.get(session);
        let body = match reply {
            AppReply::Reply(body) => body,
            AppReply::Fault(fault) => return Err(fault),
            AppReply::Lost { why, .. } => return Err(Fault::unavailable(why)),
        };
        let Some((live, app)) = live.and_then(|live| Some((live, live.app()?))) else {
            return Err(Fault::unavailable(format!("{session} has ended")));
        };
        let projection = RawProjection::read(&body)
            .map_err(|error| Fault::unavailable(format!("{session} sent no window: {error}")))?;
        let Some(workspace) = self.workspaces.get_mut(at) else {
            return Err(Fault::unavailable("the workspace is gone"));
        };
        let version = projection.version;
        if let Some(window) = workspace.window_mut(session) {
            window.hold(key, app, Rc::new(projection));
        }
        let ids = if write { rewrite(workspace, session, live, now) } else { Vec::new() };
        Ok(ArrivedWindow { app, version, ids, epoch: workspace.epoch })
    }

    /// Adds a run that has ended to the history.
    pub(super) fn record_round(&mut self, run: &Run) {
        let (at, exit, now) = (&run.workspace, run_exit_status(run), self.now);
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let round = history_round(run, workspace.history.count + 1, now.unix_ms, exit);
        workspace.history.add(round.clone());
        let exit = if exit == 0 { String::new() } else { format!(" (exit {exit})") };
        let text = format!("{}{exit} · {}", round.action, round.result);
        let place = Audience::Workspace(at.clone(), None);
        self.tell(What::Act, place, Some(&round.reader), &text);
        self.out.push(Effect::Persist(Record::Round { workspace: at.to_string(), round }));
    }

    /// Answers a request whose run is missing, or whose workspace is: nobody can tell what its steps did.
    /// A request that isn't there any more has its answer already.
    pub(super) fn run_is_lost(&mut self, job: RequestId) {
        let fault =
            Fault::unknown("the daemon lost track of this run; its steps may have taken effect");
        self.fail_job(job, fault.hint("pipemux view shows how things stand"));
    }

    pub(super) fn take_run(&mut self, job: RequestId) -> Option<Box<Run>> {
        let request = self.requests.get_mut(&job)?;
        match std::mem::replace(&mut request.task, RequestState::Moving) {
            RequestState::Running(run) => Some(run),
            other => {
                request.task = other;
                None
            }
        }
    }
}

/// The run of a client's request.
pub(super) fn running(
    requests: &HashMap<RequestId, ClientRequest>,
    job: RequestId,
) -> Option<&Run> {
    match &requests.get(&job)?.task {
        RequestState::Running(run) => Some(run),
        _ => None,
    }
}

/// Remembers the request that an app died with; one that it replied to is no longer suspected.
fn update_quarantine(session: &mut Session, invoke: &Invoke, reply: &AppReply) {
    match reply {
        AppReply::Lost { died: true, why, .. } => {
            session.quarantine.blame(Fingerprint::of(invoke), why);
        }
        AppReply::Lost { .. } => {}
        AppReply::Reply(_) | AppReply::Fault(_) if session.quarantine.is_empty() => {}
        AppReply::Reply(_) | AppReply::Fault(_) => {
            session.quarantine.clear(Fingerprint::of(invoke));
        }
    }
}
