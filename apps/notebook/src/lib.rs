//! Notes in one SQLite file: three levels of detail for each entry, full-text search in any script.
//!
//! | module | purpose |
//! |---|---|
//! | [`action`] | the actions |
//! | [`model`] | a session: its store, and what it shows of the store |
//! | `update` | carries out an action, by one of the next |
//! | `entry_actions`, `undo`, `query` | actions on entries, on changes, and those that change nothing |
//! | `reply`, `list`, `block`, `format` | answers to changes; lists, parts and titles within a budget |
//! | `rows_input` | reads notes from JSON lines and TSV |
//! | `view` | renders the model within a budget |
//! | `app` | connects model, update and view to docui |
//! | `entry` | the parts of an entry, their bounds, keys and levels of detail |
//! | `database`, `schema` | the SQLite file: refusals, transactions, recovery; its tables |
//! | `store`, `entry_rows` | the entries, and the rows that they are made of |
//! | `change`, `undo_path` | recorded changes, and which ones must be undone before one |
//! | `view_state` | levels of detail and focus of one session, kept in its state directory |
//! | `hibernation` | which state of the store views showed before the session was hibernated |
//!
//! Words, queries, migrations and JSON rows are those of `pipemux-notes`.
//!
//! **Invariant: an answered change is on disk.** Each action is one transaction, committed before
//! `update` returns.
//!
//! **Invariant: a key names one entry for ever.** Ids are AUTOINCREMENT, so the id of a removed
//! entry is never given to another one; when the removal is undone, the entry has it again.
//!
//! **Invariant: modules depend on each other in one direction.** `app` uses `update` and `view`;
//! both use `model`; `model` uses the store and the files.

// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

pub mod action;
mod app;
mod block;
mod change;
mod database;
mod entry;
mod entry_actions;
mod entry_rows;
mod format;
mod hibernation;
mod list;
pub mod model;
mod query;
mod reply;
mod rows_input;
mod schema;
mod store;
mod undo;
mod undo_path;
mod update;
mod view;
mod view_state;

pub use action::Action;
pub use model::Notebook;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is
/// compiled here, together with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    docui::run::<Notebook>()
}
