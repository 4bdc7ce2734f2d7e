//! Commands, builds and tests: runs commands in terminals of their own, keeps all of their output, and shows what matters.
//!
//! | module | purpose |
//! |---|---|
//! | [`action`] | the actions |
//! | [`command_line`] | what a command line runs, as far as its words tell |
//! | [`permission`], [`pattern`] | the person's patterns, and what was allowed |
//! | [`orders`] | what the calls of a run are to run |
//! | [`question`], [`granted`] | the question for the rest, what it allowed to later calls, and the permits that start commands |
//! | [`start`] | starts a command in a terminal |
//! | [`job`], [`job_table`] | one command: its process, its output, its end; all of a session |
//! | [`sequence`] | several commands, one after the other |
//! | [`spill`], [`line_reader`] | the whole output, on disk, and its lines |
//! | [`screen`], [`keys`] | what a terminal shows, and what it sends for keys |
//! | [`process`], [`orphans`] | the processes of a command, and those that lost their parents |
//! | [`ports`], [`port_watch`] | where they listen, looked up before anybody asks |
//! | [`places`] | where problems are now |
//! | [`answer`] | what is told of a command that has ended |
//! | [`model`] | a session: its commands |
//! | [`run`], [`query`] | carry out actions |
//! | [`window`] | shows the commands |
//! | [`app`] | connects them to docui |
//! | [`limits`] | the bounds |
//!
//! What is recognised of an output is the matter of `pipemux-problems`, which knows no process.
//!
//! **Invariant: a command runs only as it was allowed.** A command is started by a [`question::Permit`], which only the check
//! makes. A question holds the call that asked, so an answer runs exactly that line, in that directory and with those variables.
//!
//! **Invariant: a signal reaches the processes of its command, or none.** The first process isn't reaped before the state
//! says that it has ended, and both happen under one lock.
//!
//! **Invariant: nothing outlives its session.** A command's processes are ended with it; with the app, the daemon's launcher
//! ends what is left.
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

pub mod action;
pub mod allowed;
pub mod answer;
pub mod app;
pub mod command_line;
pub mod granted;
mod harmless;
mod job;
pub mod job_table;
pub mod keys;
mod launchers;
pub mod limits;
pub mod line_reader;
pub mod model;
pub mod orders;
mod orphans;
pub mod pattern;
pub mod permission;
pub mod places;
pub mod port_watch;
pub mod ports;
pub mod process;
pub mod query;
pub mod question;
pub mod run;
pub mod screen;
pub mod sequence;
pub mod spill;
pub mod start;
pub mod window;

pub use action::Action;
pub use model::Terminal;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is compiled here, together
/// with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    docui::run::<Terminal>()
}
