//! Requests that carry out a step: sent first, or sent again after their app died with them.

use std::rc::Rc;

use pipemux_proto::app::{Invoke, QuestionKind};
use pipemux_proto::projection::Arg;
use pipemux_proto::prototype::{Prototype, Risk};
use pipemux_proto::report::StepStatus;
use pipemux_proto::{Blob, Fault};

use crate::foreign::{Needs, Question};
use crate::runs::phase::Phase;
use crate::runs::protocol::RunOutput;
use crate::runs::questions::asker::Asker;
use crate::runs::run::Run;
use crate::scripts::context::RunContext;
use crate::scripts::step::Step;

/// The token of the daemon's confirmation question for apps that don't ask themselves.
pub(super) const CONFIRMATION_TOKEN: &[u8] = b"pipemux confirms";

/// True for an action that can't be undone and whose app doesn't ask before it carries it out.
pub(super) fn must_be_confirmed(prototype: &Prototype) -> bool {
    prototype.risk == Risk::Destructive && !prototype.previews
}

impl Run {
    /// Sends a request for the next step unless it is in quarantine.
    pub(super) fn send(&mut self, invoke: Invoke, context: &RunContext<'_>) -> RunOutput {
        let session = self.progress.steps[self.progress.next].session.clone();
        if must_be_confirmed(&self.progress.steps[self.progress.next].prototype)
            && !invoke.confirmed
        {
            return match ask_to_confirm(&self.progress.steps[self.progress.next], invoke) {
                Ok(question) => question,
                Err(fault) => self.end(StepStatus::Failed, fault),
            };
        }
        if let Some(fault) = context.quarantine_refusal(&session, &invoke) {
            return self.end(StepStatus::Failed, fault);
        }
        let query = self.progress.steps[self.progress.next].is_query();
        if !query {
            self.own_changes.touch(&session);
        }
        let invoke = Rc::new(invoke);
        self.phase = Phase::Invoking(invoke.clone());
        // The answer won't show the window after a query, or to a reader who hasn't seen it.
        let shows = !query && self.baseline.now.versions.contains_key(&session);
        let prefetch = shows && self.progress.next + 1 == self.progress.steps.len();
        RunOutput::Invoke { session, invoke, prefetch }
    }

    /// Sends a step whose app died with it to the next process. Only for actions that are declared
    /// idempotent: carrying them out twice is as good as once.
    pub(super) fn send_again(
        &mut self,
        mut invoke: Rc<Invoke>,
        context: &RunContext<'_>,
    ) -> RunOutput {
        let session = self.progress.steps[self.progress.next].session.clone();
        self.baseline.write_lost(Rc::make_mut(&mut invoke), &session);
        if let Some(fault) = context.quarantine_refusal(&session, &invoke) {
            let message = format!("{}; an earlier attempt may have taken effect", fault.message);
            return self.end(StepStatus::Unknown, Fault::unknown(message));
        }
        self.phase = Phase::Invoking(invoke.clone());
        RunOutput::Invoke { session, invoke, prefetch: false }
    }

    /// The request for the next step.
    pub(super) fn invocation(&self, context: &RunContext<'_>, args: Vec<(String, Arg)>) -> Invoke {
        let step = &self.progress.steps[self.progress.next];
        let mut invoke = Invoke {
            action: step.prototype.name.clone(),
            args: args.into_iter().collect(),
            cwd: self.caller.cwd.clone(),
            reader: self.caller.reader.to_string(),
            run_id: self.caller.run_id.to_string(),
            budget: self.progress.content_budget(self.budget),
            nested: step.nested,
            ..Invoke::default()
        };
        self.baseline.write_seen(&mut invoke, step, context);
        invoke
    }
}

/// Asks whether to send a step that can't be undone, to an app that doesn't ask itself.
///
/// # Errors
/// The step is a call inside another call's arguments, which can't be confirmed.
fn ask_to_confirm(step: &Step, invoke: Invoke) -> Result<RunOutput, Fault> {
    let provider = &step.session.addr.provider;
    if step.nested {
        let name = step.prototype.written_name();
        let message = format!("{name} can't be undone, and a nested call can't be confirmed");
        return Err(Fault::refused(message).hint("call it on its own first"));
    }
    let text = format!("cannot be undone; {provider} doesn't show beforehand what it affects");
    let kind = QuestionKind::Confirm;
    let question = Question { text: text.into(), kind, ..Question::default() };
    let needs = Needs { question, token: Blob(CONFIRMATION_TOKEN.into()), numbers: Vec::new() };
    Ok(RunOutput::Ask { needs, asker: Asker::App(Box::new(invoke)) })
}
