//! Undo and redo, over all files that a change touched.
//!
//! Without a name, the latest changes are undone and the latest undone ones are redone, as in any
//! editor. A change that is named is taken back alone, whatever came after it, and made again
//! alone.

mod chosen;
mod direction;
mod one_change;
mod outcome;
pub(super) mod unseen;

use docui::{Context, Done, Fault};

use crate::model::Editor;
use crate::model::change_log::change_journal::Operation;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::{Author, FileChange};
use crate::model::open_files::OpenFiles;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit};
use crate::update::edit::begin_edit;
use crate::update::undo::chosen::{named_change, next_changes};
use crate::update::undo::one_change::turn_one;

use super::edit::{Made, Plan, Work};
use chosen::{Named, Next};
use direction::Direction;
use outcome::{done_with, linked_back, waits_for};

pub(crate) fn undo(
    open_files: &OpenFiles,
    edits: &mut Edits,
    steps: i64,
    change: Option<&str>,
    context: &Context,
) -> Result<Work, Fault> {
    step_history(open_files, edits, Direction::Undo, steps, change, context)
}

pub(crate) fn redo(
    open_files: &OpenFiles,
    edits: &mut Edits,
    steps: i64,
    change: Option<&str>,
    context: &Context,
) -> Result<Work, Fault> {
    step_history(open_files, edits, Direction::Redo, steps, change, context)
}

fn step_history(
    open_files: &OpenFiles,
    edits: &mut Edits,
    direction: Direction,
    steps: i64,
    named: Option<&str>,
    context: &Context,
) -> Result<Work, Fault> {
    let steps = usize::try_from(steps).ok().filter(|steps| *steps > 0);
    let steps = steps.ok_or_else(|| Fault::usage("steps: expected 1 or more"))?;
    if named.is_some() && steps > 1 {
        let verb = direction.verb();
        return Err(Fault::usage("steps and change: expected one of them")
            .hint(open_files.paths.run_command(&format!("{verb}(steps={steps})"))));
    }
    let changes = match named {
        Some(named) => match named_change(open_files, edits, direction, named)? {
            Named::Latest(change) => vec![*change],
            Named::Already(direction, origin) => {
                let so = if direction == Direction::Undo { "undone" } else { "made" };
                let done = Done::new(format!("no change: it is {so} already")).reverts();
                return Ok(linked_back(done, direction, Some(origin)).into());
            }
            Named::Alone(direction, origin) => {
                return turn_one(open_files, edits, direction, &origin, context);
            }
        },
        None => match next_changes(open_files, edits, direction, steps, context)? {
            Next::Latest(changes) => changes,
            Next::Alone(origin) => return turn_one(open_files, edits, direction, &origin, context),
        },
    };
    let ids: Vec<String> = changes.iter().map(|change| change.id.clone()).collect();
    let mut edit = WorkspaceEdit::new(direction.kind());
    for change in &changes {
        let mut files: Vec<FileChange> = match direction {
            Direction::Undo => change.files.iter().map(FileChange::inverse).collect(),
            Direction::Redo => change.files.clone(),
        };
        // A path can have a link that goes and a file that comes, one behind the other.
        if direction == Direction::Undo && files.iter().any(|file| file.link) {
            files.reverse();
        }
        for file in files {
            edit = edit.file(file.path.clone(), TextEdit::Exact(file));
        }
    }
    let paths = edit.files.iter().map(|file| open_files.paths.display_path(&file.path));
    let waits_for = waits_for(&paths.collect::<Vec<_>>());
    let (began, ids_first) = (ids.clone(), ids[0].clone());
    let operation = move |_, files| match direction {
        Direction::Undo => Operation::Undo { ids: began, files },
        Direction::Redo => Operation::Redo { ids: began, files },
    };
    let plan = move |_: &mut Documents| Ok(Plan::Edit(edit, ()));
    let done = move |editor: &mut Editor, made: Made, (), context: &Context| {
        let author = Author::of(context);
        match direction {
            Direction::Undo => editor.edits.changes.take_undo(&ids, &author),
            Direction::Redo => editor.edits.changes.take_redo(&ids, &author),
        }
        done_with(&editor.files, direction, &changes, &made.files, ids.last().cloned(), context)
    };
    let begun = (waits_for, ids_first);
    Ok(begin_edit(open_files, edits, begun, context, plan, operation, done)?.into())
}
