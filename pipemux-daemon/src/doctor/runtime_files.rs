//! Checks directories, the socket and the lock.

use std::fs::{self, File, Permissions, TryLockError};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use pipemux_proto::paths::SOCKET_PATH_MAX;

use super::context::DoctorContext;
use super::finding::Finding;
use crate::directories::create_private;
use crate::lock;

const SOCKET: &str = "lock and socket";

pub(super) fn state_directory(context: &DoctorContext) -> Vec<Finding> {
    let next = "set PIPEMUX_STATE_DIR to a directory of your own";
    vec![directory(context, "state directory", &context.paths.state_dir, next)]
}

pub(super) fn socket_directory(context: &DoctorContext) -> Vec<Finding> {
    let next = "set PIPEMUX_RUNTIME_DIR to a directory of your own";
    vec![directory(context, "socket directory", &context.paths.runtime_dir, next)]
}

fn directory(context: &DoctorContext, check: &'static str, path: &Path, next: &str) -> Finding {
    let shown = path.display();
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            // The daemon creates it when it needs it. Creating it now shows that this is possible.
            let made = match context.fix {
                true => create_private(path),
                false => check_creatable(path),
            };
            return match made {
                Ok(()) if context.fix => Finding::ok(check, format!("{shown} · 0700")),
                Ok(()) => {
                    Finding::ok(check, format!("{shown} will be created by the first daemon"))
                }
                Err(error) => Finding::bad(check, format!("can't create {shown}: {error}"), next),
            };
        }
        Err(error) => return Finding::bad(check, format!("{shown}: {error}"), next),
    };
    if !metadata.is_dir() {
        return Finding::bad(check, format!("{shown} is not a directory"), "move it away");
    }
    if metadata.uid() != context.uid {
        let text = format!("{shown} belongs to user {}", metadata.uid());
        return Finding::bad(check, text, next);
    }
    let mode = metadata.mode() & 0o777;
    if mode == 0o700 {
        return Finding::ok(check, format!("{shown} · 0700"));
    }
    let text = format!("{shown} has mode {mode:04o}: other users may enter");
    let closed = Permissions::from_mode(0o700);
    Finding::bad(check, text, format!("chmod 700 {shown}"))
        .fix_with(context, || fs::set_permissions(path, closed))
}

/// Checks that a directory could be created at that path.
fn check_creatable(path: &Path) -> std::io::Result<()> {
    let above = path.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/"));
    nix::unistd::access(above, nix::unistd::AccessFlags::W_OK).map_err(Into::into)
}

pub(super) fn socket_path(context: &DoctorContext) -> Vec<Finding> {
    let path = &context.paths.socket;
    let length = path.as_os_str().len();
    let text = format!("{} · {length} of {SOCKET_PATH_MAX} bytes", path.display());
    vec![match length > SOCKET_PATH_MAX {
        true => Finding::bad("socket path", text, "set PIPEMUX_RUNTIME_DIR to a shorter path"),
        false => Finding::ok("socket path", text),
    }]
}

/// Checks the socket. A refused connection proves nothing; the lock shows a running daemon.
pub(super) fn socket(context: &DoctorContext) -> Vec<Finding> {
    let paths = &context.paths;
    let (lock_path, socket) = (paths.lock.display(), paths.socket.display());
    let there = fs::symlink_metadata(&paths.socket).ok();
    vec![match (is_lock_held(&paths.lock), there) {
        // The daemon may have been started with another runtime directory, which the lock names.
        (true, None) if recorded_socket(&paths.lock).is_some_and(|path| path.exists()) => {
            Finding::ok(SOCKET, format!("a daemon holds {lock_path}; its socket is elsewhere"))
        }
        (true, None) => {
            let text = format!("a daemon holds {lock_path}, but its socket is gone: {socket}");
            Finding::bad(
                SOCKET,
                text,
                format!("end the daemon: kill $(fuser {lock_path}) · then: pipemux up"),
            )
        }
        (true, Some(_)) => Finding::ok(SOCKET, format!("a daemon holds {lock_path}")),
        (false, None) => Finding::ok(SOCKET, "no daemon runs, and no stale socket is left"),
        (false, Some(found)) if found.file_type().is_socket() => {
            let text = format!("{socket} is a dead daemon's: nobody holds the lock");
            let stale = Finding::bad(SOCKET, text, "removes the stale socket");
            stale.fix_with(context, || remove_stale(context))
        }
        (false, Some(_)) => {
            Finding::bad(SOCKET, format!("{socket} is not a socket"), "move it away")
        }
    }]
}

/// True while a daemon holds the lock, which is on its state directory and on a file in it.
pub(super) fn is_lock_held(lock: &Path) -> bool {
    // A shared lock, released at once. A daemon that starts at this moment finds the lock taken;
    // its client starts another.
    let is_held = |path: &Path| {
        let tried = File::open(path).map(|lock| lock.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    };
    is_held(lock) || lock.parent().is_some_and(is_held)
}

/// Removes the socket while holding the lock, so that no daemon can begin to listen there.
fn remove_stale(context: &DoctorContext) -> std::io::Result<()> {
    create_private(&context.paths.state_dir)?;
    let Some(_held) = lock::acquire(&context.paths.lock)? else {
        return Err(std::io::Error::other("a daemon has just started"));
    };
    fs::remove_file(&context.paths.socket)
}

/// Returns the socket that the holder of the lock wrote into it.
fn recorded_socket(lock: &Path) -> Option<std::path::PathBuf> {
    let text = fs::read_to_string(lock).ok()?;
    Some(text.lines().next()?.into())
}
