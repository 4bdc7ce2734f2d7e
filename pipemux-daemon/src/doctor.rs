//! `pipemuxd doctor`: looks at what a daemon needs, and mends what can be mended safely. It is no daemon
//! and talks to none; `pipemux doctor` runs it, adds what a client sees, and prints both.
//!
//! | module | looks at |
//! |---|---|
//! | `doctor::places` | directories, the socket, the lock |
//! | `doctor::kept` | the saved state, logs, what sessions left behind |
//! | `doctor::machine` | limits, the clock, apps, processes |
//!
//! A finding is a line on standard output: what became of it, what was looked at, what was found, what to
//! do next, with tabs between.

mod finding;
mod runtime_files;
mod saved_state;
mod system;

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::unistd::getuid;
use pipemux_proto::paths::Paths;

use crate::manifests;
use finding::Finding;

/// How long one look may take: a directory of a machine that is gone answers never.
const CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// What is looked at.
#[derive(Debug, Clone)]
struct DoctorContext {
    paths: Paths,
    uid: u32,
    manifests: manifests::ManifestDirs,
    /// Where bare commands are looked up.
    path: String,
    /// The daemon that runs, as far as the caller knows.
    daemon: Option<i32>,
    fix: bool,
}

/// Looks at everything and prints what it finds.
///
/// # Errors
/// The environment leads to no paths; there is no thread to look with.
pub fn doctor(fix: bool, daemon: Option<i32>) -> Result<(), String> {
    let get = |name: &str| std::env::var(name).ok();
    let uid = getuid().as_raw();
    let paths = Paths::from_env(get, uid)?;
    let program = std::env::current_exe().map_err(|error| format!("can't find itself: {error}"))?;
    let context = DoctorContext {
        paths,
        uid,
        manifests: manifests::ManifestDirs {
            programs: program.parent().unwrap_or(Path::new("/")).to_owned(),
            user: manifests::user_directory(get),
        },
        path: get("PATH").unwrap_or_default(),
        daemon,
        fix,
    };
    context.run_checks(|finding| {
        let mut out = io::stdout().lock();
        // Whoever asked is gone: nobody is left to tell.
        let _ = out.write_all(finding.line().as_bytes()).and_then(|()| out.flush());
    })
}

type Check = (&'static str, fn(&DoctorContext) -> Vec<Finding>);

/// In the order of what needs what.
const CHECKS: &[Check] = &[
    ("state directory", runtime_files::state_directory),
    ("socket directory", runtime_files::socket_directory),
    ("socket path", runtime_files::socket_path),
    ("lock and socket", runtime_files::socket),
    ("free space", saved_state::space),
    ("saved state", saved_state::state),
    ("logs", saved_state::logs),
    ("session directories", saved_state::sessions),
    ("open files", system::files),
    ("clock", system::clock),
    ("manifests", system::manifests),
    ("apps", system::apps),
    ("left-over processes", system::leftovers),
];

impl DoctorContext {
    fn run_checks(&self, mut tell: impl FnMut(&Finding)) -> Result<(), String> {
        for (check, look) in CHECKS {
            let (found, wait) = mpsc::channel();
            let context = self.clone();
            thread::Builder::new()
                .name("look".into())
                .spawn(move || found.send(look(&context)))
                .map_err(|error| format!("can't look: {error}"))?;
            match wait.recv_timeout(CHECK_TIMEOUT) {
                Ok(findings) => findings.iter().for_each(&mut tell),
                Err(_) => {
                    let text = format!("no end within {} s", CHECK_TIMEOUT.as_secs());
                    tell(&Finding::bad(check, text, "is a file system away, or a disk failing?"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
