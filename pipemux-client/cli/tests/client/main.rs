//! The command as a process, against daemons that are played.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod command_line;
// The library's own tests use the items that these don't.
#[allow(dead_code)]
#[path = "../../../src/tests/fake_daemon.rs"]
mod fake_daemon;
mod quick;
mod requests;
mod versions;

/// Where the played daemon's helper, which the library's own tests use, too, looks for it.
pub(crate) use pipemux_client::Options;
