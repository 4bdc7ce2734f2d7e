//! Saying what a change did to line numbers.

use std::ops::Range;

use docui::{Context, Done};

use crate::display::wording::{line_range, old_numbers, renumbered, renumbered_lines};
use crate::model::Editor;

impl Editor {
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
        let changed = self.files.iter().filter(|file| file.line_log().changed_in(next)).count();
        for (index, file) in self.files.iter().enumerate() {
            if !file.line_log().changed_in(next) {
                continue;
            }
            let renumbering = self.renumbering(index, context);
            // A move's own brief tells some of it.
            let is_untold = |(lines, to): &&(Range<usize>, usize)| {
                let now = *to..*to + lines.len();
                let same = format!("{} to {}", line_range(lines), line_range(&now));
                ![renumbered(lines, &now), same].iter().any(|text| done.brief().contains(text))
            };
            let (back, moved): (Vec<_>, Vec<_>) = renumbering
                .moves
                .iter()
                .filter(is_untold)
                .partition(|(lines, to)| lines.start == *to);
            let mut told = Vec::from_iter(renumbered_lines(&moved));
            // An earlier step of the run gave them other numbers.
            told.extend(old_numbers(
                &back.iter().map(|(lines, _)| lines.clone()).collect::<Vec<_>>(),
            ));
            if let Some(first) = renumbering.retired_from.filter(|_| !renumbering.retired_before) {
                told.push(format!("numbers from {first} on are retired"));
            }
            // To whom no number was shown the numbers as they are now are the first ones.
            if !told.is_empty() && self.knows_numbers(index, context) {
                let shown = self.display_name(index);
                // A reader who hasn't seen the window doesn't know which file is the current one.
                let unsaid = context.seen_version == 0 && !done.brief().contains(&shown);
                let of = match unsaid || (changed > 1 && !self.is_current(file)) {
                    true => format!("{shown}: "),
                    false => String::new(),
                };
                told.iter().for_each(|part| done.add_to_brief(&format!("; {of}{part}")));
            }
            let shown = std::mem::take(done.numbers_mut());
            done = done.shows(renumbering.numbers(&file.key(), next)).shows(shown);
        }
        done
    }
}
