//! `pipemux`: the command line.
//!
//! | module | holds |
//! |---|---|
//! | `dispatch` | from arguments to an exit status; most verbs have a module of their own beside it |
//! | `args` | the arguments and their help |
//! | `fast_args` | parses plain command lines without building all of `args` |
//! | `requester` | sends one request to the daemon, prints its answer and confirms it |
//! | `output::colour` | colours for people at a terminal |
//! | `output` | everything that is written, and what happens when nobody reads it |
//!
//! Linked statically on x86-64, the program begins in `pipemux-quick`, which carries out plain
//! command lines. What is here is for all others, and goes on with what was begun there (`begun`).
//!
//! **Invariant: the exit status is returned up to `main`.** No other code ends the process, so
//! every destructor runs.
#![forbid(unsafe_code)]

mod answer;
mod app;
mod app_new;
mod args;
mod attach;
mod audit;
mod begun;
mod bench;
mod changes;
mod clock;
mod command_env;
mod config;
mod consent;
mod dispatch;
mod doctor;
mod down;
mod exec;
mod fast_args;
mod guide;
mod inject;
mod listen;
mod local_texts;
mod logs;
mod mcp;
mod open;
mod output;
mod pause;
mod pipe;
mod progress;
mod prompt;
mod requester;
mod run;
mod service;
mod setup;
mod shell_files;
mod status;
mod stdin;
mod streaming;
mod suggestions;
mod to_request;
mod tool_schema;
mod tour;
mod usage_errors;
mod watch;
mod who;

use std::process::ExitCode;

#[cfg(all(quick_entry, not(test)))]
pipemux_quick::entry!(pipemux_quick::before_main);
// The program of the tests below is linked the same way, but its arguments are names of tests.
#[cfg(all(quick_entry, test))]
pipemux_quick::entry!(do_nothing);

#[cfg(all(quick_entry, test))]
extern "C" fn do_nothing(_stack: *const usize) {}

fn main() -> ExitCode {
    ExitCode::from(dispatch::main(std::env::args_os().collect()))
}
