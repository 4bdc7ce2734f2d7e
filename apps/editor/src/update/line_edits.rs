//! Inserting, replacing and deleting lines.

use docui::{Context, Done, Fault, Line, Text};

use crate::display::wording::{count, line_range, shown_lines};
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::line_change::{LineChange, LineSplice};
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::model::text_diff::line_splice_between;
use crate::update::edit::edit_file;
use crate::update::resolve::{resolve_insertion_point, resolve_lines};

use super::edit::Work;
use super::gutter::refuse_gutter;
use super::whole_lines::{insertion, lines_in_place_of, whole_lines, without_last_newline};

pub(crate) fn insert(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    at: &Line,
    text: &Text,
    context: &Context,
) -> Result<Work, Fault> {
    let target = resolve_insertion_point(open_files, "at", at, None, context)?;
    let buffer = open_files[target.file].buffer();
    refuse_gutter(text, at, buffer, &target.lines)?;
    let new = whole_lines(text, buffer);
    let inserted = new.matches('\n').count();
    let start = target.lines.start;
    let splices = vec![insertion(buffer, start, new)];
    let lines = vec![LineSplice { start, removed: 0, inserted }];
    let lines = LineChange::Splices(lines);
    let change = (splices, Some(lines));
    let lines = start..start + inserted;
    let now = line_range(&lines);
    let brief = format!("{}{}, now {now}", count(inserted, "line"), source(text));
    edit_file(open_files, edits, target.file, EditKind::Insert, change, context, |_, _, _| {
        (brief, vec![lines])
    })
}

pub(crate) fn replace_lines(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    first: &Line,
    last: &Line,
    text: &Text,
    context: &Context,
) -> Result<Work, Fault> {
    if text.text.is_empty() {
        return delete_lines(open_files, edits, first, last, context);
    }
    let target = resolve_lines(open_files, first, last, context)?;
    let buffer = open_files[target.file].buffer();
    refuse_gutter(text, first, buffer, &target.lines)?;
    let old = buffer.text_of(&target.lines);
    let mut new = lines_in_place_of(&old, text, buffer);
    let inserted = new.matches('\n').count();
    // If the file's last line lacks its newline, so does the line that replaces it.
    if !old.ends_with('\n') {
        new = without_last_newline(new);
    }
    if old == new {
        let brief = format!("no change: {} already match", line_range(&target.lines));
        let shown = shown_lines(&open_files[target.file], &target.lines, context.next_version());
        return Ok(Done::new(brief).shows([shown]).into());
    }
    let start = target.lines.start;
    let lines = LineChange::Splices(line_splice_between(start, &old, &new).into_iter().collect());
    let splices = vec![Splice { at: buffer.line_start(start), old, new }];
    let removed = target.lines.len();
    let change = (splices, Some(lines));
    let lines = start..start + inserted;
    let now = line_range(&lines);
    let brief = match removed == inserted {
        true => format!("{now}{}", source(text)),
        false => {
            format!("{} with {inserted}{}, now {now}", count(removed, "line"), source(text))
        }
    };
    edit_file(open_files, edits, target.file, EditKind::ReplaceLines, change, context, |_, _, _| {
        (brief, vec![lines])
    })
}

pub(crate) fn delete_lines(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    first: &Line,
    last: &Line,
    context: &Context,
) -> Result<Work, Fault> {
    let target = resolve_lines(open_files, first, last, context)?;
    let buffer = open_files[target.file].buffer();
    let (start, removed) = (target.lines.start, target.lines.len());
    let (at, old) = (buffer.line_start(start), buffer.text_of(&target.lines));
    let splices = vec![Splice { at, old, new: String::new() }];
    let lines = LineChange::Splices(vec![LineSplice { start, removed, inserted: 0 }]);
    let change = (splices, Some(lines));
    edit_file(
        open_files,
        edits,
        target.file,
        EditKind::DeleteLines,
        change,
        context,
        move |_, _, _| (count(removed, "line"), Vec::new()),
    )
}

/// Names where text came from by reference, as the end of a phrase; empty if it was written out.
fn source(text: &Text) -> String {
    let from = text.from.as_ref();
    from.map(|(_, label)| format!(" from {label}")).unwrap_or_default()
}
