//! `pipemuxd`: sockets, processes, timers and files around `pipemux_core`, which makes all
//! decisions.
//!
//! | module | contents |
//! |---|---|
//! | `serve` | the daemon from its start to its end |
//! | `driver` | the loop between the core and IO |
//! | `ready_queue`, `busy_poll` | what is ready; when to poll again rather than sleep |
//! | `shutdown` | signals, and the orderly end |
//! | `listener` | the socket that clients connect to |
//! | `metrics` | what is counted for Prometheus, if the user wants it |
//! | `service_manager` | the socket that systemd passes, and what systemd is told |
//! | `connection`, `inbound` | one stream of frames; what arrives on it |
//! | `exchange_body`, `buffer_pool` | bodies that are forwarded; buffers for large frames |
//! | `app_processes`, `launcher_process` | the apps' processes; the launcher that starts them |
//! | `app_output`, `session_logs` | what apps print: their pipes; their log files |
//! | `journal` | the saved state |
//! | `audit_log`, `peer_process` | who did what; which process a client is |
//! | `usage` | what the daemon and sessions use |
//! | `settings` | the user's settings |
//! | `directories` | directories of the daemon and of sessions |
//! | `manifests`, `pinned_programs` | the registered apps; their programs as they were when they were added |
//! | `dev_programs` | programs that their authors work on |
//! | `doctor` | checks and repairs what a daemon needs |
//! | `identity` | which daemon this is |
//! | `lock`, `file_watch` | one daemon per state directory; a watch over its files |
//! | `app_check` | `pipemuxd app-check`: what an app's author should mend |
//! | `clean_environment` | the daemon's own environment, without secrets |
//! | `limits`, `bounds` | limits, and those of them that users can reach |
//! | `daemon_log` | the daemon's own log |
//!
//! **Invariant: only `driver` touches both the core and IO.** It touches files only through the
//! modules above.
//!
//! **Invariant: one thread does everything except syncing and compacting the journal, removing
//! session directories and reading what sessions use**, and it waits in one place, the runtime's.

// Durations come from outside, and sums of times and durations panic: see `deadline`. Numbers are
// checked otherwise.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod app_check;
mod app_output;
mod app_processes;
mod audit_log;
mod bounds;
mod buffer_pool;
mod busy_poll;
mod clean_environment;
mod connection;
mod daemon_log;
mod dev_programs;
mod directories;
mod doctor;
mod driver;
mod exchange_body;
mod file_watch;
mod identity;
mod inbound;
mod journal;
mod launcher_process;
mod limits;
mod listener;
mod lock;
mod manifests;
mod memory;
mod metrics;
mod peer_process;
mod pinned_programs;
mod ready_queue;
mod sandbox;
mod serve;
mod service_manager;
mod session_logs;
mod settings;
mod shutdown;
mod usage;
mod value_files;

use std::process::ExitCode;

use pipemux_launcher::fds;

const USAGE: &str = "usage: pipemuxd [serve] [--metrics unix:/PATH|127.0.0.1:PORT] | --version
The daemon of PipeMux. `pipemux up` starts it, `pipemux down` stops it.
--metrics, else the variable PIPEMUX_METRICS: where Prometheus can read metrics over HTTP, at /metrics; off by default.";

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["serve"] | ["serve", "--metrics", _] | ["--metrics", _] => {
            let metrics = args.iter().skip_while(|word| **word != "--metrics").nth(1).copied();
            fds::close_inherited(fds::STANDARD + service_manager::passed_count());
            match serve::serve(metrics) {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    // The client that started the daemon waits for this line.
                    serve::print_line(&format!("error: {why}"));
                    ExitCode::FAILURE
                }
            }
        }
        ["launcher"] => {
            fds::close_inherited(fds::STANDARD);
            logged("the launcher failed", pipemux_launcher::run())
        }
        ["doctor", ref options @ ..] => {
            let daemon = options.iter().find_map(|word| word.strip_prefix("--daemon="));
            let daemon = daemon.and_then(|pid| pid.parse().ok());
            logged("the doctor failed", doctor::doctor(options.contains(&"--fix"), daemon))
        }
        ["app-check", ref options @ ..] => match app_check::check(options) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(why) => {
                serve::print_line(&format!("error: {why}"));
                ExitCode::from(2)
            }
        },
        ["--version"] => {
            serve::print_line(&format!("pipemuxd {}", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
        _ => {
            let _ =
                std::io::Write::write_all(&mut std::io::stderr(), format!("{USAGE}\n").as_bytes());
            ExitCode::from(2)
        }
    }
}

/// Returns the status to exit with; a failure is logged.
fn logged(what: &str, result: Result<(), impl std::fmt::Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            daemon_log::log(format_args!("{what}: {why}"));
            ExitCode::FAILURE
        }
    }
}
