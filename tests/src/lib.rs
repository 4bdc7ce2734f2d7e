//! Whole-system tests of PipeMux: real daemon, real children, real sockets.
//!
//! A story in `tests/it` lives in a [`World`]: a home, a project and a daemon of its own. It runs the
//! command line as an agent would and looks at what was printed ([`Output`]), at files and at processes.
//! Faults come from real processes: signals, and `rogue`, an app that misbehaves as it is told.
//!
//! | module | holds |
//! |---|---|
//! | [`programs`] | where the built programs are, and building them when they are not |
//! | [`world`] | a home with its daemon, and that nothing of it is left at the end |
//! | [`invocation`] | one command: environment, standard input, deadline |
//! | [`chaos`] | the attack table: misbehaving apps and clients, and what becomes of the others |
//! | [`desk`] | a reader over one connection: what a harness has that asks often |
//! | [`output`] | what a command printed, and finding ids in it |
//! | [`markdown`] | what acts in a document: anchors, headings and fences, read as CommonMark |
//! | [`processes`] | which processes belong to a world |
//! | [`gauges`] | what a process holds: memory, descriptors |
//! | [`raw`] | a connection without the client library: whatever bytes a story wants to send |
//! | [`stream`] | a command that goes on: lines as they come |
//! | [`waiting`] | waiting for what can be observed |
//!
//! **Invariant: no test waits for time to pass.** [`wait_until`] looks for an event, up to a deadline.
#![forbid(unsafe_code)]

pub mod chaos;
pub mod desk;
pub mod gauges;
pub mod invocation;
pub mod markdown;
pub mod output;
pub mod processes;
pub mod programs;
pub mod raw;
pub mod stream;
pub mod waiting;
pub mod world;

pub use desk::{Desk, Said};
pub use invocation::{Invocation, Running};
pub use markdown::Markdown;
pub use output::Output;
pub use processes::{Process, is_alive, kill};
pub use raw::Raw;
pub use waiting::wait_until;
pub use world::{Row, World};

pub use nix::sys::signal::Signal;
