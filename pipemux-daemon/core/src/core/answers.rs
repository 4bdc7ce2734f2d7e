//! The one answer of a request.
//!
//! A request that has its answer already gets no other, whichever of these is called for it.

use pipemux_proto::client::{Answer, Body, Format, Verb};
use pipemux_proto::command::with_options;
use pipemux_proto::report::Report;
use pipemux_proto::{Fault, Value};

use crate::Core;
use crate::answers::kept_rest::kept_line;
use crate::keys::RequestId;
use crate::limits::ANSWER_BUDGET_MIN;
use crate::verbs::tasks::Task;
use crate::views::answer::{fault_with_options, refusal};
use crate::views::context::unopened;
use crate::views::truncate::{cut_lines, cut_older_lines};

impl Core {
    /// Answers a request with an error. A request that has its answer already gets no other.
    pub(crate) fn fail_request(&mut self, id: RequestId, fault: Fault) {
        self.fail_keeping(id, fault, None);
    }

    /// Answers a request with an error, and with what is kept under a number.
    pub(crate) fn fail_keeping(&mut self, id: RequestId, fault: Fault, kept: Option<u64>) {
        // Only an action asks for a consent.
        let fault = Fault { consent: None, ..fault };
        let Some(request) = self.clients.request(id) else { return };
        let options = &request.call.hint_options;
        let fault = fault_with_options(fault, options);
        let message = fault.message.clone();
        let exit = fault.code.exit_status();
        let kept = kept.and_then(|n| Some((n, self.runs.rest(&request.workspace, n)?)));
        let line = kept.map_or(String::new(), |(number, rest)| kept_line(number, rest));
        let body = match request.call.format {
            Format::Markdown => {
                Body::Text(format!("{}{}", refusal(&fault), with_options(&line, options)))
            }
            Format::Json => Body::Report(Box::new(Report {
                workspace: request.call.workspace.name.clone(),
                epoch: self.workspaces.get(&request.workspace).map_or(0, |found| found.epoch),
                // A window that was never opened has its error, too.
                windows: match self.tasks.get(id) {
                    Some(Task::Opening(opening)) if fault.code.context_error().is_some() => {
                        let at = (&request.workspace, self.turn.now);
                        vec![unopened(at, &opening.session, &fault)]
                    }
                    _ => Vec::new(),
                },
                error: Some(fault),
                kept: kept.map(|(number, rest)| rest.report(number)),
                ..Report::default()
            })),
        };
        if let Some(notes) = self.clients.audit_notes(id) {
            notes.set_result(&message);
        }
        self.answer(id, Answer { exit, body, delivery: 0, error: true });
    }

    /// Answers a request with data, as a table of text or as JSON. A request that has its answer already gets no
    /// other.
    pub(crate) fn answer_data(&mut self, id: RequestId, text: String, data: Value) {
        let Some(request) = self.clients.request(id) else { return };
        let text = match request.call.budget.map(|budget| budget.max(ANSWER_BUDGET_MIN).into()) {
            None => text,
            Some(budget) => match request.call.verb {
                // The newest lines come last.
                Verb::History(_) | Verb::Logs { .. } | Verb::Trace { .. } => {
                    cut_older_lines(&text, budget)
                }
                _ => cut_lines(&text, budget),
            },
        };
        let body = match request.call.format {
            Format::Markdown => Body::Text(text),
            Format::Json => Body::Data(data),
        };
        self.answer(id, Answer { exit: 0, body, delivery: 0, error: false });
    }

    /// Returns the options that commands in the answer of a request repeat.
    pub(crate) fn hint_options(&self, id: RequestId) -> &str {
        self.clients.request(id).map_or("", |request| &request.call.hint_options)
    }

    /// Gives a request its one answer.
    pub(crate) fn answer(&mut self, id: RequestId, answer: Answer) {
        self.end_task(id);
        self.clients.answer(&mut self.turn, id, answer);
    }

    /// Gives a request a task, unless the request has its answer already.
    pub(crate) fn set_task(&mut self, id: RequestId, task: Task) {
        if self.clients.request(id).is_some() {
            self.tasks.set(id, task);
        }
    }

    /// Drops the task of a request that is about to be answered, and its prefetched window.
    pub(crate) fn end_task(&mut self, id: RequestId) {
        self.tasks.remove(id);
        self.drop_job_wait(id);
        self.tasks.prefetches.cancel(id, &mut self.processes, &mut self.turn);
    }

    /// Answers a request with the fault that its handler returned, if it returned one.
    pub(crate) fn fail_on_error(&mut self, id: RequestId, result: Result<(), Fault>) {
        if let Err(fault) = result {
            self.fail_request(id, fault);
        }
    }
}
