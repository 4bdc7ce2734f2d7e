//! The Unix socket. No other module knows how clients reach the daemon.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::task::{Poll, Waker};

use interprocess::local_socket::{
    GenericFilePath, Listener as BoundListener, ListenerOptions, ToFsName,
};
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::AcceptConn;
use pipemux_proto::paths::Paths;
use pipemux_socket::{Acceptor, peer_uid};

use crate::daemon_log::log;

/// Accepts clients; removes the socket when it is dropped.
#[derive(Debug)]
pub struct ClientListener {
    acceptor: Acceptor,
    path: PathBuf,
    /// Device and inode of the socket's file.
    file: (u64, u64),
    uid: u32,
    /// True for a socket that a service manager passed: it stays open and in its place when the
    /// daemon ends.
    passed: bool,
}

impl ClientListener {
    /// Listens at the socket of these paths, which only this user can reach. Must be called within
    /// a runtime and while the daemon's lock is held: an existing socket belongs to a dead daemon
    /// then.
    ///
    /// # Errors
    /// What is in the way, and what to do about it.
    pub fn bind(paths: &Paths, uid: u32) -> Result<Self, String> {
        Self::bind_at(&paths.runtime_dir, &paths.socket, uid)
    }

    fn bind_at(directory: &Path, socket: &Path, uid: u32) -> Result<Self, String> {
        prepare_directory(directory, uid)?;
        remove_stale(socket)?;
        // From now on it leads here.
        let _ = fs::remove_file(socket.with_extension("elsewhere"));
        let cannot = |error: io::Error| format!("can't listen at {}: {error}", socket.display());
        let bound = bind(socket).map_err(cannot)?;
        // From here on the file is removed again if anything fails.
        let path = RemoveOnDrop(socket.to_owned());
        bound.set_nonblocking(true).map_err(cannot)?;
        let acceptor = Acceptor::new(bound).map_err(cannot)?;
        let file = file_identity(socket).map_err(cannot)?;
        Ok(Self { acceptor, path: path.keep(), file, uid, passed: false })
    }

    /// Serves a socket that a service manager listens on and has passed. Must be called within a
    /// runtime.
    ///
    /// # Errors
    /// It isn't a socket that only this user can reach.
    pub fn from_passed(passed: UnixListener, uid: u32) -> Result<Self, String> {
        let address = passed.local_addr().ok();
        let Some(path) = address.as_ref().and_then(|address| address.as_pathname()) else {
            return Err("the passed socket has no path: expected ListenStream=/…".to_owned());
        };
        let cannot =
            |error: io::Error| format!("can't serve the passed {}: {error}", path.display());
        if !getsockopt(&passed, AcceptConn).map_err(|error| cannot(error.into()))? {
            return Err(format!("the passed {} doesn't listen", path.display()));
        }
        prepare_directory(path.parent().unwrap_or(Path::new("/")), uid)?;
        passed.set_nonblocking(true).map_err(cannot)?;
        let file = file_identity(path).map_err(cannot)?;
        let path = path.to_owned();
        let acceptor = Acceptor::new(passed)
            .map_err(|error| format!("can't serve the passed {}: {error}", path.display()))?;
        Ok(Self { acceptor, path, file, uid, passed: true })
    }

    /// True for a socket that a service manager passed: who isn't accepted is served by the next
    /// daemon.
    pub fn is_passed(&self) -> bool {
        self.passed
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// True while clients find the socket where they look for it.
    pub fn is_in_place(&self) -> bool {
        file_identity(&self.path).is_ok_and(|found| found == self.file)
    }

    /// Listens again if the socket is no longer where clients look for it, because its directory
    /// was cleaned or something else took its place; returns whether it did. Existing connections
    /// stay open.
    ///
    /// # Errors
    /// As [`ClientListener::bind`].
    pub fn restore(&mut self) -> Result<bool, String> {
        if self.is_in_place() {
            return Ok(false);
        }
        *self = Self::bind_at(self.directory(), &self.path, self.uid)?;
        Ok(true)
    }

    /// Returns the next connection of this user, which is non-blocking. Another user's connection
    /// is closed and logged.
    ///
    /// # Errors
    /// As `accept`, for example when descriptors run out.
    pub fn poll_accept(&self, waker: &Waker) -> Poll<io::Result<UnixStream>> {
        loop {
            let stream = match self.acceptor.accept(waker) {
                Poll::Ready(Ok(accepted)) => accepted,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            };
            match peer_uid(&stream) {
                Ok(uid) if uid == self.uid => return Poll::Ready(Ok(stream)),
                Ok(uid) => log(format_args!("refused a connection of user {uid}")),
                Err(error) => log(format_args!("refused a connection of an unknown user: {error}")),
            }
        }
    }
}

impl Drop for ClientListener {
    fn drop(&mut self) {
        // Removes its own socket, not one that took its place.
        if !self.passed && file_identity(&self.path).is_ok_and(|found| found == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// True when someone else than a daemon listens at the path, which is a service manager that starts
/// one.
pub fn is_of_service_manager(path: &Path) -> bool {
    listening_process(path).is_some_and(|program| program != "pipemuxd")
}

/// Returns the name of the process that began to listen at the path, if it still runs.
#[cfg(target_os = "linux")]
fn listening_process(path: &Path) -> Option<String> {
    use nix::sys::socket::sockopt::PeerCredentials;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
    use std::os::fd::AsRawFd;

    // Nobody is waited for: the queue of a daemon that hangs may be full.
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let stream = socket(AddressFamily::Unix, SockType::Stream, flags, None).ok()?;
    connect(stream.as_raw_fd(), &UnixAddr::new(path).ok()?).ok()?;
    let pid = getsockopt(&stream, PeerCredentials).ok()?.pid();
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Returns `None`, because service managers of other systems don't pass sockets.
#[cfg(not(target_os = "linux"))]
fn listening_process(_: &Path) -> Option<String> {
    None
}

fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

struct RemoveOnDrop(PathBuf);

impl RemoveOnDrop {
    fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// Binds a socket that only this user can reach.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    let name = path.to_fs_name::<GenericFilePath>()?;
    // Only this module removes the file, under the daemon's lock.
    let options = ListenerOptions::new().name(name).reclaim_name(false);
    #[cfg(target_os = "linux")]
    let options = {
        use interprocess::os::unix::local_socket::ListenerOptionsExt;
        options.mode(0o600)
    };
    let BoundListener::UdSocket(bound) = options.create_sync()?;
    #[cfg(not(target_os = "linux"))]
    {
        use std::os::unix::fs::PermissionsExt;
        // Meanwhile nobody else can enter the directory.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(bound.into())
}

fn prepare_directory(path: &Path, uid: u32) -> Result<(), String> {
    let shown = path.display();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| format!("can't create {shown}: {error}; set PIPEMUX_RUNTIME_DIR"))?;
    // A link is not followed: it could lead to anyone's directory.
    let metadata =
        fs::symlink_metadata(path).map_err(|error| format!("can't inspect {shown}: {error}"))?;
    if !metadata.is_dir() || metadata.uid() != uid {
        return Err(format!(
            "{shown} is not a directory of this user's own; remove it or set PIPEMUX_RUNTIME_DIR"
        ));
    }
    if metadata.mode() & 0o077 != 0 {
        let mode = metadata.mode() & 0o777;
        return Err(format!("{shown} is open to others (mode {mode:o}); run: chmod 700 {shown}"));
    }
    Ok(())
}

fn remove_stale(path: &Path) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("can't inspect {}: {error}", path.display())),
        // A packaged unit's link leads to a socket, or to none if the unit ended without a word.
        Ok(found) if found.file_type().is_socket() || leads_to_no_file(&found, path) => {
            fs::remove_file(path)
                .map_err(|error| format!("can't remove the stale {}: {error}", path.display()))
        }
        Ok(_) => Err(format!("{} is in the way and is not a socket; remove it", path.display())),
    }
}

/// True for a link that leads to a socket, on which nobody listens by now, or to nothing.
fn leads_to_no_file(found: &fs::Metadata, path: &Path) -> bool {
    let target = fs::metadata(path);
    found.is_symlink() && target.map_or(true, |target| target.file_type().is_socket())
}

#[cfg(test)]
mod tests;
