//! Files with values that are too long for a message: the daemon writes them into the directory
//! `values` of the session that a value goes to, and removes them once the run has ended. What a
//! lost run or a lost daemon left behind is removed when it is old.
//!
//! An app may put anything into its own directory, so nothing here follows a link, and a file is
//! only appended to while it is the one that was made.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};
use pipemux_core::limits::{VALUE_FILE_MS, VALUE_FILES_MAX};
use pipemux_proto::paths::VALUES;

use crate::daemon_log::log;
use crate::directories::{DIRECTORY, names_in, open_below};

/// Appends bytes to a file below `base` that has `offset` bytes; with offset 0 the file is made.
///
/// # Errors
/// The system refuses, too many files wait for the session, or the file isn't as it was left.
pub fn append(base: &Path, path: &Path, offset: u64, data: &[u8]) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::other("it has no name"));
    };
    let directory = open_below(base, parent, true)?;
    let mut flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    if offset == 0 {
        remove_old(&directory, VALUE_FILE_AGE)?;
        if names_in(&directory)?.len() >= VALUE_FILES_MAX {
            return Err(io::Error::other(format!(
                "{VALUE_FILES_MAX} values wait in {}",
                parent.display()
            )));
        }
        flags |= OFlag::O_CREAT | OFlag::O_EXCL;
    }
    let mode = Mode::S_IRUSR | Mode::S_IWUSR;
    let mut file: File = openat(&directory, name, flags | OFlag::O_NONBLOCK, mode)?.into();
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() != 1 || found.len() != offset {
        return Err(io::Error::other("the file was changed meanwhile"));
    }
    file.write_all(data)
}

/// Removes a file below `base`, if it is there.
pub fn remove(base: &Path, path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    let directory = open_below(base, parent, false);
    let _ = directory.map(|directory| unlinkat(&directory, name, UnlinkatFlags::NoRemoveDir));
}

/// The age from which a file is no longer needed.
const VALUE_FILE_AGE: Duration = Duration::from_millis(VALUE_FILE_MS);

/// Removes old files of all sessions below `base`, on a thread of its own: nobody waits for that.
pub fn remove_old_of_all(base: &Path) {
    let base = base.to_owned();
    let sweep = move || {
        let Ok(sessions) = open_below(&base, &base.join("sessions"), false) else { return };
        sweep(&sessions, DEPTH);
    };
    if let Err(error) = thread::Builder::new().name("value-files".into()).spawn(sweep) {
        log(format_args!("can't look for old values: {error}"));
    }
}

/// The depth of the sessions' directories: owner, app, session.
const DEPTH: u32 = 3;

fn sweep(directory: &OwnedFd, depth: u32) {
    for name in names_in(directory).unwrap_or_default() {
        let is_values = depth == 0 && name.as_bytes() == VALUES.as_bytes();
        if depth == 0 && !is_values {
            continue;
        }
        let Ok(inner) = openat(directory, name.as_c_str(), DIRECTORY, Mode::empty()) else {
            continue;
        };
        if is_values {
            let _ = remove_old(&inner, VALUE_FILE_AGE);
        } else {
            sweep(&inner, depth - 1);
        }
    }
}

/// Removes the files of a directory that are older than an age.
fn remove_old(directory: &OwnedFd, age: Duration) -> io::Result<()> {
    for name in names_in(directory)? {
        let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let Ok(file) = openat(directory.as_fd(), name.as_c_str(), flags, Mode::empty()) else {
            continue;
        };
        let changed = File::from(file).metadata()?.modified()?;
        if SystemTime::now().duration_since(changed).is_ok_and(|passed| passed >= age) {
            let _ = unlinkat(directory, name.as_c_str(), UnlinkatFlags::NoRemoveDir);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn value_is_written_in_parts_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("sessions/o/notebook/main/values/1-2");
        append(root.path(), &path, 0, b"one ").unwrap();
        append(root.path(), &path, 4, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one two");
        assert!(append(root.path(), &path, 4, b"again").is_err(), "it has another length");
        assert!(append(root.path(), &path, 0, b"new").is_err(), "it is there");
        remove(root.path(), &path);
        assert!(!path.exists());
        remove(root.path(), &path);
    }

    #[test]
    fn links_of_an_app_are_not_followed() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let precious = outside.path().join("file");
        fs::write(&precious, "").unwrap();
        let session = root.path().join("sessions/o/notebook/main");
        fs::create_dir_all(session.join("values")).unwrap();
        symlink(&precious, session.join("values/1-1")).unwrap();
        assert!(append(root.path(), &session.join("values/1-1"), 0, b"x").is_err());
        fs::hard_link(&precious, session.join("values/1-2")).unwrap();
        assert!(append(root.path(), &session.join("values/1-2"), 0, b"x").is_err());
        fs::remove_dir_all(session.join("values")).unwrap();
        symlink(outside.path(), session.join("values")).unwrap();
        assert!(append(root.path(), &session.join("values/1-3"), 0, b"x").is_err());
        remove(root.path(), &session.join("values/file"));
        assert_eq!(fs::read(&precious).unwrap(), b"");
    }

    #[test]
    fn files_that_wait_for_a_session_are_bounded_and_old_ones_go() {
        let root = tempfile::tempdir().unwrap();
        let values = root.path().join("sessions/o/notebook/main/values");
        for number in 0..VALUE_FILES_MAX {
            append(root.path(), &values.join(format!("1-{number}")), 0, b"x").unwrap();
        }
        let refused = append(root.path(), &values.join("1-99"), 0, b"x").unwrap_err();
        assert!(refused.to_string().starts_with("16 values wait in "), "{refused}");
        let directory = open_below(root.path(), &values, false).unwrap();
        remove_old(&directory, VALUE_FILE_AGE).unwrap();
        assert_eq!(fs::read_dir(&values).unwrap().count(), VALUE_FILES_MAX, "none is old");
        let old = SystemTime::now() - VALUE_FILE_AGE;
        let file = File::options().write(true).open(values.join("1-3")).unwrap();
        file.set_modified(old).unwrap();
        let sessions = open_below(root.path(), &root.path().join("sessions"), false).unwrap();
        sweep(&sessions, DEPTH);
        assert!(!values.join("1-3").exists() && values.join("1-4").exists());
    }
}
