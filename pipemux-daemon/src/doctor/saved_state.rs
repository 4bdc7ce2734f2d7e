//! Checks free space, the saved state, logs and session directories.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use super::context::DoctorContext;
use super::finding::Finding;
use crate::journal;

/// The least free space in bytes, and the fewest free inodes.
const SPACE_MIN: (u64, u64) = (64 << 20, 1_000);
/// The length of the daemon's log from which it is cut, and what is kept, in bytes.
const LOG_MAX: (u64, u64) = (32 << 20, 1 << 20);
/// The maximum number of visited entries of a directory.
const DIRECTORIES_MAX: usize = 100_000;

pub(super) fn space(context: &DoctorContext) -> Vec<Finding> {
    let state = &context.paths.state_dir;
    let there = state.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    let found = match statvfs(there) {
        Ok(found) => found,
        Err(error) => {
            let next = "set PIPEMUX_STATE_DIR to another file system";
            return vec![Finding::bad("free space", format!("{}: {error}", there.display()), next)];
        }
    };
    // The widths of these numbers differ between systems.
    #[allow(clippy::unnecessary_cast)]
    let (free, inodes, all_inodes) = (
        found.blocks_available() as u64 * found.fragment_size() as u64,
        found.files_available() as u64,
        found.files() as u64,
    );
    let text = format!("{} MiB and {inodes} inodes free at {}", free >> 20, there.display());
    // Some file systems count no inodes.
    let few = free < SPACE_MIN.0 || (all_inodes > 0 && inodes < SPACE_MIN.1);
    vec![match few {
        true => Finding::bad(
            "free space",
            text,
            "free some space: acts are refused while the disk is full",
        ),
        false => Finding::ok("free space", text),
    }]
}

pub(super) fn state(context: &DoctorContext) -> Vec<Finding> {
    let directory = &context.paths.state_dir;
    let path = directory.join("state.log");
    let aside = entries_with_prefix(directory, "state.log.bad-");
    let earlier = match aside.as_slice() {
        [] => String::new(),
        all => format!(" · damaged files set aside: {}", join_names(all)),
    };
    let shown = path.display();
    vec![match journal::check(&path) {
        Ok(None) => Finding::ok("saved state", format!("{shown} is intact{earlier}")),
        Ok(Some(what)) => Finding::bad(
            "saved state",
            format!("{shown} {what}{earlier}"),
            "the next daemon restores what can be read and sets the file aside: pipemux up",
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Finding::ok("saved state", format!("none yet{earlier}"))
        }
        Err(error) => Finding::bad(
            "saved state",
            format!("{shown} can't be read: {error}{earlier}"),
            "check its owner and permissions",
        ),
    }]
}

pub(super) fn logs(context: &DoctorContext) -> Vec<Finding> {
    let log = &context.paths.log;
    let length = fs::metadata(log).map_or(0, |found| found.len());
    let sessions = walk(&context.paths.state_dir.join("logs"));
    let total: u64 = sessions.iter().map(|(_, length)| length).sum();
    let text = format!(
        "{}: {} · {} session logs: {}",
        log.display(),
        size(length),
        sessions.len(),
        size(total)
    );
    vec![match length > LOG_MAX.0 {
        true => Finding::bad("logs", text, format!("keeps the last {}", size(LOG_MAX.1)))
            .fix_with(context, || truncate_to_end(log)),
        false => Finding::ok("logs", text),
    }]
}

/// Directories of sessions stay after these end, for the same sessions opened again. Directories of
/// apps that are no longer registered are reported; only the user may remove them.
pub(super) fn sessions(context: &DoctorContext) -> Vec<Finding> {
    let base = context.paths.state_dir.join("sessions");
    let known: BTreeSet<String> =
        context.manifests.load().manifests.iter().map(|one| one.id.to_string()).collect();
    let mut count = 0;
    let mut orphans: Vec<PathBuf> = Vec::new();
    for owner in entries(&base) {
        for provider in entries(&owner) {
            let name = provider.file_name().unwrap_or_default().to_string_lossy().into_owned();
            count += entries(&provider).len();
            if !known.contains(&name) {
                orphans.push(provider);
            }
        }
    }
    let text = format!("{count} in {}", base.display());
    vec![Finding::ok(
        "session directories",
        match orphans.as_slice() {
            [] => text,
            [one, rest @ ..] => format!(
                "{text} · of apps that are not registered: {}{}",
                one.display(),
                if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) }
            ),
        },
    )]
}

/// Truncates a log to its end in place: a running daemon goes on appending to the same file.
fn truncate_to_end(log: &Path) -> io::Result<()> {
    let mut end = Vec::new();
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_MAX.1)))?;
    file.take(LOG_MAX.1).read_to_end(&mut end)?;
    let whole = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    OpenOptions::new().write(true).truncate(true).open(log)?;
    OpenOptions::new().append(true).open(log)?.write_all(&end[whole..])
}

fn entries_with_prefix(directory: &Path, prefix: &str) -> Vec<PathBuf> {
    let begins = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    let mut found: Vec<PathBuf> = entries(directory).into_iter().filter(begins).collect();
    found.sort();
    found
}

fn join_names(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.take(DIRECTORIES_MAX).filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// Returns the files below a directory with their lengths.
fn walk(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for owner in entries(directory) {
        for log in entries(&owner) {
            let length = fs::symlink_metadata(&log).map_or(0, |found| found.len());
            found.push((log, length));
        }
    }
    found
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=1_048_575 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{} MiB", bytes >> 20),
    }
}
