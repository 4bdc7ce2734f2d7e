//! The result of resolving a target, or the reason why it failed.

use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use docui::{Fault, Reply};
use pipemux_syntax::{FoundSymbol, Source, whole_items};

use crate::display::wording::line_numbers;
use crate::limits::MEANINGS_NAMED;
use crate::update::edit::Plan;

/// Why nothing was resolved.
pub(crate) enum Unresolved {
    Fault(Fault),
    /// The reader must say which symbol is meant: the question, and what was written with each
    /// meaning.
    Ask(Box<Reply>, Ambiguous),
}

/// A name with several meanings.
#[derive(Debug)]
pub(crate) struct Ambiguous {
    written: String,
    /// `m.py#foo (3-9), src/a.rs#Type::foo (12)`
    meanings: String,
}

impl Ambiguous {
    pub(super) fn new(written: &str, mut meanings: Vec<String>) -> Self {
        let more = meanings.len().saturating_sub(MEANINGS_NAMED);
        meanings.truncate(MEANINGS_NAMED);
        if more > 0 {
            meanings.push(format!("{more} more"));
        }
        Self { written: written.to_owned(), meanings: meanings.join(", ") }
    }

    /// Returns the error where nothing is asked: the meanings, each as it can be written.
    pub(in crate::update) fn fault(&self, of: &str) -> Fault {
        let Self { written, meanings } = self;
        Fault::usage(format!("{of}{written} is ambiguous: {meanings}"))
            .hint("write one of these, or lines: 'file:10-20'")
    }
}

impl From<Fault> for Unresolved {
    fn from(fault: Fault) -> Self {
        Unresolved::Fault(fault)
    }
}

/// Returns a plan, or the question instead of it.
pub(in crate::update) fn unless_asked<T>(
    plan: Result<Plan<T>, Unresolved>,
) -> Result<Plan<T>, Fault> {
    match plan {
        Ok(plan) => Ok(plan),
        Err(Unresolved::Ask(reply, _)) => Ok(Plan::Reply(*reply)),
        Err(Unresolved::Fault(fault)) => Err(fault),
    }
}

/// Lines of a file.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub path: PathBuf,
    /// The symbol that the lines are.
    pub symbol: Option<FoundSymbol>,
    /// True if the file itself was named.
    pub is_file: bool,
    /// True if the lines are whole items, though no symbol was named.
    pub is_items: bool,
    /// The byte range: whole lines, except for a body within a line.
    pub bytes: Range<usize>,
    pub source: Rc<Source>,
}

impl Resolved {
    /// Takes lines for the items that they are made of, if they are: without the empty lines around
    /// them.
    pub(super) fn into_items(mut self) -> Self {
        let items = match self.symbol.is_none() && !self.is_file {
            true => whole_items(&self.source, &self.bytes),
            false => None,
        };
        if let Some(items) = items {
            (self.bytes, self.is_items) = (items, true);
        }
        self
    }

    /// True for lines that are no items: where they go, nothing is added or taken away.
    pub(super) fn is_exact(&self) -> bool {
        self.symbol.is_none() && !self.is_items
    }

    /// Returns the symbol's name, or else the line numbers, for display to readers.
    pub(super) fn name(&self) -> String {
        match &self.symbol {
            Some(found) => found.qualified.clone(),
            None => {
                let lines = self.lines();
                let noun = if lines.len() == 1 { "line" } else { "lines" };
                format!("{noun} {}", line_numbers(&lines))
            }
        }
    }

    /// Returns the lines, counted from 0.
    pub(in crate::update) fn lines(&self) -> Range<usize> {
        let first = self.source.line_of(self.bytes.start);
        let last = self.source.line_of(self.bytes.end.saturating_sub(1).max(self.bytes.start));
        first..last + 1
    }

    /// Returns the item's bytes, which must be lines of its own.
    pub(super) fn item(&self) -> Result<Range<usize>, Fault> {
        match &self.symbol {
            Some(found) if !found.symbol.is_whole_lines(self.source.text()) => {
                let lines = line_numbers(&self.lines());
                let name = &found.qualified;
                Err(Fault::refused(format!("{name} shares line {lines} with other code"))
                    .hint("name lines, or use replace(old, new)"))
            }
            _ => Ok(self.bytes.clone()),
        }
    }
}
