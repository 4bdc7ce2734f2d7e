//! An error in the call itself.

use super::{Span, excerpt};
use crate::fault::Fault;

/// What is wrong with the code of a `run`, and where: found by the parser, or by whoever checks the
/// calls against the prototypes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{title}: {note}")]
pub struct CallError {
    /// What is wrong, in a few words: `unknown parameter`.
    pub title: String,
    /// The part of the code that is marked.
    pub span: Span,
    /// What was expected, to stand behind the mark.
    pub note: String,
    /// What to do next, each a whole sentence or command.
    pub hints: Vec<String>,
}

impl CallError {
    /// An error without hints.
    pub fn new(title: impl Into<String>, span: Span, note: impl Into<String>) -> Self {
        Self { title: title.into(), span, note: note.into(), hints: Vec::new() }
    }

    /// Adds a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The answer to the agent: the title, the line of the code that holds the span, and a caret
    /// line with the note. A span outside the code is marked at the nearest place inside.
    pub fn to_fault(&self, code: &str) -> Fault {
        let place = excerpt::excerpt(code, self.span);
        let message = format!(
            "{}\n{}\n{}{} {}",
            self.title,
            place.line,
            " ".repeat(place.indent),
            "^".repeat(place.carets),
            self.note
        );
        let fault = Fault::usage(message).at(place.at.line, place.at.column);
        self.hints.iter().fold(fault, |fault, hint| fault.hint(hint))
    }
}
