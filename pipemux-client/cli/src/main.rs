//! `pipemux`: the command line.
//!
//! | module | holds |
//! |---|---|
//! | `cli` | from arguments to an exit status; most verbs have a module of their own in it |
//! | `cli::args` | the arguments and their help |
//! | `cli::fast_args` | parses plain command lines without building all of `cli::args` |
//! | `cli::requester` | sends one request to the daemon, prints its answer and confirms it |
//! | `output::colour` | colours for people at a terminal |
//! | `output` | everything that is written, and what happens when nobody reads it |
//!
//! Linked statically on x86-64, the program begins in `pipemux-quick`, which carries out plain command lines. What is here
//! is for all others, and goes on with what was begun there (`cli::begun`).
//!
//! **Invariant: the exit status is returned up to `main`.** No other code ends the process, so every destructor
//! runs.
#![forbid(unsafe_code)]

mod cli;
mod output;

use std::process::ExitCode;

#[cfg(all(quick_entry, not(test)))]
pipemux_quick::entry!(pipemux_quick::before_main);
// The program of the tests below is linked the same way, but its arguments are names of tests.
#[cfg(all(quick_entry, test))]
pipemux_quick::entry!(do_nothing);

#[cfg(all(quick_entry, test))]
extern "C" fn do_nothing(_stack: *const usize) {}

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os().collect()))
}
