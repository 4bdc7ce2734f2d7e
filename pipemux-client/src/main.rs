//! `pipemux`: the command line.
//!
//! | module | holds |
//! |---|---|
//! | `cli` | from arguments to an exit status; one module below it for each verb of substance |
//! | `cli::args` | the arguments and their help |
//! | `cli::ask` | one request to the daemon, its answer printed and confirmed |
//! | `start` | the first function, where the command's cheapness begins |
//! | `cli::quick` | plain command lines, read without building the whole of `cli::args` |
//! | `output` | all that is written, and what happens when nobody reads it |
//!
//! **Invariant: the exit status is returned, never called for.** `main` alone ends the process, so that
//! everything that must be cleaned up is.
#![deny(unsafe_code)]
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod cli;
mod output;
mod start;

#[cfg(any(test, not(all(target_os = "linux", target_env = "gnu"))))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(start::exit_status())
}
