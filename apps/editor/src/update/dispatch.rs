//! Begins each action: one exhaustive match over all of them, also those under other tools' names.

use docui::{Anchor, Blocking, Context, Fault, Line, Reply};

use crate::action::{Action, File};
use crate::limits::DISK_DEADLINE;
use crate::model::Editor;
use crate::model::edits::Edits;
use crate::model::open_files::OpenFiles;

use super::apply::apply;
use super::close::{close, save_before_closing};
use super::closed_files::in_closed_file;
use super::create::{create, create_file};
use super::diff::diff;
use super::disk_conflict::without_disk_answer;
use super::disk_task::disk_task;
use super::edit::Work;
use super::extract_method::extract_method;
use super::held_edits::{begin_hold, end_hold};
use super::insert_after::insert_after;
use super::line_edits::{delete_lines, insert, replace_lines};
use super::move_lines::move_lines;
use super::navigate::{goto, select};
use super::open::open_paths;
use super::replace_text::{replace_or_create, replace_text};
use super::save::save;
use super::save_as::save_as;
use super::search::find::find;
use super::search::first_lines::glob;
use super::search::replace::replace;
use super::search::uses::uses;
use super::symbols::arranging::{delete, move_range, swap};
use super::symbols::deleting::delete_all;
use super::symbols::new_text::{insert_beside, replace_body, replace_range};
use super::symbols::outline::{OutlineRequest, outline};
use super::symbols::place::InsertPlace;
use super::symbols::ranges::{body, lines_between, lines_of};
use super::symbols::rename::rename;
use super::symbols::several_ranges::{LinesRequest, lines_of_files};
use super::undo::{redo, undo};
use super::view_file::{LinesWanted, view_file};

/// The state of an action after its start.
pub(crate) enum Begun {
    Immediate(Immediate),
    Work(Work),
}

impl<T: Into<Work>> From<T> for Begun {
    fn from(work: T) -> Self {
        Self::Work(work.into())
    }
}

/// An action that needs no disk access.
pub(crate) enum Immediate {
    Close(Option<Anchor<File>>),
    Select(Line, Line),
    Goto(Line),
    Hold,
}

impl Immediate {
    /// Carries out the action.
    pub(crate) fn perform(self, editor: &mut Editor, context: &Context) -> Result<Reply, Fault> {
        let Editor { files, edits, selection, .. } = editor;
        match self {
            Self::Close(file) => close(files, file.as_ref(), context),
            Self::Select(first, last) => {
                select(files, &mut edits.ids, selection, (&first, &last), context)
            }
            Self::Goto(line) => goto(files, &line, context),
            Self::Hold => begin_hold(files),
        }
    }
}

/// The remaining work of an action that was started.
pub(crate) enum Next {
    Perform(Immediate),
    Wait(Blocking<Editor>),
}

/// Begins an action.
///
/// # Errors
/// Its arguments or the answer to its question are wrong; nothing was done.
pub(crate) fn begin(
    files: &mut OpenFiles,
    edits: &mut Edits,
    action: &Action,
    context: &Context,
) -> Result<Next, Fault> {
    let context = &without_disk_answer(files, edits, context)?;
    let by_name = in_closed_file(files, action, context);
    let action = by_name.as_ref().unwrap_or(action);
    Ok(match dispatch(files, edits, action, context)? {
        Begun::Immediate(immediate) => Next::Perform(immediate),
        Begun::Work(Work::Blocking(blocking)) => Next::Wait(blocking),
        // Work that is done already.
        Begun::Work(Work::Reply(reply)) => {
            let finish = |_: &mut Editor, (), _: &Context, _| Ok(*reply);
            Next::Wait(disk_task(String::new(), DISK_DEADLINE, context, |_| (), finish))
        }
    })
}

fn dispatch(
    files: &mut OpenFiles,
    edits: &mut Edits,
    action: &Action,
    context: &Context,
) -> Result<Begun, Fault> {
    use Action as A;
    Ok(match action {
        A::Open { path } => open_paths(files, path, context)?.into(),
        A::Save {} => save(files, context)?.into(),
        A::SaveAs { path } => save_as(files, &path.0, context)?.into(),
        A::Create { path, text, overwrite } => {
            create_file(files, edits, &path.0, text.clone(), *overwrite, context)?.into()
        }
        A::Hold { on: true } => Begun::Immediate(Immediate::Hold),
        A::Hold { on: false } => end_hold(files, context)?.into(),
        A::Close { file } => match save_before_closing(files, file.as_ref(), context)? {
            Some(blocking) => blocking.into(),
            None => Begun::Immediate(Immediate::Close(file.clone())),
        },
        A::Select { first, last } => {
            Begun::Immediate(Immediate::Select(first.clone(), last.clone()))
        }
        A::Goto { line } => Begun::Immediate(Immediate::Goto(line.clone())),
        A::Diff { r#in } => diff(files, edits, r#in, context)?.into(),
        A::Find { .. } | A::Grep { .. } => find(files, action, context)?.into(),
        A::Uses { name, r#in, all } => uses(files, name, r#in, *all, context)?.into(),
        A::Heads { files: names, first, last, not, markup, around, docs } => {
            let (not, around) = (not.clone(), around.clone());
            let (lines, docs, markup) = ((*first, *last), *docs, *markup);
            let request = LinesRequest { names: names.clone(), lines, not, markup, around, docs };
            lines_of_files(files, request, context)?.into()
        }
        A::Glob { pattern, path } => glob(files, pattern, path.as_ref(), context)?.into(),
        A::Replace { .. } => replace(files, edits, action, context)?.into(),
        A::ReplaceLines { first, last, text } => {
            replace_lines(files, edits, first, last, text, context)?.into()
        }
        A::ReplaceRange { range, text } => {
            replace_range(files, edits, range, text, context)?.into()
        }
        A::MoveLines { first, last, before } => {
            move_lines(files, edits, first, last, before, context)?.into()
        }
        A::Insert { at, text } => insert(files, edits, at, text, context)?.into(),
        A::DeleteLines { first, last } => delete_lines(files, edits, first, last, context)?.into(),
        A::ExtractMethod { range, name, types } => {
            extract_method(files, edits, range, name, types, context)?.into()
        }
        A::Outline { r#in, public, count, kinds, depth, name } => {
            let (public, count, depth) = (*public, *count, *depth);
            let (names, kinds, name) = (r#in.clone(), kinds.clone(), name.clone());
            let request = OutlineRequest { files: names, public, count, kinds, depth, name };
            outline(files, request, context)?.into()
        }
        A::LinesOf { range } => lines_of(files, range, context)?.into(),
        A::Lines { first, last } => lines_between(files, first, last, context)?.into(),
        A::Body { symbol } => body(files, symbol, context)?.into(),
        A::Move { range, before, after, at_start_of, at_end_of } => {
            let place = InsertPlace::new(before, after, at_start_of, at_end_of);
            move_range(files, edits, range, place, context)?.into()
        }
        A::Swap { one, other } => swap(files, edits, one, other, context)?.into(),
        A::Delete { range } => delete(files, edits, range, context)?.into(),
        A::DeleteAll { ranges } => delete_all(files, edits, ranges, context)?.into(),
        A::InsertBeside { text, before, after, at_start_of, at_end_of, indent } => {
            let place = InsertPlace::new(before, after, at_start_of, at_end_of);
            insert_beside(files, edits, text, place, indent, context)?.into()
        }
        A::ReplaceBody { symbol, text } => {
            replace_body(files, edits, symbol, text, context)?.into()
        }
        A::Rename { symbol, new, r#in } => rename(files, edits, symbol, new, r#in, context)?.into(),
        A::Undo { steps, change } => {
            undo(files, edits, *steps, change.as_ref().map(|change| &*change.0), context)?.into()
        }
        A::Redo { steps, change } => {
            redo(files, edits, *steps, change.as_ref().map(|change| &*change.0), context)?.into()
        }
        A::Apply { patch } => apply(files, edits, patch, context)?.into(),

        // The names that other tools have for these.
        A::ApplyPatch { patch } | A::ApplyPatchInput { input: patch } => {
            apply(files, edits, patch, context)?.into()
        }
        A::StrReplace { path, old_str, new_str } => {
            replace_text(files, edits, Some(&path.0), (old_str, new_str), false, context)?.into()
        }
        A::StrReplaceHere { old_str, new_str } => {
            replace_text(files, edits, None, (old_str, new_str), false, context)?.into()
        }
        A::StrRemove { path, old_str } => {
            let texts = (old_str.as_str(), &"".into());
            replace_text(files, edits, Some(&path.0), texts, false, context)?.into()
        }
        A::EditFile { file_path, old_string, new_string, replace_all } => {
            let texts = (old_string.as_str(), new_string);
            replace_or_create(files, edits, &file_path.0, texts, *replace_all, context)?.into()
        }
        A::ViewFile { path, view_range } => {
            view_file(files, &path.0, LinesWanted::of_range(view_range)?, context).into()
        }
        A::ReadFile { path, offset, limit }
        | A::ReadFilePath { file_path: path, offset, limit } => {
            view_file(files, &path.0, LinesWanted::from_offset(*offset, *limit)?, context).into()
        }
        A::CreateFile { path, file_text } => {
            create(files, edits, &path.0, file_text, false, context)?.into()
        }
        A::WriteFile { path, content } | A::WriteFilePath { file_path: path, content } => {
            create(files, edits, &path.0, content, true, context)?.into()
        }
        A::AppendTo { path, text } => {
            let end = Some(Line::Text(path.0.clone()));
            let place = InsertPlace::new(&None, &None, &None, &end);
            insert_beside(files, edits, text, place, "", context)?.into()
        }
        A::InsertAfter { path, insert_line, insert_text: text }
        | A::InsertNewStr { path, insert_line, new_str: text }
        | A::InsertTextAfter { path, insert_line, text } => {
            insert_after(files, edits, Some(&path.0), *insert_line, text, context)?.into()
        }
        A::InsertHere { insert_line, insert_text: text }
        | A::InsertNewStrHere { insert_line, new_str: text }
        | A::InsertTextHere { insert_line, text } => {
            insert_after(files, edits, None, *insert_line, text, context)?.into()
        }
    })
}
