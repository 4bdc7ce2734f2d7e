//! Making a new file.

use docui::{Blocking, Context, Data, Done, Fault, Text};

use crate::display::wording::{count, shown_lines};
use crate::model::Editor;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::{Author, EditKind};
use crate::model::open_files::OpenFiles;
use crate::model::text_diff::difference;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit};
use crate::update::edit::edit;
use crate::update::undo::unseen::unseen_changes;

use super::create_binary::create_binary;
use super::edit::{FileFate, Plan};
use super::question::{Choices, QuestionToken};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverwriteChoice {
    Overwrite,
    Keep,
}

const EXISTS: Choices<OverwriteChoice> = Choices(&[
    (OverwriteChoice::Overwrite, "overwrite", "replaces its text; undo brings it back"),
    (OverwriteChoice::Keep, "keep", "changes nothing"),
]);

/// Makes a new file of a text, or of bytes that are none.
pub(crate) fn create_file(
    open_files: &OpenFiles,
    edits: &mut Edits,
    path: &str,
    data: Data,
    overwrite: bool,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    match data.into_text() {
        Ok(text) => create(open_files, edits, path, &text, overwrite, context),
        Err(data) => Ok(create_binary(open_files, path, data, context)),
    }
}

pub(crate) fn create(
    open_files: &OpenFiles,
    edits: &mut Edits,
    path: &str,
    text: &Text,
    overwrite: bool,
    context: &Context,
) -> Result<Blocking<Editor>, Fault> {
    let target = open_files.paths.caller_path(path, context);
    let answered = match QuestionToken::answered(context)? {
        Some((QuestionToken::Overwrite { path, disk }, choice)) => {
            if EXISTS.chosen(choice)? == OverwriteChoice::Keep {
                let shown = open_files.paths.display_path(&path);
                return Err(Fault::failed(format!("{shown} was kept, nothing was changed")));
            }
            Some((path, disk))
        }
        _ => None,
    };
    let text = with_last_newline(&text.text);
    let unseen = unseen_changes(open_files, edits, context);
    let waits_for = format!("the disk of {}", open_files.paths.display_path(&target));
    let plan = move |documents: &mut Documents| {
        let path = documents.resolve(&target)?;
        let edit = WorkspaceEdit::new(EditKind::Create);
        if documents.is_missing(&path) && documents.open_file(&path).is_none() {
            return Ok(Plan::Edit(edit.file(path, TextEdit::Create(text)), None));
        }
        if let Some(fault) = unseen.get(&path) {
            return Err(fault.clone());
        }
        let buffer = documents.text(&path)?;
        let (digest, lines) = (Some(buffer.digest()), buffer.line_count());
        if !overwrite && lines > 0 && answered != Some((path.clone(), digest)) {
            let shown = documents.display(&path);
            let question = format!("{shown} exists, {}", count(lines, "line"));
            let token = QuestionToken::Overwrite { path, disk: digest };
            return EXISTS.ask(question, &token).map(Plan::Reply);
        }
        let before = buffer.text();
        let (text, kept) = with_line_endings_of(&before, text);
        let (splices, _) = difference(&before, &text);
        Ok(Plan::Edit(edit.splices(path, splices), Some((lines, kept))))
    };
    edit(open_files, edits, waits_for, context, plan, |editor, made, replaced, context| {
        let Some(file) = made.files.first() else { return Done::default() };
        let shown = editor.files.paths.display_path(&file.path);
        let Some(index) = file.file else { return Done::new(shown) };
        editor.files.set_current(Some(file.path.clone()), &Author::of(context));
        let open = &editor.files[index];
        let lines = open.buffer().line_count();
        let numbers = shown_lines(open, &(0..lines), context.next_version());
        let lines = count(lines, "line");
        let brief = match replaced.filter(|_| file.fate == FileFate::Changed) {
            Some((before, false)) => format!("{shown}, {lines} in place of {before}"),
            Some((before, true)) => format!("{shown}, {lines} in place of {before}; CRLF kept"),
            None => format!("{shown}, {lines}"),
        };
        Done::new(brief).shows([numbers])
    })
}

/// Gives a text whose lines all end in LF the line endings of the text whose place it takes, and
/// tells whether that changed it.
fn with_line_endings_of(before: &str, text: String) -> (String, bool) {
    let crlf = before.matches("\r\n").count();
    let is_crlf = 2 * crlf > before.matches('\n').count();
    match is_crlf && text.contains('\n') && !text.contains('\r') {
        true => (text.replace('\n', "\r\n"), true),
        false => (text, false),
    }
}

/// Returns a text that ends with a newline, unless it is empty.
fn with_last_newline(text: &str) -> String {
    match text.is_empty() || text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}
