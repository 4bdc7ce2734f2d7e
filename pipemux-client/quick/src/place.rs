//! The project around the current directory, and the daemon's socket.

use core::ffi::CStr;

use pipemux_stable_hash::StableHasher;

use crate::environment::Environment;
use crate::limits::{DIRECTORY_MAX, PATH_MAX, SOCKET_PATH_MAX};
use crate::pack::Writer;
use crate::sys;

/// The name of the workspace outside of any project, and of the reader when none is named.
pub const DEFAULT: &str = "default";

/// Reads the current directory into the room. `None` if its path is long, or no text.
pub fn directory(room: &mut [u8; DIRECTORY_MAX]) -> Option<&str> {
    let length = sys::current_directory(room).ok()?;
    let path = core::str::from_utf8(room.get(..length)?).ok()?;
    // The system marks a directory that can't be reached so: `(unreachable)/a`.
    path.starts_with('/').then_some(path)
}

/// Returns the key of the workspace of a directory: the nearest ancestor with a `.git`, else
/// [`DEFAULT`].
pub fn project(directory: &str) -> Option<&str> {
    let mut root = directory.trim_end_matches('/');
    loop {
        let mut room = [0; PATH_MAX];
        if sys::stat(path(&mut room, &[root, "/.git"])?).is_ok() {
            return Some(if root.is_empty() { "/" } else { root });
        }
        match root.rfind('/') {
            Some(end) => root = root.get(..end)?,
            None => return Some(DEFAULT),
        }
    }
}

/// Returns the name that is shown for a workspace; `None` if it isn't what stands behind the last
/// `/`.
pub fn display_name(key: &str) -> Option<&str> {
    if key == "/" {
        return Some(key);
    }
    let last = key.rsplit('/').next()?;
    (!matches!(last, "" | "." | "..")).then_some(last)
}

/// The socket on which the daemon listens.
pub struct Socket {
    path: [u8; SOCKET_PATH_MAX + 1],
    directory: [u8; SOCKET_PATH_MAX + 1],
}

impl Socket {
    /// Derives the path as `pipemux_proto::paths` does; `None` for variables that need a closer
    /// look.
    pub fn of(environment: &Environment<'_>) -> Option<Self> {
        let (state, behind_state) = match (environment.state_dir, environment.xdg_state) {
            (Some(path), _) => (path, ""),
            (None, Some(path)) => (path, "/pipemux"),
            (None, None) => (environment.home?, "/.local/state/pipemux"),
        };
        let (runtime, behind_runtime) = match (environment.runtime_dir, environment.xdg_runtime) {
            (Some(path), _) => (path, ""),
            (None, Some(path)) => (path, "/pipemux"),
            (None, None) => return None,
        };
        if !is_clean(state) || !is_clean(runtime) {
            return None;
        }
        let mut hasher = StableHasher::new();
        hasher.write(state.as_bytes());
        hasher.write(behind_state.as_bytes());
        let mut name = *b"/0123456789abcdef.sock";
        hex(hasher.finish(), name.get_mut(1..17)?);
        let mut socket =
            Self { path: [0; SOCKET_PATH_MAX + 1], directory: [0; SOCKET_PATH_MAX + 1] };
        let name = core::str::from_utf8(&name).ok()?;
        path(&mut socket.path, &[runtime, behind_runtime, name])?;
        path(&mut socket.directory, &[runtime, behind_runtime])?;
        Some(socket)
    }

    /// Returns the path.
    pub fn path(&self) -> Option<&CStr> {
        CStr::from_bytes_until_nul(&self.path).ok()
    }

    /// True if only this user can have put a socket into its directory.
    pub fn is_own(&self) -> bool {
        let directory = CStr::from_bytes_until_nul(&self.directory).ok();
        let Some(Ok(found)) = directory.map(sys::lstat) else { return false };
        found.kind() == sys::DIRECTORY
            && found.uid == sys::user()
            && found.permissions() & 0o022 == 0
    }
}

/// Puts a path into the room, with a zero behind it.
fn path<'a>(room: &'a mut [u8], parts: &[&str]) -> Option<&'a CStr> {
    let mut writer = Writer::new(room);
    parts.iter().for_each(|part| writer.bytes(part.as_bytes()));
    writer.bytes(&[0]);
    CStr::from_bytes_with_nul(writer.finish()?).ok()
}

/// True for an absolute path that is written in the one way in which the daemon writes it.
fn is_clean(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    rest.split('/').all(|part| !matches!(part, "" | "."))
}

/// Writes a number as digits, as many as there is room for.
pub fn hex(number: u64, room: &mut [u8]) {
    let mut rest = number;
    for place in room.iter_mut().rev() {
        let digit = (rest & 0xf) as u8;
        *place = if digit < 10 { b'0' | digit } else { digit.wrapping_add(b'a' - 10) };
        rest >>= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_proto::paths::Paths;
    use std::string::String;

    #[test]
    fn socket_is_where_the_daemon_listens() {
        let long = std::format!("/{}", "r".repeat(90));
        for variables in [
            &[("HOME", "/home/ann"), ("XDG_RUNTIME_DIR", "/run/user/1000")][..],
            &[("PIPEMUX_STATE_DIR", "/a/b"), ("PIPEMUX_RUNTIME_DIR", "/r"), ("HOME", "/h")],
            &[("XDG_STATE_HOME", "/s/深"), ("PIPEMUX_RUNTIME_DIR", "/r.x/..y"), ("HOME", "/h")],
            &[("HOME", "/h"), ("XDG_RUNTIME_DIR", "r")],
            &[("HOME", "/h/"), ("XDG_RUNTIME_DIR", "/r")],
            &[("HOME", "/h//a"), ("XDG_RUNTIME_DIR", "/r")],
            &[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/r/./a")],
            &[("HOME", "/h"), ("PIPEMUX_RUNTIME_DIR", &long)],
            &[("HOME", "/h")],
        ] {
            let texts: std::vec::Vec<String> =
                variables.iter().map(|(name, value)| std::format!("{name}={value}")).collect();
            let environment = Environment::read(texts.iter().map(String::as_bytes)).unwrap();
            let get = |name: &str| {
                variables
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| String::from(*value))
            };
            let expected = Paths::from_env(get, 7).unwrap().socket;
            if let Some(socket) = Socket::of(&environment) {
                assert_eq!(socket.path().unwrap().to_str(), Ok(expected.to_str().unwrap()));
            } else {
                assert!(variables[0].0 == "HOME" && variables[0].1.starts_with("/h"));
            }
        }
    }

    #[test]
    fn project_is_the_nearest_directory_with_git() {
        // The sources are a work tree, or an archive without one.
        let here = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let expected = std::path::Path::new(here).ancestors().find(|one| one.join(".git").exists());
        let expected = expected.map_or(DEFAULT, |path| path.to_str().unwrap());
        assert_eq!(project(here), Some(expected));
        assert_eq!(project("/no/such/directory"), Some(DEFAULT));
        for (key, name) in [("demo", "demo"), ("/a/b", "b"), ("/", "/")] {
            assert_eq!(display_name(key), Some(name));
        }
        assert!(["a/", "a/.", ".."].into_iter().all(|key| display_name(key).is_none()));
    }
}
