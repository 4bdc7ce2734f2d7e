//! What a request determines of its answer.

use pipemux_proto::client::{Format, Verb};

use crate::clients::client_request::ClientRequest;
use crate::keys::WorkspaceKey;
use crate::limits::INJECT_BUDGET;
use crate::views::held_claim::HeldClaim;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::Workspace;

/// The options of a request that determine its answer.
#[derive(Debug)]
pub(super) struct AnswerRequest {
    pub workspace: WorkspaceKey,
    pub reader: String,
    pub format: Format,
    /// The budget of the whole answer, in tokens.
    pub budget: Option<u32>,
    /// True if links show their calls.
    pub titles: bool,
    /// The options that commands in the answer repeat.
    pub hint_options: String,
    /// The versions of windows that the client claims to hold.
    pub held: Vec<HeldClaim>,
    /// Token budget for the differences of files that a run changed.
    pub diff: u32,
    /// True if windows are shown in another detail than their own.
    pub one_off: bool,
}

impl AnswerRequest {
    pub fn new(request: &ClientRequest, kind: &AnswerKind, workspace: &Workspace) -> Self {
        let call = &request.call;
        let other_detail = call.lod.is_some() || call.budget.is_some();
        Self {
            workspace: request.workspace.clone(),
            reader: call.reader.clone(),
            format: call.format,
            budget: match kind {
                AnswerKind::Injection { .. } => Some(call.budget.unwrap_or(INJECT_BUDGET)),
                _ => call.budget,
            },
            titles: call.titles,
            hint_options: call.hint_options.clone(),
            held: match &call.verb {
                Verb::View(view) => {
                    view.held.iter().map(|held| HeldClaim::find(workspace, held)).collect()
                }
                _ => Vec::new(),
            },
            diff: call.diff,
            one_off: other_detail
                && !matches!(kind, AnswerKind::Open { .. } | AnswerKind::Injection { .. }),
        }
    }
}
