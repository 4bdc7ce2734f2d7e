//! A text editor for agents. A session has several open files; a line number means the line that
//! its reader last saw under it; an action that could mean several things asks.
//!
//! | module | holds |
//! |---|---|
//! | [`action`] | the actions: the contract with the agent |
//! | `app` | the editor as the SDK sees it |
//! | `update` | what each action does, one file per group of actions |
//! | `view` | the window: a page of the current file |
//! | `display` | how text and line numbers are written, for both of them |
//! | [`model`] | files, their history, their line numbers across versions, their saved state |
//! | [`limits`] | every bound |
//!
//! **Invariant: dependencies go one way.** `app` uses `update` and `view`; these use `display` and
//! `model`, and not each other; `display` uses `model`, which uses none of them.
//!
//! **Invariant: bytes outside of an edit stay as they are.** Line endings, a missing last newline
//! and a byte order mark are never normalized. Clipping and making characters visible happen in the
//! view only.
//!
//! **Invariant: a file is never overwritten unasked.** A save compares the file on disk with what
//! was read from it, and asks if they differ.
//!
//! **Invariant: a confirmed edit survives the process.** It is in the journal before its outcome is
//! sent.
//!
//! **Invariant: hibernation changes nothing.** The snapshot is the whole state. A session whose
//! state can't be written completely stays awake.
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

pub mod action;
mod app;
mod display;
pub mod limits;
pub mod model;
mod update;
mod view;

pub use action::{Action, File as FileKind, Only};
pub use model::Editor;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is
/// compiled here, together with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    docui::run::<Editor>()
}
