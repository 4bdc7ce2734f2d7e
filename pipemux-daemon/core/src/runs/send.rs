//! Requests that carry out a step: sent first, or sent again after their app died with them.

use std::rc::Rc;

use pipemux_proto::app::{Invoke, QuestionKind};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Prototype, Risk};
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Blob, Fault, Incarnation};

use crate::foreign::{Needs, Question};
use crate::keys::SessionKey;
use crate::runs::context::RunContext;
use crate::runs::followup::has_line_numbers;
use crate::runs::phase::Phase;
use crate::runs::protocol::RunOutput;
use crate::runs::question::Asker;
use crate::runs::{Run, Step};

/// The token of the question that the daemon asks for an app that doesn't ask itself.
pub(super) const CONFIRMATION_TOKEN: &[u8] = b"pipemux confirms";

/// True for an action that can't be undone and whose app doesn't ask before it carries it out.
pub(super) fn must_be_confirmed(prototype: &Prototype) -> bool {
    prototype.risk == Risk::Destructive && !prototype.previews
}

impl Run {
    /// Sends a request for the next step unless it is in quarantine.
    pub(super) fn send(&mut self, invoke: Invoke, context: &RunContext<'_>) -> RunOutput {
        let session = self.steps[self.next].session.clone();
        if must_be_confirmed(&self.steps[self.next].prototype) && !invoke.confirmed {
            return self.ask_to_confirm(invoke);
        }
        if let Some(fault) = context.quarantine_refusal(&session, &invoke) {
            return self.end(StepStatus::Failed, fault);
        }
        let query = self.steps[self.next].is_query();
        if !query {
            self.touch(&session);
        }
        let invoke = Rc::new(invoke);
        self.phase = Phase::Invoking(invoke.clone());
        // The answer won't show the window after a query, or to a reader who hasn't seen it.
        let shows = !query && self.seen.contains_key(&session);
        let prefetch = shows && self.next + 1 == self.steps.len();
        RunOutput::Invoke { session, invoke, prefetch }
    }

    /// Asks whether to send a step that can't be undone, to an app that doesn't ask itself.
    fn ask_to_confirm(&mut self, invoke: Invoke) -> RunOutput {
        let step = &self.steps[self.next];
        let provider = &step.session.addr.provider;
        if step.nested {
            let name = step.prototype.written_name();
            let message = format!("{name} can't be undone, and a nested call can't be confirmed");
            let fault = Fault::refused(message).hint("call it on its own first");
            return self.end(StepStatus::Failed, fault);
        }
        let text = format!("cannot be undone; {provider} doesn't show beforehand what it affects");
        let question = Question {
            text: text.into(),
            kind: QuestionKind::Confirm,
            options: Vec::new(),
            unlisted: 0,
            ..Question::default()
        };
        let needs = Needs { question, token: Blob(CONFIRMATION_TOKEN.into()), numbers: Vec::new() };
        RunOutput::Ask { needs, asker: Asker::App(Box::new(invoke)) }
    }

    /// Sends a step whose app died with it to the next process. Only for actions that are declared
    /// idempotent: carrying them out twice is as good as once.
    pub(super) fn send_again(
        &mut self,
        mut invoke: Rc<Invoke>,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let session = self.steps[self.next].session.clone();
        let request = Rc::make_mut(&mut invoke);
        // The process that showed the reader its version is gone.
        (request.seen_version, request.seen_lost) = match self.seen.get(&session) {
            Some(_) => (None, true),
            None => (None, request.seen_lost),
        };
        self.name_lines(request, &session, None);
        if let Some(fault) = context.quarantine_refusal(&session, &invoke) {
            let message = format!("{}; an earlier attempt may have taken effect", fault.message);
            return self.end(StepStatus::Unknown, Fault::unknown(message));
        }
        self.phase = Phase::Invoking(invoke.clone());
        RunOutput::Invoke { session, invoke, prefetch: false }
    }

    /// The request for the next step.
    pub(super) fn invocation(&self, context: &RunContext<'_>, args: Vec<(String, Arg)>) -> Invoke {
        let step = &self.steps[self.next];
        let (seen_version, seen_lost) = self.seen_version(context, step);
        let mut invoke = Invoke {
            action: step.prototype.name.clone(),
            args: args.into_iter().collect(),
            seen_version,
            seen_lost,
            cwd: self.cwd.clone(),
            reader: self.reader.clone(),
            run_id: self.run_id.clone(),
            budget: self.content_budget(),
            nested: step.nested,
            ..Invoke::default()
        };
        self.know_lines(&mut invoke, step, context);
        invoke
    }

    /// Says in a request what the reader's line numbers mean.
    pub(super) fn know_lines(&self, invoke: &mut Invoke, step: &Step, context: &RunContext<'_>) {
        let session = &step.session;
        self.name_lines(invoke, session, context.current_incarnation(session));
        // A reader may have been shown numbers by an earlier daemon, too, also before the epoch that it names.
        invoke.forgotten |= context.is_restored(session);
    }

    fn name_lines(&self, invoke: &mut Invoke, session: &SessionKey, app: Option<Incarnation>) {
        match self.lines.get(session) {
            Some(lines) => lines.write_to(invoke, app),
            None => (invoke.numbers, invoke.forgotten) = (Vec::new(), false),
        }
    }

    /// The version that the reader had seen, and whether another incarnation showed it, whose versions mean
    /// nothing to the one that gets the request.
    pub(super) fn seen_version(
        &self,
        context: &RunContext<'_>,
        step: &Step,
    ) -> (Option<u64>, bool) {
        let session = &step.session;
        let lines_seen = self.lines_seen.as_ref().filter(|_| has_line_numbers(step));
        match lines_seen.unwrap_or(&self.seen).get(session) {
            Some((app, version)) if Some(*app) == context.current_incarnation(session) => {
                (Some(*version), false)
            }
            Some(_) => (None, true),
            // The reader may have seen what an earlier daemon showed.
            None => (None, context.is_restored(session)),
        }
    }
}
