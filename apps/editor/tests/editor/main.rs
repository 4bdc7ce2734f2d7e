//! The editor through the SDK, on real files.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod aliases;
mod applying;
mod bytes;
mod crash;
mod diffing;
mod edits;
mod extracting;
mod files;
mod formatting;
mod git_apply;
mod hanging_disk;
mod hibernation;
mod hibernation_equivalence;
#[path = "../../../../tests/tests/it/lease.rs"]
mod lease;
mod looking;
mod moved_imports;
mod previews;
mod replacing;
mod restart;
mod saved_state;
mod scenario;
mod searching;
mod special_files;
mod stale;
mod support;
mod symbols;
mod undo_numbers;
mod undo_one;
mod undo_outside;
mod views;
mod white_space;
mod write_through;
