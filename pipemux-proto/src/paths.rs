//! Where the daemon of a user keeps its state and listens: the same answer for it and its clients.
//!
//! Pure: the environment is an argument, nothing is looked up on disk.

use std::path::{Path, PathBuf};

/// Longest socket path, in bytes: macOS holds 103 and a final zero, Linux 107.
pub const SOCKET_PATH_MAX: usize = 100;

/// The places of one daemon. There is one daemon a user and state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// What outlives the daemon.
    pub state_dir: PathBuf,
    /// Holds the socket, and nothing that is to last; always the socket's parent.
    pub runtime_dir: PathBuf,
    /// Where the daemon listens.
    pub socket: PathBuf,
    /// Locked by the daemon for as long as it lives.
    pub lock: PathBuf,
    /// What the daemon prints.
    pub log: PathBuf,
}

impl Paths {
    /// Derives the places from the environment, which `get` looks up.
    ///
    /// State: `$PIPEMUX_STATE_DIR`, else `$XDG_STATE_HOME/pipemux`, else `$HOME/.local/state/pipemux`.
    /// Socket: in `$PIPEMUX_RUNTIME_DIR`, else `$XDG_RUNTIME_DIR/pipemux`, else `/tmp/pipemux-<uid>`;
    /// in the latter too when its path would be longer than [`SOCKET_PATH_MAX`]. Its name is a hash of
    /// the state directory's path, so daemons of several state directories share a runtime directory.
    ///
    /// An empty variable counts as unset, and so does a relative `XDG_…` one, as its specification
    /// asks.
    ///
    /// # Errors
    /// A relative `PIPEMUX_…` path, and no variable to find the state directory by; says what to set.
    pub fn from_env(get: impl Fn(&str) -> Option<String>, uid: u32) -> Result<Paths, String> {
        let own = |name: &str| own_path(name, get(name));
        let xdg = |name: &str| absolute(get(name)).map(|base| base.join("pipemux"));

        let state_dir = match own("PIPEMUX_STATE_DIR")? {
            Some(path) => path,
            None => xdg("XDG_STATE_HOME")
                .or_else(|| absolute(get("HOME")).map(|home| home.join(".local/state/pipemux")))
                .ok_or("no directory for the state: set HOME, or PIPEMUX_STATE_DIR to an absolute path")?,
        };
        let short = || PathBuf::from(format!("/tmp/pipemux-{uid}"));
        let wanted =
            own("PIPEMUX_RUNTIME_DIR")?.or_else(|| xdg("XDG_RUNTIME_DIR")).unwrap_or_else(short);

        let name = socket_name(&state_dir);
        let fits = wanted.as_os_str().len() + 1 + name.len() <= SOCKET_PATH_MAX;
        let runtime_dir = if fits { wanted } else { short() };
        Ok(Paths {
            socket: runtime_dir.join(name),
            lock: state_dir.join("daemon.lock"),
            log: state_dir.join("daemon.log"),
            runtime_dir,
            state_dir,
        })
    }
}

fn own_path(name: &str, value: Option<String>) -> Result<Option<PathBuf>, String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    match absolute(Some(value.clone())) {
        Some(path) => Ok(Some(path)),
        None => Err(format!("{name} is `{value}`: expected an absolute path")),
    }
}

/// The path without doubled slashes, `.` parts and a final slash, so that one directory has one hash.
fn absolute(value: Option<String>) -> Option<PathBuf> {
    let value = value?;
    let path = Path::new(&value);
    path.is_absolute().then(|| path.components().collect())
}

/// The same in every release, so that clients and daemons of different releases find each other.
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
    fn own_variables_win_over_xdg_and_those_over_home() {
        let home = ("HOME", "/home/ann");
        let found = paths(&[home]).unwrap();
        assert_eq!(found.state_dir, Path::new("/home/ann/.local/state/pipemux"));
        assert_eq!(found.runtime_dir, Path::new("/tmp/pipemux-1000"));
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
    fn a_state_directory_has_one_socket_however_it_is_written() {
        let socket = |dir| paths(&[("PIPEMUX_STATE_DIR", dir)]).unwrap().socket;
        assert_eq!(socket("/a/b"), socket("/a//b/"));
        assert_eq!(socket("/a/b"), socket("/a/./b"));
        assert_ne!(socket("/a/b"), socket("/a/c"));
    }

    #[test]
    fn a_socket_has_the_same_name_in_every_release() {
        let found = paths(&[("PIPEMUX_STATE_DIR", "/a/b"), ("PIPEMUX_RUNTIME_DIR", "/r")]);
        assert_eq!(found.unwrap().socket, Path::new("/r/363e289cb38ee0cc.sock"));
    }

    #[test]
    fn a_socket_path_never_passes_the_limit() {
        for length in 60..140 {
            let runtime = format!("/{}", "r".repeat(length));
            let found = paths(&[("HOME", "/h"), ("PIPEMUX_RUNTIME_DIR", &runtime)]).unwrap();
            assert!(found.socket.as_os_str().len() <= SOCKET_PATH_MAX);
            let kept = found.runtime_dir == Path::new(&runtime);
            assert_eq!(kept, runtime.len() + 22 <= SOCKET_PATH_MAX);
            assert_eq!(found.socket.parent(), Some(found.runtime_dir.as_path()));
        }
    }

    #[test]
    fn relative_and_missing_paths_are_refused_or_passed_over() {
        let error = paths(&[("PIPEMUX_STATE_DIR", "state"), ("HOME", "/h")]).unwrap_err();
        assert_eq!(error, "PIPEMUX_STATE_DIR is `state`: expected an absolute path");
        assert!(paths(&[("HOME", "/h"), ("PIPEMUX_RUNTIME_DIR", "r")]).is_err());
        assert!(paths(&[]).unwrap_err().contains("set HOME"));
        let found = paths(&[("HOME", "/h"), ("XDG_STATE_HOME", "x"), ("PIPEMUX_STATE_DIR", "")]);
        assert_eq!(found.unwrap().state_dir, Path::new("/h/.local/state/pipemux"));
    }
}
