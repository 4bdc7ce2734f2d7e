//! Drives runs: resumes a run with what happened, and carries out what it needs next.
//!
//! A run stays with its client's request from its begin to its end and is resumed in place, so that it can't
//! get lost between two steps. If one is missing nevertheless, its outcome is unknown.

use std::rc::Rc;

use pipemux_proto::Fault;
use pipemux_proto::app::Outcome;
use pipemux_proto::envelope::Method;
use pipemux_proto::watch::EventKind;

use crate::Core;
use crate::feed::{Audience, Happening};
use crate::keys::{ProjectionKey, RequestId, SessionKey, WorkspaceKey};
use crate::limits::LOCATE_MS;
use crate::persist::records::Record;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::Session;
use crate::runs::history_round::history_round;
use crate::runs::rebase::ArrivedWindow;
use crate::runs::{Run, RunContext, RunInput, RunOutput, StepReply};
use crate::verbs::deliver::rewrite;
use crate::verbs::run_exit_status;
use crate::verbs::tasks::Task;
use crate::workspaces::raw_projection::RawProjection;

impl Core {
    /// Gives a client's request a run, and starts it.
    pub(super) fn start_run(&mut self, job: RequestId, run: Run, input: RunInput) {
        self.set_task(job, Task::Running(Box::new(run)));
        self.resume_run(job, input);
    }

    /// Resumes a run and carries out what it needs next.
    fn resume_run(&mut self, job: RequestId, input: RunInput) {
        // A request that isn't there any more has its answer already.
        let Some(request) = self.clients.request(job) else { return };
        let Some(Task::Running(run)) = self.tasks.get_mut(job) else {
            return self.run_is_lost(job);
        };
        let Some(workspace) = self.workspaces.get(&run.workspace) else {
            return self.run_is_lost(job);
        };
        let context = RunContext { workspace, sessions: self.processes.sessions() };
        let deadline = request.deadline;
        let output = run.resume(input, &context);
        let turn = &mut self.turn;
        match output {
            RunOutput::Invoke { session, invoke, prefetch } => {
                let to = ReplyTo::Invoke(job);
                self.processes.request(turn, &session, Method::Invoke, &*invoke, deadline, to);
                if prefetch {
                    self.prefetch_window(job, &session, deadline);
                }
            }
            RunOutput::Locate { session, locate } => {
                let (soon, to) = (deadline.min(turn.mono_ms() + LOCATE_MS), ReplyTo::Locate(job));
                self.processes.request(turn, &session, Method::Locate, &locate, soon, to);
            }
            RunOutput::Read { session, read } => {
                let to = ReplyTo::Read(job);
                self.processes.request(turn, &session, Method::AppRead, &read, deadline, to);
            }
            RunOutput::Refresh { session, key, project } => {
                let to = ReplyTo::Refresh(job, key);
                self.processes.request(turn, &session, Method::Project, &project, deadline, to);
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
        let in_flight = match self.tasks.get(job) {
            Some(Task::Running(run)) => run.in_flight(),
            // The request does something else by now: nobody waits for this reply.
            Some(_) => return,
            None => None,
        };
        let Some((session, invoke)) = in_flight else { return self.run_is_lost(job) };
        let session = session.clone();
        self.processes.note_invoke_reply(&session, invoke, &reply);
        let reply = StepReply::read(reply);
        match &reply {
            StepReply::Outcome(Outcome::Done(done)) => {
                // Told now, so that watchers hear of the change before they hear of the run that made it.
                if self.processes.set_version(&session, done.version) {
                    self.session_changed(&session);
                }
            }
            StepReply::Unreadable(_) => {
                if let Some(app) = self.processes.get(&session).and_then(Session::app) {
                    let why = "its answer could not be read".into();
                    self.processes.break_app(&mut self.turn, app, why);
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
        let Some(Task::Running(run)) = self.tasks.get(job) else { return self.run_is_lost(job) };
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
        let body = match reply {
            AppReply::Reply(body) => body,
            AppReply::Fault(fault) => return Err(fault),
            AppReply::Lost { why, .. } => return Err(Fault::unavailable(why)),
        };
        let live = self.processes.get(session).and_then(|live| Some((live, live.app()?)));
        let Some((live, app)) = live else {
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
        let now = self.turn.now;
        let ids = if write { rewrite(workspace, session, live, now) } else { Vec::new() };
        Ok(ArrivedWindow { app, version, ids, epoch: workspace.epoch })
    }

    /// Adds a run that has ended to the history.
    pub(super) fn record_round(&mut self, run: &Run) {
        let (at, exit, now) = (&run.workspace, run_exit_status(run), self.turn.now);
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let round = history_round(run, workspace.history.count + 1, now.unix_ms, exit);
        workspace.history.add(round.clone());
        let exit = if exit == 0 { String::new() } else { format!(" (exit {exit})") };
        let text = format!("{}{exit} · {}", round.action, round.result);
        let place = Audience::Workspace(at.clone(), None);
        let happening = Happening::new(EventKind::Act, place, &text).by(&round.reader);
        self.feed.tell(now, Happening { run_exit: Some(round.exit), ..happening });
        self.turn.persist(Record::Round { workspace: at.to_string(), round });
    }

    /// Answers a request whose run is missing, or whose workspace is: nobody can tell what its steps did.
    pub(super) fn run_is_lost(&mut self, job: RequestId) {
        let fault =
            Fault::unknown("the daemon lost track of this run; its steps may have taken effect");
        self.fail_request(job, fault.hint("pipemux view shows how things stand"));
    }

    /// Takes a run that has ended out of its client's request.
    pub(super) fn take_run(&mut self, job: RequestId) -> Option<Box<Run>> {
        match self.tasks.take_if(job, |task| matches!(task, Task::Running(_)))? {
            Task::Running(run) => Some(run),
            _ => None,
        }
    }
}
