//! The systemd unit that listens on the daemon's socket in its place, if the user has installed
//! one.
//!
//! A unit of a package can't name the socket as clients do, by the user's directories: it listens
//! beside it, and has a symbolic link lead there while it listens.
//!
//! Whoever connects to such a socket starts the daemon. A client that isn't to start it has to look
//! first.

use std::path::PathBuf;

use pipemux_proto::paths::Paths;

/// The name of the systemd unit that listens.
pub const SOCKET_UNIT: &str = "pipemux.socket";
/// The name of the systemd unit that runs the daemon.
pub const SERVICE_UNIT: &str = "pipemux.service";

/// Returns the directory of a user's own units: `$XDG_CONFIG_HOME/systemd/user`, else
/// `~/.config/systemd/user`.
pub fn directory(get: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(config.join("systemd/user"))
}

/// Returns the line of the unit that names the socket.
pub fn listen_line(paths: &Paths) -> String {
    format!("ListenStream={}", escape(&paths.socket.to_string_lossy()))
}

/// Escapes what systemd would replace in a value.
pub fn escape(value: &str) -> String {
    value.replace('%', "%%")
}

/// Returns the hint that leads to the log of the daemon at these paths: the journal has that of a
/// service.
pub fn log_hint(paths: &Paths) -> String {
    match holds_socket(paths) {
        true => "see its log: pipemux service logs".to_owned(),
        false => format!("see its log: {}", paths.log.display()),
    }
}

/// True when an installed unit listens on the socket of these paths, or is to.
pub fn holds_socket(paths: &Paths) -> bool {
    if std::fs::symlink_metadata(&paths.socket).is_ok_and(|found| found.is_symlink()) {
        return true;
    }
    let Some(directory) = directory(|name| std::env::var(name).ok()) else { return false };
    let Ok(unit) = std::fs::read_to_string(directory.join(SOCKET_UNIT)) else { return false };
    let line = listen_line(paths);
    unit.lines().any(|found| found == line)
}
