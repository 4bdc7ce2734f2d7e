//! The address at which metrics can be read. They reveal what a user does, so they must not be
//! readable from the network.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener as StdTcpListener};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener};

use crate::listener;

const EXPECTED: &str = "expected unix:/PATH, or a loopback address such as 127.0.0.1:9477";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricsAddress {
    /// A socket that only this user can connect to.
    Unix(PathBuf),
    /// A port that only this machine, but all its users, can connect to.
    Loopback(SocketAddr),
}

impl MetricsAddress {
    /// Parses `unix:/PATH` or `127.0.0.1:PORT`.
    ///
    /// # Errors
    /// It is neither, or an address that other machines can reach.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = PathBuf::from(path);
            return match path.is_absolute() {
                true => Ok(Self::Unix(path)),
                false => Err(format!("metrics at `{text}`: the path is relative; {EXPECTED}")),
            };
        }
        match text.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(Self::Loopback(address)),
            Ok(_) => {
                Err(format!("metrics at `{text}`: other machines could read them; {EXPECTED}"))
            }
            Err(_) => Err(format!("metrics at `{text}`: {EXPECTED}")),
        }
    }

    /// Listens. Must be called within a runtime.
    ///
    /// # Errors
    /// Something is in the way.
    pub fn bind(&self) -> Result<MetricsListener, String> {
        match self {
            Self::Loopback(address) => {
                let cannot = |error| format!("metrics at {address}: {error}");
                let bound = StdTcpListener::bind(address).map_err(cannot)?;
                bound.set_nonblocking(true).map_err(cannot)?;
                TcpListener::from_std(bound).map(MetricsListener::Loopback).map_err(cannot)
            }
            Self::Unix(path) => {
                let cannot = |error| format!("metrics at {}: {error}", path.display());
                remove_stale(path)?;
                let bound = listener::bind(path).map_err(cannot)?;
                bound.set_nonblocking(true).map_err(cannot)?;
                let listener = UnixListener::from_std(bound).map_err(cannot)?;
                Ok(MetricsListener::Unix(listener, path.clone()))
            }
        }
    }
}

/// Removes the socket of a daemon that was killed, and nothing else.
fn remove_stale(path: &Path) -> Result<(), String> {
    let shown = path.display();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("metrics at {shown}: {error}")),
        Ok(found) if !found.file_type().is_socket() => {
            Err(format!("metrics at {shown}: it is in the way and no socket; remove it"))
        }
        Ok(_) if UnixStream::connect(path).is_ok() => {
            Err(format!("metrics at {shown}: another program listens there"))
        }
        Ok(_) => fs::remove_file(path).map_err(|error| format!("metrics at {shown}: {error}")),
    }
}

/// A listening socket for metrics; a Unix socket's path is removed on drop.
#[derive(Debug)]
pub enum MetricsListener {
    /// A listener at a path.
    Unix(UnixListener, PathBuf),
    /// A listener at a port.
    Loopback(TcpListener),
}

impl MetricsListener {
    /// The address of the listener, also if the system chose the port.
    pub fn address(&self) -> String {
        match self {
            Self::Unix(_, path) => format!("unix:{}", path.display()),
            Self::Loopback(listener) => listener
                .local_addr()
                .map_or_else(|error| error.to_string(), |address| address.to_string()),
        }
    }
}

impl Drop for MetricsListener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_can_read_metrics() {
        let parse = MetricsAddress::parse;
        assert_eq!(parse("unix:/run/m"), Ok(MetricsAddress::Unix("/run/m".into())));
        for text in ["127.0.0.1:0", "127.8.9.1:9477", "[::1]:9477"] {
            assert!(matches!(parse(text), Ok(MetricsAddress::Loopback(_))), "{text}");
        }
        for text in ["0.0.0.0:9477", "10.0.0.1:9477", "[::]:1", "192.168.1.2:80"] {
            assert!(parse(text).unwrap_err().contains("other machines"), "{text}");
        }
        for text in ["", "9477", "localhost:9477", "unix:m", "127.0.0.1", "http://127.0.0.1:1"] {
            assert!(parse(text).unwrap_err().contains("expected unix:/PATH"), "{text}");
        }
    }
}
