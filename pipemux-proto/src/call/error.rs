//! An error in the code of a `run`.

use super::excerpt;
use super::span::Span;
use crate::fault::Fault;

/// An error in the code of a `run` and its position. The parser finds it, or the check of the calls
/// against the prototypes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{title}: {note}")]
pub struct CallError {
    /// The error in a few words: `unknown parameter`.
    pub title: String,
    /// The range of the code to mark.
    pub span: Span,
    /// What was expected; shown after the mark.
    pub note: String,
    /// What to do next; each a whole sentence or command.
    pub hints: Vec<String>,
}

impl CallError {
    /// Makes an error without hints.
    pub fn new(title: impl Into<String>, span: Span, note: impl Into<String>) -> Self {
        Self { title: title.into(), span, note: note.into(), hints: Vec::new() }
    }

    /// Adds a hint: a whole sentence or command.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the error for the agent: the title, the line of the code with the span, and a line
    /// with carets and the note. A span outside the code is marked at the nearest position inside.
    pub fn to_fault(&self, code: &str) -> Fault {
        let excerpt = excerpt::excerpt(code, self.span);
        let message = format!(
            "{}\n{}\n{}{} {}",
            self.title,
            excerpt.line,
            " ".repeat(excerpt.indent),
            "^".repeat(excerpt.carets),
            self.note
        );
        let fault = Fault::usage(message).at(excerpt.at.line, excerpt.at.column);
        self.hints.iter().fold(fault, |fault, hint| fault.hint(hint))
    }
}
