//! `pipemuxd`: sockets, children, timers and disk around `pipemux_core`. Decides nothing.
//!
//! | module | holds |
//! |---|---|
//! | `serve` | the daemon from start to end |
//! | `driver` | the loop, between the core and IO |
//! | `wake`, `look` | who is ready; when to look again rather than sleep |
//! | `connection`, `incoming` | one stream of frames; what comes on it |
//! | `body`, `large` | a body on its way; room for large ones |
//! | `transport` | the socket that clients come in by |
//! | `children` | the launcher, and through it the apps' processes |
//! | `journal`, `checksum` | the saved state |
//! | `prints`, `logs` | what apps print: their pipes; what is kept of it |
//! | `manifests` | which apps there are |
//! | `doctor` | what a daemon needs: looked at and mended |
//! | `lock` | one daemon a user and state directory |
//! | `limits`, `bounds`, `note` | bounds, which of them a user can reach; the daemon's own log |
//!
//! **Invariant: only `driver` touches both the core and IO.**
//!
//! **Invariant: one thread does everything but syncing and rewriting the saved state, and removing what
//! was discarded**, and it waits in one place, the runtime's.

mod body;
mod bounds;
mod checksum;
mod children;
mod connection;
mod doctor;
mod driver;
mod incoming;
mod journal;
mod large;
mod limits;
mod lock;
mod logs;
mod look;
mod manifests;
mod note;
mod prints;
mod serve;
mod transport;
mod wake;

use std::process::ExitCode;

use pipemux_launcher::fds;

const USAGE: &str = "usage: pipemuxd serve | --version
The daemon of PipeMux. `pipemux up` starts it, `pipemux down` ends it.";

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["serve"] => {
            fds::close_inherited();
            match serve::serve() {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    // To the client that waits for this line; later it is standard error too.
                    serve::say(&format!("error: {why}"));
                    ExitCode::FAILURE
                }
            }
        }
        ["launcher"] => {
            fds::close_inherited();
            match pipemux_launcher::run() {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    note::note(format_args!("the launcher ended: {error}"));
                    ExitCode::FAILURE
                }
            }
        }
        ["doctor", ref options @ ..] => {
            let daemon = options.iter().find_map(|word| word.strip_prefix("--daemon="));
            let daemon = daemon.and_then(|pid| pid.parse().ok());
            match doctor::doctor(options.contains(&"--fix"), daemon) {
                Ok(()) => ExitCode::SUCCESS,
                Err(why) => {
                    note::note(format_args!("the doctor can't work: {why}"));
                    ExitCode::FAILURE
                }
            }
        }
        ["--version"] => {
            serve::say(&format!("pipemuxd {}", env!("CARGO_PKG_VERSION")));
            ExitCode::SUCCESS
        }
        _ => {
            let _ =
                std::io::Write::write_all(&mut std::io::stderr(), format!("{USAGE}\n").as_bytes());
            ExitCode::from(2)
        }
    }
}
