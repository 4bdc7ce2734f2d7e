//! The notebook in a host that takes the place of the daemon.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod common;
mod entries;
mod hibernation;
mod saved;
mod search;
mod search_corpus;
mod store;
mod undo;
mod window;
