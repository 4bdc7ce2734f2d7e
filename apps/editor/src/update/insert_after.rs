//! Inserts lines after a line of a file, which is a separate argument as in other tools.

use std::path::{Path, PathBuf};

use docui::{Blocking, Context, Fault, Line, Text};

use crate::display::wording::{count, line_range};
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::EditKind;
use crate::model::open_files::OpenFiles;
use crate::model::workspace_edit::WorkspaceEdit;

use super::edit::{Plan, Work, edit, report_lines};
use super::line_edits::insert;
use super::whole_lines::{insertion, whole_lines};

/// Inserts lines after line `after` of a file, by default the current one; 0 is its top.
pub(crate) fn insert_after(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    path: Option<&str>,
    after: i64,
    text: &Text,
    context: &Context,
) -> Result<Work, Fault> {
    if after < 0 {
        return Err(Fault::usage(format!(
            "insert_line: expected 0 (the top) or a line, not {after}"
        )));
    }
    // Whole lines are inserted, whether the text ends in a newline or not.
    let whole = text.text.strip_suffix('\n').unwrap_or(&text.text);
    let text = &Text { text: whole.to_owned(), ..text.clone() };
    let next = after.saturating_add(1);
    let Some(path) = path else {
        return insert(open_files, edits, &Line::Number(next), text, context);
    };
    let target = open_files.paths.caller_path(path, context);
    match open_file_at(open_files, &target) {
        Some(file) => {
            // Numbers of an open file are those that the reader saw.
            let line = Line::Text(format!("{}:{next}", open_files[file].path().display()));
            insert(open_files, edits, &line, text, context)
        }
        None => Ok(insert_into_closed(open_files, edits, target, after, text, context)?.into()),
    }
}

/// Returns the open file at a path, if it can be determined without disk access.
fn open_file_at(open_files: &OpenFiles, path: &Path) -> Option<usize> {
    open_files.index(&path.components().collect::<PathBuf>())
}

/// Inserts lines into a file that isn't open: its numbers are those on disk.
fn insert_into_closed(
    open_files: &OpenFiles,
    edits: &mut Edits,
    target: PathBuf,
    after: i64,
    text: &Text,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let (shown, text) = (open_files.paths.display_path(&target), text.clone());
    let waits_for = format!("the disk of {shown}");
    let plan = move |documents: &mut Documents| {
        let path = documents.resolve(&target)?;
        if documents.open_file(&path).is_some() {
            let shown = documents.display(&path);
            return Err(Fault::usage(format!("this file is open as {shown}: name it so")));
        }
        let buffer = documents.text(&path)?;
        let lines = buffer.line_count();
        let start = usize::try_from(after).ok().filter(|start| *start <= lines);
        let start = start.ok_or_else(|| {
            let message = format!("insert_line: {shown} has {}", count(lines, "line"));
            Fault::usage(format!("{message}, not {after}")).hint(format!("expected 0-{lines}"))
        })?;
        let new = whole_lines(&text, buffer);
        let inserted = start..start + new.matches('\n').count();
        let splices = vec![insertion(buffer, start, new)];
        let edit = WorkspaceEdit::new(EditKind::Insert).splices(path, splices);
        Ok(Plan::Edit(edit, inserted))
    };
    edit(open_files, edits, waits_for, context, plan, |editor, made, lines, context| {
        let inserted = count(lines.len(), "line");
        report_lines(
            &editor.files,
            made.files.first().map(|file| file.path.as_path()),
            &lines,
            context,
            |shown| format!("{shown}: {inserted}, now {}", line_range(&lines)),
        )
    })
}
