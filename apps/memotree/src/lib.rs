//! The memory tree: a project's knowledge as a tree of files below `.memotree`, shown as far as a
//! budget goes.
//!
//! | module | purpose |
//! |---|---|
//! | [`action`] | the actions |
//! | [`model`] | a session: its store, the view that it shows, what it knows of changes |
//! | `project` | which folder a session is for |
//! | [`app`] | connects model, update and window to docui |
//! | `window`, `sources` | the document of a window, and the sources that it is merged of |
//! | [`codebase`] | which symbols the project has, most referenced first |
//! | `update` | carries out an action, by one of the next |
//! | `node_actions`, `undo`, `view_actions`, `transfer` | actions on nodes, on changes, on views, with files |
//! | `reply` | the answer to a change |
//! | `settings` | how the tree is shown, and which sessions beside it |
//! | `rows` | reads nodes from JSON lines and Markdown |
//! | `query` | answers queries, which change nothing |
//! | `names` | finds what a call names: by id, title or token |
//! | `tokens` | what tokens name, and what a click on one does |
//! | `freshness` | since which version a node has another text than a reader saw |
//! | `faults`, `format` | errors and lists as readers see them |
//!
//! The store (`pipemux-memotree-store`) has the files, the index and the state; nothing here writes
//! below `.memotree`.
//!
//! **Invariant: looking changes no file of the project.** What a view has expanded is kept in the
//! session's state directory.
//!
//! **Invariant: an answered change is on disk**, wholly, and undone as one.
//!
//! **Invariant: a key is the id of a node, or the name of a view or a saved search.** Ids are never
//! used again for other nodes; their revs don't change, so that a token from an old document still
//! names its node. Who would replace a text that has changed since is told so (`freshness`).
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

pub mod action;
pub mod app;
pub mod codebase;
mod faults;
mod format;
mod freshness;
pub mod model;
mod names;
mod node_actions;
mod project;
mod query;
mod reply;
mod rows;
mod search;
mod settings;
mod sources;
mod timing;
mod tokens;
mod transfer;
mod undo;
mod update;
mod view_actions;
mod window;

pub use action::Action;
pub use model::MemoTree;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is
/// compiled here, together with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    docui::run::<MemoTree>()
}
