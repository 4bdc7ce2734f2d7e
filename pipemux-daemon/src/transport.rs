//! The Unix socket: the only module that knows how clients reach the daemon.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::task::{Poll, Waker};

use interprocess::local_socket::{GenericFilePath, Listener as Bound, ListenerOptions, ToFsName};
use pipemux_proto::paths::Paths;
use pipemux_socket::{Door, peer_uid};

use crate::note::note;

/// Where clients come in; dropping it removes the socket.
#[derive(Debug)]
pub struct Listener {
    door: Door,
    path: PathBuf,
    /// Device and number of the socket's file.
    file: (u64, u64),
    uid: u32,
}

impl Listener {
    /// Listens at the socket of these paths; nobody but this user gets there. To be called in a runtime
    /// and while the daemon's lock is held: a socket that is there already is a dead daemon's.
    ///
    /// # Errors
    /// What is in the way, and what to do about it.
    pub fn bind(paths: &Paths, uid: u32) -> Result<Self, String> {
        Self::bind_at(&paths.runtime_dir, &paths.socket, uid)
    }

    fn bind_at(directory: &Path, socket: &Path, uid: u32) -> Result<Self, String> {
        own_directory(directory, uid)?;
        remove_stale(socket)?;
        let cannot = |error: io::Error| format!("can't listen at {}: {error}", socket.display());
        let bound = bind(socket).map_err(cannot)?;
        // From here on the file is removed again, whatever fails.
        let path = Remove(socket.to_owned());
        bound.set_nonblocking(true).map_err(cannot)?;
        let door = Door::new(bound).map_err(cannot)?;
        let file = file_at(socket).map_err(cannot)?;
        Ok(Self { door, path: path.keep(), file, uid })
    }

    /// Listens anew when the socket is no longer where clients look for it, because its directory was
    /// cleaned or something else was put in its place; true when it does. Who is connected stays so.
    ///
    /// # Errors
    /// As [`Listener::bind`].
    pub fn restore(&mut self) -> Result<bool, String> {
        if file_at(&self.path).is_ok_and(|found| found == self.file) {
            return Ok(false);
        }
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        *self = Self::bind_at(directory, &self.path, self.uid)?;
        Ok(true)
    }

    /// The next connection of this user, which doesn't block; another user's is closed and told.
    ///
    /// # Errors
    /// As `accept`: among them that descriptors ran out.
    pub fn poll_accept(&self, waker: &Waker) -> Poll<io::Result<UnixStream>> {
        loop {
            let stream = match self.door.accept(waker) {
                Poll::Ready(Ok(accepted)) => accepted,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            };
            match peer_uid(&stream) {
                Ok(uid) if uid == self.uid => return Poll::Ready(Ok(stream)),
                Ok(uid) => note(format_args!("refused a connection of user {uid}")),
                Err(error) => note(format_args!("refused a connection of nobody known: {error}")),
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Its own, and not the one that came after it.
        if file_at(&self.path).is_ok_and(|found| found == self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

struct Remove(PathBuf);

impl Remove {
    fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Remove {
    fn drop(&mut self) {
        if !self.0.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.0);
        }
    }
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    let name = path.to_fs_name::<GenericFilePath>()?;
    // The name is removed by this module, under the daemon's lock, and by nobody else.
    let options = ListenerOptions::new().name(name).reclaim_name(false);
    #[cfg(target_os = "linux")]
    let options = {
        use interprocess::os::unix::local_socket::ListenerOptionsExt;
        options.mode(0o600)
    };
    let Bound::UdSocket(bound) = options.create_sync()?;
    #[cfg(not(target_os = "linux"))]
    {
        use std::os::unix::fs::PermissionsExt;
        // Nobody else gets into the directory meanwhile.
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(bound.into())
}

fn own_directory(path: &Path, uid: u32) -> Result<(), String> {
    let shown = path.display();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| format!("can't make {shown}: {error}; set PIPEMUX_RUNTIME_DIR"))?;
    // Not through a link: that could be anyone's.
    let found =
        fs::symlink_metadata(path).map_err(|error| format!("can't look at {shown}: {error}"))?;
    if !found.is_dir() || found.uid() != uid {
        return Err(format!(
            "{shown} is not a directory of this user's own; remove it or set PIPEMUX_RUNTIME_DIR"
        ));
    }
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        return Err(format!("{shown} is open to others (mode {mode:o}); run: chmod 700 {shown}"));
    }
    Ok(())
}

fn remove_stale(path: &Path) -> Result<(), String> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("can't look at {}: {error}", path.display())),
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path)
            .map_err(|error| format!("can't remove the stale {}: {error}", path.display())),
        Ok(_) => Err(format!("{} is in the way and no socket; remove it", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn paths(directory: &Path) -> Paths {
        let text = directory.join("run").to_str().unwrap().to_owned();
        let state = directory.join("state").to_str().unwrap().to_owned();
        let get = |name: &str| match name {
            "PIPEMUX_RUNTIME_DIR" => Some(text.clone()),
            "PIPEMUX_STATE_DIR" => Some(state.clone()),
            _ => None,
        };
        Paths::from_env(get, nix::unistd::getuid().as_raw()).unwrap()
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn the_socket_is_private_replaces_a_stale_one_and_goes_with_its_listener() {
        let directory = tempfile::tempdir().unwrap();
        let (paths, uid) = (paths(directory.path()), nix::unistd::getuid().as_raw());
        let runtime = runtime();
        let _in = runtime.enter();
        fs::create_dir(&paths.runtime_dir).unwrap();
        fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o700)).unwrap();
        drop(UnixListener::bind(&paths.socket).unwrap());
        assert!(paths.socket.exists());

        let listener = Listener::bind(&paths, uid).unwrap();
        assert_eq!(fs::metadata(&paths.socket).unwrap().mode() & 0o777, 0o600);
        UnixStream::connect(&paths.socket).unwrap();
        drop(listener);
        assert!(!paths.socket.exists());
    }

    #[test]
    fn a_socket_that_was_cleaned_away_is_put_back() {
        let directory = tempfile::tempdir().unwrap();
        let (paths, uid) = (paths(directory.path()), nix::unistd::getuid().as_raw());
        let runtime = runtime();
        let _in = runtime.enter();
        let mut listener = Listener::bind(&paths, uid).unwrap();
        assert_eq!(listener.restore(), Ok(false));
        fs::remove_dir_all(&paths.runtime_dir).unwrap();
        assert_eq!(listener.restore(), Ok(true));
        UnixStream::connect(&paths.socket).unwrap();
        // Another's socket in its place is nobody's: the lock says who listens.
        fs::remove_file(&paths.socket).unwrap();
        drop(UnixListener::bind(&paths.socket).unwrap());
        assert_eq!(listener.restore(), Ok(true));
        UnixStream::connect(&paths.socket).unwrap();
        drop(listener);
        assert!(!paths.socket.exists());
    }

    #[test]
    fn a_directory_that_others_can_enter_is_refused_with_the_remedy() {
        let directory = tempfile::tempdir().unwrap();
        let (paths, uid) = (paths(directory.path()), nix::unistd::getuid().as_raw());
        let runtime = runtime();
        let _in = runtime.enter();
        fs::create_dir(&paths.runtime_dir).unwrap();
        fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o755)).unwrap();
        let error = Listener::bind(&paths, uid).unwrap_err();
        assert!(error.contains("mode 755") && error.contains("chmod 700"), "{error}");

        fs::set_permissions(&paths.runtime_dir, fs::Permissions::from_mode(0o700)).unwrap();
        let error = Listener::bind(&paths, uid + 1).unwrap_err();
        assert!(error.contains("not a directory of this user's own"), "{error}");

        fs::write(&paths.socket, "precious").unwrap();
        let error = Listener::bind(&paths, uid).unwrap_err();
        assert!(error.contains("no socket"), "{error}");
        assert_eq!(fs::read(&paths.socket).unwrap(), b"precious");
    }
}
