//! Writes the recap that a reader gets first after its conversation was reset: recent rounds, and
//! steps that failed runs left.

use pipemux_tokens::estimate;

use crate::answers::collect::AnswerInput;
use crate::answers::kept_rest::kept_line;
use crate::event::Now;
use crate::limits::RECAP_ROUNDS;
use crate::runs::open_runs::OpenRuns;
use crate::views::LocalTime;
use crate::views::requested_window::AnswerKind;
use crate::views::round_line::{RoundHead, round_line};
use crate::workspaces::Workspace;

/// The divisor of the budget: rounds may use one part of so many.
const PART: u64 = 3;

/// Writes the newest rounds and the kept steps of failed runs, for the context of a prompt after a
/// reset. Otherwise writes nothing.
pub(super) fn recap(
    input: &AnswerInput,
    workspace: &Workspace,
    runs: &OpenRuns,
    now: Now,
) -> String {
    if !matches!(input.kind, AnswerKind::Injection { reset: true }) {
        return String::new();
    }
    let rounds = &workspace.history.rounds;
    let today = LocalTime::of(now.unix_ms, &[]).day;
    let mut left = u64::from(input.request.budget.unwrap_or(u32::MAX)) / PART;
    let lines = rounds.iter().rev().take(RECAP_ROUNDS).map(|round| {
        let at = LocalTime::of(round.unix_ms, &[]);
        let time = if at.day == today { at.time } else { format!("{}T{}", at.day, at.time) };
        let head = RoundHead { workspace: None, time: &time, tells_client: false };
        round_line(round, &head, false)
    });
    let mut lines: Vec<String> = lines
        .take_while(|line| {
            let cost = estimate(line);
            let fits = cost <= left;
            left = left.saturating_sub(cost);
            fits
        })
        .collect();
    let earlier = rounds.len() - lines.len();
    lines.reverse();
    let mut text = String::new();
    if !lines.is_empty() {
        text += "Done so far; pipemux undo N takes round N back alone:\n";
    }
    if earlier > 0 && !lines.is_empty() {
        text += &format!("… {earlier} earlier: pipemux history --rounds {}\n", rounds.len());
    }
    text += &lines.concat();
    for (number, rest) in runs.rests_of(&input.request.workspace, &input.request.reader) {
        text += &kept_line(number, rest);
    }
    text
}
