//! Describes the effect of an undo or a redo.

use docui::{Context, Done};

use crate::action::Action;
use crate::display::wording::{count, line_range, listed_ranges, shown_lines};
use crate::limits::{CHANGED_RANGES_NAMED, FILES_NAMED};
use crate::model::history::{Change, FileChange};
use crate::model::line_change::LineChange;
use crate::model::open_files::OpenFiles;

use super::direction::Direction;

/// Makes the outcome of an undo or a redo, with the link that goes back.
pub(super) fn done_with(
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

/// Adds the link that goes back to a change.
pub(super) fn linked_back(done: Done, direction: Direction, back: Option<String>) -> Done {
    let back = back.map(Into::into);
    match direction {
        Direction::Undo => done.link("redo", &Action::Redo { steps: 1, change: back }),
        Direction::Redo => done.link("undo", &Action::Undo { steps: 1, change: back }),
    }
}

/// Names what is waited for.
pub(super) fn waits_for(paths: &[String]) -> String {
    match paths {
        [one] => format!("the disk of {one}"),
        several => format!("the disk of {}", count(several.len(), "file")),
    }
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
