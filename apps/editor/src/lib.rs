//! A text editor for agents: several files, line numbers that mean what was seen, and questions where
//! an action could mean more than one thing.
//!
//! | module | holds |
//! |---|---|
//! | [`action`] | what can be done: the contract with the agent |
//! | [`model`] | files, their history, their line numbers across versions, their journals |
//! | `update` | one file a group of actions |
//! | `view` | a screenful of the current file |
//! | [`limits`] | every bound |
//!
//! **Invariant: bytes outside of an edit stay as they are.** Line endings, a missing final newline, a
//! byte order mark: nothing is normalised; what a view clips or makes visible is the view's alone.
//!
//! **Invariant: a file is never overwritten unasked.** A save compares the file's content on disk with
//! what was read, and asks when it differs.
//!
//! **Invariant: an answered edit survives the process.** It is in the journal before its answer is sent.
//!
//! **Invariant: a sleep changes nothing.** What was written down before it is the whole state; what can't
//! be written down whole is not put to sleep.
#![forbid(unsafe_code)]

pub mod action;
mod app;
pub mod limits;
pub mod model;
mod update;
mod view;

pub use action::{Action, File as FileKind};
pub use model::Editor;
