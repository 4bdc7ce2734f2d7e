//! An answer: its line, and the pieces that follow.

use docui::{Change, Done, Object, View, tokens};

use crate::action::Action;
use crate::file_changes::Changed;
use crate::job::Job;

/// What a ref costs besides its label, in tokens.
pub(super) const REF_TOKENS: u64 = 7;
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text of the terminal's own.
    Text(String),
    /// Lines of an output, exactly.
    Lines(String),
    /// Something that calls can name.
    Object(Object),
}

/// The answer on a command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The verdict and the counts, in one line.
    pub brief: String,
    /// The pieces that follow the brief.
    pub pieces: Vec<Piece>,
}

impl Answer {
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

/// Returns about how many tokens pieces take.
pub(super) fn cost(pieces: &[Piece]) -> u64 {
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
