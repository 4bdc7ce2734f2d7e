//! Adjusts what readers have seen of a session when its process or state is replaced.
//!
//! Within the life of a process versions only grow. An app that breaks this, for example since it
//! loaded a saved game, is shown in full again, and readers are told. What was seen of the versions
//! before doesn't count for the present ones: numbers in a call would mean other lines.

use pipemux_proto::Incarnation;
use pipemux_proto::watch::EventKind;

use crate::announcements::Announcements;
use crate::keys::SessionKey;
use crate::processes::Processes;
use crate::runs::open_runs::OpenRuns;
use crate::verbs::tasks::{Task, Tasks};
use crate::workspaces::Workspaces;
use crate::workspaces::context_errors::version_mismatch;

/// Stands for the process that showed what was seen before a version went back.
const NO_PROCESS: Incarnation = Incarnation(0);

/// Makes versions that were seen of one incarnation count as seen of another, which went on from
/// the same state.
pub(crate) fn continue_incarnation(
    workspaces: &mut Workspaces,
    runs: &mut OpenRuns,
    tasks: &mut Tasks,
    key: &SessionKey,
    (before, after): (Incarnation, Incarnation),
) {
    workspaces.hand_over(key, before, after);
    runs.hand_over(key, before, after);
    // Runs in progress send their later steps to the new incarnation.
    for (_, task) in tasks.iter_mut() {
        if let Task::Running(run) = task {
            run.hand_over(key, before, after);
        }
    }
}

/// Handles that the version of a session's process went back, from the first to the second.
pub(crate) fn version_went_back(
    announcements: &mut Announcements<'_>,
    processes: &mut Processes,
    runs: &mut OpenRuns,
    tasks: &mut Tasks,
    session: &SessionKey,
    (app, versions): (Incarnation, (u64, u64)),
) {
    let workspaces = &mut *announcements.workspaces;
    continue_incarnation(workspaces, runs, tasks, session, (app, NO_PROCESS));
    if let Some(session) = processes.get_mut(session) {
        session.version = versions.1;
    }
    announcements.workspaces.note_went_back(session, versions);
    let text = version_mismatch(session, versions).named_message();
    announcements.notify_windows(EventKind::Notice, session, text);
}
