//! The answers to changes.

use docui::Done;

use crate::action::Action;
use crate::change::{Amended, ChangeId};
use crate::entry::Content;
use crate::format::{hash_tags, quoted};

/// Returns the answer to a change, which `brief` summarises from the contents before and after.
pub(crate) fn amended_reply(
    amended: Option<Amended>,
    brief: impl FnOnce(&Content, &Content) -> String,
) -> Done {
    match amended {
        None => Done::new("nothing changed: the note already matches"),
        Some(Amended { change, before, after }) => {
            Done::new(brief(&before, &after)).link("undo", &undo_action(change))
        }
    }
}

/// Returns the line that says which tags an entry has.
pub(crate) fn tags_line(content: &Content) -> String {
    match content.tags.is_empty() {
        true => format!("{}: no tags", quoted(&content.title)),
        false => format!("{}: {}", quoted(&content.title), hash_tags(&content.tags)),
    }
}

/// Returns the action that undoes a change.
pub(crate) fn undo_action(change: ChangeId) -> Action {
    Action::UndoChange { change: change.to_string().into() }
}
