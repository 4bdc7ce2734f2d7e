//! `pipemux-mcp`: serves PipeMux to agent harnesses over the Model Context Protocol. `pipemux mcp`
//! starts it.
//!
//! It is a program of its own, so that `pipemux`, which runs once for every command, carries
//! neither an HTTP server nor the protocol's types.
//!
//! | module | holds |
//! |---|---|
//! | `args` | the arguments |
//! | `server` | the protocol's requests: tools and windows |
//! | `bridge` | one reader's way to the daemon |
//! | `daemon` | a connection to the daemon that is replaced when it is lost |
//! | `outcome` | an answer of the daemon as a tool's result |
//! | `confirm` | a question that a person answers, where the client can ask one |
//! | `windows` | windows as resources, and the news of them |
//! | `bounded_lines` | messages on standard input, of bounded length |
//! | `malformed` | messages that can't be carried out, and their errors |
//! | `limits` | the bounds |
//! | `delivery` | a transport that notices when an answer was written |
//! | `client_directory` | the directory that a client works in |
//! | `reader` | the name under which a connection reads |
//! | `http` | the protocol over HTTP |
//! | `connection_slots` | the connections that are served at once |
//! | `token` | texts that nobody can guess |
//!
//! **Invariant: the bridge holds no state.** Everything that an answer depends on is in the daemon,
//! under the reader's name; a bridge that dies and starts again goes on where it was. Nothing is
//! left when it is killed. Only the questions that are before a person are known here: after a
//! restart the model answers them.
//!
//! **Invariant: the list of tools is the same on every connection**, so that a harness's prompt
//! cache stays valid.
// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

mod args;
mod bounded_lines;
mod bounds;
mod bridge;
mod client_directory;
mod confirm;
mod connection_slots;
mod consent;
mod context;
mod daemon;
mod delivery;
mod http;
mod limits;
mod malformed;
mod outcome;
mod reader;
mod server;
mod token;
mod windows;

use std::process::ExitCode;

use clap::Parser;
use pipemux_client::{ClientError, Options};
use tokio::runtime::Builder;

use args::Args;
use bridge::{Bridge, Settings};
use client_directory::ClientDirectory;
use server::Server;

/// The exit status of a wrong command line.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            report(&args::wrong(&error));
            return ExitCode::from(USAGE);
        }
        Err(error) => {
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
    };
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::from(error.exit_status())
        }
    }
}

#[expect(clippy::print_stderr, reason = "standard output belongs to the protocol")]
fn report(error: &ClientError) {
    eprintln!("{error}");
    error.fault().hints.iter().for_each(|hint| eprintln!("{hint}"));
}

fn serve(args: Args) -> Result<(), ClientError> {
    if args.http.is_none() {
        client_directory::leave_plugin();
    }
    let mut options = Options::from_env()?;
    if let Some(name) = &args.workspace {
        options = options.workspace(name);
    }
    options.timeout = args.timeout.unwrap_or(options.timeout);
    // The daemon sends progress only to those who take it.
    options.progress = Some(|_| {});
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| {
        ClientError::invalid(format!("the runtime can't be started: {error}"))
            .hint("check the system's limits: ulimit -a")
    })?;
    let settings = Settings { budget: args.budget, diff: args.diff };
    let served = runtime.block_on(async {
        match args.http {
            Some(address) => http::serve(options, settings, address, args.reader).await,
            None => {
                let named = args.reader.or_else(|| std::env::var("PIPEMUX_READER").ok());
                let lease = reader::lease(&options.paths, named);
                let workspace = args.workspace.or_else(|| std::env::var("PIPEMUX_WORKSPACE").ok());
                let directory = ClientDirectory::of_client(options.reader(lease.name()), workspace);
                let bridge = Bridge::new(directory, settings);
                serve_stdio(bridge).await
            }
        }
    });
    // A thread may still be starting a daemon, or waiting for standard input.
    runtime.shutdown_background();
    served
}

async fn serve_stdio(bridge: Bridge) -> Result<(), ClientError> {
    use rmcp::ServiceExt;
    let transport = delivery::stdio(bridge.daemon());
    let unusable = |error: String| {
        ClientError::invalid(format!("the Model Context Protocol can't be spoken: {error}"))
            .hint("pipemux-mcp is started by a harness; to set one up: pipemux setup --help")
    };
    let running = match Server::new(bridge).serve(transport).await {
        Ok(running) => running,
        // The harness went away before it said anything.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(unusable(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(|error| unusable(error.to_string()))
}
