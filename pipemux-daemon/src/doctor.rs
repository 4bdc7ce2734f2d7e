//! `pipemuxd doctor`: checks what a daemon needs, and repairs what can be repaired safely. It works
//! without a daemon; `pipemux doctor` runs it, adds what a client sees, and prints both.
//!
//! | module | contents |
//! |---|---|
//! | `doctor` | runs the checks |
//! | `doctor::commands` | checks what commands are held to |
//! | `doctor::context` | what the checks look at |
//! | `doctor::finding` | the result of a check |
//! | `doctor::runtime_files` | checks directories, the socket and the lock |
//! | `doctor::saved_state` | checks free space, the saved state, logs and session directories |
//! | `doctor::system` | checks limits, the clock, apps and processes |
//!
//! A finding is a line on standard output with tabs between its parts: the status, the check, what
//! was found, and what to do next.

mod commands;
mod context;
mod finding;
mod runtime_files;
mod saved_state;
mod system;

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::unistd::getuid;
use pipemux_proto::paths::Paths;

use crate::launcher_process::own_program;
use crate::manifests::ManifestDirs;
use context::DoctorContext;
use finding::Finding;

/// The time limit of a check: a network file system may never answer.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs all checks and prints what they find.
///
/// # Errors
/// The environment leads to no paths, or no thread can be started for the checks.
pub fn doctor(fix: bool, daemon: Option<i32>) -> Result<(), String> {
    let get = |name: &str| std::env::var(name).ok();
    let uid = getuid().as_raw();
    let paths = Paths::from_env(get, uid)?;
    let context = DoctorContext {
        paths,
        uid,
        manifests: ManifestDirs::beside(&own_program()?, get),
        path: get("PATH").unwrap_or_default(),
        daemon,
        fix,
    };
    run_checks(&context, |finding| {
        let mut out = io::stdout().lock();
        // Nobody may be left to read this, which is no error.
        let _ = out.write_all(finding.line().as_bytes()).and_then(|()| out.flush());
    })
}

type Check = (&'static str, fn(&DoctorContext) -> Vec<Finding>);

/// All checks; each comes after those that it depends on.
const CHECKS: &[Check] = &[
    ("state directory", runtime_files::state_directory),
    ("socket directory", runtime_files::socket_directory),
    ("socket path", runtime_files::socket_path),
    ("lock and socket", runtime_files::socket),
    ("free space", saved_state::space),
    ("saved state", saved_state::state),
    ("logs", saved_state::logs),
    ("session directories", saved_state::sessions),
    ("sandbox", system::sandbox),
    ("commands", commands::commands),
    ("open files", system::files),
    ("file watches", system::watches),
    ("clock", system::clock),
    ("manifests", system::manifests),
    ("apps", system::apps),
    ("left-over processes", system::leftovers),
];

fn run_checks(context: &DoctorContext, mut tell: impl FnMut(&Finding)) -> Result<(), String> {
    for (check, run) in CHECKS {
        let (found, wait) = mpsc::channel();
        let context = context.clone();
        thread::Builder::new()
            .name("doctor-check".into())
            .spawn(move || found.send(run(&context)))
            .map_err(|error| format!("can't start a check: {error}"))?;
        match wait.recv_timeout(CHECK_TIMEOUT) {
            Ok(findings) => findings.iter().for_each(&mut tell),
            Err(_) => {
                let text = format!("no answer within {} s", CHECK_TIMEOUT.as_secs());
                tell(&Finding::bad(
                    check,
                    text,
                    "check for an unreachable file system or a failing disk",
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
