//! The workspace's other sessions of the terminal: whether their commands changed files, as their
//! directories tell.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use pipemux_snapshots::limits::CLOCK_STEP;

use super::saved;
use crate::limits::SESSIONS_MAX;

/// The name of the file that is locked while a command of its session runs.
const FILE_NAME: &str = "running";

/// Tells other sessions that a command of this one runs, as long as the file is open.
///
/// # Errors
/// It can't be written or locked.
pub(super) fn hold(state_dir: &Path) -> io::Result<File> {
    let file = File::options().append(true).create(true).open(state_dir.join(FILE_NAME))?;
    file.lock_shared()?;
    Ok(file)
}

/// Returns the sessions whose commands run, or changed files since then: `terminal/two`.
pub(super) fn busy(state_dir: &Path, since: SystemTime) -> Vec<String> {
    let Some(provider) = state_dir.parent() else { return Vec::new() };
    let since = since.checked_sub(CLOCK_STEP).unwrap_or(since);
    let is_busy = |session: &Path| {
        let changed = fs::metadata(session.join(saved::FILE_NAME)).and_then(|file| file.modified());
        let lock = File::open(session.join(FILE_NAME)).map(|file| file.try_lock());
        changed.is_ok_and(|at| at >= since) || matches!(lock, Ok(Err(TryLockError::WouldBlock)))
    };
    let sessions = fs::read_dir(provider).into_iter().flatten().flatten().take(SESSIONS_MAX);
    let others = sessions.map(|entry| entry.path()).filter(|session| session != state_dir);
    let name = |session: &Path| {
        let names = [provider, session].map(|path| path.file_name().unwrap_or_default());
        names.map(|name| name.to_string_lossy().into_owned()).join("/")
    };
    others.filter(|session| is_busy(session)).map(|session| name(&session)).collect()
}
