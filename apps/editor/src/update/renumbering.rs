//! Saying what a change did to line numbers.

use std::ops::Range;

use docui::{Context, Done, Reply};

use crate::display::wording::{line_range, old_numbers, renumbered, renumbered_lines};
use crate::model::edits::Edits;
use crate::model::open_files::OpenFiles;
use crate::model::renumbering::{knows_numbers, renumbering};

/// Returns a brief that names its file unless it is the current one.
pub(crate) fn brief_about(open_files: &OpenFiles, file: usize, brief: String) -> String {
    match open_files.is_current(&open_files[file]) {
        true => brief,
        false => format!("{}: {brief}", open_files.display_name(file)),
    }
}

/// Says in an outcome which numbers that the reader knows are others now:
/// `lines 4-412 are now 1-409`.
fn tell_renumbering(open_files: &OpenFiles, mut done: Done, context: &Context) -> Done {
    let next = context.next_version();
    let changed = open_files.iter().filter(|file| file.line_log().changed_in(next)).count();
    for (index, file) in open_files.iter().enumerate() {
        if !file.line_log().changed_in(next) {
            continue;
        }
        let renumbering = renumbering(open_files, index, context);
        // A move's own brief tells some of it.
        let is_untold = |(lines, to): &&(Range<usize>, usize)| {
            let now = *to..*to + lines.len();
            let same = format!("{} to {}", line_range(lines), line_range(&now));
            ![renumbered(lines, &now), same].iter().any(|text| done.brief().contains(text))
        };
        let (back, moved): (Vec<_>, Vec<_>) =
            renumbering.moves.iter().filter(is_untold).partition(|(lines, to)| lines.start == *to);
        let mut told = Vec::from_iter(renumbered_lines(&moved));
        // An earlier step of the run gave them other numbers.
        told.extend(old_numbers(&back.iter().map(|(lines, _)| lines.clone()).collect::<Vec<_>>()));
        if let Some(first) = renumbering.retired_from.filter(|_| !renumbering.retired_before) {
            told.push(format!("numbers from {first} on are retired"));
        }
        // To whom no number was shown the numbers as they are now are the first ones.
        if !told.is_empty() && knows_numbers(open_files, index, context) {
            let shown = open_files.display_name(index);
            // A reader who hasn't seen the window doesn't know which file is the current one.
            let unsaid = context.seen_version == 0 && !done.brief().contains(&shown);
            let of = match unsaid || (changed > 1 && !open_files.is_current(file)) {
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

/// Counts the version that an action leaves, and adds to its outcome what it did to line numbers. A
/// query leaves all as it is.
pub(crate) fn conclude(
    open_files: &OpenFiles,
    edits: &mut Edits,
    reply: Reply,
    context: &Context,
) -> Reply {
    match reply {
        Reply::Done(done) if !context.query => {
            edits.version += 1;
            Reply::Done(tell_renumbering(open_files, done, context))
        }
        reply => reply,
    }
}
