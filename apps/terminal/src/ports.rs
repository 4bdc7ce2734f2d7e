//! The ports that processes listen on, from `/proc`.

use std::collections::BTreeSet;
use std::fs;

/// The state of a socket that waits for connections.
const LISTENING: &str = "0A";

/// Returns the TCP ports that these processes listen on; none where there is no `/proc`.
pub fn listening(pids: &[i32]) -> Vec<u16> {
    let sockets: BTreeSet<String> = pids.iter().flat_map(|pid| sockets_of(*pid)).collect();
    let Some(pid) = pids.first().filter(|_| !sockets.is_empty()) else { return Vec::new() };
    let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/{pid}/net/{name}")));
    let ports: BTreeSet<u16> = tables
        .into_iter()
        .flatten()
        .flat_map(|table| table.lines().filter_map(listening_socket).collect::<Vec<_>>())
        .filter(|(_, inode)| sockets.contains(inode))
        .map(|(port, _)| port)
        .collect();
    ports.into_iter().collect()
}

/// Returns the inodes of a process's sockets.
fn sockets_of(pid: i32) -> Vec<String> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let inode = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    entries.filter_map(|entry| inode(entry.ok()?)).collect()
}

/// Reads a row of `/proc/net/tcp`: the port and the inode of a socket that listens.
fn listening_socket(row: &str) -> Option<(u16, String)> {
    let fields: Vec<&str> = row.split_whitespace().collect();
    let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    let port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
    (*state == LISTENING).then(|| (port, (*inode).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn listening_port_of_a_process_is_found() {
        if !std::path::Path::new("/proc/self/net/tcp").exists() {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(listening(&[own]).contains(&port));
        drop(listener);
        assert!(!listening(&[own]).contains(&port));
    }
}
