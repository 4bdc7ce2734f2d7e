//! Carries out an action by the function that it names.

use docui::{Done, Fault};

use crate::action::{Action, What};
use crate::entry::{Content, Level};
use crate::entry_actions as entries;
use crate::model::Notebook;
use crate::{query, undo};

/// Carries out one action. `budget` is about how many tokens a query may show.
///
/// # Errors
/// The action can't be carried out; nothing took effect.
pub fn update(notebook: &mut Notebook, action: Action, budget: u64) -> Result<Done, Fault> {
    match action {
        Action::Add { title, text, tags, gist, summary } => {
            let summary = summary.unwrap_or_default();
            let content = Content { title, summary, gist, tags, ..Content::default() };
            entries::add(notebook, content, text)
        }
        Action::AddMany { rows } => entries::add_many(notebook, &rows.text),
        Action::Show { what, level, rest, skip } => {
            query::show(notebook, &what, level, rest, skip, budget)
        }
        Action::ShowAll {} => query::show(notebook, &What::from("all"), None, None, None, budget),
        Action::Search { words, skip } => query::search(notebook, &words, skip, budget),
        Action::Find { query } => query::search(notebook, &query, None, budget),
        Action::Filter { tags, skip } => query::filter(notebook, &tags, skip, budget),
        Action::FilterTag { tag } => query::filter(notebook, &[tag], None, budget),
        Action::Edit { entry, text } => entries::edit(notebook, &entry, text),
        Action::Append { entry, text } => entries::append(notebook, &entry, text),
        Action::Rename { entry, new: title } | Action::Retitle { entry, title } => {
            entries::rename(notebook, &entry, &title)
        }
        Action::Tag { entry, tags } => entries::tag(notebook, &entry, &tags),
        Action::Gist { entry, text } => entries::set_gist(notebook, &entry, &text),
        Action::Summary { entry, text } => entries::set_summary(notebook, &entry, &text),
        Action::Remove { entries } | Action::RemoveThese { entry: entries } => {
            entries::remove(notebook, &entries)
        }
        Action::Purge { entries } => entries::purge(notebook, &entries),
        Action::Undo { steps } => undo::undo_last(notebook, steps),
        Action::UndoChange { change } => undo::undo(notebook, change.0.parse()?),
        Action::Expand { entries, level } => {
            entries::set_level(notebook, &entries, level.map_or(Level::Full, Into::into))
        }
        Action::ExpandOne { entry } => entries::set_level(notebook, &[entry], Level::Full),
        Action::Collapse { entries } => entries::set_level(notebook, &entries, Level::Gist),
        Action::Fold { entry } => entries::fold(notebook, entry),
        Action::Focus { entries } => entries::focus(notebook, &entries),
    }
}
