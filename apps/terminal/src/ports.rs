//! The ports that processes listen on, from `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};

/// The state of a socket that waits for connections.
const LISTENING: &str = "0A";

/// Returns the ports of addresses, the lowest first.
pub fn of(addresses: &[SocketAddr]) -> Vec<u16> {
    let ports: BTreeSet<u16> = addresses.iter().map(SocketAddr::port).collect();
    ports.into_iter().collect()
}

/// Returns the TCP addresses that these processes listen on; none where there is no `/proc`.
pub fn addresses(pids: &[i32]) -> Vec<SocketAddr> {
    let sockets: BTreeSet<String> = pids.iter().flat_map(|pid| sockets_of(*pid)).collect();
    let Some(pid) = pids.first().filter(|_| !sockets.is_empty()) else { return Vec::new() };
    let tables = ["tcp", "tcp6"].map(|name| fs::read_to_string(format!("/proc/{pid}/net/{name}")));
    let found: BTreeSet<SocketAddr> = tables
        .into_iter()
        .flatten()
        .flat_map(|table| table.lines().filter_map(listening_socket).collect::<Vec<_>>())
        .filter(|(_, inode)| sockets.contains(inode))
        .map(|(address, _)| address)
        .collect();
    found.into_iter().collect()
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

/// Reads a row of `/proc/net/tcp`: the address and the inode of a socket that listens.
fn listening_socket(row: &str) -> Option<(SocketAddr, String)> {
    let fields: Vec<&str> = row.split_whitespace().collect();
    let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    let (host, port) = local.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let address = SocketAddr::new(host_address(host)?, port);
    (*state == LISTENING).then(|| (address, (*inode).to_owned()))
}

/// Reads an address as the table has it: groups of four bytes, each in the machine's order.
fn host_address(text: &str) -> Option<IpAddr> {
    let mut bytes = Vec::new();
    for at in (0..text.len()).step_by(8) {
        let group = u32::from_str_radix(text.get(at..at + 8)?, 16).ok()?;
        bytes.extend(group.to_ne_bytes());
    }
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
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
        assert!(of(&addresses(&[own])).contains(&port));
        assert!(addresses(&[own]).contains(&listener.local_addr().unwrap()));
        drop(listener);
        assert!(!of(&addresses(&[own])).contains(&port));
    }

    #[test]
    fn addresses_of_the_table_are_read() {
        if cfg!(target_endian = "little") {
            assert_eq!(host_address("0100007F"), Some([127, 0, 0, 1].into()));
            let v6 = host_address("00000000000000000000000001000000");
            assert_eq!(v6, Some(std::net::Ipv6Addr::LOCALHOST.into()));
        }
        for odd in ["", "0100007", "0100007FF", "é100007F"] {
            assert_eq!(host_address(odd), None, "{odd}");
        }
    }
}
