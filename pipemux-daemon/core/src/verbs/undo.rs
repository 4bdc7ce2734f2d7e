//! `undo`: takes a round of history back, in all sessions that it changed. Steps without an undo
//! stay, and are named.

use pipemux_proto::projection::Args;
use pipemux_proto::{Fault, SessionAddr, decode};

use crate::clients::client_request::ClientRequest;
use crate::keys::{SessionKey, WorkspaceKey};
use crate::persist::records::{Record, SavedRound, SavedUndo};
use crate::processes::Processes;
use crate::runs::open_runs::OpenRuns;
use crate::runs::origin::Origin;
use crate::runs::questions::question::OpenQuestion;
use crate::runs::undone_round::{UndoneRound, undo_step};
use crate::runs::{Run, Step};
use crate::turn::Turn;
use crate::verbs::next::{Next, RunWork, SessionStart, Work};
use crate::verbs::require;
use crate::verbs::tasks::{AfterStart, Tasks};
use crate::workspaces::history::UndosNow;
use crate::workspaces::{Workspace, Workspaces};

/// The sources for the rounds that are being undone.
pub(crate) struct UndosInProgress<'a> {
    /// The runs that wait for an answer of their reader.
    pub asking: &'a OpenRuns,
    /// The runs under way.
    pub tasks: &'a Tasks,
}

impl UndosInProgress<'_> {
    /// Returns the refusal to undo a round that another run is already undoing, or will undo once
    /// its question is answered. The round counts as undone only after that run ends.
    fn refusal(&self, at: &str, number: u64) -> Option<Fault> {
        if let Some((_, question)) = undo_question(self.asking, at, number) {
            let title = question.title();
            let fault =
                Fault::refused(format!("the undo of round {number} waits for an answer: {title}"));
            return Some(fault.hint(format!("pipemux answer {}", question.ways().join(" · "))));
        }
        let is_it = |run: &Run| *run.caller.workspace == *at && undoes(&run.origin, number);
        let why = format!("round {number} is being undone already: nothing was undone");
        self.tasks.running().any(is_it).then(|| Fault::refused(why).hint("pipemux history"))
    }
}

/// Finds the steps that take a round back, the newest first; the reader's newest round if none is
/// named. If `start` allows it, sessions whose actions aren't known are started first.
///
/// # Errors
/// There is no such round, or nothing of it can be taken back now.
pub(crate) fn undo(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    processes: &Processes,
    in_progress: &UndosInProgress<'_>,
    request: &ClientRequest,
    asked: Option<u64>,
    start: SessionStart,
) -> Result<Next, Fault> {
    let workspace = require::workspace(workspaces, request)?;
    let reader = &request.call.reader;
    let (round, skipped) = match asked {
        Some(_) => (None, String::new()),
        None => choose_round(workspace, reader),
    };
    let round = find_round(workspace, reader, asked.or(round))?;
    let number = round.number;
    if let Some(fault) = in_progress.refusal(&request.workspace, number) {
        return Err(fault);
    }
    if let Some(fault) = interrupted(round) {
        // Told once: who asks again wants what is left to be taken back.
        mark_undone(turn, workspaces, &request.workspace, number, UndosNow::default());
        return Err(fault);
    }
    let left = round.undo.iter().enumerate().filter(|(_, undo)| !undo.undone);
    let left: Vec<(usize, &SavedUndo)> = left.rev().collect();
    let mut unknown = Vec::new();
    for (_, undo) in &left {
        let session = session_of(undo)?;
        if workspace.window(&session).is_none() {
            let fault = Fault::out_of_view(format!("{session} isn't open: nothing was undone"));
            return Err(fault.hint(format!("pipemux open {session}")));
        }
        let known = processes.get(&session).filter(|session| session.failed.is_none());
        let unnamed = known.is_some_and(|session| session.prototypes.is_empty());
        if unnamed && !unknown.contains(&session) {
            unknown.push(session);
        }
    }
    if start == SessionStart::Allowed && !unknown.is_empty() {
        return Ok(Next::Work(Work::Start(unknown, AfterStart::Undo(asked))));
    }
    let steps = left.iter().map(|(_, undo)| step_back(processes, undo));
    let steps = steps.collect::<Result<_, _>>()?;
    let indices = left.iter().filter_map(|(index, _)| u32::try_from(*index).ok()).collect();
    let stays = round.lasting.clone();
    let undone = UndoneRound { number, steps: indices, stays, failed: None, skipped };
    Ok(Next::Run(RunWork::Steps(steps, Origin::Undo(undone))))
}

/// Notes where the undos of a round stand, also for a daemon that comes after this one.
pub(crate) fn mark_undone(
    turn: &mut Turn,
    workspaces: &mut Workspaces,
    at: &WorkspaceKey,
    round: u64,
    now: UndosNow,
) {
    if let Some(workspace) = workspaces.get_mut(at) {
        workspace.history.mark_undone(round, &now);
    }
    let UndosNow { taken_back: steps, made_again: again, unsure } = now;
    turn.persist(Record::Undone { workspace: at.to_string(), round, steps, again, unsure });
}

/// Returns the step that takes a step back.
fn step_back(processes: &Processes, undo: &SavedUndo) -> Result<Step, Fault> {
    let session = session_of(undo)?;
    let prototypes = processes.actions_of(&session).unwrap_or_default();
    let step = args_of(undo)
        .and_then(|args| undo_step(&session, &prototypes, (&undo.action, &args), &undo.call));
    step.ok_or_else(|| {
        let why = format!("{session} can't undo {} any more: nothing was undone", undo.call);
        Fault::refused(why)
    })
}

/// Returns the question that the undo of a round waits for, and its number.
pub(super) fn undo_question<'a>(
    runs: &'a OpenRuns,
    at: &str,
    round: u64,
) -> Option<(u64, &'a OpenQuestion)> {
    runs.questions(at).find(|(_, question)| undoes(&question.suspended.origin, round))
}

/// Says what became of a round whose undo was interrupted by the loss of the daemon, if it was.
fn interrupted(round: &SavedRound) -> Option<Fault> {
    let number = round.number;
    let unsure = round.undo.iter().find(|undo| undo.unsure)?;
    let undone: Vec<&str> =
        round.undo.iter().filter(|undo| undo.undone).map(|undo| undo.call.as_str()).collect();
    let undone = match undone.as_slice() {
        [] => "no other step was taken back".to_owned(),
        some => format!("taken back: {}", some.join("; ")),
    };
    let why = format!(
        "the daemon was lost while round {number} was being undone: {} may or may not be taken back; {undone}",
        unsure.call
    );
    let view = format!("pipemux view {}", unsure.session);
    Some(
        Fault::unknown(why)
            .hint(view)
            .hint(format!("pipemux undo {number}: takes back what is left, and it again")),
    )
}

fn undoes(origin: &Origin, number: u64) -> bool {
    origin.undone_round().is_some_and(|undone| undone.number == number)
}

/// Returns the arguments of the call that takes a step back.
pub(super) fn args_of(undo: &SavedUndo) -> Option<Args> {
    decode(&undo.args).ok()
}

pub(super) fn session_of(undo: &SavedUndo) -> Result<SessionKey, Fault> {
    let addr: Result<SessionAddr, _> = undo.session.parse();
    let addr = addr.map_err(|_| Fault::not_found(format!("there is no {}", undo.session)))?;
    Ok(SessionKey { workspace: undo.workspace.as_deref().map(Into::into), addr })
}

/// Chooses the newest round of a reader whose sessions are all open, and says which newer ones were
/// passed over. Chooses none when there is no such round.
fn choose_round(workspace: &Workspace, reader: &str) -> (Option<u64>, String) {
    let (mut passed, mut closed) = (Vec::new(), Vec::new());
    for round in workspace.history.changes(reader) {
        let left = round.undo.iter().filter(|undo| !undo.undone);
        let sessions = left.filter_map(|undo| session_of(undo).ok());
        let mut missing: Vec<SessionKey> =
            sessions.filter(|session| workspace.window(session).is_none()).collect();
        if missing.is_empty() {
            return (Some(round.number), skipped(&passed, &closed));
        }
        passed.push(round.number);
        closed.append(&mut missing);
        closed.sort();
        closed.dedup();
    }
    (None, String::new())
}

/// Says which rounds were passed over, newest first, and how to take them back; nothing when none
/// were.
fn skipped(passed: &[u64], closed: &[SessionKey]) -> String {
    let (Some(newest), Some(oldest), Some(session)) =
        (passed.first(), passed.last(), closed.first())
    else {
        return String::new();
    };
    let rounds = match passed.len() {
        1 => format!("round {newest}"),
        n => format!("{n} rounds, {oldest} to {newest}"),
    };
    let more = match closed.len() {
        1 => "isn't open".to_owned(),
        n => format!("and {} more sessions aren't open", n - 1),
    };
    format!(
        "skipped: {rounds}, since {session} {more} · pipemux open {session}, then pipemux undo {newest}\n"
    )
}

/// Returns the round that is to be taken back: at least a part of it can be, as far as the daemon
/// knows.
fn find_round<'a>(
    workspace: &'a Workspace,
    reader: &str,
    number: Option<u64>,
) -> Result<&'a SavedRound, Fault> {
    let history = &workspace.history;
    let round = match number {
        Some(number) => history.round(number).ok_or_else(|| {
            Fault::not_found(format!("there is no round {number}")).hint("pipemux history")
        })?,
        None => history.changes(reader).next().ok_or_else(|| {
            Fault::not_found("no round of yours is left to undo").hint("pipemux history")
        })?,
    };
    let number = round.number;
    match round.undo.as_slice() {
        [] if round.lasting.is_empty() => {
            Err(Fault::refused(format!("round {number} changed nothing that undo takes back")))
        }
        [] => {
            let names = round.lasting.join(", ");
            let why =
                format!("round {number} can't be undone: {names} has no undo; nothing was undone");
            Err(Fault::refused(why))
        }
        _ if round.is_undone() => {
            let by = history.rounds.iter().rev().find(|other| other.undoes == Some(number));
            let by = by.map_or(String::new(), |by| format!(", in round {}", by.number));
            let fault = Fault::refused(format!("round {number} is undone already{by}"));
            Err(fault.hint("pipemux history"))
        }
        _ => Ok(round),
    }
}
