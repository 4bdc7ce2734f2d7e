//! Undoes changes, and says what that changed.

use docui::{Done, Fault, command};
use pipemux_notes::text::count;

use crate::change::{ChangeId, UndoError, Undone, UndoneEntry};
use crate::entry::Content;
use crate::format::{list_titles, quoted};
use crate::model::Notebook;
use crate::reply::{tags_line, undo_action};

/// Most calls of `undo` in one hint.
const UNDOS_IN_HINT: usize = 20;

/// Undoes the last actions, the newest first.
///
/// # Errors
/// There are fewer, an entry is not as an action left it, or the store can't be written.
pub fn undo_last(notebook: &mut Notebook, steps: i64) -> Result<Done, Fault> {
    let count = usize::try_from(steps).ok().filter(|steps| *steps > 0);
    let count =
        count.ok_or_else(|| Fault::usage(format!("steps: expected 1 or more, not {steps}")))?;
    let undone = notebook.store.undo_last(count).map_err(|error| not_undone(notebook, error))?;
    Ok(undo_reply(&undone))
}

/// Undoes one action.
///
/// # Errors
/// As [`undo_last`].
pub fn undo(notebook: &mut Notebook, change: ChangeId) -> Result<Done, Fault> {
    let undone = notebook.store.undo(change).map_err(|error| not_undone(notebook, error))?;
    Ok(undo_reply(&[undone]))
}

fn not_undone(notebook: &Notebook, error: UndoError) -> Fault {
    match error {
        UndoError::Refused(fault) => fault,
        UndoError::AlreadyUndone { change, title, redo } => {
            let message = format!(
                "{} is already as it was before {change}; nothing was undone",
                quoted(&title)
            );
            let redo: Vec<String> =
                redo.iter().map(|change| notebook.call(&format!("undo(\"{change}\")"))).collect();
            // A long way back is that of many other changes.
            match redo.len() {
                1..=UNDOS_IN_HINT => Fault::failed(message)
                    .hint(format!("to have the change again: {}", command::run(&redo.join("; ")))),
                _ => Fault::failed(message),
            }
        }
        UndoError::ChangedSince { change, title, later } => {
            let message = format!(
                "{} was changed again since; nothing was undone, {} to undo first",
                quoted(&title),
                count(later.len() as u64, "change")
            );
            let hints = undo_hints(notebook, &later, change);
            hints.into_iter().fold(Fault::failed(message), Fault::hint)
        }
    }
}

/// Returns the answer that says what undoing actions changed.
fn undo_reply(undone: &[Undone]) -> Done {
    let lines: Vec<_> = undone.iter().map(|undone| undone_line(&undone.entries)).collect();
    let mut done = Done::new(lines.join(" · ")).reverts();
    if undone.iter().any(|undone| undone.entries.len() > 1) {
        // Many entries are told in one line.
        done = done.complete();
    }
    match undone {
        [one] => done.link("redo", &undo_action(one.change)),
        _ => done,
    }
}

fn undone_line(entries: &[UndoneEntry]) -> String {
    if let [entry] = entries {
        return entry_line(entry);
    }
    let titles = |content: fn(&UndoneEntry) -> Option<&Content>| {
        list_titles(entries.iter().filter_map(content).map(|content| content.title.as_str()))
    };
    let number = entries.len() as u64;
    match entries.iter().all(|entry| entry.after.is_some()) {
        true => format!("{} are back: {}", count(number, "note"), titles(|e| e.after.as_ref())),
        false => {
            let gone = titles(|e| e.before.as_ref());
            format!("{} are removed again: {gone}", count(number, "note"))
        }
    }
}

fn entry_line(UndoneEntry { before, after }: &UndoneEntry) -> String {
    match (before, after) {
        (Some(before), None) => format!("{} is removed again", quoted(&before.title)),
        (None, Some(after)) => {
            format!("{} is back, {}", quoted(&after.title), count(after.lines(), "line"))
        }
        (Some(before), Some(after)) if before.title != after.title => {
            format!("{} is {} again", quoted(&before.title), quoted(&after.title))
        }
        (Some(before), Some(after)) if before.text != after.text => {
            let lines = count(after.lines(), "line");
            format!("{} has its earlier text again, {lines}", quoted(&after.title))
        }
        (Some(before), Some(after)) if before.tags != after.tags => tags_line(after),
        (Some(before), Some(after)) if before.gist != after.gist => {
            format!("{} has its earlier gist again: {}", quoted(&after.title), after.gist)
        }
        (_, Some(after)) => format!("{} is restored", quoted(&after.title)),
        (None, None) => "nothing changed".to_owned(),
    }
}

/// Returns the hints of a refused undo: the command that undoes the later changes and then this
/// one.
fn undo_hints(notebook: &Notebook, later: &[ChangeId], change: ChangeId) -> Vec<String> {
    let call = |change: &ChangeId| notebook.call(&format!("undo(\"{change}\")"));
    let calls: Vec<_> = later.iter().chain([&change]).map(call).collect();
    let mut hints = calls.chunks(UNDOS_IN_HINT).take(2);
    let command = |calls: &[String]| format!("pipemux run '{}'", calls.join("; "));
    let first = hints.next().map(command);
    // Of a longer chain, only the beginning is listed; its last call names what is left.
    let rest = hints.next().map(|_| format!("then again: {}", command(&[call(&change)])));
    first.into_iter().chain(rest).collect()
}
