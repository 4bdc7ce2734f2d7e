//! Checks limits, the clock, apps and processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{Resource, getrlimit};
use pipemux_core::{Manifest, ManifestProblem};
use pipemux_launcher::{MarkOrigin, SandboxSupport, leftovers};

use super::context::DoctorContext;
use super::finding::Finding;
use crate::manifests::is_program;

/// The number of open files that a daemon with a few hundred sessions and clients needs.
const FILES_MIN: u64 = 1_024;
/// The earliest time that a correct clock shows: 2025-01-01.
const CLOCK_MIN: u64 = 1_735_689_600;
/// The tolerated lead of a file's time over the clock.
const CLOCK_SLACK: Duration = Duration::from_secs(3_600);
/// The time that left-over processes have to end.
const LEFTOVERS_TIMEOUT: Duration = Duration::from_millis(700);

pub(super) fn files(_: &DoctorContext) -> Vec<Finding> {
    let (soft, hard) = match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok(limits) => limits,
        Err(error) => return vec![Finding::bad("open files", error.to_string(), "ulimit -n")],
    };
    let shown = |limit: u64| match limit >= u64::MAX >> 1 {
        true => "unlimited".to_owned(),
        false => limit.to_string(),
    };
    let text = format!("soft limit {}, hard limit {}", shown(soft), shown(hard));
    // The daemon raises its soft limit to the hard limit.
    vec![match hard < FILES_MIN {
        true => Finding::bad(
            "open files",
            format!("{text}; {FILES_MIN} are needed"),
            "raise it: ulimit -Hn, or nofile in limits.conf; then: pipemux down",
        ),
        false => Finding::ok("open files", text),
    }]
}

/// Says whether files can be watched: all programs of a user share a number of watches.
#[cfg(target_os = "linux")]
pub(super) fn watches(_: &DoctorContext) -> Vec<Finding> {
    use nix::sys::inotify::{InitFlags, Inotify};
    vec![match Inotify::init(InitFlags::IN_CLOEXEC) {
        Ok(_) => Finding::ok("file watches", "available"),
        Err(error) => Finding::bad(
            "file watches",
            format!("there are none left ({error}): changes of files are seen seconds later"),
            "raise fs.inotify.max_user_instances: sudo sysctl fs.inotify.max_user_instances=1024",
        ),
    }]
}

/// Elsewhere the daemon looks from time to time.
#[cfg(not(target_os = "linux"))]
pub(super) fn watches(_: &DoctorContext) -> Vec<Finding> {
    Vec::new()
}

/// Says what apps can be confined to. What is missing can't be repaired here, so it is told and
/// nothing more.
pub(super) fn sandbox(_: &DoctorContext) -> Vec<Finding> {
    vec![Finding::ok("sandbox", SandboxSupport::of_this_system().describe())]
}

pub(super) fn clock(context: &DoctorContext) -> Vec<Finding> {
    let now = SystemTime::now();
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let written = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    let newest = written(&context.paths.state_dir.join("state.log"));
    let ahead = newest.and_then(|newest| newest.duration_since(now).ok());
    vec![if seconds < CLOCK_MIN {
        Finding::bad(
            "clock",
            "it shows a time before 2025",
            "set the clock: times in history and logs are wrong",
        )
    } else if let Some(ahead) = ahead.filter(|ahead| *ahead > CLOCK_SLACK) {
        let text = format!("the saved state is {} min ahead of the clock", ahead.as_secs() / 60);
        Finding::bad("clock", text, "set the clock: times in history and logs are wrong")
    } else {
        Finding::ok("clock", "consistent with the saved state")
    }]
}

pub(super) fn manifests(context: &DoctorContext) -> Vec<Finding> {
    let found = context.manifests.load();
    if found.problems.is_empty() {
        let text = format!("{} apps, no errors", found.manifests.len());
        return vec![Finding::ok("manifests", text)];
    }
    let next = "correct it or remove the file";
    let bad = |problem: &ManifestProblem| Finding::bad("manifests", problem.text.clone(), next);
    found.problems.iter().map(bad).collect()
}

pub(super) fn apps(context: &DoctorContext) -> Vec<Finding> {
    let found = context.manifests.load().manifests;
    let missing: Vec<Finding> = found.iter().filter_map(|one| app(context, one)).collect();
    match missing.is_empty() {
        true => vec![Finding::ok("apps", format!("{} programs, all executable", found.len()))],
        false => missing,
    }
}

/// Returns what is wrong with an app's program.
fn app(context: &DoctorContext, manifest: &Manifest) -> Option<Finding> {
    let (id, command) = (&manifest.id, &manifest.command);
    let next = format!("install it, or: pipemux app remove {id}");
    let path = match command.contains('/') {
        true => PathBuf::from(command),
        false => {
            let all = std::env::split_paths(&context.path).map(|one| one.join(command));
            match all.into_iter().find(|path| is_program(path)) {
                Some(path) => path,
                None => {
                    let text = format!("{id}: {command} is not on PATH");
                    return Some(Finding::bad("apps", text, next));
                }
            }
        }
    };
    if is_program(&path) {
        return None;
    }
    let shown = path.display();
    Some(match path.exists() {
        true => Finding::bad(
            "apps",
            format!("{id}: {shown} is not executable"),
            format!("chmod +x {shown}"),
        ),
        false => Finding::bad("apps", format!("{id}: {shown} is not there"), next),
    })
}

pub(super) fn leftovers(context: &DoctorContext) -> Vec<Finding> {
    const CHECK: &str = "left-over processes";
    let state = &context.paths.state_dir;
    let Ok(origin) = MarkOrigin::of(state) else {
        return vec![Finding::ok(CHECK, "none: no daemon has run yet")];
    };
    if context.daemon.is_none() && super::runtime_files::is_lock_held(&context.paths.lock) {
        return vec![Finding::ok(
            CHECK,
            "not checked: the running daemon doesn't tell its process id",
        )];
    }
    let found = leftovers::find(origin, context.daemon);
    let Some(first) = found.first() else { return vec![Finding::ok(CHECK, "none")] };
    let text = format!("{} of a dead daemon: {} {}", found.len(), first.pid, first.command);
    vec![Finding::bad(CHECK, text, "ends these processes").fix_with(
        context,
        || match leftovers::end(origin, context.daemon, LEFTOVERS_TIMEOUT) {
            (_, true) => Ok(()),
            (_, false) => Err(std::io::Error::other("they did not end")),
        },
    )]
}
