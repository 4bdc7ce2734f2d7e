//! Carrying out a run: one step at a time, the first failure stops the rest, unless only queries are left.
//!
//! [`Run::resume`] takes what happened and returns what the run needs next. It changes nothing but the run.

use std::mem;
use std::rc::Rc;

use pipemux_proto::app::{Choice, Invoke, QuestionKind, Resume};
use pipemux_proto::job::JobState;
use pipemux_proto::limits::CHOICES_MAX;
use pipemux_proto::refs::RefKind;
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Blob, Code, Fault, LineNumbers};

use crate::foreign::{Done, Needs, Outcome, Started, quote};
use crate::runs::arguments::Unresolved;
use crate::runs::context::RunContext;
use crate::runs::form::missing_form;
use crate::runs::missing_argument::names_objects;
use crate::runs::phase::{Lookup, Phase};
use crate::runs::protocol::{RunInput, RunOutput, StartedStep, StepReply};
use crate::runs::question::{AskedArgument, Asker};
use crate::runs::selection::make_distinct;
use crate::runs::send::{CONFIRMATION_TOKEN, must_be_confirmed};
use crate::runs::{Argument, Run, StepOrigin, StepOutcome, missing_argument, ref_errors};

impl Run {
    /// Goes on with what happened until something must be waited for.
    pub fn resume(&mut self, input: RunInput, context: &RunContext<'_>) -> RunOutput {
        if matches!(input, RunInput::Answered { .. } | RunInput::Declined) {
            // The answer that asked has told what came before.
            self.forget_told();
        }
        let output = match input {
            RunInput::Begin => self.advance(context),
            RunInput::Answered { confirms, invoke, token, choice } => {
                self.answered(*invoke, (confirms, token, choice), context)
            }
            RunInput::Declined => self.declined(),
            RunInput::Replied(reply) => self.replied(reply, context),
            RunInput::Located(reply) => self.located(reply, context),
            RunInput::ValueRead(reply) => self.value_read(reply, context),
            RunInput::ValueStored(stored) => self.value_stored(stored, context),
            RunInput::WindowArrived(arrived) => self.window_arrived(arrived, context),
        };
        match output {
            RunOutput::Finished => self.make_whole(context),
            output => output,
        }
    }

    /// Prepares the next step and sends it, or says what has to come first.
    pub(super) fn advance(&mut self, context: &RunContext<'_>) -> RunOutput {
        self.choose_baseline();
        let checked = self.steps.get(self.next).filter(|_| !self.is_called_off());
        if let Some(Err(unresolved)) = checked.map(|step| self.check_refs(context, step)) {
            return self.unresolved(unresolved, context);
        }
        if let Some(output) = self.end_or_ask(context) {
            return output;
        }
        match self.arguments(context, &self.steps[self.next]) {
            Ok(args) => self.send(self.invocation(context, args), context),
            Err(unresolved) => self.unresolved(unresolved, context),
        }
    }

    /// Looks up what the arguments of the next step need, or ends the run.
    fn unresolved(&mut self, unresolved: Unresolved, context: &RunContext<'_>) -> RunOutput {
        match unresolved {
            Unresolved::NeedsLookup(lookup) => self.look_up(*lookup, context),
            Unresolved::Invalid(fault, Some(session)) if self.may_rebase(context, &fault) => {
                self.rebase(session, fault, context)
            }
            Unresolved::Invalid(fault, shows) => {
                if let Some(session) = shows {
                    self.touch(&session);
                }
                self.end_or_go_on(*fault, context)
            }
        }
    }

    /// Ends the run when no step is to begin, or asks for what is missing of the steps that are left.
    fn end_or_ask(&mut self, context: &RunContext<'_>) -> Option<RunOutput> {
        if self.next >= self.steps.len() {
            return Some(RunOutput::Finished);
        }
        if self.is_called_off() {
            let fault = Fault::unavailable("cancelled before it began; nothing was sent");
            return Some(self.end(StepStatus::Failed, fault));
        }
        if let Some(step) = self.ambiguous_target() {
            let needs = missing_argument::target_question(&self.steps[step]);
            return Some(RunOutput::Ask { needs, asker: Asker::AmbiguousTarget(step) });
        }
        let (step, index, missing) = self.missing_argument()?;
        let asks = &self.steps[step];
        if let Some(needs) = missing_form(asks) {
            let nothing = |(_, argument): &(String, Argument)| match argument {
                Argument::Missing(missing) if names_objects(&missing.ty) => {
                    let session = &asks.session;
                    missing_argument::question(context.workspace, session, "", missing).1.is_empty()
                }
                _ => false,
            };
            return Some(match asks.args.iter().position(nothing) {
                Some(index) => self.nothing_to_choose(step, index, context),
                None => RunOutput::Ask { needs, asker: Asker::MissingArguments(step) },
            });
        }
        let (session, param) = (&asks.session, &asks.args[index].0);
        let (needs, options) =
            missing_argument::question(context.workspace, session, param, missing);
        if needs.question.kind == QuestionKind::Text && names_objects(&missing.ty) {
            return Some(self.nothing_to_choose(step, index, context));
        }
        let asked = AskedArgument { step, index, missing: missing.clone(), options };
        Some(RunOutput::Ask { needs, asker: Asker::MissingArgument(asked) })
    }

    /// Ends the run since an argument is missing and the window shows nothing that it could be; the window is
    /// looked at first, since a daemon that just began has none.
    fn nothing_to_choose(
        &mut self,
        index: usize,
        argument: usize,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let step = &self.steps[index];
        let session = step.session.clone();
        if !self.looked_up.windows.contains(&session)
            && context.workspace.window(&session).is_some()
        {
            return self.look_up(Lookup::Window { session }, context);
        }
        let wanted: Vec<String> = step
            .args
            .get(argument)
            .and_then(|(name, argument)| match argument {
                Argument::Missing(missing) => Some(format!("{name}: {}", missing.ty)),
                _ => None,
            })
            .into_iter()
            .collect();
        let message = format!("needs {}, and {session} shows none to choose", wanted.join(", "));
        let fault = Fault::usage(message).hint(format!("pipemux view {session}"));
        // The step that lacks it is named, though none has begun.
        self.done.resize(index.max(self.next), StepOutcome::skipped("not run"));
        self.next = index.max(self.next);
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
        // An action that asks for something else after it was confirmed stays confirmed: its arguments are the same.
        invoke.confirmed |= confirms && choice == Choice::Yes;
        // The app hasn't asked when the daemon did so in its place.
        let prototype = &self.steps[self.next].prototype;
        let own = *token.0 == *CONFIRMATION_TOKEN && must_be_confirmed(prototype);
        invoke.resume = (!own).then_some(Resume { token, choice });
        let step = &self.steps[self.next];
        (invoke.seen_version, invoke.seen_lost) = self.seen_version(context, step);
        self.know_lines(&mut invoke, step, context);
        self.send(invoke, context)
    }

    fn declined(&mut self) -> RunOutput {
        let message = "cancelled, nothing was changed by it";
        if self.was_sent() {
            return self.end(StepStatus::Failed, Fault::refused(message));
        }
        self.done.push(StepOutcome::skipped(message));
        RunOutput::Finished
    }

    fn replied(&mut self, reply: StepReply, context: &RunContext<'_>) -> RunOutput {
        let Phase::Invoking(invoke) = mem::take(&mut self.phase) else { return self.lost() };
        let step = &self.steps[self.next];
        match reply {
            StepReply::Outcome(Outcome::Done(done)) => self.step_done(done, context),
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
                if step.prototype.idempotent && !self.was_sent() && !self.cancelled =>
            {
                self.sent_before.push(self.next);
                self.send_again(invoke, context)
            }
            StepReply::Lost { delivered, why, .. } if delivered || self.was_sent() => {
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

    fn step_done(&mut self, done: Done, context: &RunContext<'_>) -> RunOutput {
        self.take_outcome(done, context);
        self.go_on(context)
    }

    /// Takes in what a step did that took effect.
    fn take_outcome(&mut self, mut done: Done, context: &RunContext<'_>) {
        self.tell(&mut done.numbers, context);
        let step = &self.steps[self.next];
        let expected = self.expected.get(&step.session).map_or(1, |n| n.saturating_add(1));
        self.only_own_changes &= expected == done.version;
        self.expected.insert(step.session.clone(), done.version);
        let app = context.current_incarnation(&step.session);
        self.done.push(StepOutcome::done(done, app));
    }

    /// Goes on behind a step that took effect.
    fn go_on(&mut self, context: &RunContext<'_>) -> RunOutput {
        if let Some(baseline) = self.saved_baseline.take() {
            self.replace_baseline(baseline);
        }
        self.go_past();
        self.advance(context)
    }

    fn go_past(&mut self) {
        self.next += 1;
        self.answered = None;
        self.looked_up = Default::default();
    }

    /// Takes in that a step began a job. A job that ended without success makes its step fail, and one that outlasts the
    /// wait for it leaves the steps behind it.
    fn step_started(&mut self, step: StartedStep, context: &RunContext<'_>) -> RunOutput {
        let StartedStep { started, job } = step;
        let Started { brief, version, links, complete, ended_jobs, fails_alone, no_undo, .. } =
            started;
        let done = Done { brief, version, links, complete, ended_jobs, no_undo, ..Done::default() };
        self.take_outcome(done, context);
        let nested = self.steps[self.next].nested;
        let state = job.as_ref().map_or(JobState::Running, |job| job.state);
        let name = job.as_ref().map(|job| job.name.clone()).unwrap_or_default();
        let outlasts = job.as_ref().is_some_and(|job| job.waited) && state == JobState::Running;
        let Some(outcome) = self.done.last_mut() else { return self.lost() };
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
            let name = self.steps[self.next].prototype.written_name().to_owned();
            self.go_past();
            let message = format!("{name} started a job ({words}), which has no value to pass on");
            return self.end(StepStatus::Failed, Fault::failed(message).hint("call it on its own"));
        }
        if outlasts && self.next + 1 < self.steps.len() {
            self.go_past();
            let fault = Fault::unavailable(format!("not begun, because job {name} still runs"));
            return self.end(StepStatus::Failed, fault);
        }
        self.go_on(context)
    }

    fn step_failed(&mut self, fault: Fault, context: &RunContext<'_>) -> RunOutput {
        let fault = self.name_ref_error(context, fault);
        if self.may_rebase(context, &fault) {
            let session = self.steps[self.next].session.clone();
            return self.rebase(session, Box::new(fault), context);
        }
        let mut fault = fault;
        let mut numbers = mem::take(&mut fault.numbers).into_vec();
        self.tell(&mut numbers, context);
        // An app may not know itself, as when a disk doesn't answer.
        match fault.code {
            Code::Unknown => self.end(StepStatus::Unknown, fault),
            _ => self.end_or_go_on(fault, context),
        }
    }

    /// Ends the run with its next step, unless this one and those behind it are queries: a query that failed changes
    /// nothing for another, so each of them is answered.
    fn end_or_go_on(&mut self, fault: Fault, context: &RunContext<'_>) -> RunOutput {
        let outer = self.outer_step(self.next);
        if self.cancelled || !self.leaves_only_queries() {
            return self.end(StepStatus::Failed, fault);
        }
        match self.end(StepStatus::Failed, fault) {
            RunOutput::Finished if !self.unknown && outer + 1 < self.steps.len() => {}
            output => return output,
        }
        // The failure of a call inside its arguments tells why a query wasn't run.
        while self.done.len() <= outer {
            self.done.push(StepOutcome::unreached());
        }
        self.next = outer + 1;
        self.answered = None;
        self.looked_up = Default::default();
        if let Some(baseline) = self.saved_baseline.take() {
            self.replace_baseline(baseline);
        }
        self.advance(context)
    }

    /// Keeps what the next step's reply says of line numbers.
    fn tell(&mut self, numbers: &mut Vec<LineNumbers>, context: &RunContext<'_>) {
        let session = self.steps[self.next].session.clone();
        let app = context.current_incarnation(&session);
        self.tell_lines(&session, app, mem::take(numbers));
    }

    /// Passes an app's question on to the reader.
    fn step_asks(
        &mut self,
        invoke: Rc<Invoke>,
        mut needs: Needs,
        context: &RunContext<'_>,
    ) -> RunOutput {
        self.tell(&mut needs.numbers, context);
        let question = &mut needs.question;
        let listed = question.options.len();
        question.options.truncate(CHOICES_MAX);
        question.unlisted =
            question.unlisted.saturating_add(listed.saturating_sub(CHOICES_MAX) as u64);
        make_distinct(&mut question.options);
        let step = &self.steps[self.next];
        if self.puts_back() {
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

    /// Turns an app's refusal of an object into the exact sentence about the ref that the reader wrote.
    fn name_ref_error(&self, context: &RunContext<'_>, mut fault: Fault) -> Fault {
        let step = &self.steps[self.next];
        let anchors = &context.workspace.anchors;
        let Some(key) = fault.key.as_deref() else { return fault };
        let id = anchors.id_of(&step.session, key);
        let as_written =
            id.and_then(|id| step.args.iter().find_map(|(_, argument)| argument.ref_to(id, key)));
        let known = id.map_or(0, |id| context.workspace.known_epoch(&self.reader, id));
        let seen = as_written.and_then(|of| of.epoch).unwrap_or(known);
        let shown = match (as_written, step.origin, id) {
            (Some(of), ..) => ref_errors::name(of),
            // What is out of date is the clicked link: the object itself may be as it was seen, or have no id.
            (None, StepOrigin::Link, _) => step.call.clone(),
            (None, StepOrigin::Call, Some(id)) => anchors.written(RefKind::Obj, id).to_string(),
            (None, StepOrigin::Call, None) => {
                if fault.code == Code::NotFound {
                    context.speaker(&step.session).mark_hints(&mut fault);
                }
                return fault;
            }
        };
        let hints = mem::take(&mut fault.hints);
        match fault.code {
            Code::Stale => {
                let fault = ref_errors::stale_since(context.workspace, &step.session, seen, &shown);
                hints.into_iter().fold(fault, Fault::hint)
            }
            Code::OutOfView => ref_errors::out_of_view(&shown, hints.into_iter().next()),
            Code::NotFound => ref_errors::not_found(&shown, hints.into_iter().next()),
            _ => Fault { hints, ..fault },
        }
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
