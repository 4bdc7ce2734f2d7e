//! Renders the windows of an answer.

use pipemux_proto::Fault;

use crate::answers::collect::AnswerInput;
use crate::answers::held_window::{embeds_of, write_and_record};
use crate::answers::next_epoch::NextEpoch;
use crate::answers::render_input::{render_input, shared_words};
use crate::answers::request::AnswerRequest;
use crate::keys::SessionKey;
use crate::limits::TURN_WORK_MAX;
use crate::processes::Processes;
use crate::turn::Turn;
use crate::views::answer_window::{AnswerWindow, write_calls};
use crate::views::held_claim::HeldClaim;
use crate::views::requested_window::{AnswerKind, RequestedWindow, WindowStatus};
use crate::workspaces::Workspace;

/// Renders the windows that were requested for an answer, one after the other.
pub(super) fn render_windows(
    input: &AnswerInput,
    requested: Vec<RequestedWindow>,
    next: &mut NextEpoch<'_>,
    processes: &Processes,
    turn: &Turn,
) -> Vec<AnswerWindow> {
    let count = requested.len().max(1) as u64;
    let render = |mut requested: RequestedWindow| {
        if turn.work() > TURN_WORK_MAX && count > 1 {
            requested.state = WindowStatus::Broken(Box::new(too_much_work(&requested.session)));
        }
        render_requested_window(input, requested, count, next, processes)
    };
    requested.into_iter().map(render).collect()
}

fn render_requested_window(
    input: &AnswerInput,
    requested: RequestedWindow,
    count: u64,
    next: &mut NextEpoch<'_>,
    processes: &Processes,
) -> AnswerWindow {
    let AnswerRequest { titles, one_off, .. } = input.request;
    // A window that is shown with another budget than its own, such as its share of a workspace's,
    // is shown so once.
    let is_look = matches!(input.kind, AnswerKind::Workspace(_) | AnswerKind::Window(_));
    let peek = one_off || is_look && requested.peek;
    let workspace = &mut *next.workspace;
    let session = processes.get(&requested.session);
    let (embeds, minted) = embeds_of(workspace, processes, &requested, &input.embeds, next.number);
    let shared = shared_words(workspace, session, &requested.session);
    let show_calls = workspace.options.titles;
    let render = render_input(session, next.number, show_calls, &shared, &embeds);
    let (mut window, news) =
        write_and_record(workspace, requested, (session, render), peek, next.now);
    if titles && !show_calls {
        write_calls(&mut window, render, &mut workspace.anchors);
    }
    (window.one_off, window.peek) = (one_off, peek);
    let room = room_of(input, &window, count, workspace);
    window.room = room.for_context;
    next.changed |= count_context(input, &window, news.differs, next);
    let mut claims = input.request.held.iter();
    let claim = claims.find(|claim| claim.session.as_ref() == Some(&window.session));
    if let (Some(version), Some(kept)) =
        (claim.and_then(HeldClaim::version), next.workspace.window_mut(&window.session))
    {
        kept.make_exact(version, next.now);
    }
    window.room = room.in_answer;
    next.changed |= news.is_new || minted;
    window
}

/// The tokens that a window may take together with its prototypes.
struct Room {
    /// The tokens in the answer.
    in_answer: u64,
    /// The tokens that count for the version of the window's Context. For the context of a prompt,
    /// that is the window's own budget.
    for_context: u64,
}

fn room_of(input: &AnswerInput, window: &AnswerWindow, count: u64, workspace: &Workspace) -> Room {
    let own = workspace.window(&window.session).and_then(|window| window.budget);
    let own = own.map_or(u64::MAX, u64::from);
    let in_answer = match (input.request.budget, &input.kind) {
        // The request's budget was shared out before the windows were asked for.
        (Some(_), AnswerKind::Workspace(_)) => window.budget.into(),
        (Some(budget), _) => u64::from(budget) / count,
        (None, _) => own,
    };
    let is_prompt = matches!(input.kind, AnswerKind::Injection { .. });
    Room { in_answer, for_context: if is_prompt { own } else { in_answer } }
}

/// Updates the version of a window's Context with what the answer shows. Returns true if the
/// version changed.
fn count_context(
    input: &AnswerInput,
    window: &AnswerWindow,
    differs: bool,
    next: &mut NextEpoch<'_>,
) -> bool {
    // A run's answer doesn't show a busy window: it only says so.
    let unshown = window.status == WindowStatus::Busy && input.run().is_some();
    let Some(content) = window.shown_content().filter(|_| !unshown) else { return false };
    let version = |workspace: &Workspace| {
        let context = &workspace.window(&window.session)?.context;
        Some((context.major, context.minor, context.patch))
    };
    let before = version(next.workspace);
    next.workspace.count_context(&window.session, content, window.peek, next.now);
    // Of new data a peek may show the same text as before.
    differs && version(next.workspace) != before
}

/// Says that a window isn't in an answer because those before it were too long.
fn too_much_work(session: &SessionKey) -> Fault {
    Fault::unavailable("not written: the windows before it took all the work of one answer")
        .hint(format!("pipemux view {session}"))
}
