//! Carrying out a run: one step at a time, the first failure stops the rest, unless only queries
//! are left.
//!
//! [`Run::resume`] takes what happened and returns what the run needs next. It changes nothing but
//! the run.

use std::mem;
use std::rc::Rc;

use pipemux_proto::app::{Choice, Invoke, Resume};
use pipemux_proto::job::JobState;
use pipemux_proto::limits::CHOICES_MAX;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Blob, Code, Fault};

use crate::foreign::{Done, Needs, Outcome, Started, quote};
use crate::runs::arguments::{Resolver, Unresolved};
use crate::runs::phase::{LookedUp, Lookup, Phase};
use crate::runs::protocol::{RunInput, RunOutput, StartedStep, StepReply};
use crate::runs::questions::asker::Asker;
use crate::runs::questions::next_question::{NothingToChoose, next_question};
use crate::runs::questions::selection::make_distinct;
use crate::runs::refused_ref::name_refused_ref;
use crate::runs::run::Run;
use crate::runs::send::{CONFIRMATION_TOKEN, must_be_confirmed};
use crate::runs::step_outcome::{StepOutcome, forget_told};
use crate::scripts::context::RunContext;

impl Run {
    /// Goes on with what happened until something must be waited for.
    pub fn resume(&mut self, input: RunInput, context: &RunContext<'_>) -> RunOutput {
        if matches!(input, RunInput::Answered { .. } | RunInput::Declined) {
            // The answer that asked has told what came before.
            self.told_lines.clear();
            forget_told(&mut self.progress.done);
        }
        let output = match input {
            RunInput::Begin => self.advance(context),
            RunInput::Answered { confirms, invoke, token, choice } => {
                self.answered(*invoke, (confirms, token, choice), context)
            }
            RunInput::Declined => self.declined(),
            RunInput::Replied(reply) => self.replied(reply, context),
            RunInput::LookedUp(reply) => self.looked_up(reply, context),
        };
        match output {
            RunOutput::Finished => self.roll_back_undo(context),
            output => output,
        }
    }

    /// Prepares the next step and sends it, or says what has to come first.
    pub(super) fn advance(&mut self, context: &RunContext<'_>) -> RunOutput {
        let next = self.progress.next;
        self.baseline.choose_for(next);
        let resolver = Resolver {
            context,
            progress: &self.progress,
            baseline: &self.baseline.now,
            own_changes: &self.own_changes,
            looked_up: &self.looked_up,
            reader: &self.caller.reader,
        };
        let checked = self.progress.steps.get(next).filter(|_| !self.is_called_off());
        if let Some(Err(unresolved)) = checked.map(|step| resolver.check_refs(step)) {
            return self.unresolved(unresolved, context);
        }
        let arguments = checked.map(|step| resolver.arguments(step));
        if let Some(output) = self.end_or_ask(context) {
            return output;
        }
        match arguments {
            Some(Ok(args)) => self.send(self.invocation(context, args), context),
            Some(Err(unresolved)) => self.unresolved(unresolved, context),
            None => RunOutput::Finished,
        }
    }

    /// Looks up what the arguments of the next step need, or ends the run.
    fn unresolved(&mut self, unresolved: Unresolved, context: &RunContext<'_>) -> RunOutput {
        match unresolved {
            Unresolved::NeedsLookup(lookup) => self.look_up(*lookup, context),
            Unresolved::Invalid(fault, None) => self.end_or_go_on(*fault, context),
            Unresolved::Invalid(fault, Some(session)) => {
                let fault = match self.rebase(&session, fault, context) {
                    Ok(output) => return output,
                    Err(fault) => fault,
                };
                self.own_changes.touch(&session);
                self.end_or_go_on(*fault, context)
            }
        }
    }

    /// Ends the run if no step is left to begin, or asks for arguments that the remaining steps
    /// lack.
    fn end_or_ask(&mut self, context: &RunContext<'_>) -> Option<RunOutput> {
        if self.progress.next >= self.progress.steps.len() {
            return Some(RunOutput::Finished);
        }
        if self.is_called_off() {
            let fault = Fault::unavailable("cancelled before it began; nothing was sent");
            return Some(self.end(StepStatus::Failed, fault));
        }
        Some(match next_question(&self.progress, context)? {
            Ok((needs, asker)) => RunOutput::Ask { needs, asker },
            Err(nothing) => self.nothing_to_choose(nothing, context),
        })
    }

    /// True if no further step should begin because nobody waits for the run. An undo first redoes
    /// what it has undone so far.
    fn is_called_off(&self) -> bool {
        self.cancelled && !self.origin.is_rolling_back()
    }

    /// Ends the run because an argument is missing and the window shows no object for it. The
    /// window is requested first, because a daemon that has just started has none.
    fn nothing_to_choose(
        &mut self,
        NothingToChoose { step: index, wanted }: NothingToChoose,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let session = self.progress.steps[index].session.clone();
        if !self.looked_up.windows.contains(&session)
            && context.workspace.window(&session).is_some()
        {
            return self.look_up(Lookup::Window { session }, context);
        }
        let message = format!("needs {wanted}, and {session} shows none to choose");
        let fault = Fault::usage(message).hint(format!("pipemux view {session}"));
        // The step that lacks it is named, though none has begun.
        let index = index.max(self.progress.next);
        self.progress.done.resize(index, StepOutcome::skipped("not run"));
        self.progress.next = index;
        self.end(StepStatus::Failed, fault)
    }

    fn answered(
        &mut self,
        mut invoke: Invoke,
        (confirms, token, choice): (bool, Blob, Choice),
        context: &RunContext<'_>,
    ) -> RunOutput {
        if let Some(output) = self.end_or_ask(context) {
            return output;
        }
        // An action that asks for something else after it was confirmed stays confirmed: its
        // arguments are the same.
        invoke.confirmed |= confirms && choice == Choice::Yes;
        // The app hasn't asked when the daemon did so in its place.
        let prototype = &self.progress.steps[self.progress.next].prototype;
        let own = *token.0 == *CONFIRMATION_TOKEN && must_be_confirmed(prototype);
        invoke.resume = (!own).then_some(Resume { token, choice });
        self.baseline.write_seen(&mut invoke, &self.progress.steps[self.progress.next], context);
        self.send(invoke, context)
    }

    fn declined(&mut self) -> RunOutput {
        let message = "cancelled, nothing was changed by it";
        if self.attempts.were_sent(self.progress.next) {
            return self.end(StepStatus::Failed, Fault::refused(message));
        }
        self.progress.done.push(StepOutcome::skipped(message));
        RunOutput::Finished
    }

    fn replied(&mut self, reply: StepReply, context: &RunContext<'_>) -> RunOutput {
        let Phase::Invoking(invoke) = mem::take(&mut self.phase) else { return self.lost() };
        let step = &self.progress.steps[self.progress.next];
        match reply {
            StepReply::Outcome(Outcome::Done(done)) => {
                self.take_outcome(done, context);
                self.go_on(context)
            }
            StepReply::Outcome(Outcome::Started(started)) => {
                self.step_started(StartedStep { started, job: None }, context)
            }
            StepReply::Started(started) => self.step_started(*started, context),
            StepReply::Outcome(Outcome::Failed(fault)) => self.step_failed(fault, context),
            StepReply::Outcome(Outcome::Needs(needs)) => self.step_asks(invoke, needs, context),
            StepReply::Unreadable(error) => {
                let why = format!("{} sent an outcome that can't be read: {error}", step.session);
                self.end(StepStatus::Unknown, Fault::unknown(why))
            }
            StepReply::Lost { died: true, .. }
                if step.prototype.idempotent
                    && !self.attempts.were_sent(self.progress.next)
                    && !self.cancelled =>
            {
                self.attempts.sent_before.push(self.progress.next);
                self.send_again(invoke, context)
            }
            StepReply::Lost { delivered, why, .. }
                if delivered || self.attempts.were_sent(self.progress.next) =>
            {
                let fault = Fault::unknown(format!("{why}; it may or may not have taken effect"))
                    .hint(format!("pipemux view {}", step.session));
                self.end(StepStatus::Unknown, fault)
            }
            StepReply::Lost { why, hints, .. } => {
                let fault = Fault::unavailable(format!("{why}; nothing was sent to it"));
                self.end(StepStatus::Failed, Fault { hints, ..fault })
            }
        }
    }

    /// Takes in what a step did that took effect.
    fn take_outcome(&mut self, mut done: Done, context: &RunContext<'_>) {
        self.tell_lines(mem::take(&mut done.numbers), context);
        let session = &self.progress.steps[self.progress.next].session;
        self.own_changes.note_version(session, done.version);
        let app = context.current_incarnation(session);
        self.progress.done.push(StepOutcome::done(done, app));
    }

    /// Goes on behind a step that took effect.
    fn go_on(&mut self, context: &RunContext<'_>) -> RunOutput {
        self.baseline.restore();
        self.go_to(self.progress.next + 1);
        self.advance(context)
    }

    /// Makes a step the next one, for which nothing was looked up yet.
    pub(super) fn go_to(&mut self, step: usize) {
        self.progress.next = step;
        self.answers.latest = None;
        self.looked_up = LookedUp::default();
    }

    /// Handles a step that started a job. The step fails if its job ended without success; if the
    /// job outlasts the wait, the remaining steps don't run.
    fn step_started(&mut self, step: StartedStep, context: &RunContext<'_>) -> RunOutput {
        let StartedStep { started, job } = step;
        let Started { brief, version, links, complete, ended_jobs, fails_alone, no_undo, .. } =
            started;
        let done = Done { brief, version, links, complete, ended_jobs, no_undo, ..Done::default() };
        self.take_outcome(done, context);
        let nested = self.progress.steps[self.progress.next].nested;
        let state = job.as_ref().map_or(JobState::Running, |job| job.state);
        let name = job.as_ref().map(|job| job.name.clone()).unwrap_or_default();
        let outlasts = job.as_ref().is_some_and(|job| job.waited) && state == JobState::Running;
        let Some(outcome) = self.progress.done.last_mut() else { return self.lost() };
        outcome.job = job;
        let words = outcome.tell_job().to_owned();
        outcome.show_job_output();
        let succeeded = matches!(state, JobState::Running | JobState::Done);
        if !(succeeded || fails_alone && state == JobState::Failed) {
            outcome.status = StepStatus::Failed;
            let fault = Fault::failed(words);
            let output = outcome.job.as_ref().is_some_and(|job| job.has_more_output);
            let look = format!("pipemux read job:{name}");
            outcome.fault = Some(if output { fault.hint(look) } else { fault });
            return RunOutput::Finished;
        }
        if nested {
            let name = self.progress.steps[self.progress.next].prototype.written_name().to_owned();
            self.go_to(self.progress.next + 1);
            let message = format!("{name} started a job ({words}), which has no value to pass on");
            return self.end(StepStatus::Failed, Fault::failed(message).hint("call it on its own"));
        }
        if outlasts && self.progress.next + 1 < self.progress.steps.len() {
            self.go_to(self.progress.next + 1);
            let fault = Fault::unavailable(format!("not begun, because job {name} still runs"));
            return self.end(StepStatus::Failed, fault);
        }
        self.go_on(context)
    }

    fn step_failed(&mut self, fault: Fault, context: &RunContext<'_>) -> RunOutput {
        let step = &self.progress.steps[self.progress.next];
        let fault = name_refused_ref(fault, step, &self.caller.reader, context);
        let session = step.session.clone();
        let mut fault = match self.rebase(&session, Box::new(fault), context) {
            Ok(output) => return output,
            Err(fault) => *fault,
        };
        self.tell_lines(mem::take(&mut fault.numbers), context);
        // An app may not know itself, as when a disk doesn't answer.
        match fault.code {
            Code::Unknown => self.end(StepStatus::Unknown, fault),
            _ => self.end_or_go_on(fault, context),
        }
    }

    /// Ends the run with its next step, unless this step and all later ones are queries: a failed
    /// query doesn't affect other queries, so each is answered.
    fn end_or_go_on(&mut self, fault: Fault, context: &RunContext<'_>) -> RunOutput {
        let outer = self.progress.outer_step(self.progress.next);
        if self.cancelled || !self.progress.leaves_only_queries() {
            return self.end(StepStatus::Failed, fault);
        }
        match self.end(StepStatus::Failed, fault) {
            RunOutput::Finished if !self.unknown && outer + 1 < self.progress.steps.len() => {}
            output => return output,
        }
        // The failure of a call inside its arguments tells why a query wasn't run.
        while self.progress.done.len() <= outer {
            self.progress.done.push(StepOutcome::unreached());
        }
        self.go_to(outer + 1);
        self.baseline.restore();
        self.advance(context)
    }

    /// Passes an app's question on to the reader.
    fn step_asks(
        &mut self,
        invoke: Rc<Invoke>,
        mut needs: Needs,
        context: &RunContext<'_>,
    ) -> RunOutput {
        self.tell_lines(mem::take(&mut needs.numbers), context);
        let question = &mut needs.question;
        let listed = question.options.len();
        question.options.truncate(CHOICES_MAX);
        question.unlisted =
            question.unlisted.saturating_add(listed.saturating_sub(CHOICES_MAX) as u64);
        make_distinct(&mut question.options);
        let step = &self.progress.steps[self.progress.next];
        if self.origin.is_rolling_back() {
            let why = format!("it asks: {}", quote::in_sentence(&question.text));
            return self.end(StepStatus::Failed, Fault::failed(why));
        }
        if step.nested {
            let fault = Fault::failed(format!(
                "{} asks, and a nested call can't be answered: {}",
                step.prototype.written_name(),
                quote::in_sentence(&question.text)
            ))
            .hint("call it on its own first");
            return self.end(StepStatus::Failed, fault);
        }
        if let Some(fault) = context.closed_while_asking(&step.session) {
            return self.end(StepStatus::Failed, fault);
        }
        let asker = Asker::App(Box::new(Rc::unwrap_or_clone(invoke)));
        RunOutput::Ask { needs, asker }
    }

    /// Ends the run with its next step.
    pub(super) fn end(&mut self, status: StepStatus, fault: Fault) -> RunOutput {
        let wrong =
            (status == StepStatus::Failed).then(|| self.take_wrong_answer(&fault)).flatten();
        if let Some(question) = wrong {
            return RunOutput::AskAgain { question, fault: Box::new(fault) };
        }
        self.fail(status, fault);
        RunOutput::Finished
    }

    /// Ends a run that got a reply it doesn't wait for: its next step may have been carried out.
    pub(super) fn lost(&mut self) -> RunOutput {
        let why = "the daemon lost track of it; it may or may not have taken effect";
        self.end(StepStatus::Unknown, Fault::unknown(why))
    }
}
