//! The notices that an answer begins with.

use crate::answers::collect::AnswerInput;
use crate::event::Now;
use crate::limits::{ANSWER_BUDGET_MIN, NOTICES_TOKENS};
use crate::views::answer_window::AnswerWindow;
use crate::views::delta::{Delta, Known, delta};
use crate::views::requested_window::WindowStatus;
use crate::views::truncate::cut_notices;
use crate::workspaces::Workspace;

/// Returns the notices of an answer: the daemon's own, followed by `lines`, and those of apps. The
/// `newest` most recent notices are left out, because a panel shows them.
pub(super) fn unread_notices(
    input: &AnswerInput,
    windows: &[AnswerWindow],
    lines: Vec<String>,
    newest: usize,
    (workspace, now): (&Workspace, Now),
) -> Vec<String> {
    let reader = &input.request.reader;
    // An app that can't say when it has changed may have done so by now.
    let remark = input.remark.clone().filter(|_| {
        let since = input.kind.since();
        windows.iter().all(|window| is_unchanged(workspace, reader, window, since))
    });
    let (own, of_apps) = workspace.unread_notices(reader, newest, now);
    let own = remark.into_iter().chain(own).chain(lines).collect();
    let half = input.request.budget.map(|budget| (budget / 2).max(ANSWER_BUDGET_MIN / 2));
    cut_notices(own, of_apps, half.unwrap_or(NOTICES_TOKENS).into())
}

/// Returns true for a window that is as it was in an epoch or, without one, as its reader saw it
/// last.
fn is_unchanged(
    workspace: &Workspace,
    reader: &str,
    window: &AnswerWindow,
    since: Option<u64>,
) -> bool {
    let seen = match since {
        Some(epoch) => {
            let kept = workspace.window(&window.session).and_then(|kept| kept.at(epoch));
            kept.map(|kept| (kept.seen, &kept.rendered))
        }
        None => workspace
            .seen(reader, &window.session)
            .map(|seen| ((seen.app, seen.version), &seen.rendered)),
    };
    let Some((version, before)) = seen else { return false };
    let fresh = window.rendered.as_ref().filter(|_| window.status == WindowStatus::Fresh);
    match fresh {
        // What is shown in more or less detail can't be compared.
        Some(_) if window.one_off => window.version == Some(version),
        Some(now) => {
            let known = Known { removed: true, ..Known::default() };
            let same_data = window.peek && window.version == Some(version);
            same_data || delta(before, now, &known).0 == Delta::Same
        }
        None => false,
    }
}
