//! Writes the answers that show no windows: faults and data.

use pipemux_proto::client::{Body, Format, Verb, VerbRequest};
use pipemux_proto::command::with_options;
use pipemux_proto::report::Report;
use pipemux_proto::{Fault, Value};

use crate::answers::kept_rest::kept_line;
use crate::clients::Clients;
use crate::clients::client_request::ClientRequest;
use crate::event::Now;
use crate::keys::RequestId;
use crate::limits::ANSWER_BUDGET_MIN;
use crate::runs::open_runs::OpenRuns;
use crate::verbs::tasks::{Task, Tasks};
use crate::views::answer::{fault_with_options, refusal};
use crate::views::context::unopened;
use crate::views::truncate::{cut_lines, cut_older_lines};
use crate::workspaces::Workspaces;

/// Writes the answer of a request that failed, with what is `kept` under a number. Returns its exit
/// status, too.
pub(super) fn failed(
    (clients, tasks): (&mut Clients, &Tasks),
    workspaces: &Workspaces,
    runs: &OpenRuns,
    now: Now,
    id: RequestId,
    fault: Fault,
    kept: Option<u64>,
) -> (Body, u8) {
    let Some(request) = clients.request(id) else { return (Body::Text(String::new()), 0) };
    let epoch = workspaces.get(&request.workspace).map_or(0, |found| found.epoch);
    let place = FailedAt { request, task: tasks.get(id), epoch, now };
    // Only an action asks for a consent.
    let fault = fault_with_options(Fault { consent: None, ..fault }, place.options());
    let message = fault.message.clone();
    let exit = fault.code.exit_status();
    let body = place.body(runs, fault, kept);
    if let Some(notes) = clients.audit_notes(id) {
        notes.set_result(&message);
    }
    (body, exit)
}

/// A request that failed, and what it was about to do.
struct FailedAt<'a> {
    request: &'a ClientRequest,
    task: Option<&'a Task>,
    epoch: u64,
    now: Now,
}

impl FailedAt<'_> {
    /// The options that commands in the answer repeat.
    fn options(&self) -> &str {
        &self.request.call.hint_options
    }

    /// Writes the fault, and what is `kept` under a number.
    fn body(&self, runs: &OpenRuns, fault: Fault, kept: Option<u64>) -> Body {
        let Self { request, task, epoch, now } = self;
        let kept = kept.and_then(|n| Some((n, runs.rest(&request.workspace, n)?)));
        if request.call.format == Format::Markdown {
            let line = kept.map_or(String::new(), |(number, rest)| kept_line(number, rest));
            let line = with_options(&line, self.options());
            return Body::Text(format!("{}{line}", refusal(&fault)));
        }
        // A window that was never opened has its error, too.
        let windows = match task {
            Some(Task::Opening(opening)) if fault.code.context_error().is_some() => {
                vec![unopened((&request.workspace, *now), &opening.session, &fault)]
            }
            _ => Vec::new(),
        };
        Body::Report(Box::new(Report {
            workspace: request.call.workspace.name.clone(),
            epoch: *epoch,
            windows,
            error: Some(fault),
            kept: kept.map(|(number, rest)| rest.report(number)),
            ..Report::default()
        }))
    }
}

/// Writes data as the answer of a request, as a table of text or as JSON.
pub(super) fn data_body(call: &VerbRequest, text: String, data: Value) -> Body {
    if call.format == Format::Json {
        return Body::Data(data);
    }
    let Some(budget) = call.budget.map(|budget| budget.max(ANSWER_BUDGET_MIN).into()) else {
        return Body::Text(text);
    };
    Body::Text(match call.verb {
        // The newest lines come last.
        Verb::History(_) | Verb::Logs { .. } | Verb::Trace { .. } => cut_older_lines(&text, budget),
        _ => cut_lines(&text, budget),
    })
}
