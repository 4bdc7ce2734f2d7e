//! Notes in one SQLite file: three levels of detail for each entry, full-text search in any script.
//!
//! | module | purpose |
//! |---|---|
//! | [`action`] | the actions |
//! | [`model`] | a session: its store, and what it shows of the store |
//! | [`update`] | carries out an action on the model |
//! | [`undo`] | undoes changes, and says what that changed |
//! | [`query`], [`list`] | answer queries, which change nothing; write lists of notes within a budget |
//! | [`rows_input`] | reads notes from JSON lines and TSV |
//! | [`view`], [`block`] | render the model within a budget |
//! | [`app`] | connects model, update and view to docui |
//! | [`entry`] | the parts of an entry, their bounds, keys and levels of detail |
//! | [`schema`] | opens a store: refusals, migrations |
//! | [`store`], [`change`] | read entries; write entries and undo that |
//! | `undo_path` | whether a change can be undone, and which ones must be undone before it |
//! | [`view_state`] | levels of detail and focus of one session, kept in its state directory |
//! | [`hibernation`] | which state of the store views showed before the session was hibernated |
//! | [`mod@format`] | titles and tags |
//!
//! Words, queries, migrations and JSON rows are those of `pipemux-notes`.
//!
//! **Invariant: an answered change is on disk.** Each action is one transaction, committed before
//! `update` returns.
//!
//! **Invariant: a key names one entry for ever.** Ids are AUTOINCREMENT, so the id of a removed entry is
//! never given to another one; when the removal is undone, the entry has it again.
//!
//! **Invariant: modules depend on each other in one direction.** `app` uses `update` and `view`; both use
//! `model`; `model` uses the store and the files.

// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

pub mod action;
pub mod app;
pub mod block;
pub mod change;
pub mod entry;
pub mod format;
pub mod hibernation;
pub mod list;
pub mod model;
pub mod query;
pub mod rows_input;
pub mod schema;
pub mod store;
pub mod undo;
mod undo_path;
pub mod update;
pub mod view;
pub mod view_state;

pub use action::Action;
pub use model::Notebook;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is compiled here, together
/// with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    docui::run::<Notebook>()
}
