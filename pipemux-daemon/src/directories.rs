//! Directories of the daemon and of sessions: created for this user alone, removed in the
//! background.
//!
//! Apps can write below the state directory. Therefore the way from there to a session's directory
//! is gone one name at a time, and no symbolic link on it is followed: what an app puts there leads
//! nowhere else.

use std::ffi::{CString, OsStr};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path};
use std::thread;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::daemon_log::log;

/// Creates a directory that only this user may enter, with its parents.
///
/// # Errors
/// As `mkdir`.
pub fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a directory below another one, with the directories between them, for this user alone.
///
/// # Errors
/// As `mkdir`; something on the way is not a directory, or a symbolic link.
pub fn create_below(base: &Path, path: &Path) -> io::Result<()> {
    create_private(base)?;
    open_below(base, path, true).map(drop)
}

/// Creates a session's directory before its app is asked to open something there. A failure is only
/// logged: the app's answer to `open` says what it lacks.
pub fn prepare_session(base: &Path, state_dir: &str) {
    if let Err(error) = create_below(base, Path::new(state_dir)) {
        log(format_args!("can't create {state_dir}: {error}"));
    }
}

/// Removes a session's directory. It is renamed first, so that the session can be opened again at
/// once; a thread removes the rest, because an app may have put any number of files there.
pub fn remove_session(base: &Path, state_dir: &str, unix_ms: u64) {
    let path = Path::new(state_dir);
    let cannot = |error: io::Error| log(format_args!("can't remove {state_dir}: {error}"));
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    let mut renamed = name.to_owned();
    renamed.push(format!("~{unix_ms}"));
    let parent = match open_below(base, parent, false) {
        Ok(parent) => parent,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return,
        Err(error) => return cannot(error),
    };
    match renameat(&parent, name, &parent, renamed.as_os_str()) {
        Ok(()) => {}
        Err(Errno::ENOENT) => return,
        Err(error) => return cannot(error.into()),
    }
    let shown = state_dir.to_owned();
    let remove = move || {
        if let Err(error) = remove_tree(&parent, &renamed) {
            log(format_args!("can't remove what was {shown}: {error}"));
        }
    };
    if let Err(error) = thread::Builder::new().name("remove-session".into()).spawn(remove) {
        cannot(error);
    }
}

pub const DIRECTORY: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// Opens a directory below another one, without following symbolic links on the way; creates those
/// that aren't there if `create` says so.
pub fn open_below(base: &Path, path: &Path, create: bool) -> io::Result<OwnedFd> {
    let outside =
        || io::Error::other(format!("{} is not below {}", path.display(), base.display()));
    let below = path.strip_prefix(base).map_err(|_| outside())?;
    // The state directory itself may be a link: the user chose it.
    let mut at: OwnedFd = File::open(base)?.into();
    for part in below.components() {
        let Component::Normal(name) = part else { return Err(outside()) };
        if create {
            match mkdirat(&at, name, Mode::S_IRWXU) {
                Ok(()) | Err(Errno::EEXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        at = openat(&at, name, DIRECTORY, Mode::empty())?;
    }
    Ok(at)
}

/// Removes what has a name in a directory, with all that is in it. Of a symbolic link only the link
/// is removed.
///
/// Two directories are open at any time, however deep the tree is: what is found in a directory is
/// moved to the top.
fn remove_tree(parent: &OwnedFd, name: &OsStr) -> io::Result<()> {
    if remove_file(parent, name)? {
        return Ok(());
    }
    let top = openat(parent, name, DIRECTORY, Mode::empty())?;
    let mut moved: u64 = 0;
    loop {
        let names = names_in(&top)?;
        if names.is_empty() {
            break;
        }
        for name in &names {
            if remove_file(&top, name.as_c_str())? {
                continue;
            }
            let directory = openat(&top, name.as_c_str(), DIRECTORY, Mode::empty())?;
            loop {
                let inner = names_in(&directory)?;
                if inner.is_empty() {
                    break;
                }
                for inner in &inner {
                    if remove_file(&directory, inner.as_c_str())? {
                        continue;
                    }
                    // An app may have taken the name; then the next one is tried.
                    moved += 1;
                    while let Err(error) =
                        renameat(&directory, inner.as_c_str(), &top, format!("~{moved}").as_str())
                    {
                        if !matches!(error, Errno::EEXIST | Errno::ENOTEMPTY | Errno::ENOTDIR) {
                            return Err(error.into());
                        }
                        moved += 1;
                    }
                }
            }
            unlinkat(&top, name.as_c_str(), UnlinkatFlags::RemoveDir)?;
        }
    }
    Ok(unlinkat(parent, name, UnlinkatFlags::RemoveDir)?)
}

/// Removes a name that is no directory's; returns false for a directory.
fn remove_file<P: ?Sized + nix::NixPath>(directory: &OwnedFd, name: &P) -> io::Result<bool> {
    match unlinkat(directory, name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => Ok(true),
        // Linux says the one, other systems the other.
        Err(Errno::EISDIR | Errno::EPERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The number of directory entries that are read at a time.
const NAMES_A_TIME: usize = 1024;

pub fn names_in(directory: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut open = Dir::openat(directory, c".", DIRECTORY, Mode::empty())?;
    let mut names = Vec::new();
    for entry in open.iter() {
        let name = entry?.file_name().to_owned();
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push(name);
        }
        if names.len() == NAMES_A_TIME {
            break;
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::fs::symlink;
    use std::time::{Duration, Instant};

    fn wait_until_gone(path: &Path) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while fs::symlink_metadata(path).is_ok() {
            assert!(Instant::now() < deadline, "{} was not removed", path.display());
            thread::yield_now();
        }
    }

    #[test]
    fn nothing_outside_is_removed_or_created_through_a_link() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let precious = outside.path().join("main");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("file"), "x").unwrap();
        let owner = root.path().join("sessions/owner");
        fs::create_dir_all(&owner).unwrap();
        // In place of the directory of all sessions of an app.
        symlink(outside.path(), owner.join("editor")).unwrap();
        let path = owner.join("editor/main");
        remove_session(root.path(), path.to_str().unwrap(), 7);
        prepare_session(root.path(), owner.join("editor/other").to_str().unwrap());
        assert_eq!(fs::read_to_string(precious.join("file")).unwrap(), "x");
        assert!(!outside.path().join("other").exists() && !outside.path().join("main~7").exists());
        // In place of the session's own directory, and inside of it.
        fs::remove_file(owner.join("editor")).unwrap();
        fs::create_dir_all(owner.join("editor/inner")).unwrap();
        symlink(&precious, owner.join("editor/main")).unwrap();
        symlink(&precious, owner.join("editor/inner/link")).unwrap();
        for (name, at) in [("main", 8), ("inner", 9)] {
            let path = owner.join("editor").join(name);
            remove_session(root.path(), path.to_str().unwrap(), at);
            wait_until_gone(&path.with_file_name(format!("{name}~{at}")));
            assert!(fs::symlink_metadata(path).is_err());
        }
        assert_eq!(fs::read_to_string(precious.join("file")).unwrap(), "x");
        for path in ["/etc/x", "sessions/../../x"] {
            assert!(open_below(root.path(), &root.path().join(path), true).is_err(), "{path}");
        }
    }

    #[test]
    fn deep_and_wide_trees_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let session = root.path().join("sessions/s");
        create_below(root.path(), &session).unwrap();
        let mut at: OwnedFd = File::open(&session).unwrap().into();
        for depth in 0..2_000 {
            mkdirat(&at, "d", Mode::S_IRWXU).unwrap();
            mkdirat(&at, format!("~{depth}").as_str(), Mode::S_IRWXU).unwrap();
            at = openat(&at, "d", DIRECTORY, Mode::empty()).unwrap();
        }
        for number in 0..NAMES_A_TIME + 10 {
            fs::write(session.join(format!("f{number}")), "").unwrap();
        }
        remove_session(root.path(), session.to_str().unwrap(), 1);
        wait_until_gone(&root.path().join("sessions/s~1"));
    }

    #[test]
    fn removed_session_directory_is_free_at_once_and_gone_soon() {
        let root = tempfile::tempdir().unwrap();
        let session = root.path().join("owner/editor/main");
        let path = session.to_str().unwrap();
        prepare_session(root.path(), path);
        assert_eq!(fs::metadata(&session).unwrap().permissions().mode() & 0o777, 0o700);
        fs::write(session.join("file"), "x").unwrap();
        remove_session(root.path(), path, 7);
        assert!(!session.exists());
        wait_until_gone(&root.path().join("owner/editor/main~7"));
        // Nothing is there any more: no error, and nothing is created.
        remove_session(root.path(), path, 8);
        assert!(!session.exists());
    }
}
