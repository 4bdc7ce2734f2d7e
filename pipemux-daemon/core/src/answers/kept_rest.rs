//! Keeps the steps that a failed run leaves, and writes how to go on with them.

use crate::limits::KEPT_MS;
use crate::persist::records::Record;
use crate::runs::Run;
use crate::runs::kept_steps::KeptSteps;
use crate::runs::open_runs::OpenRuns;
use crate::timers::Timer;
use crate::turn::Turn;
use crate::views::inert;
use crate::workspaces::Workspace;

/// Keeps what a run left, in place of what `number` kept before. Returns its number.
pub(crate) fn keep(
    turn: &mut Turn,
    runs: &mut OpenRuns,
    number: Option<u64>,
    mut rest: KeptSteps,
) -> u64 {
    let number = number.unwrap_or_else(|| turn.next_number());
    rest.expires = turn.mono_ms() + KEPT_MS;
    turn.set_timer(rest.expires, Timer::Kept(number));
    let workspace = rest.caller.workspace.to_string();
    runs.outdate_rests(&workspace, &rest.caller.reader);
    turn.persist(Record::Kept { workspace: workspace.clone(), number, rest: rest.to_saved() });
    for number in runs.keep_rest(number, rest) {
        turn.persist(Record::KeptClosed { workspace: workspace.clone(), number });
    }
    number
}

/// Keeps what a run left that has ended, if it failed.
pub(crate) fn keep_rest_of(
    turn: &mut Turn,
    runs: &mut OpenRuns,
    workspace: &Workspace,
    run: &mut Run,
) {
    if run.end.question.is_some()
        || run.progress.done.last().is_none_or(|outcome| outcome.fault.is_none())
    {
        return;
    }
    let rest = KeptSteps::of_failed(run, workspace);
    // Who only looked goes on with what failed before.
    if rest.is_some() || !run.progress.only_queries() {
        runs.outdate_rests(&run.caller.workspace, &run.caller.reader);
    }
    run.end.kept_steps = rest.map(|rest| keep(turn, runs, None, rest));
}

/// Writes what is kept, in short, and how to go on with it.
pub(crate) fn kept_line(number: u64, rest: &KeptSteps) -> String {
    kept_rest_line(number, rest, &rest.shown_short())
}

/// Writes what is kept, as far as `shown`, and how to go on with it.
pub(crate) fn kept_rest_line(number: u64, rest: &KeptSteps, shown: &str) -> String {
    let (ways, effect) = rest.ways(number);
    let ways = ways.join(&format!(" {effect} · "));
    format!("kept as {number}: {} · {ways}\n", inert::whole_line(shown))
}
