//! Undo and redo, over all files that a change touched.
//!
//! Without a name, the latest changes are undone and the latest undone ones are redone, as in any editor. A change that
//! is named is taken back alone, whatever came after it, and made again alone.

pub(super) mod chosen;
pub(super) mod one_change;

use std::collections::HashMap;
use std::path::PathBuf;

use docui::{Context, Done, Fault};

use crate::action::Action;
use crate::display::wording::{count, line_range, listed_ranges, shown_lines};
use crate::limits::{CHANGED_RANGES_NAMED, FILES_NAMED};
use crate::model::Editor;
use crate::model::change_log::change_journal::Operation;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::{Author, Change, EditKind, FileChange};
use crate::model::line_change::LineChange;
use crate::model::open_files::OpenFiles;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit};
use crate::update::edit::begin_edit;
use crate::update::undo::chosen::{named_change, next_changes};
use crate::update::undo::one_change::turn_one;

use super::edit::{Made, Plan, Work};
use super::search::repeat_call::quoted;
use chosen::{Named, Next};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Undo,
    Redo,
}

impl Direction {
    /// The name of the action.
    fn verb(self) -> &'static str {
        match self {
            Direction::Undo => "undo",
            Direction::Redo => "redo",
        }
    }

    fn other(self) -> Self {
        match self {
            Direction::Undo => Direction::Redo,
            Direction::Redo => Direction::Undo,
        }
    }

    fn kind(self) -> EditKind {
        match self {
            Direction::Undo => EditKind::Undo,
            Direction::Redo => EditKind::Redo,
        }
    }
}

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
        told(&editor.files, direction, &changes, &made.files, ids.last().cloned(), context)
    };
    let begun = (waits_for, ids_first);
    Ok(begin_edit(open_files, edits, begun, context, plan, operation, done)?.into())
}

/// Makes the outcome of an undo or a redo, with the link that goes back.
fn told(
    open_files: &OpenFiles,
    direction: Direction,
    changes: &[Change],
    files: &[FileChange],
    back: Option<String>,
    context: &Context,
) -> Done {
    let (brief, detail) = outcome(open_files, direction, changes, files);
    // The lines are named by the numbers that they have now.
    let named = files.iter().take(FILES_NAMED).filter_map(|file| {
        let open = open_files.file(&file.path)?;
        let changed = file.lines.changed_lines().into_iter().filter(|lines| !lines.is_empty());
        Some(changed.take(CHANGED_RANGES_NAMED).map(move |lines| (open, lines)))
    });
    let numbers =
        named.flatten().map(|(open, lines)| shown_lines(open, &lines, context.next_version()));
    let done = Done::new(brief).reverts().shows(numbers);
    linked_back(detail.into_iter().fold(done, Done::detail), direction, back)
}

/// Says what was undone or redone where: of one file in one line, else in a line a file.
fn outcome(
    open_files: &OpenFiles,
    direction: Direction,
    changes: &[Change],
    files: &[FileChange],
) -> (String, Option<String>) {
    let kinds: Vec<_> = changes.iter().map(|change| change.kind.to_string()).collect();
    let kinds = kinds.join(", ");
    let mut same: Vec<_> = changes.iter().flat_map(|change| &change.files).collect();
    same.retain(|file| files.iter().all(|written| written.path != file.path));
    let mut same: Vec<_> =
        same.iter().map(|file| open_files.paths.display_path(&file.path)).collect();
    same.sort_unstable();
    same.dedup();
    let told = files.iter().map(|file| {
        format!("{}: {}", open_files.paths.display_path(&file.path), effect(direction, file))
    });
    // What the changes did to these files adds up to nothing.
    let mut told: Vec<_> =
        told.chain(same.into_iter().map(|shown| format!("{shown}: unchanged"))).collect();
    match told.as_slice() {
        [one] => (format!("{kinds} in {one}"), None),
        _ => {
            let brief = format!("{kinds} in {}", count(told.len(), "file"));
            let more = told.len().saturating_sub(FILES_NAMED);
            told.truncate(FILES_NAMED);
            if more > 0 {
                told.push(format!("and {}", count(more, "more file")));
            }
            (brief, Some(told.join("\n")))
        }
    }
}

/// Checks that the reader has seen the changes that the action is about to undo or redo, or made them.
fn check_seen(open_files: &OpenFiles, changes: &[&Change], context: &Context) -> Result<(), Fault> {
    let unseen = changes.iter().find(|change| is_unseen(change, context));
    unseen.map_or(Ok(()), |unseen| {
        Err(unseen_change(open_files, unseen).hint(open_files.paths.view_hint()))
    })
}

/// Returns the error of an action that would take back a change that its reader hasn't seen.
fn unseen_change(open_files: &OpenFiles, change: &Change) -> Fault {
    let by = match change.author.reader.as_str() {
        "" => "from disk".to_owned(),
        reader => format!("by {reader}"),
    };
    let files = change.files.iter().map(|file| open_files.paths.display_path(&file.path));
    let (shown, kind) = (files.collect::<Vec<_>>().join(", "), change.kind);
    Fault::stale(format!("{shown} has a change that you haven't seen: {kind} {by}"))
}

/// Returns the files with changes that the reader hasn't seen, each with the error of an action that would take them
/// away.
pub(crate) fn unseen_changes(
    open_files: &OpenFiles,
    edits: &Edits,
    context: &Context,
) -> HashMap<PathBuf, Fault> {
    let unseen = edits.changes.undoable().filter(|change| is_unseen(change, context));
    let of = |change: &Change| {
        let fault = unseen_change(open_files, change);
        let hinted = |file: &FileChange| {
            let look = match quoted(&open_files.paths.display_path(&file.path)) {
                Some(path) => {
                    let call = format!("{}.lines({path})", open_files.paths.callee());
                    format!("look: {}", docui::command::command(&["ask", &call]))
                }
                None => open_files.paths.view_hint(),
            };
            (file.path.clone(), fault.clone().hint(look))
        };
        change.files.iter().map(hinted).collect::<Vec<_>>()
    };
    unseen.flat_map(of).collect()
}

/// Adds the link that goes back to a change.
fn linked_back(done: Done, direction: Direction, back: Option<String>) -> Done {
    let back = back.map(Into::into);
    match direction {
        Direction::Undo => done.link("redo", &Action::Redo { steps: 1, change: back }),
        Direction::Redo => done.link("undo", &Action::Undo { steps: 1, change: back }),
    }
}

/// Names what is waited for.
fn waits_for(paths: &[String]) -> String {
    match paths {
        [one] => format!("the disk of {one}"),
        several => format!("the disk of {}", count(several.len(), "file")),
    }
}

/// True for a change that neither the reader nor the present run made, since the reader looked last.
fn is_unseen(change: &Change, context: &Context) -> bool {
    let author = &change.author;
    author.version > context.seen_version
        && author.run != context.run_id
        && (author.reader.is_empty() || author.reader != context.reader)
}

/// Says what an undo or a redo did to a file, in the numbers that its lines have now.
fn effect(direction: Direction, change: &FileChange) -> String {
    let state = match direction {
        Direction::Undo => "as before",
        Direction::Redo => "again",
    };
    match (change.before, change.after) {
        (_, None) if change.link => return "link deleted".to_owned(),
        (None, _) if change.link => return format!("link {state}"),
        (_, None) => return "deleted".to_owned(),
        (None, _) => {
            let lines: usize = change.splices.iter().map(|splice| splice.new.lines().count()).sum();
            return format!("created, {}", count(lines, "line"));
        }
        _ => {}
    }
    let changed = change.lines.changed_lines();
    let splices = match &change.lines {
        LineChange::Move(_) => return format!("lines {} back", listed_ranges(&changed)),
        LineChange::Splices(splices) => splices,
    };
    let there: Vec<_> = changed.iter().filter(|lines| !lines.is_empty()).cloned().collect();
    let removed = splices.iter().zip(&changed).filter(|(_, lines)| lines.is_empty());
    let removed: Vec<_> = removed
        .map(|(splice, at)| match at.start {
            0 => format!("{} gone from the top", count(splice.removed, "line")),
            line => format!("{} gone after {line}", count(splice.removed, "line")),
        })
        .collect();
    let mut told = Vec::new();
    match there.as_slice() {
        [] => {}
        [one] => told.push(format!("{} {state}", line_range(one))),
        several => told.push(format!("lines {} {state}", listed_ranges(several))),
    }
    let more = removed.len().saturating_sub(CHANGED_RANGES_NAMED);
    told.extend(removed.into_iter().take(CHANGED_RANGES_NAMED));
    if more > 0 {
        told.push(format!("{} gone", count(more, "more place")));
    }
    if change.mode_before.is_some() {
        told.push(format!("permissions {state}"));
    }
    if told.is_empty() { "unchanged".to_owned() } else { told.join(", ") }
}
