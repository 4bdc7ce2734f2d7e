//! `pipemux`: the command line.
//!
//! | module | holds |
//! |---|---|
//! | `cli` | from arguments to an exit status; one module below it for each verb of substance |
//! | `cli::args` | the arguments and their help |
//! | `cli::ask` | one request to the daemon, its answer printed and confirmed |
//! | `output` | all that is written, and what happens when nobody reads it |
//!
//! **Invariant: the exit status is returned, never called for.** `main` alone ends the process, so that
//! everything that must be cleaned up is.
#![forbid(unsafe_code)]

mod cli;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cli::main(std::env::args_os().collect()))
}
