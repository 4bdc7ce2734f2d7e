//! The paths where a user's daemon keeps its state and listens. Daemon and clients derive the same
//! paths.
//!
//! **Invariant: pure.** The environment is an argument, and nothing is looked up on disk.

use std::path::{Path, PathBuf};

/// Length of the longest socket path, in bytes: macOS allows 103 before the final zero, Linux 107.
pub const SOCKET_PATH_MAX: usize = 100;

/// The name of the directory in a session's own directory in which the daemon writes values that
/// are too long for a message.
pub const VALUES: &str = "values";

/// The paths of one daemon. Each state directory of a user has one daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The directory of all data that outlives the daemon.
    pub state_dir: PathBuf,
    /// The directory of the socket, which holds nothing permanent; always the socket's parent.
    pub runtime_dir: PathBuf,
    /// The socket on which the daemon listens.
    pub socket: PathBuf,
    /// The file that the daemon locks while it runs.
    pub lock: PathBuf,
    /// The daemon's log.
    pub log: PathBuf,
}

impl Paths {
    /// Derives the paths from the environment; `get` returns the value of a variable.
    ///
    /// The state directory is `$PIPEMUX_STATE_DIR`, else `$XDG_STATE_HOME/pipemux`, else
    /// `$HOME/.local/state/pipemux`. The socket is in `$PIPEMUX_RUNTIME_DIR`, else in
    /// `$XDG_RUNTIME_DIR/pipemux`, else in the state directory's `run`. If the socket's path would
    /// be longer than [`SOCKET_PATH_MAX`], it is in `/tmp/pipemux-<uid>`. The socket's name is a
    /// hash of the state directory's path, so that daemons of several state directories can share a
    /// runtime directory.
    ///
    /// An empty variable counts as unset. So does a relative `XDG_…` one, as the XDG specification
    /// demands.
    ///
    /// # Errors
    /// A `PIPEMUX_…` path is relative, or no variable determines the state directory. The error
    /// says what to set.
    pub fn from_env(get: impl Fn(&str) -> Option<String>, uid: u32) -> Result<Paths, String> {
        let pipemux = |name: &str| pipemux_path(name, get(name));
        let xdg = |name: &str| absolute(get(name)).map(|base| base.join("pipemux"));

        let state_dir = match pipemux("PIPEMUX_STATE_DIR")? {
            Some(path) => path,
            None => xdg("XDG_STATE_HOME")
                .or_else(|| absolute(get("HOME")).map(|home| home.join(".local/state/pipemux")))
                .ok_or("no directory for the state: set HOME, or PIPEMUX_STATE_DIR to an absolute path")?,
        };
        let preferred = pipemux("PIPEMUX_RUNTIME_DIR")?
            .or_else(|| xdg("XDG_RUNTIME_DIR"))
            .unwrap_or_else(|| state_dir.join("run"));

        let name = socket_name(&state_dir);
        let fits = preferred.as_os_str().len() + 1 + name.len() <= SOCKET_PATH_MAX;
        let runtime_dir = if fits { preferred } else { format!("/tmp/pipemux-{uid}").into() };
        Ok(Paths {
            socket: runtime_dir.join(name),
            lock: state_dir.join("daemon.lock"),
            log: state_dir.join("daemon.log"),
            runtime_dir,
            state_dir,
        })
    }
}

impl Paths {
    /// The file whose first line is the id of the state directory's daemon.
    pub fn identity_file(&self) -> PathBuf {
        self.state_dir.join("identity")
    }

    /// The file that exists while the daemon is to stay down, because a person stopped it.
    pub fn stopped_file(&self) -> PathBuf {
        self.state_dir.join("stopped")
    }

    /// The file beside the socket that says that the socket belongs to the daemon of another state
    /// directory, and on which host.
    pub fn elsewhere_file(&self) -> PathBuf {
        self.socket.with_extension("elsewhere")
    }

    /// Returns the id of the state directory's daemon; `None` before its first start.
    pub fn identity(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.identity_file()).ok()?;
        text.lines().next().map(str::to_owned)
    }
}

fn pipemux_path(name: &str, value: Option<String>) -> Result<Option<PathBuf>, String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    match absolute(Some(value.clone())) {
        Some(path) => Ok(Some(path)),
        None => Err(format!("{name} is `{value}`: expected an absolute path")),
    }
}

/// Removes doubled slashes, `.` parts and a final slash, so that a directory has one hash however
/// its path is written.
fn absolute(value: Option<String>) -> Option<PathBuf> {
    let value = value?;
    let path = Path::new(&value);
    path.is_absolute().then(|| path.components().collect())
}

/// Returns the same name in every release, so that different releases find each other.
fn socket_name(state_dir: &Path) -> String {
    let hash = pipemux_stable_hash::hash(state_dir.as_os_str().as_encoded_bytes());
    format!("{hash:016x}.sock")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(variables: &[(&str, &str)]) -> Result<Paths, String> {
        let get = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Paths::from_env(get, 1000)
    }

    #[test]
    fn pipemux_variables_override_xdg_ones_which_override_home() {
        let home = ("HOME", "/home/ann");
        let found = paths(&[home]).unwrap();
        assert_eq!(found.state_dir, Path::new("/home/ann/.local/state/pipemux"));
        assert_eq!(found.runtime_dir, Path::new("/home/ann/.local/state/pipemux/run"));
        assert_eq!(found.lock, Path::new("/home/ann/.local/state/pipemux/daemon.lock"));
        assert_eq!(found.log, Path::new("/home/ann/.local/state/pipemux/daemon.log"));

        let xdg = [home, ("XDG_STATE_HOME", "/s"), ("XDG_RUNTIME_DIR", "/run/user/1000")];
        let found = paths(&xdg).unwrap();
        assert_eq!(found.state_dir, Path::new("/s/pipemux"));
        assert_eq!(found.runtime_dir, Path::new("/run/user/1000/pipemux"));

        let own = [&xdg[..], &[("PIPEMUX_STATE_DIR", "/p"), ("PIPEMUX_RUNTIME_DIR", "/r")]];
        let found = paths(&own.concat()).unwrap();
        assert_eq!(found.state_dir, Path::new("/p"));
        assert_eq!(found.socket.parent(), Some(Path::new("/r")));
    }

    #[test]
    fn spelling_of_the_state_directory_does_not_change_the_socket() {
        let socket = |dir| paths(&[("PIPEMUX_STATE_DIR", dir)]).unwrap().socket;
        assert_eq!(socket("/a/b"), socket("/a//b/"));
        assert_eq!(socket("/a/b"), socket("/a/./b"));
        assert_ne!(socket("/a/b"), socket("/a/c"));
    }

    #[test]
    fn socket_name_is_the_same_in_every_release() {
        let found = paths(&[("PIPEMUX_STATE_DIR", "/a/b"), ("PIPEMUX_RUNTIME_DIR", "/r")]);
        assert_eq!(found.unwrap().socket, Path::new("/r/363e289cb38ee0cc.sock"));
    }

    #[test]
    fn socket_path_never_exceeds_the_limit() {
        for length in 60..140 {
            let runtime = format!("/{}", "r".repeat(length));
            let found = paths(&[("HOME", "/h"), ("PIPEMUX_RUNTIME_DIR", &runtime)]).unwrap();
            assert!(found.socket.as_os_str().len() <= SOCKET_PATH_MAX);
            let kept = found.runtime_dir == Path::new(&runtime);
            assert!(kept || found.runtime_dir == Path::new("/tmp/pipemux-1000"));
            assert_eq!(kept, runtime.len() + 22 <= SOCKET_PATH_MAX);
            assert_eq!(found.socket.parent(), Some(found.runtime_dir.as_path()));
        }
    }

    #[test]
    fn relative_pipemux_paths_are_refused_and_relative_xdg_paths_ignored() {
        let error = paths(&[("PIPEMUX_STATE_DIR", "state"), ("HOME", "/h")]).unwrap_err();
        assert_eq!(error, "PIPEMUX_STATE_DIR is `state`: expected an absolute path");
        assert!(paths(&[("HOME", "/h"), ("PIPEMUX_RUNTIME_DIR", "r")]).is_err());
        assert!(paths(&[]).unwrap_err().contains("set HOME"));
        let found = paths(&[("HOME", "/h"), ("XDG_STATE_HOME", "x"), ("PIPEMUX_STATE_DIR", "")]);
        assert_eq!(found.unwrap().state_dir, Path::new("/h/.local/state/pipemux"));
    }
}
