//! Drives runs: resumes a run with its next input, and carries out the output.
//!
//! A run stays with its client's request from its begin to its end and is resumed in place, so that it can't
//! get lost between two steps. If one is missing nevertheless, its outcome is unknown.

use std::rc::Rc;

use pipemux_proto::app::Invoke;
use pipemux_proto::envelope::Method;
use pipemux_proto::paths::VALUES;
use pipemux_proto::watch::EventKind;
use pipemux_proto::{Fault, Incarnation};

use crate::Core;
use crate::answers::delivery::reserve;
use crate::answers::render_window::render_held_window;
use crate::event::Effect;
use crate::feed::{Audience, Happening};
use crate::foreign::{Done, Outcome, Started};
use crate::keys::{ProjectionKey, RequestId, SessionKey, WorkspaceKey};
use crate::limits::{LOCATE_MS, REQUEST_MS};
use crate::persist::records::{Record, SavedRound};
use crate::processes::draining::break_app;
use crate::processes::reply::{AppReply, ReplyTo};
use crate::processes::session::Session;
use crate::runs::history_round::{history_round, unfinished_round};
use crate::runs::{ArrivedWindow, LookupReply, Run, RunContext, RunInput, RunOutput, StepReply};
use crate::verbs::concurrent_changes::FileChanges;
use crate::verbs::consent::keep_consent;
use crate::verbs::jobs::started;
use crate::verbs::require;
use crate::verbs::tasks::Task;
use crate::verbs::undo::mark_undone;
use crate::workspaces::raw_projection::RawProjection;

/// What history tells of requests that don't say what they are made with.
const COMMAND_LINE: &str = "cli";

impl Core {
    /// Gives a client's request a run, and starts the run.
    pub(super) fn start_run(
        &mut self,
        id: RequestId,
        mut run: Run,
        input: RunInput,
    ) -> Result<(), Fault> {
        run.job_wait.until = self.job_wait_end(id);
        run.job_wait.requested_ms =
            self.clients.request(id).map_or(0, |request| request.call.wait_ms);
        self.set_task(id, Task::Running(Box::new(run)));
        self.resume_run(id, input)
    }

    /// Resumes a run and carries out its output.
    pub(super) fn resume_run(&mut self, id: RequestId, input: RunInput) -> Result<(), Fault> {
        let deadline = require::request(&self.clients, id)?.deadline;
        let Some(Task::Running(run)) = self.tasks.get(id) else {
            return Err(Self::lost_run());
        };
        if self.processes.any_per_reader() {
            // Whoever answers a question: its refs and numbers are those of the reader who began the run.
            let (at, reader) = (run.caller.workspace.clone(), Rc::from(&*run.caller.reader));
            self.turn_windows(&at, &reader);
        }
        let Some(Task::Running(run)) = self.tasks.get_mut(id) else {
            return Err(Self::lost_run());
        };
        let workspace = self.workspaces.get(&run.caller.workspace).ok_or_else(Self::lost_run)?;
        let context = RunContext { workspace, sessions: self.processes.sessions() };
        let output = run.resume(input, &context);
        let acts = run.acts_by(&output);
        let is_first = self.clients.request(id).is_some_and(|request| !request.recorded);
        if acts && !self.may_act(id) {
            return Ok(());
        }
        if let RunOutput::Invoke { session, .. } = &output {
            // What ran before has its end: the next step fails, and the others aren't run.
            let held = if acts && !is_first { self.act_refusal(id) } else { None };
            if let Some(fault) = held.or_else(|| self.rules.forbids(&session.addr.provider)) {
                let failed = StepReply::Outcome(Outcome::Failed(fault));
                return self.resume_run(id, RunInput::Replied(failed));
            }
        }
        self.record_progress(id, &output)?;
        let Some(Task::Running(run)) = self.tasks.get(id) else { return Err(Self::lost_run()) };
        let turn = &mut self.turn;
        match output {
            RunOutput::Invoke { session, invoke, prefetch } => {
                return self.send_step(id, &session, invoke, prefetch);
            }
            RunOutput::Locate { session, locate } => {
                let (soon, to) = (deadline.min(turn.mono_ms() + LOCATE_MS), ReplyTo::Locate(id));
                self.processes.request(turn, &session, Method::Locate, &locate, soon, to);
            }
            RunOutput::Read { session, read } => {
                let to = ReplyTo::Read(id);
                self.processes.request(turn, &session, Method::AppRead, &read, deadline, to);
            }
            RunOutput::Store { session, path, offset, data } => {
                let path = path.unwrap_or_else(|| {
                    let state_dir = self.processes.state_dir_of(&session);
                    // No later daemon begins in the same millisecond.
                    let (began, number) = (turn.began.unix_ms, turn.next_number());
                    format!("{state_dir}/{VALUES}/{began}-{number}")
                });
                turn.effects.push(Effect::StoreValue { request: id.0, path, offset, data });
            }
            RunOutput::Refresh { session, key, project } => {
                let to = ReplyTo::Refresh(id, key);
                self.processes.request(turn, &session, Method::Project, &project, deadline, to);
            }
            RunOutput::Ask { needs, asker } => {
                if let Some(undone) = run.origin.undone_round() {
                    // Who asks has done nothing: should nobody answer, that step is left.
                    let (at, now) = (&run.caller.workspace, undone.now(&run.progress.done));
                    mark_undone(turn, &mut self.workspaces, at, undone.number, now);
                }
                return self.ask(id, needs, asker);
            }
            RunOutput::AskAgain { question, fault } => {
                return self.ask_again(id, *question, *fault);
            }
            RunOutput::Finished => {
                let mut run = self.take_run(id)?;
                let paths = std::mem::take(&mut run.value_files);
                if !paths.is_empty() {
                    self.turn.effects.push(Effect::RemoveValues { paths });
                }
                return self.finish_run(id, run);
            }
        }
        Ok(())
    }

    /// Sends the next step of a run to its app, and requests the window that is shown after it, if it is `prefetch`ed.
    fn send_step(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        mut invoke: Rc<Invoke>,
        prefetch: bool,
    ) -> Result<(), Fault> {
        let mut deadline = require::request(&self.clients, id)?.deadline;
        let Some(Task::Running(run)) = self.tasks.get(id) else { return Err(Self::lost_run()) };
        let (provider, now) = (&session.addr.provider, self.turn.now.unix_ms);
        let consents = self.consents.keys(&run.caller.workspace, provider, now);
        if !consents.is_empty() {
            Rc::make_mut(&mut invoke).consents = consents;
        }
        let changed_beside = self.file_changes().during_undone(run);
        if !changed_beside.is_empty() {
            Rc::make_mut(&mut invoke).changed_beside = changed_beside;
        }
        let turn = &mut self.turn;
        if let Some(undone) = run.origin.undone_round() {
            if undone.failed.is_some() {
                // The time for the undo may be over.
                deadline = deadline.max(turn.mono_ms() + REQUEST_MS);
            }
            // Should the daemon be lost now, the next one knows which steps ran, and of which nobody knows.
            let (at, undos) = (&run.caller.workspace, undone.while_next(&run.progress.done));
            mark_undone(turn, &mut self.workspaces, at, undone.number, undos);
        }
        if let Some(Task::Running(run)) = self.tasks.get_mut(id) {
            run.file_times.sent_ms = now;
        }
        let to = ReplyTo::Invoke(id);
        self.processes.request(turn, session, Method::Invoke, &*invoke, deadline, to);
        if prefetch {
            self.prefetch_after_step(id, session, deadline);
        }
        Ok(())
    }

    /// Writes down that a run acts and how far it has come, as the round that it becomes if the daemon is lost now.
    fn record_progress(&mut self, id: RequestId, output: &RunOutput) -> Result<(), Fault> {
        let Some(Task::Running(run)) = self.tasks.get_mut(id) else { return Err(Self::lost_run()) };
        if let RunOutput::Ask { .. } | RunOutput::AskAgain { .. } = output {
            let written = run.written.take().is_some();
            self.clients.record_begun(&mut self.turn, id, None);
            if written {
                self.clients.record_asked(&mut self.turn, id);
            }
        } else if run.is_unwritten(output) {
            let from = run.written.replace(run.progress.done.len());
            let round = self.unfinished_round(id, from).ok_or_else(Self::lost_run)?;
            match from {
                None => self.clients.record_begun(&mut self.turn, id, Some(round)),
                Some(_) => self.clients.record_progress(&mut self.turn, id, round),
            }
        }
        Ok(())
    }

    /// Returns the round that a request's run becomes if the daemon is lost now, with what was done from a step on; none if
    /// it hasn't acted.
    pub(crate) fn unfinished_round(
        &self,
        id: RequestId,
        from: Option<usize>,
    ) -> Option<SavedRound> {
        let Some(Task::Running(run)) = self.tasks.get(id) else { return None };
        run.written?;
        let workspace = self.workspaces.get(&run.caller.workspace)?;
        let round = unfinished_round(run, workspace, from.unwrap_or_default());
        let client = if from.is_some() { String::new() } else { self.maker_of(id) };
        Some(SavedRound { client, unix_ms: self.turn.now.unix_ms, ..round })
    }

    /// Returns what a request was made with.
    fn maker_of(&self, id: RequestId) -> String {
        let client = self.clients.request(id).map(|request| &*request.call.client);
        client.filter(|name| !name.is_empty()).unwrap_or(COMMAND_LINE).to_owned()
    }

    /// Goes on with a run once a part of a long value was written.
    pub(crate) fn value_stored(&mut self, id: RequestId, stored: Result<String, String>) {
        if let Some(Task::Running(_)) = self.tasks.get(id) {
            let result = self.resume_run(id, RunInput::LookedUp(LookupReply::Stored(stored)));
            self.fail_on_error(id, result);
        } else if let Ok(path) = stored {
            // The request has its answer: its client went away, or its time was over.
            self.turn.effects.push(Effect::RemoveValues { paths: vec![path] });
        }
    }

    /// Handles the end of a step's request: the app's reply, or that there will be none.
    pub(crate) fn invoke_replied(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        let in_flight = match self.tasks.get(id) {
            Some(Task::Running(run)) => run.in_flight(),
            // The request does something else by now: nobody waits for this reply.
            Some(_) => return Ok(()),
            None => None,
        };
        let (session, invoke) = in_flight.ok_or_else(Self::lost_run)?;
        let session = session.clone();
        if let Some(session) = self.processes.get_mut(&session) {
            session.quarantine.note_reply(invoke, &reply);
        }
        let mut reply = StepReply::read(reply, self.processes.speaker(&session));
        if let StepReply::Outcome(Outcome::Failed(fault)) = &mut reply {
            self.processes.explain_denial(&session, fault);
            let asking = self.clients.request(id);
            keep_consent(&mut self.turn, &mut self.consents, asking, &session, fault);
        }
        match &reply {
            StepReply::Outcome(
                Outcome::Done(Done { version, .. }) | Outcome::Started(Started { version, .. }),
            ) => {
                if let Some((app, from)) = self.version_before(id, &session, *version) {
                    self.version_went_back(&session, app, (from, *version));
                }
                // Told now, so that watchers hear of the change before they hear of the run that made it.
                let found = self.processes.get_mut(&session);
                if found.is_some_and(|found| found.set_version(*version)) {
                    self.session_changed(&session);
                }
            }
            StepReply::Unreadable(_) => {
                if let Some(app) = self.processes.get(&session).and_then(Session::app) {
                    let why = "its answer could not be read".into();
                    break_app(&mut self.turn, &mut self.processes, app, why);
                }
            }
            StepReply::Outcome(_) | StepReply::Started(_) | StepReply::Lost { .. } => {}
        }
        if let StepReply::Outcome(Outcome::Done(done)) = &mut reply
            && let Some(Task::Running(run)) = self.tasks.get(id)
        {
            let now = self.turn.now.unix_ms;
            let wrote = self.file_changes().tell_in_outcome(run, now, done);
            if let (Some(_), Some(Task::Running(run))) = (wrote, self.tasks.get_mut(id)) {
                run.file_times.wrote = wrote;
            }
        }
        if let Some(started) = started(&mut reply) {
            return self.step_started(id, &session, started);
        }
        self.resume_run(id, RunInput::Replied(reply))
    }

    /// Returns the process of a run's session and the version that it had before a step, if the step ended with an older
    /// one. Versions only grow within the life of a process.
    fn version_before(
        &self,
        id: RequestId,
        session: &SessionKey,
        version: u64,
    ) -> Option<(Incarnation, u64)> {
        let Some(Task::Running(run)) = self.tasks.get(id) else { return None };
        let app = self.processes.get(session)?.ready()?;
        let (seen, _) = run.baseline.now.versions.get(session)?;
        let before = *run.own_changes.expected.get(session)?;
        (*seen == app && version < before).then_some((app, before))
    }

    /// Handles an app's reply that says where an object is: for `read`, or for a step of a run.
    pub(crate) fn locate_replied(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        if self.is_reading(id) {
            return self.object_located(id, reply);
        }
        if self.is_finding_link(id) {
            return self.link_located(id, reply);
        }
        self.resume_run(id, RunInput::LookedUp(LookupReply::Location(reply)))
    }

    /// Handles an app's reply with a part of an object's value: for `read`, or for a step of a run.
    pub(crate) fn read_replied(&mut self, id: RequestId, reply: AppReply) -> Result<(), Fault> {
        if self.is_reading(id) {
            return self.chunk_read(id, reply);
        }
        self.resume_run(id, RunInput::LookedUp(LookupReply::Value(reply)))
    }

    /// Handles an app's reply to a request for a window that a run needs.
    pub(crate) fn refresh_replied(
        &mut self,
        id: RequestId,
        session: &SessionKey,
        key: ProjectionKey,
        reply: AppReply,
    ) -> Result<(), Fault> {
        if self.is_finding_link(id) {
            return self.link_window_arrived(id, key, reply);
        }
        let Some(Task::Running(run)) = self.tasks.get(id) else { return Err(Self::lost_run()) };
        let (at, rebases) = (run.caller.workspace.clone(), run.needs_ids());
        let arrived = self.store_window(&at, session, key, rebases, reply);
        if rebases && arrived.is_ok() {
            reserve(&mut self.workspaces, &mut self.turn, &at);
        }
        self.resume_run(id, RunInput::LookedUp(LookupReply::Window(arrived)))
    }

    /// Stores a window that an app sent in its workspace. With `render` it is also rendered, so that the ids of
    /// the objects that it shows are known.
    pub(super) fn store_window(
        &mut self,
        at: &WorkspaceKey,
        key: &SessionKey,
        projection_key: ProjectionKey,
        render: bool,
        reply: AppReply,
    ) -> Result<ArrivedWindow, Fault> {
        let body = match reply {
            AppReply::Reply(body) => body,
            AppReply::Fault(fault) => return Err(fault),
            AppReply::Lost { why, .. } => return Err(Fault::unavailable(why)),
        };
        let Some(app) = self.processes.get(key).and_then(|session| session.app()) else {
            return Err(Fault::unavailable(format!("{key} has ended")));
        };
        let projection = RawProjection::read(&body)
            .map_err(|error| Fault::unavailable(format!("{key} sent no window: {error}")))?;
        let Some(workspace) = self.workspaces.get_mut(at) else {
            return Err(Fault::unavailable("the workspace is gone"));
        };
        let version = projection.version;
        if let Some(window) = workspace.window_mut(key) {
            window.hold(projection_key, app, Rc::new(projection));
        }
        let now = self.turn.now;
        let ids = if render {
            render_held_window(workspace, key, &self.processes, now)
        } else {
            Vec::new()
        };
        Ok(ArrivedWindow { app, version, ids, epoch: workspace.epoch })
    }

    /// Adds a run that has ended to the history of its workspace, if there still is one, and to the feed.
    pub(super) fn record_round(&mut self, id: RequestId, run: &mut Run) {
        let (at, exit, now) = (&run.caller.workspace, run.exit_status(), self.turn.now);
        let client = self.maker_of(id);
        let run_id = self.clients.request(id).map(|request| request.call.run_id.clone());
        let Some(workspace) = self.workspaces.get_mut(at) else { return };
        let round = history_round(run, workspace, now.unix_ms);
        let round = SavedRound { client, run_id: run_id.unwrap_or_default(), ..round };
        workspace.history.add(round.clone(), self.config.history_rounds());
        run.end.round = (!round.undo.is_empty()).then_some(round.number);
        if let Some(notes) = self.clients.audit_notes(id) {
            notes.set_round(&round);
        }
        if let Some(undone) = run.origin.undone_round() {
            // What is unknown now was told: it is as if it had not run.
            let (at, round, now) = (at.clone(), undone.number, undone.now(&run.progress.done));
            mark_undone(&mut self.turn, &mut self.workspaces, &at, round, now);
        }
        let at = &run.caller.workspace;
        let exit = if exit == 0 { String::new() } else { format!(" (exit {exit})") };
        let text = [&*round.action, &*exit, " · ", &*round.result].concat();
        let audience = Audience::Workspace(at.clone(), None);
        let happening = Happening::new(EventKind::Act, audience, &text).by(&round.reader);
        self.feed.tell(now, Happening { run_exit: Some(round.exit), ..happening });
        self.turn.persist(Record::Round { workspace: (**at).to_owned(), round });
    }

    fn file_changes(&self) -> FileChanges<'_> {
        let Self { workspaces, runs: asking, tasks, jobs, .. } = self;
        FileChanges { workspaces, asking, tasks, jobs }
    }

    /// Returns the fault of a request whose run is missing, or whose workspace is: nobody can tell which steps took
    /// effect.
    pub(super) fn lost_run() -> Fault {
        let fault =
            Fault::unknown("the daemon lost track of this run; its steps may have taken effect");
        fault.hint("pipemux view")
    }

    /// Takes a run that has ended out of its client's request.
    pub(super) fn take_run(&mut self, id: RequestId) -> Result<Box<Run>, Fault> {
        match self.tasks.take_if(id, |task| matches!(task, Task::Running(_))) {
            Some(Task::Running(run)) => Ok(run),
            _ => Err(Self::lost_run()),
        }
    }
}
