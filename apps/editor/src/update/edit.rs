//! The one place through which every edit of one or several files goes: planned, written, taken in,
//! reported.
//!
//! An edit is one change with one undo over all files that it touches, and it is made in all of
//! them or in none. It is planned and written on another thread; the texts in the session change
//! once the disk has them, or at once while edits are held.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use docui::blocking::CommitPoint;
use docui::{Ask, Blocking, Completion, Context, Done, Fault, Reply, View};

use super::search::ShownLines;
use crate::action::Action;
use crate::display::wording::{other_names, shown_lines};
use crate::limits::DISK_DEADLINE;
use crate::model::Editor;
use crate::model::change_log::change_journal::Operation;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::{Author, Change, EditKind, FileChange};
use crate::model::ids::IdKind;
use crate::model::line_change::LineChange;
use crate::model::open_files::OpenFiles;
use crate::model::splice::Splice;
use crate::model::workspace_edit::{
    TextEdit, WorkspaceEdit, WritePolicy, Written, WrittenFile, being_written,
};
use crate::model::written_files::take_written;
use crate::update::change_diff::{diff_of_change, preview_of};
use crate::update::disk_conflict::ask_about_edit;
use crate::update::disk_task::disk_task;
use crate::update::renumbering::brief_about;
use crate::update::replaced_lines::unseen_lines;
use crate::update::search::shown_lines::numbers_shown;

/// The work of an action: a finished reply, or blocking disk access.
pub(crate) enum Work {
    Reply(Box<Reply>),
    Blocking(Blocking<Editor>),
}

impl From<Reply> for Work {
    fn from(reply: Reply) -> Self {
        Work::Reply(Box::new(reply))
    }
}

impl From<Done> for Work {
    fn from(done: Done) -> Self {
        Work::Reply(Box::new(done.into()))
    }
}

impl From<Blocking<Editor>> for Work {
    fn from(blocking: Blocking<Editor>) -> Self {
        Work::Blocking(blocking)
    }
}

/// The result of planning an edit.
pub(crate) enum Plan<T> {
    /// An edit, and the data that its report needs.
    Edit(WorkspaceEdit, T),
    /// A question or an outcome without changes.
    Reply(Reply),
    /// A question, with the lines that it shows; nothing changes until it is answered.
    Ask(Ask, ShownLines),
}

/// An edit that was written.
#[derive(Debug)]
pub(crate) struct Committed {
    /// The files, in the order of the plan.
    pub files: Vec<CommittedFile>,
}

/// A file that was edited.
#[derive(Debug)]
pub(crate) struct CommittedFile {
    /// The path without symlinks.
    pub path: PathBuf,
    /// The index of the open file; `None` if it was deleted or too many files are open.
    pub file: Option<usize>,
    /// The lines that the edit altered or added, by their present numbers.
    pub lines: Vec<Range<usize>>,
    /// The effect of the edit on the file.
    pub fate: FileFate,
}

/// The effect of an edit on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFate {
    /// The file didn't exist before.
    Created,
    /// The file's text was changed.
    Changed,
    Deleted,
}

/// The result of the thread that writes an edit.
enum Outcome<T> {
    Reply(Reply),
    Ask(Ask, ShownLines, Box<Documents>),
    Written(Written, EditKind, Option<T>),
}

/// Edits files: `plan` says what becomes of them, on another thread, and `report` makes the outcome
/// once it is done. The outcome gets its link to undo, and says what it did to line numbers that
/// the reader knows.
///
/// `waits_for` names what is waited for if it takes long: `the disk of src`.
pub(crate) fn edit<T: Send + 'static>(
    open_files: &OpenFiles,
    edits: &mut Edits,
    waits_for: impl Into<String>,
    context: &Context,
    plan: impl FnOnce(&mut Documents) -> Result<Plan<T>, Fault> + Send + 'static,
    report: impl FnOnce(&mut Editor, &Committed, T, &Context) -> Done + Send + 'static,
) -> Result<Blocking<Editor>, Fault> {
    let id = edits.ids.next(IdKind::Change);
    let author = Author::of(context);
    let change = id.clone();
    let begins = id.clone();
    let operation =
        move |kind, files| Operation::Edit(Change { id: begins, kind, author, files, of: None });
    let begun = (waits_for.into(), id);
    begin_edit(
        open_files,
        edits,
        begun,
        context,
        plan,
        operation,
        move |editor, made, about, context| {
            let Made { kind, files, committed } = made;
            let author = Author::of(context);
            editor.edits.changes.push(Change { id: change.clone(), kind, author, files, of: None });
            let undo = Action::Undo { steps: 1, change: Some(change.into()) };
            report(editor, &committed, about, context).link("undo", &undo)
        },
    )
}

/// Edits one open file; `report` makes the brief and names lines whose numbers it shows.
pub(crate) fn edit_file(
    open_files: &mut OpenFiles,
    edits: &mut Edits,
    file: usize,
    kind: EditKind,
    (splices, lines): (Vec<Splice>, Option<LineChange>),
    context: &Context,
    report: impl FnOnce(&mut Editor, usize, &Context) -> (String, Vec<Range<usize>>) + Send + 'static,
) -> Result<Work, Fault> {
    let shown = open_files.display_name(file);
    if open_files[file].gate().is_being_edited()
        || (!open_files.hold && open_files[file].is_being_written())
    {
        return Err(being_written(&shown));
    }
    if !context.preview {
        open_files.before_change(file)?;
    }
    let replaces = matches!(kind, EditKind::ReplaceLines | EditKind::DeleteLines);
    let replaced = splices.first().filter(|_| replaces);
    let replaced =
        replaced.map(|splice| (open_files[file].buffer().line_at(splice.at), splice.old.clone()));
    let path = open_files[file].path().to_owned();
    let text_edit = match lines {
        Some(lines) => TextEdit::Lines(splices, lines),
        None => TextEdit::Splices(splices),
    };
    let planned = WorkspaceEdit::new(kind).file(path, text_edit);
    let plan = move |_: &mut Documents| Ok(Plan::Edit(planned, ()));
    let blocking = edit(
        open_files,
        edits,
        format!("the disk of {shown}"),
        context,
        plan,
        move |editor: &mut Editor, made, (), context| {
            let Some(file) = made.files.first().and_then(|made| made.file) else {
                return Done::new(shown);
            };
            let (brief, shown) = report(editor, file, context);
            let replaced = replaced
                .and_then(|(first, old)| unseen_lines(&editor.files, file, first, &old, context));
            let numbers = shown.iter().filter(|lines| !lines.is_empty());
            let numbers = numbers
                .map(|lines| shown_lines(&editor.files[file], lines, context.next_version()));
            let done = Done::new(brief_about(&editor.files, file, brief)).shows(numbers);
            let Some(replaced) = replaced else { return done };
            let mut view = View::new("");
            view.code("", replaced);
            done.content(view)
        },
    )?;
    Ok(blocking.into())
}

/// Begins an edit that is recorded as `operation` with this id; `done` takes it into the changes
/// and makes the outcome.
pub(crate) fn begin_edit<T: Send + 'static>(
    open_files: &OpenFiles,
    edits: &mut Edits,
    (waits_for, id): (String, String),
    context: &Context,
    plan: impl FnOnce(&mut Documents) -> Result<Plan<T>, Fault> + Send + 'static,
    operation: impl FnOnce(EditKind, Vec<FileChange>) -> Operation + Send + 'static,
    done: impl FnOnce(&mut Editor, Made, T, &Context) -> Done + Send + 'static,
) -> Result<Blocking<Editor>, Fault> {
    let (mut documents, journal) = (open_files.documents(), edits.changes.journal()?);
    let overwrite = std::mem::take(&mut edits.overwrite);
    let (hold, answered, began) = (open_files.hold, context.answer.clone(), context.version);
    let preview = context.preview;
    let leftovers = edits.leftovers.clone();
    let policy = WritePolicy { hold, overwrite, preview, leftovers };
    let work = move |commit: &CommitPoint| -> Result<Outcome<T>, Fault> {
        let (edit, about) = match plan(&mut documents)? {
            Plan::Reply(reply) => return Ok(Outcome::Reply(reply)),
            Plan::Ask(ask, shown) => {
                return Ok(Outcome::Ask(ask, shown, Box::new(documents)));
            }
            Plan::Edit(edit, about) => (edit, about),
        };
        let kind = edit.kind;
        let operation = |files| operation(kind, files);
        let written = documents.write(edit, &policy, operation, &journal, commit)?;
        Ok(Outcome::Written(written, kind, Some(about)))
    };
    let finish = move |editor: &mut Editor,
                       outcome: Result<Outcome<T>, Fault>,
                       context: &Context,
                       _: Completion| {
        let (written, kind, about) = match outcome? {
            Outcome::Reply(reply) => return Ok(reply),
            Outcome::Ask(ask, shown, mut documents) => {
                let numbers = numbers_shown(
                    &mut editor.files,
                    &mut editor.edits,
                    shown,
                    &mut documents,
                    began,
                    context,
                );
                return Ok(ask.shows(numbers).into());
            }
            Outcome::Written(written, kind, about) => (written, kind, about),
        };
        let (written, about) = match (written, about) {
            (Written::Conflicts(conflicts), _) => {
                return ask_about_edit(&editor.files, conflicts, answered);
            }
            (Written::Planned(planned), _) => return Ok(preview_of(&editor.files, &planned).into()),
            (Written::Done(written), Some(about)) => (written, about),
            (Written::CalledOff | Written::Done(_), _) => {
                return Err(Fault::failed("nothing was done"));
            }
        };
        if written.is_empty() && !kind.steps_history() {
            return Ok(Done::new("no change").into());
        }
        editor.edits.leftovers = Arc::default();
        let author = Author::of(context);
        let files: Vec<_> = written.iter().map(|file| file.change.clone()).collect();
        let other_names = other_names_kept(&editor.files, &written);
        let taken =
            take_written(&mut editor.files, &mut editor.edits, kind, &author, written, hold);
        taken.inspect_err(|_| editor.edits.changes.take_failure(&id))?;
        let diff = diff_of_change(&editor.files, &files);
        let paths: Vec<String> = files.iter().map(path_of).collect();
        let made = Made { kind, committed: committed_files(&editor.files, &files), files };
        let done = done(editor, made, about, context).diff(diff).changed_files(paths);
        Ok(other_names.iter().fold(done, |done, note| done.also(note)).into())
    };
    Ok(disk_task(waits_for, DISK_DEADLINE, context, work, finish))
}

/// Says which files have other names that keep the old text.
fn other_names_kept(open_files: &OpenFiles, written: &[WrittenFile]) -> Vec<String> {
    let kept = |file: &WrittenFile| {
        let kept = other_names(file.names)?;
        Some(match written.len() {
            1 => kept,
            _ => format!("{}: {kept}", open_files.paths.display_path(&file.change.path)),
        })
    };
    written.iter().filter_map(kept).collect()
}

fn committed_files(open_files: &OpenFiles, files: &[FileChange]) -> Committed {
    let committed = |change: &FileChange| CommittedFile {
        path: change.path.clone(),
        file: open_files.index(&change.path),
        lines: change.lines.changed_lines(),
        fate: match (change.before, change.after) {
            (_, None) => FileFate::Deleted,
            (None, _) => FileFate::Created,
            _ => FileFate::Changed,
        },
    };
    Committed { files: files.iter().map(committed).collect() }
}

/// Returns the outcome of an edit of one file, whose brief names lines.
pub(super) fn report_lines(
    open_files: &OpenFiles,
    path: Option<&Path>,
    lines: &Range<usize>,
    context: &Context,
    brief: impl FnOnce(&str) -> String,
) -> Done {
    let Some(path) = path else { return Done::default() };
    let done = Done::new(brief(&open_files.paths.display_path(path)));
    match open_files.index(path).filter(|_| !lines.is_empty()) {
        Some(index) => done.shows([shown_lines(&open_files[index], lines, context.next_version())]),
        None => done,
    }
}

/// A completed edit that isn't recorded in the change log yet.
pub(crate) struct Made {
    pub kind: EditKind,
    pub files: Vec<FileChange>,
    pub committed: Committed,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests;

fn path_of(change: &FileChange) -> String {
    change.path.to_string_lossy().into_owned()
}
