//! Undo and redo of one change that isn't the latest of its files: what came later stays.
//!
//! The text with the change, the text without it and the present one are merged, as
//! `git merge-file` does it. Where that is a conflict, the ranges that the change replaced decide:
//! they are put back if nothing that came later overlaps or touches them. Otherwise nothing is
//! written, and both texts are shown.

use std::ops::Range;

use docui::{Code, Context, Fault};
use pipemux_merge::{Conflict, merge};

use crate::display::wording::count;
use crate::limits::{CONFLICT_LINES_SHOWN, CONFLICTS_SHOWN};
use crate::model::Editor;
use crate::model::buffer::Buffer;
use crate::model::change_log::change_journal::Operation;
use crate::model::change_log::standing::TextTrail;
use crate::model::disk;
use crate::model::documents::Documents;
use crate::model::edits::Edits;
use crate::model::history::{Author, Change, EditKind, FileChange};
use crate::model::ids::IdKind;
use crate::model::open_files::OpenFiles;
use crate::model::splice::{Splice, inverse};
use crate::model::text_diff::difference;
use crate::model::workspace_edit::{TextEdit, WorkspaceEdit};
use crate::update::edit::begin_edit;
use crate::update::undo::chosen::forgotten;
use crate::update::undo::outcome::{done_with, waits_for};

use super::super::edit::{Made, Plan, Work};
use super::direction::Direction;

/// The hint for undoing a change when later changes of the same files are in the way.
pub(super) const LATER_FIRST: &str = "take back what came later first, newest first: pipemux undo";

/// The obstacles to taking back a change.
#[derive(Default)]
struct Conflicts {
    /// The displayed places that were changed again.
    places: Vec<String>,
    /// The lines that would return to another place, as when a move is taken back.
    elsewhere: Vec<String>,
}

/// An inverted change for a file whose text may have changed since.
struct Turned {
    /// The change from the text that the file had to the text that it would have had.
    change: FileChange,
    trail: TextTrail,
}

/// Takes back one change, or makes it again.
pub(crate) fn turn_one(
    open_files: &OpenFiles,
    edits: &mut Edits,
    direction: Direction,
    origin: &str,
    context: &Context,
) -> Result<Work, Fault> {
    let standing = edits.changes.standing(origin).ok_or_else(|| forgotten(open_files))?;
    let by = standing.by.clone();
    let turned = standing.turned().into_iter();
    let turned: Vec<Turned> =
        turned.map(|change| Turned { trail: edits.changes.texts_of(&change), change }).collect();
    let kind = direction.kind();
    let id = edits.ids.next(IdKind::Change);
    let of = Some(origin.to_owned());
    let (begins, began_of, author) = (id.clone(), of.clone(), Author::of(context));
    let operation = move |kind, files| {
        Operation::Edit(Change { id: begins, kind, author, files, of: began_of })
    };
    let paths = turned.iter().map(|turned| open_files.paths.display_path(&turned.change.path));
    let begun = (waits_for(&paths.collect::<Vec<_>>()), id.clone());
    let (origin, what) = (origin.to_owned(), kind_of(edits, origin).unwrap_or(by.kind));
    let plan = move |documents: &mut Documents| {
        let (mut edit, mut conflicts) = (WorkspaceEdit::new(kind), Conflicts::default());
        for Turned { change, trail } in turned {
            let path = change.path.clone();
            let planned = planned(documents, change, trail, &mut conflicts)?;
            if let Some((text, mode)) = planned {
                edit = edit.file(path, text).with_mode(mode);
            }
        }
        match conflicts.places.is_empty() {
            true => Ok(Plan::Edit(edit, ())),
            false => Err(conflict(direction, what, conflicts)),
        }
    };
    let done = move |editor: &mut Editor, made: Made, (), context: &Context| {
        let (author, files) = (Author::of(context), made.files);
        let mut change = by;
        change.kind = what;
        let done = done_with(&editor.files, direction, &[change], &files, Some(origin), context);
        editor.edits.changes.push(Change { id, kind, author, files, of });
        done
    };
    Ok(begin_edit(open_files, edits, begun, context, plan, operation, done)?.into())
}

fn kind_of(edits: &Edits, origin: &str) -> Option<EditKind> {
    edits.changes.change(origin).map(|change| change.kind)
}

/// Plans what becomes of one file. A conflict is added to those that were found.
fn planned(
    documents: &mut Documents,
    change: FileChange,
    mut trail: TextTrail,
    conflicts: &mut Conflicts,
) -> Result<Option<(TextEdit, Option<u32>)>, Fault> {
    // Files and links that come and go are as they were, or this is refused.
    if change.link || change.before.is_none() || change.after.is_none() {
        return Ok(Some((TextEdit::Exact(change), None)));
    }
    let shown = documents.display(&change.path);
    let now = documents.text(&change.path).map_err(|fault| match fault.code {
        // Its hints are about a path that is given.
        Code::NotFound => Fault::failed(format!("{shown} isn't there any more")).hint(LATER_FIRST),
        _ => fault,
    })?;
    let now = now.clone();
    documents.outside(&change.path).into_iter().for_each(|outside| trail.add(outside));
    let Some((base, later)) = trail.find(&now, change.before) else {
        return Err(Fault::failed(format!(
            "{shown} was changed by others while it wasn't open here: what one change did there isn't known any more"
        ))
        .hint("put back by hand what it did: pipemux history --diff"));
    };
    if !change.splices.iter().all(|splice| base.accepts(splice)) {
        return Err(Fault::failed(format!("{shown} has been changed since"))
            .hint("put back by hand what it did: pipemux history --diff"));
    }
    let mut theirs = base.clone();
    theirs.apply(&change.splices);
    let texts = (base.text(), now.text(), theirs.text());
    let merged = merge(texts.0.as_bytes(), texts.1.as_bytes(), texts.2.as_bytes());
    let found = merged.as_ref().err().map_or(&[][..], Vec::as_slice);
    for lines in change.lines.changed_lines() {
        let apart = |one: &Conflict| one.theirs.end <= lines.start || lines.end <= one.theirs.start;
        if !lines.is_empty() && found.iter().all(apart) {
            conflicts.elsewhere.push(format!("and in {shown}:\n{}", some_lines(&theirs, &lines)));
        }
    }
    let splices = match merged {
        // Lines of texts are text.
        Ok(merged) => difference(&texts.1, &String::from_utf8_lossy(&merged)).0,
        Err(found) => match moved(&change.splices, &later) {
            Some(splices) => splices,
            None => {
                let places = found.iter().map(|one| shown_conflict(&shown, &now, &theirs, one));
                conflicts.places.extend(places);
                return Ok(None);
            }
        },
    };
    // Other permission bits that it was given since are kept.
    let given =
        change.mode_before.is_some_and(|bits| disk::permission_bits(&change.path) == Some(bits));
    Ok(Some((TextEdit::Splices(splices), change.mode.filter(|_| given))))
}

/// Moves splices of a text to where they belong in the present one; `None` if what came later
/// overlaps or touches them. `later` leads from the present text back to the one in which they
/// count.
fn moved(splices: &[Splice], later: &[Vec<Splice>]) -> Option<Vec<Splice>> {
    let mut splices = splices.to_vec();
    for step in later.iter().rev().map(|step| inverse(step)) {
        for splice in &mut splices {
            let mut shift = 0;
            for other in &step {
                if other.old_end() < splice.at {
                    shift += other.growth();
                } else if other.at <= splice.old_end() {
                    return None;
                }
            }
            splice.at = splice.at.checked_add_signed(shift)?;
        }
    }
    Some(splices)
}

/// Shows a place that was changed again since: the present lines, and those that would take their
/// place.
fn shown_conflict(shown: &str, now: &Buffer, theirs: &Buffer, conflict: &Conflict) -> String {
    let lines = &conflict.ours;
    let place = match lines.len() {
        0 => format!("{shown}, after line {}", lines.start),
        1 => format!("{shown}:{}", lines.start + 1),
        _ => format!("{shown}:{}-{}", lines.start + 1, lines.end),
    };
    let (ours, theirs) = (some_lines(now, lines), some_lines(theirs, &conflict.theirs));
    format!("{place} now:\n{ours}instead of it:\n{theirs}")
}

/// Returns the first of some lines of a text, and how many more there are.
fn some_lines(text: &Buffer, lines: &Range<usize>) -> String {
    let end = lines.end.min(lines.start + CONFLICT_LINES_SHOWN);
    let more = lines.end - end;
    let mut shown = match lines.is_empty() {
        true => "(nothing)\n".to_owned(),
        false => text.text_of(&(lines.start..end)),
    };
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    if more > 0 {
        shown += &format!("… {}\n", count(more, "more line"));
    }
    shown
}

fn conflict(direction: Direction, kind: EditKind, conflicts: Conflicts) -> Fault {
    let Conflicts { places: mut conflicts, mut elsewhere } = conflicts;
    let verb = direction.verb();
    let places = count(conflicts.len(), "place");
    let more = conflicts.len().saturating_sub(CONFLICTS_SHOWN);
    conflicts.truncate(CONFLICTS_SHOWN);
    if more > 0 {
        conflicts.push(format!("and {}", count(more, "more place")));
    }
    elsewhere.truncate(CONFLICTS_SHOWN);
    conflicts.append(&mut elsewhere);
    let shown = conflicts.concat();
    let message = format!(
        "{verb} of {kind}: {places} changed again since, nothing was written\n{}",
        shown.trim_end()
    );
    Fault::failed(message)
        .hint("put the lower lines there, undo again, then write into them what came since")
}
