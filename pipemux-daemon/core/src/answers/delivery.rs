//! What an answer leaves behind once it goes out: the delivery, which says what its reader will
//! have seen, kept until the reader confirms it.

use std::rc::Rc;

use pipemux_proto::projection::Lod;

use crate::event::Effect;
use crate::jobs::Jobs;
use crate::keys::{SessionKey, WorkspaceKey};
use crate::persist::records::Record;
use crate::runs::open_runs::OpenRuns;
use crate::runs::questions::saved_question;
use crate::turn::Turn;
use crate::views::answer_window::AnswerWindow;
use crate::views::requested_window::WindowStatus;
use crate::workspaces::delivered_versions::DeliveredVersion;
use crate::workspaces::{Confirmed, Delivery, SeenWindow, Workspace, Workspaces};

/// Notes that a reader has received an answer.
pub(crate) fn confirm_delivery(
    number: u64,
    workspaces: &mut Workspaces,
    jobs: &mut Jobs,
    runs: &mut OpenRuns,
    turn: &mut Turn,
) {
    let Some(confirmed) = workspaces.confirm(number) else { return };
    let Confirmed { workspace: at, reader, delivery } = confirmed;
    let Delivery { questions, running_jobs, told_jobs, .. } = delivery;
    let reader = (at.clone(), reader);
    for (job, _) in running_jobs {
        jobs.shown(turn, job, &reader);
    }
    for job in told_jobs {
        jobs.told(turn, job, &reader);
    }
    for number in questions {
        let first = runs.note_shown(&at, number);
        // A later daemon must know it, too: what can't be undone is only confirmed by who was shown
        // it.
        let Some(question) = first.filter(|question| question.is_destructive()) else {
            continue;
        };
        if let Some(question) = saved_question::save(question) {
            let workspace = at.to_string();
            turn.persist(Record::Question { workspace, number, question });
        }
    }
}

/// Reserves ids and epochs on disk before an answer that uses them goes out.
pub(crate) fn reserve(workspaces: &mut Workspaces, turn: &mut Turn, at: &WorkspaceKey) {
    turn.effects.extend(workspaces.reserve(at).map(Effect::Persist));
}

/// The part of a workspace that an answer shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenScope {
    /// True if it also shows old content of windows whose apps didn't reply.
    pub busy: bool,
    /// True if it shows all windows of the workspace.
    pub all: bool,
}

/// Adds to a delivery what the reader will have seen of `windows`, which the answer shows, and of
/// those that it only names.
pub(super) fn add_windows(
    delivery: &mut Delivery,
    workspace: &mut Workspace,
    reader: &str,
    (windows, only_named): (Vec<AnswerWindow>, Vec<AnswerWindow>),
    scope: SeenScope,
) {
    let epoch = workspace.epoch;
    delivery.epoch = epoch;
    delivery.ids = workspace.anchors.take_offered();
    let is_fresh = |window: &AnswerWindow| window.status == WindowStatus::Fresh;
    let shown = windows.iter().filter(|window| scope.busy || is_fresh(window));
    delivery.shown = shown.filter_map(|w| Some((w.session.clone(), w.shown()?.clone()))).collect();
    let fresh = windows.into_iter().filter(is_fresh);
    let mut seen: Vec<(SessionKey, SeenWindow)> =
        fresh.filter_map(|window| to_seen_window(workspace, reader, window, epoch)).collect();
    for window in only_named {
        let known = to_seen_window(workspace, reader, window, epoch);
        // Nothing of it was shown: there are only later windows to compare it with.
        seen.extend(known.map(|(session, seen)| {
            let (names, prototypes) = (Rc::default(), Rc::from(""));
            (session, SeenWindow { names, prototypes, complete: false, ..seen })
        }));
    }
    // A reader who opened all windows knows them, too, without having looked at the workspace.
    let knows_all = scope.all || workspace.completes(reader, seen.iter().map(|(key, _)| key));
    delivery.seen = seen;
    delivery.noticed = workspace.notices.count();
    delivery.window_set_revision = knows_all.then_some(workspace.windows.set_revision());
}

/// Converts a fresh window of an answer to the form in which the reader will have seen it after
/// receiving the answer.
fn to_seen_window(
    workspace: &mut Workspace,
    reader: &str,
    window: AnswerWindow,
    epoch: u64,
) -> Option<(SessionKey, SeenWindow)> {
    let ((app, version), shown) = (window.version?, window.rendered?);
    let rendered = window.base.unwrap_or_else(|| shown.clone());
    let is_whole = Rc::ptr_eq(&rendered, &shown);
    if let Some(kept) = workspace.window_mut(&window.session) {
        kept.remember(DeliveredVersion {
            epoch,
            seen: (app, version),
            rendered: rendered.clone(),
            context: kept.context.version(),
            is_exact: is_whole && window.with_calls.is_none(),
        });
    }
    let before = workspace.seen(reader, &window.session);
    let prototypes = match (window.lod, before) {
        // A gist shows no prototypes, so the reader still knows those that were shown before.
        (Lod::Gist, Some(before)) => before.prototypes.clone(),
        _ => window.prototypes,
    };
    // A lower level of detail shows fewer names of the same version, and the known names stay
    // valid.
    let keeps_names = |before: &&SeenWindow| {
        (before.app, before.version) == (app, version) && rendered.names.is_empty()
    };
    let names = before.filter(keeps_names).map_or(&shown, |before| &before.names).clone();
    let document = rendered.document.clone();
    // A view at another level of detail or budget doesn't become the base of later comparisons; one
    // with a share of a workspace's budget does if it is the first to show the data.
    let same_data =
        |before: &&SeenWindow| window.peek && (before.app, before.version) == (app, version);
    let kept = before.filter(|before| window.one_off || same_data(before));
    let (rendered, base, complete) = match kept {
        Some(before) => (before.rendered.clone(), before.base, false),
        None => (rendered, (app, version), is_whole),
    };
    let seen =
        SeenWindow { epoch, app, version, rendered, base, document, complete, names, prototypes };
    Some((window.session, seen))
}
