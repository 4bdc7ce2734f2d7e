//! Making a change, and reporting what it did to line numbers.

use std::ops::Range;

use docui::{Context, Done, Fault, Reply};

use crate::action::Action;
use crate::display::wording::{line_numbers, line_range, lines_are, renumbered, shown_lines};
use crate::model::Editor;
use crate::model::history::{Author, EditKind};
use crate::model::ids::IdKind;
use crate::model::line_change::LineChange;
use crate::model::splice::Splice;

impl Editor {
    /// Changes a file's text as one action.
    pub(super) fn commit(
        &mut self,
        file: usize,
        kind: EditKind,
        splices: Vec<Splice>,
        lines: LineChange,
        context: &Context,
    ) -> Result<(), Fault> {
        self.before_change(file)?;
        self.hide_search_results();
        let id = self.ids.next(IdKind::Change);
        self.files[file].change(id, kind, Author::of(context), splices, lines)
    }

    /// Returns the outcome of a change that shows some lines' numbers as they are after it.
    pub(super) fn committed(
        &self,
        file: usize,
        brief: String,
        shown: &[Range<usize>],
        context: &Context,
    ) -> Reply {
        let change = self.files[file].last_change_id().map(Into::into);
        let undo = Action::Undo { steps: 1, change };
        let numbers = shown.iter().filter(|lines| !lines.is_empty());
        let numbers =
            numbers.map(|lines| shown_lines(&self.files[file], lines, context.next_version()));
        Done::new(self.brief_about(file, brief)).link("undo", &undo).shows(numbers).into()
    }

    /// Returns a brief that names its file unless it is the current one.
    pub(super) fn brief_about(&self, file: usize, brief: String) -> String {
        match self.is_current(&self.files[file]) {
            true => brief,
            false => format!("{}: {brief}", self.display_name(file)),
        }
    }

    /// Says in an outcome which numbers that the reader knows are others now: `lines 4-412 are now 1-409`.
    pub(crate) fn tell_renumbering(&self, mut done: Done, context: &Context) -> Done {
        let next = context.next_version();
        for (index, file) in self.files.iter().enumerate() {
            if !file.line_log().changed_in(next) {
                continue;
            }
            let renumbering = self.renumbering(index, context);
            let mut told = Vec::new();
            for (lines, to) in &renumbering.moves {
                let now = *to..*to + lines.len();
                let moved = match lines.start == *to {
                    true => format!("{} {} again", lines_are(lines), line_numbers(&now)),
                    false => renumbered(lines, &now),
                };
                // A move's own brief tells some of it.
                let same = format!("{} to {}", line_range(lines), line_range(&now));
                if ![&moved, &same].iter().any(|text| done.brief().contains(text.as_str())) {
                    told.push(moved);
                }
            }
            if !told.is_empty() {
                done.add_to_brief(&format!("; {}", told.join(", ")));
            }
            if let Some(first) = renumbering.retired_from.filter(|_| !renumbering.retired_before) {
                done.add_to_brief(&format!("; numbers from {first} on are retired"));
            }
            let shown = std::mem::take(done.numbers_mut());
            done = done.shows(renumbering.numbers(&file.key(), next)).shows(shown);
        }
        done
    }
}
