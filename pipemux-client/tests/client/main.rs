//! The command as a process, against daemons that are played.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod command_line;
mod requests;
mod versions;
