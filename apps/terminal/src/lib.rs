//! Commands, builds and tests: runs commands in terminals of their own, keeps all of their output,
//! and shows what matters.
//!
//! | module | purpose |
//! |---|---|
//! | [`action`] | the actions |
//! | [`orders`], `order` | what a call is to run |
//! | [`permit`] | permits to start commands, and what holds them |
//! | [`rules`], [`shell_line`] | what the person's rules say of a line, as far as its words tell |
//! | [`start`] | starts a command in a terminal |
//! | [`job`], [`job_table`] | one command: its process, its output, its end; all of a session |
//! | [`file_changes`], [`undo`] | what commands changed in files, and what takes it back |
//! | [`sequence`] | several commands, one after the other |
//! | [`spill`], [`line_reader`] | the whole output, on disk, and its lines |
//! | [`screen`], [`keys`] | what a terminal shows, and what it sends for keys |
//! | [`process`], `members`, `orphans` | the processes of a command, and those that lost their parents |
//! | [`ports`], [`port_watch`] | where they listen, looked up before anybody asks |
//! | [`places`] | where problems are now |
//! | [`answer`] | what is told of a command that has ended |
//! | [`model`] | a session: its commands |
//! | `display` | how lines and paths are shown |
//! | [`run`], `stop`, [`query`] | carry out actions |
//! | [`window`] | shows the commands |
//! | [`app`] | connects them to docui |
//! | [`limits`] | the bounds |
//!
//! What is recognised of an output is the matter of `pipemux-problems`, which knows no process.
//!
//! **Invariant: no command is started past the check.** A command is started by a
//! [`permit::Permit`], which only the check makes. It has the domain of the kernel that holds the
//! command to what it may write to; what that is, `pipemux-confine` says.
//!
//! **Invariant: a signal reaches the processes of its command, or none.** The first process isn't
//! reaped before the state says that it has ended, and both happen under one lock.
//!
//! **Invariant: nothing outlives its session.** A command's processes are ended with it; with the
//! app, the daemon's launcher ends what is left.
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

mod action;
mod answer;
mod app;
mod display;
mod file_changes;
mod job;
mod job_table;
mod keys;
mod limits;
mod line_reader;
mod members;
mod model;
mod order;
mod orders;
mod orphans;
mod own_directories;
mod permit;
mod places;
mod port_watch;
mod ports;
mod process;
mod query;
mod rules;
mod run;
mod screen;
mod sequence;
mod shell;
mod shell_line;
mod spill;
mod start;
mod stop;
mod undo;
mod window;

pub use action::Action;
pub use model::Terminal;

/// Serves the app on the connection that this process inherited, as [`docui::run`] does. It is
/// compiled here, together with what it uses, and not once more with the program.
pub fn run() -> std::process::ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    match (arguments.next(), arguments.next()) {
        // Started by this program itself.
        (Some(first), Some(told)) if first == pipemux_confine::launch::ARGUMENT => {
            pipemux_confine::launch::become_told(told.as_ref())
        }
        _ => docui::run::<Terminal>(),
    }
}
