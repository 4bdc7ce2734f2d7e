//! Directories of the daemon and of sessions: created for this user alone, removed in the background.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::thread;

use crate::daemon_log::log;

/// Creates a directory that only this user may enter, with its parents.
///
/// # Errors
/// As `mkdir`.
pub fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a session's directory before its app is asked to open something there. A failure is only logged: the
/// app's answer to `open` says what it lacks.
pub fn prepare_session(state_dir: &str) {
    if let Err(error) = create_private(Path::new(state_dir)) {
        log(format_args!("can't create {state_dir}: {error}"));
    }
}

/// Removes a session's directory. It is renamed first, so that the session can be opened again at once; a thread
/// removes the rest, because an app may have put any number of files there.
pub fn remove_session(state_dir: &str, unix_ms: u64) {
    let renamed = format!("{state_dir}~{unix_ms}");
    match fs::rename(state_dir, &renamed) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => return log(format_args!("can't remove {state_dir}: {error}")),
    }
    let remove = move || match fs::remove_dir_all(&renamed) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => log(format_args!("can't remove {renamed}: {error}")),
    };
    if let Err(error) = thread::Builder::new().name("remove-session".into()).spawn(remove) {
        log(format_args!("can't remove {state_dir}: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    #[test]
    fn removed_session_directory_is_free_at_once_and_gone_soon() {
        let root = tempfile::tempdir().unwrap();
        let session = root.path().join("owner/editor/main");
        let path = session.to_str().unwrap();
        prepare_session(path);
        assert_eq!(fs::metadata(&session).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(session.join("file"), "x").unwrap();
        remove_session(path, 7);
        assert!(!session.exists());
        let deadline = Instant::now() + Duration::from_secs(20);
        while root.path().join("owner/editor/main~7").exists() {
            assert!(Instant::now() < deadline, "the directory was not removed");
            thread::yield_now();
        }
        // Nothing is there any more: no error, and nothing is created.
        remove_session(path, 8);
        assert!(!session.exists());
    }
}
