//! What a command changed is known and can be taken back, and nothing that a project says is run.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod hostile;
mod laws;
mod states;
mod support;
