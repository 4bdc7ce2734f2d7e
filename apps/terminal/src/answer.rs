//! Writes the answer about a command: its verdict, the relevant output, and how to get the rest.

mod brief;
mod content;
mod details;
mod git;
mod item;
mod plain;
mod problems;
mod refused;
mod rest;

use docui::{JobHandle, tokens};

use content::cost;

use crate::job::{Ended, How, Job};
use crate::limits::{ANSWER_TOKENS, STOPPED_SHOWN, TAIL_SHOWN};

pub use brief::brief;
pub use content::{Answer, Piece, output_command};
pub use item::problem_object;
pub use problems::all_problems;

/// What a folded answer may cost more than the output as it is, in tokens: an answer that is
/// nothing but text has no way to go wrong.
const PLAIN_BONUS: u64 = 12;

impl Answer {
    /// Makes the answer of a command that has ended, within about so many tokens.
    pub fn of(job: &Job, ended: &Ended, budget: u64) -> Self {
        let mut answer = Self::of_output(job, ended, budget.min(ANSWER_TOKENS));
        answer.pieces.extend(refused::line(job).map(Piece::Text));
        answer.with_changed(&ended.changed)
    }

    fn of_output(job: &Job, ended: &Ended, budget: u64) -> Self {
        if let Some(drawn) = plain::drawn(job, ended) {
            return drawn;
        }
        let listed = problems::listed(job, ended, budget);
        let plain = plain::whole(job, ended, budget);
        // A success with more to say than what was recognised is told by its own words.
        let is_said = ended.how.is_success() && rest::count(&ended.report) > TAIL_SHOWN as u64;
        match (plain, listed) {
            (Some(plain), Some(_)) if is_said => plain,
            (Some(plain), Some(listed))
                if cost(&plain.pieces) > cost(&listed.pieces) + PLAIN_BONUS =>
            {
                listed
            }
            (Some(plain), _) => plain,
            (None, Some(listed)) => listed,
            (None, None) => {
                git::listed(job, ended, budget).unwrap_or_else(|| plain::folded(job, ended, budget))
            }
        }
    }

    /// Makes the answer of a call that stopped a command: its verdict, and the last lines of its
    /// output.
    pub fn of_stopped(job: &Job, ended: &Ended, budget: u64) -> Self {
        let brief = format!("{} · {}", job.name(), brief(job, ended, true));
        let from = (ended.report.lines + 1).saturating_sub(STOPPED_SHOWN).max(1);
        let lines = job.lines(from, STOPPED_SHOWN as usize).unwrap_or_default();
        let text: String =
            lines.iter().map(|(_, line)| details::cut(line.trim_end()) + "\n").collect();
        let is_shown = !text.trim().is_empty() && tokens::estimate(&text) <= budget;
        let pieces = if is_shown { vec![Piece::Lines(text)] } else { Vec::new() };
        Self { brief, pieces }.with_changed(&ended.changed)
    }
}

/// Tells the daemon that a command has ended which it follows.
pub fn tell_end(job: &Job, ended: &Ended, handle: &JobHandle) {
    let answer = Answer::of(job, ended, ANSWER_TOKENS);
    handle.output(answer.text());
    // The daemon says how long it took.
    let result = match answer.brief.strip_prefix(&ended.verdict()) {
        Some(counts) => ended.untimed() + counts,
        None => answer.brief,
    };
    match ended.how.is_success() {
        true => handle.done(result),
        // It says that it was cancelled.
        false if ended.how == How::Stopped => {
            handle.cancelled(result.trim_start_matches("stopped").trim_start_matches(" · "));
        }
        false => handle.failed(result),
    }
}
