//! Carries out what a request leaves to be done for its script or its run.

use pipemux_proto::Fault;

use crate::Core;
use crate::announcements::Announcements;
use crate::core::Shutdown;
use crate::foreign::Outcome;
use crate::keys::RequestId;
use crate::processes::reply::AppReply;
use crate::runs::{RunInput, RunOutput, StepReply};
use crate::verbs::concurrent_changes::FileChanges;
use crate::verbs::end_run::{end_run, remove_value_files, show_run};
use crate::verbs::incarnations::version_went_back;
use crate::verbs::jobs::{started, step_started};
use crate::verbs::next::{Next, RunWork};
use crate::verbs::require;
use crate::verbs::run::{run_script, run_steps};
use crate::verbs::run_driver::{
    begin_run, complete_invoke, look_up, newer_version_before, read_step_reply, resume_run,
    send_step, told_version,
};
use crate::verbs::undo::mark_undone;

impl Core {
    /// Does work on a script or a run. Returns what is left then.
    pub(super) fn carry_on_run(&mut self, id: RequestId, work: RunWork) -> Result<Next, Fault> {
        match work {
            RunWork::AnswerQuestion(number, text) => {
                let processes = &self.processes;
                questions!(self).answer(processes, id, &text, Some(number), None)
            }
            RunWork::Script(script, start) => {
                let (processes, providers) = (&mut self.processes, &self.providers);
                run_script(&mut questions!(self), processes, providers, id, script, start)
            }
            RunWork::Steps(steps, origin) => {
                let permission = permission!(self);
                run_steps(&mut questions!(self), permission, id, steps, origin)
            }
            RunWork::Begin(run, input) => {
                let request = require::request(&self.clients, id)?;
                let now = self.turn.mono_ms();
                Ok(begin_run(&mut self.tasks, request, now, run, input))
            }
            RunWork::Resume(input) => {
                let permission = permission!(self);
                let (turn, workspaces) = (&mut self.turn, &mut self.workspaces);
                let requests = (&mut self.clients, &mut self.tasks);
                resume_run(turn, requests, workspaces, &self.processes, permission, id, input)
            }
            RunWork::Drive(output) => self.drive(id, output),
            RunWork::StepStarted(session, started) => {
                let is_stopping = self.shutdown != Shutdown::Running;
                step_started(&mut job_events!(self), is_stopping, id, &session, started)
            }
            RunWork::End(mut run) => {
                let (turn, rounds) = (&mut self.turn, self.config.history_rounds());
                let (clients, workspaces) = (&mut self.clients, &mut self.workspaces);
                end_run(turn, clients, workspaces, &mut self.feed, rounds, (id, &mut run));
                let workspace = require::workspace_of_run(&self.workspaces, &run.caller)?;
                Ok(show_run(&self.clients, workspace, &self.processes, (id, run)))
            }
        }
    }

    /// Carries out what the run of a request needs.
    fn drive(&mut self, id: RequestId, output: RunOutput) -> Result<Next, Fault> {
        let request = require::request(&self.clients, id)?;
        let (turn, processes) = (&mut self.turn, &mut self.processes);
        match output {
            RunOutput::LookUp(lookup) => {
                look_up(turn, processes, request, lookup);
                Ok(Next::Nothing)
            }
            RunOutput::Invoke { session, mut invoke, prefetch } => {
                let Some(run) = self.tasks.run(id) else { return Ok(Next::Nothing) };
                let now = turn.now.unix_ms;
                let changes = FileChanges {
                    workspaces: &self.workspaces,
                    asking: &self.runs,
                    tasks: &self.tasks,
                    jobs: &self.jobs,
                };
                complete_invoke(&mut invoke, &session, run, &self.consents, (&changes, now));
                let (tasks, workspaces) = (&mut self.tasks, &mut self.workspaces);
                let step = (&session, &*invoke);
                send_step(turn, tasks, workspaces, processes, request, step, prefetch);
                Ok(Next::Nothing)
            }
            RunOutput::Ask { needs, asker } => {
                let Some(run) = self.tasks.take_run(id) else { return Ok(Next::Nothing) };
                if let Some(undone) = run.origin.undone_round() {
                    // Who asks has done nothing: should nobody answer, that step is left.
                    let (at, now) = (&run.caller.workspace, undone.now(&run.progress.done));
                    mark_undone(turn, &mut self.workspaces, at, undone.number, now);
                }
                questions!(self).ask(id, run, needs, asker)
            }
            RunOutput::AskAgain { question, fault } => {
                let Some(run) = self.tasks.take_run(id) else { return Ok(Next::Nothing) };
                questions!(self).ask_again(id, run, *question, *fault)
            }
            RunOutput::Finished => {
                let Some(mut run) = self.tasks.take_run(id) else { return Ok(Next::Nothing) };
                remove_value_files(turn, &mut run);
                Ok(Next::Run(RunWork::End(run)))
            }
        }
    }

    /// Takes the end of a step's request: the app's reply, or that there will be none.
    pub(super) fn step_replied(&mut self, id: RequestId, reply: AppReply) -> Next {
        let (turn, processes) = (&mut self.turn, &mut self.processes);
        let requests = (&self.clients, &self.tasks);
        let read = read_step_reply(turn, requests, processes, &mut self.consents, id, reply);
        let Some((session, mut reply)) = read else { return Next::Nothing };
        let now = self.turn.now;
        if let Some(version) = told_version(&reply) {
            let run = self.tasks.run(id);
            let before =
                run.and_then(|run| newer_version_before(run, &self.processes, &session, version));
            let (feed, workspaces) = (&mut self.feed, &mut self.workspaces);
            let mut announcements = Announcements { feed, workspaces, now };
            if let Some((app, from)) = before {
                let (processes, tasks) = (&mut self.processes, &mut self.tasks);
                let runs = &mut self.runs;
                let went_back = (app, (from, version));
                version_went_back(&mut announcements, processes, runs, tasks, &session, went_back);
            }
            // Told now, so that watchers hear of the change before they hear of the run that made
            // it.
            let found = self.processes.get_mut(&session);
            if found.is_some_and(|found| found.set_version(version)) {
                announcements.session_changed(&session);
            }
        }
        if let StepReply::Outcome(Outcome::Done(done)) = &mut reply
            && let Some(run) = self.tasks.run(id)
        {
            let (workspaces, asking) = (&self.workspaces, &self.runs);
            let changes = FileChanges { workspaces, asking, tasks: &self.tasks, jobs: &self.jobs };
            let wrote = changes.tell_in_outcome(run, now.unix_ms, done);
            if let (Some(_), Some(run)) = (wrote, self.tasks.run_mut(id)) {
                run.file_times.wrote = wrote;
            }
        }
        match started(&mut reply) {
            Some(started) => Next::Run(RunWork::StepStarted(session, started)),
            None => Next::Run(RunWork::Resume(RunInput::Replied(reply))),
        }
    }
}
