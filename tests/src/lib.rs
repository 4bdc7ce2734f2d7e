//! Whole-system tests of PipeMux: a real daemon, real child processes, real sockets.
//!
//! A story in `tests/it` lives in a [`TestEnv`]: a home directory, a project and a daemon of its
//! own. It runs the command line as an agent would and checks what was printed ([`Output`]), files
//! and processes. Faults come from real processes: signals, and `rogue`, an app that misbehaves as
//! it is told.
//!
//! | module | holds |
//! |---|---|
//! | [`programs`] | finds the built programs and builds them when they are missing or outdated |
//! | [`environment`] | a home directory with its daemon, and the check that nothing of it is left at the end |
//! | [`fixtures`] | environments that already have an app open |
//! | [`invocation`] | one command: variables, standard input, deadline |
//! | [`interactive`] | a command that goes on running: lines in, lines out |
//! | [`output`] | what a command printed, and finding ids in it |
//! | [`test_client`] | a client of the library over one connection, for harnesses that make many requests |
//! | [`mcp_client`] | a client of the Model Context Protocol, as a harness has one |
//! | [`raw_connection`] | a connection without the client library, for any bytes a story wants to send |
//! | [`markdown`] | anchors, headings and fences of a document, read as CommonMark does |
//! | [`processes`] | the processes that belong to an environment |
//! | [`proc_stats`] | memory, descriptors and processor time of a process |
//! | [`structure`] | how large types and functions are, which module of a crate names which other, and the circles among them |
//! | [`random`] | repeatable pseudo-random choices |
//! | [`waiting`] | polls for an observable event, up to a deadline |
//! | [`chaos`] | attacks by misbehaving apps and clients, beside siblings that must not notice |
//!
//! **Invariant: no test waits for time to pass.** [`wait_until`] polls for an event, up to a
//! deadline, so that a slow machine makes a test slower and never makes it fail.
#![forbid(unsafe_code)]

pub mod chaos;
pub mod environment;
pub mod fixtures;
pub mod interactive;
pub mod invocation;
pub mod markdown;
pub mod mcp_client;
pub mod output;
pub mod proc_stats;
pub mod processes;
pub mod programs;
pub mod random;
pub mod raw_connection;
pub mod test_client;
pub mod waiting;

#[cfg(test)]
mod left_out;

pub use environment::{SessionRow, TestEnv};
pub use interactive::InteractiveCommand;
pub use invocation::{Invocation, RunningCommand};
pub use markdown::Markdown;
pub use mcp_client::{McpClient, ToolResult};
pub use output::Output;
pub use processes::{Process, is_alive, kill};
pub use random::SeededRandom;
pub use raw_connection::{RawConnection, Received};
pub use test_client::{ClientReply, TestClient};
pub use waiting::{wait_for, wait_until};

pub use nix::sys::signal::Signal;
pub mod structure;
