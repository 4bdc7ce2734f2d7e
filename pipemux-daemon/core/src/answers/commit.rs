//! Step 4 of an answer: notes what its reader will have seen, writes down the ids and the epoch
//! that it uses, and counts it.

use pipemux_proto::client::Format;
use pipemux_proto::report::TokenReceipt;

use crate::answers::collect::AnswerInput;
use crate::answers::compose::{AnswerBody, ComposedAnswer};
use crate::answers::delivery::{SeenScope, add_windows, reserve};
use crate::keys::SessionKey;
use crate::measurement::Measurement;
use crate::processes::Processes;
use crate::turn::Turn;
use crate::views::answer_window::AnswerWindow;
use crate::views::context::focus;
use crate::views::requested_window::AnswerKind;
use crate::workspaces::{Workspace, Workspaces};

/// An answer that may be sent: everything that it uses is reserved on disk.
pub(crate) struct OutgoingAnswer {
    pub(super) exit: u8,
    /// True if it is an error and no step ran.
    pub(super) error: bool,
    /// The number by which the reader confirms the delivery.
    pub(super) delivery: u64,
    pub(super) body: AnswerBody,
}

impl ComposedAnswer {
    /// Keeps the delivery until the reader confirms the answer, and reserves what the answer uses.
    pub(crate) fn commit(
        self,
        workspaces: &mut Workspaces,
        processes: &Processes,
        turn: &mut Turn,
    ) -> OutgoingAnswer {
        let Self { input, exit, error, body, receipt, windows, only_named, mut delivery } = self;
        let TokenReceipt { shown, available, .. } = receipt;
        turn.measure(|| Measurement::Shown { shown, available });
        count_tokens(&input, &windows, processes, shown);
        delivery.number = turn.next_local();
        let number = delivery.number;
        let (at, reader) = (&input.request.workspace, &input.request.reader);
        if let Some(workspace) = workspaces.get_mut(at) {
            let in_focus = focused_ids(&input, &windows, workspace);
            let scope = SeenScope {
                busy: input.run().is_none(),
                all: matches!(input.kind, AnswerKind::Workspace(_) | AnswerKind::Injection { .. }),
            };
            add_windows(&mut delivery, workspace, reader, (windows, only_named), scope);
            delivery.ids.extend(in_focus);
            if !input.outcomes_for_later.is_empty() {
                workspace.readers.add_unheard(reader, input.outcomes_for_later);
            }
        }
        let (at, reader) = (input.request.workspace, input.request.reader);
        workspaces.deliver(&at, &reader, delivery);
        reserve(workspaces, turn, &at);
        OutgoingAnswer { exit, error, delivery: number, body }
    }
}

/// Returns the ids of objects in focus. A Context names them even if its window doesn't show them.
fn focused_ids(input: &AnswerInput, windows: &[AnswerWindow], workspace: &Workspace) -> Vec<u64> {
    let anchors = &workspace.anchors;
    let focus_of =
        |w: &AnswerWindow| focus(anchors, &w.session, w.shown()?, w.projection.as_ref()?);
    match input.request.format {
        Format::Json => windows.iter().filter_map(focus_of).collect(),
        Format::Markdown => Vec::new(),
    }
}

/// Charges the tokens of an answer, in equal parts, to the sessions that it shows or whose actions
/// ran.
fn count_tokens(input: &AnswerInput, windows: &[AnswerWindow], processes: &Processes, shown: u64) {
    let steps = input.run().map_or(&[][..], |run| &run.progress.steps[..]);
    let mut sessions: Vec<&SessionKey> = Vec::new();
    let named = windows.iter().map(|window| &window.session);
    for session in named.chain(steps.iter().map(|step| &step.session)) {
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    let mut left = shown;
    for (at, session) in sessions.iter().enumerate() {
        let part = left / (sessions.len() - at) as u64;
        left -= part;
        if let Some(session) = processes.get(session) {
            session.tokens.set(session.tokens.get() + part);
        }
    }
}
