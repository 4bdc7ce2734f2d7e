//! What is told of a command: the verdict, what matters, and the way to the rest.

mod details;
mod git;
mod plain;
mod problems;
mod refused;
mod rest;

use docui::{Change, Done, JobHandle, Object, View, tokens};

use crate::action::Action;
use crate::file_changes::Changed;
use crate::job::{Ended, How, Job};
use crate::limits::{ANSWER_TOKENS, STOPPED_SHOWN, TAIL_SHOWN};

pub use plain::brief;
pub use problems::{all_problems, problem_object};

/// What a ref costs besides its label, in tokens.
const REF_TOKENS: u64 = 7;
/// What a folded answer may cost more than the output as it is, in tokens: an answer that is
/// nothing but text has no way to go wrong.
const PLAIN_BONUS: u64 = 12;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text of the terminal's own.
    Text(String),
    /// Lines of an output, exactly.
    Lines(String),
    /// Something that calls can name.
    Object(Object),
}

/// What is told of a command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The verdict and the counts, in one line.
    pub brief: String,
    /// What follows.
    pub pieces: Vec<Piece>,
}

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

    /// Adds which files were changed.
    pub(crate) fn with_changed(mut self, changed: &Changed) -> Self {
        if let Changed::Files { words, .. } = changed {
            self.brief += &format!(" · {words}");
        }
        self
    }

    /// Makes the outcome of the call that began what changed files, with the link that takes that
    /// back, or why there is none.
    pub(crate) fn into_done_with(self, changed: &Changed, committed: bool) -> Done {
        let done = self.into_done();
        match changed {
            Changed::Files { change, paths, .. } => {
                done.link("undo", &undo(change)).changed_files(paths.iter().cloned())
            }
            Changed::Nothing => done.no_undo(if committed { "what git has stays" } else { "" }),
            Changed::Unknown(why) => done.no_undo(why),
        }
    }

    /// Returns about how many tokens it takes.
    pub fn cost(&self) -> u64 {
        cost(&self.pieces) + tokens::estimate(&self.brief)
    }

    /// Makes the outcome of a call that tells of a command's end: it isn't told again as that of a
    /// job.
    pub fn into_end_of(self, job: &Job) -> Done {
        let done = self.into_done();
        if job.is_followed() { done.ended_job(job.name()) } else { done }
    }

    /// Makes the outcome of a call.
    pub fn into_done(self) -> Done {
        let mut view = View::default();
        for piece in self.pieces {
            match piece {
                Piece::Text(text) => view.text(text),
                Piece::Lines(text) => view.code("", text),
                Piece::Object(object) => view.object(object),
            };
        }
        Done::new(self.brief).content(view).complete()
    }

    /// Returns the pieces as plain text.
    pub fn text(&self) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Lines(text) => text.clone(),
            Piece::Object(object) => object.label().to_owned(),
        };
        let text: String = self.pieces.iter().map(text).collect();
        if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
    }
}

/// Returns the call that takes a change back.
pub fn undo(change: &str) -> Action {
    Action::Undo { change: Some(Change(change.to_owned())), shared: false }
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

/// Returns about how many tokens pieces take.
fn cost(pieces: &[Piece]) -> u64 {
    let of = |piece: &Piece| match piece {
        Piece::Text(text) => tokens::estimate(text),
        Piece::Lines(text) => tokens::estimate(text) + 4,
        Piece::Object(object) => tokens::estimate(object.label()) + REF_TOKENS,
    };
    pieces.iter().map(of).sum()
}

/// Returns the command that shows lines of an output.
pub fn output_command(job: &Job, first: u64, last: u64) -> String {
    format!("pipemux ask 'terminal.output({first}, {last}, \"{}\")'", job.name())
}
