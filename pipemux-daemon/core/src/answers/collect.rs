//! Step 1 of an answer: reads what it is made from. Nothing changes here.

use crate::answers::cancelled_steps::{outcomes_of_cancelled, steps_still_running};
use crate::answers::pending::{PendingEmbed, PendingView};
use crate::answers::request::AnswerRequest;
use crate::clients::client_request::ClientRequest;
use crate::processes::Processes;
use crate::runs::Run;
use crate::views::requested_window::{AnswerKind, RequestedWindow};
use crate::workspaces::Workspace;

/// Everything that an answer needs to know of its request and of the windows that have arrived for
/// it.
#[derive(Debug)]
pub(crate) struct AnswerInput {
    pub(super) request: AnswerRequest,
    pub(super) kind: AnswerKind,
    pub(super) requested: Vec<RequestedWindow>,
    /// The embedded windows of the requested ones, as far as they arrived.
    pub(super) embeds: Vec<PendingEmbed>,
    /// Says that nothing has changed. It is left out if a window has.
    pub(super) remark: Option<String>,
    /// A line for each cancelled step of the reader that the app still carries out.
    pub(super) still_running: Vec<String>,
    /// If nobody will read this answer: one line for each finished step of its run, to be added to
    /// the reader's next answer.
    pub(super) outcomes_for_later: Vec<String>,
}

impl AnswerInput {
    /// Collects the input of an answer for which no window is pending any more. `is_connected` says
    /// whether the client is still connected; `running` are all runs in progress.
    pub(crate) fn collect<'r>(
        view: PendingView,
        (client_request, is_connected): (&ClientRequest, bool),
        workspace: &Workspace,
        processes: &Processes,
        running: impl Iterator<Item = &'r Run>,
    ) -> Self {
        let PendingView { windows: requested, embeds, kind } = view;
        let request = AnswerRequest::new(client_request, &kind, workspace);
        let still_running = steps_still_running(running, &request.workspace, &request.reader);
        let outcomes_for_later = match &kind {
            AnswerKind::Run(run) if run.cancelled || !is_connected => {
                outcomes_of_cancelled(run, processes)
            }
            _ => Vec::new(),
        };
        let remark = client_request.remark.clone();
        Self { request, kind, requested, embeds, remark, still_running, outcomes_for_later }
    }

    /// Returns the run whose answer it is, if it is one's.
    pub(super) fn run(&self) -> Option<&Run> {
        match &self.kind {
            AnswerKind::Run(run) => Some(run),
            _ => None,
        }
    }
}
