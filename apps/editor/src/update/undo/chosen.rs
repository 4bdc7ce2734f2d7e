//! Selects the changes to undo or redo, and determines whether they are the latest ones of their
//! files.

use docui::{Context, Fault};

use crate::display::wording::count;
use crate::model::change_log::standing::Standing;
use crate::model::edits::Edits;
use crate::model::history::{Change, EditKind};
use crate::model::open_files::OpenFiles;
use crate::update::undo::unseen::check_seen;

use super::direction::Direction;

/// The changes to undo or redo next.
pub(crate) enum Next {
    /// They are the latest ones, that one first.
    Latest(Vec<Change>),
    /// The id of a change that isn't the latest of its files.
    Alone(String),
}

/// A change named by its id.
pub(crate) enum Named {
    /// The change is the latest of its files.
    Latest(Box<Change>),
    /// The change is already undone or redone; a caller may repeat a call of unknown outcome.
    Already(Direction, String),
    /// The change isn't the latest of its files; the direction is the step to apply.
    Alone(Direction, String),
}

/// Returns the changes that are undone or redone next, that one first.
pub(crate) fn next_changes(
    open_files: &OpenFiles,
    edits: &Edits,
    direction: Direction,
    steps: usize,
    context: &Context,
) -> Result<Next, Fault> {
    let verb = direction.verb();
    let changes: Vec<&Change> = match direction {
        Direction::Undo => {
            let all: Vec<&Change> = edits.changes.undoable().collect();
            // What other programs and people write is nobody's change here, and taken back by
            // nobody.
            let own =
                all.iter().filter(|change| !change.is_foreign() && edits.changes.is_made(change));
            let changes: Vec<&Change> = own.copied().take(steps).collect();
            let last = changes.last().and_then(|last| all.iter().position(|one| one.id == last.id));
            check_untouched(open_files, &all[..last.map_or(0, |last| last + 1)])?;
            changes
        }
        Direction::Redo => edits.changes.redoable().take(steps).collect(),
    };
    if direction == Direction::Redo
        && steps == 1
        && let Some(origin) = taken_back_last(edits, changes.first().copied())
    {
        return Ok(Next::Alone(origin));
    }
    match changes.len() {
        enough if enough >= steps => {}
        0 => return Err(Fault::failed(format!("nothing to {verb}"))),
        some => {
            let changes = count(some, "change");
            return Err(Fault::failed(format!("only {changes} to {verb}"))
                .hint(open_files.paths.run_command(&format!("{verb}(steps={some})"))));
        }
    }
    check_seen(open_files, &changes, context)?;
    match (direction, changes.as_slice()) {
        (Direction::Undo, changes) if !are_latest(edits, changes) => match changes {
            [one] => Ok(Next::Alone(one.origin().to_owned())),
            _ => {
                let why =
                    "a change among them was taken back alone or made again: nothing was undone";
                Err(Fault::failed(why).hint(open_files.paths.run_command("undo()")))
            }
        },
        _ => Ok(Next::Latest(changes.into_iter().cloned().collect())),
    }
}

/// Returns the change that was taken back alone after the one that is redone next was undone.
fn taken_back_last(edits: &Edits, next: Option<&Change>) -> Option<String> {
    let mut done = edits.changes.undoable();
    let last = done.find(|change| {
        let is_last = |standing: Standing<'_>| !standing.is_made && standing.by.id == change.id;
        change.of.is_some() && edits.changes.standing(change.origin()).is_some_and(is_last)
    })?;
    let is_later = next.is_none_or(|next| last.author.version > next.author.version);
    is_later.then(|| last.origin().to_owned())
}

/// True if these changes, the latest first, are the latest ones of their files, and none of them is
/// about another.
fn are_latest(edits: &Edits, changes: &[&Change]) -> bool {
    let is_one = |change: &Change| changes.iter().any(|one| one.id == change.id);
    let mut later: Vec<&Change> = Vec::new();
    for change in edits.changes.undoable() {
        match is_one(change) {
            false => later.push(change),
            true if change.of.is_some() => return false,
            true if later.iter().any(|later| later.shares_file_with(change)) => return false,
            true => {}
        }
    }
    true
}

/// Checks that nobody else has written to the files of these changes since they were made. The
/// latest is first.
fn check_untouched(open_files: &OpenFiles, changes: &[&Change]) -> Result<(), Fault> {
    for (at, foreign) in changes.iter().enumerate().filter(|(_, change)| change.is_foreign()) {
        let Some(own) =
            changes[at..].iter().find(|own| !own.is_foreign() && own.shares_file_with(foreign))
        else {
            continue;
        };
        let files = foreign.files.iter().map(|file| open_files.paths.display_path(&file.path));
        let shown = files.collect::<Vec<_>>().join(", ");
        let message = format!(
            "{shown} was changed on disk after {}: undo would take that back, too",
            own.kind
        );
        let alone = open_files.paths.run_command(&format!("undo(change=\"{}\")", own.id));
        return Err(Fault::stale(message).hint(format!("yours alone: {alone}")));
    }
    Ok(())
}

/// Finds the change with an id, and how it is undone or redone.
pub(crate) fn named_change(
    open_files: &OpenFiles,
    edits: &Edits,
    direction: Direction,
    id: &str,
) -> Result<Named, Fault> {
    let change = edits.changes.change(id).ok_or_else(|| forgotten(open_files))?;
    // To undo what takes a change back is to make that change again.
    let direction = match change.of.is_some() && change.kind == EditKind::Undo {
        true => direction.other(),
        false => direction,
    };
    let origin = change.origin();
    let standing = edits.changes.standing(origin).ok_or_else(|| forgotten(open_files))?;
    match (direction, standing.is_made) {
        (Direction::Redo, true) | (Direction::Undo, false) => {
            Ok(Named::Already(direction, origin.to_owned()))
        }
        (Direction::Undo, true)
            if are_latest(edits, &[standing.by]) && has_open(open_files, standing.by) =>
        {
            Ok(Named::Latest(Box::new(standing.by.clone())))
        }
        (Direction::Redo, false) if is_redone_next(edits, standing.by) => {
            Ok(Named::Latest(Box::new(standing.by.clone())))
        }
        _ => Ok(Named::Alone(direction, origin.to_owned())),
    }
}

/// True if the session has the texts of all files of a change that are there: of others it isn't
/// known yet whether they have the text that the change left.
fn has_open(open_files: &OpenFiles, change: &Change) -> bool {
    let mut files = change.files.iter().filter(|file| file.after.is_some() && !file.link);
    files.all(|file| open_files.index(&file.path).is_some())
}

/// True for a change that was undone if no other one of its files is redone before it.
fn is_redone_next(edits: &Edits, change: &Change) -> bool {
    let mut redoable = edits.changes.redoable();
    let before = redoable.by_ref().take_while(|other| other.id != change.id);
    let shared = before.filter(|other| other.shares_file_with(change)).count();
    shared == 0 && edits.changes.redoable().any(|other| other.id == change.id)
}

/// Returns the error for a change that isn't known.
pub(crate) fn forgotten(open_files: &OpenFiles) -> Fault {
    Fault::not_found("that change isn't known: a session keeps the latest ones only")
        .hint(open_files.paths.view_command())
}
