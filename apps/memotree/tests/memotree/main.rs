//! The memory tree, driven without a daemon.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod budget;
mod codebase;
mod common;
mod growth;
mod laws;
mod nodes;
mod outside;
mod search_corpus;
mod settings;
mod sleep;
mod tags;
mod views;
