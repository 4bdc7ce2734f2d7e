//! The end of a run: its round of history, and the windows that its answer shows.

use pipemux_proto::Code;
use pipemux_proto::watch::EventKind;

use crate::clients::Clients;
use crate::event::Effect;
use crate::feed::{Audience, Feed, Happening};
use crate::keys::{RequestId, SessionKey};
use crate::persist::records::{Record, SavedRound};
use crate::processes::Processes;
use crate::runs::Run;
use crate::runs::history_round::history_round;
use crate::turn::Turn;
use crate::verbs::next::{Next, Work};
use crate::verbs::run_driver::maker_of;
use crate::verbs::undo::mark_undone;
use crate::views::requested_window::{AnswerKind, WantedWindow};
use crate::workspaces::{Workspace, Workspaces};

/// Removes the files of long values that a run wrote for its steps.
pub(crate) fn remove_value_files(turn: &mut Turn, run: &mut Run) {
    let paths = std::mem::take(&mut run.value_files);
    if !paths.is_empty() {
        turn.effects.push(Effect::RemoveValues { paths });
    }
}

/// Ends a run that asks no question: what it did becomes a round of history, of which a workspace
/// keeps at most `rounds`.
pub(crate) fn end_run(
    turn: &mut Turn,
    clients: &mut Clients,
    workspaces: &mut Workspaces,
    feed: &mut Feed,
    rounds: usize,
    (id, run): (RequestId, &mut Run),
) {
    if run.end.question.is_some() {
        return;
    }
    run.end_unreached();
    // Before the windows arrive, because rounds are in the order in which they took effect.
    if !run.progress.only_queries() {
        record_round(turn, clients, workspaces, feed, rounds, (id, run));
    } else if let Some(notes) = clients.audit_notes(id) {
        notes.only_queries = true;
    }
}

/// Shows the windows that a run touched, once it has ended or asks a question.
pub(crate) fn show_run(
    clients: &Clients,
    workspace: &Workspace,
    processes: &Processes,
    (id, run): (RequestId, Box<Run>),
) -> Next {
    let call = clients.request(id).map(|request| &request.call);
    let (lod, budget) = call.map_or((None, None), |call| (call.lod, call.budget));
    let fault = run.progress.done.last().and_then(|outcome| outcome.fault.as_ref());
    let stale = fault.is_some_and(|fault| fault.code == Code::Stale);
    let is_shown = |key: &&SessionKey| {
        // A session that just died is not woken only to be shown. What was refused as stale is
        // shown even so: its session may be down since the daemon was lost, and the reader has to
        // see the present state to go on.
        let ready = processes.get(key).is_some_and(|session| session.ready().is_some());
        // To a reader who hasn't seen the window the outcome says enough, unless it wants to look
        // at it.
        let seen =
            workspace.seen(&run.caller.reader, key).is_some() || run.progress.turns_window(key);
        let untold = run.progress.leaves_untold(key);
        // A refusal may show the lines itself, as they are now.
        let excerpt = run.told_lines.iter().any(|(session, ..)| session == *key);
        let stale = stale && (seen || !excerpt);
        (ready && seen && untold || stale) && workspace.window(key).is_some() && !run.unknown
    };
    let touched = run.own_changes.touched.iter().filter(is_shown);
    let wanted = touched.map(|key| WantedWindow { session: key.clone(), lod, budget }).collect();
    Next::Work(Work::Show(wanted, AnswerKind::Run(run)))
}

/// Adds a run that has ended to the history of its workspace, if there still is one, and to the
/// feed.
fn record_round(
    turn: &mut Turn,
    clients: &mut Clients,
    workspaces: &mut Workspaces,
    feed: &mut Feed,
    rounds: usize,
    (id, run): (RequestId, &mut Run),
) {
    let (at, exit, now) = (&run.caller.workspace, run.exit_status(), turn.now);
    let client = maker_of(clients, id);
    let run_id = clients.request(id).map(|request| request.call.run_id.clone());
    let Some(workspace) = workspaces.get_mut(at) else { return };
    let round = history_round(run, workspace, now.unix_ms);
    let round = SavedRound { client, run_id: run_id.unwrap_or_default(), ..round };
    workspace.history.add(round.clone(), rounds);
    run.end.round = (!round.undo.is_empty()).then_some(round.number);
    if let Some(notes) = clients.audit_notes(id) {
        notes.set_round(&round);
    }
    if let Some(undone) = run.origin.undone_round() {
        // What is unknown now was told: it is as if it had not run.
        let undos = undone.now(&run.progress.done);
        mark_undone(turn, workspaces, at, undone.number, undos);
    }
    let exit = if exit == 0 { String::new() } else { format!(" (exit {exit})") };
    let text = [&*round.action, &*exit, " · ", &*round.result].concat();
    let audience = Audience::Workspace(at.clone(), None);
    let happening = Happening::new(EventKind::Act, audience, &text).by(&round.reader);
    feed.tell(now, Happening { run_exit: Some(round.exit), ..happening });
    turn.persist(Record::Round { workspace: (**at).to_owned(), round });
}
