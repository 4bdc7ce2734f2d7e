//! The outlines of several files.

use pipemux_syntax::Source;
use pipemux_syntax::outline::Lead;

use crate::display::wording::line_numbers;

use super::entries::{Filter, OutlineEntry, entries_of};

/// The outlines of files, and those that have none.
pub(super) struct Outlines {
    pub filter: Filter,
    pub only_counts: bool,
    pub files: Vec<OutlinedFile>,
    /// Files without a symbol.
    pub empty: Vec<String>,
    /// Files none of whose symbols is wanted, and how many these are.
    pub unmatched: Vec<String>,
    pub others: usize,
    /// Files in a language that has no parser.
    pub unknown: Vec<String>,
    /// Macros with functions, which no outline has.
    pub macros: Vec<String>,
}

/// The outline of one file.
pub(super) struct OutlinedFile {
    pub shown: String,
    pub lines: usize,
    pub entries: Vec<OutlineEntry>,
    /// What a Markdown text is about, in place of its headings.
    pub lead: Option<Lead>,
}

impl Outlines {
    pub(super) fn add(&mut self, shown: String, source: &Source, lead: Option<Lead>) {
        let (entries, others) = entries_of(source, &self.filter);
        let macros = source.macros_with_functions();
        self.macros.extend(macros.iter().map(|lines| format!("{shown}:{}", line_numbers(lines))));
        let prose = lead.as_ref().is_some_and(|lead| lead.prose.is_some());
        if entries.is_empty() && !prose {
            self.others += others;
            let without = if others > 0 { &mut self.unmatched } else { &mut self.empty };
            return without.push(shown);
        }
        let lines = source.text().lines().count();
        self.files.push(OutlinedFile { shown, lines, entries, lead });
    }
}
