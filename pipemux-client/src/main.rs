//! `pipemux`: the command line.
//!
//! | module | holds |
//! |---|---|
//! | `cli` | from arguments to an exit status; most verbs have a module of their own in it |
//! | `cli::args` | the arguments and their help |
//! | `cli::fast_args` | parses plain command lines without building all of `cli::args` |
//! | `cli::requester` | sends one request to the daemon, prints its answer and confirms it |
//! | `output` | everything that is written, and what happens when nobody reads it |
//!
//! **Invariant: the exit status is returned up to `main`.** No other code ends the process, so every destructor
//! runs.
#![forbid(unsafe_code)]

mod cli;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os().collect()))
}
