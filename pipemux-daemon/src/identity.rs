//! The identity of the daemon: a random id in its state directory, bound to the machine.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};

use pipemux_proto::hello::DaemonIdentity;
use pipemux_proto::paths::Paths;

use crate::daemon_log::log;

/// Returns the identity of a state directory. It is made at the first start, and again when the
/// directory is found on another machine. Must be called while the daemon's lock is held.
///
/// # Errors
/// It can't be written down.
pub fn of(paths: &Paths) -> Result<Option<DaemonIdentity>, String> {
    let path = paths.identity_file();
    let cannot = |error: io::Error| format!("can't write {}: {error}", path.display());
    let host = host();
    let machine = machine(&host);
    let found = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        found => found.ok(),
    };
    if let Some((id, written)) = found.as_deref().and_then(parse) {
        if written == machine {
            return Ok(Some(DaemonIdentity { id, host }));
        }
        log(
            "the state directory was copied from another machine: its daemon has an identity of its own now",
        );
    }
    let id: String =
        random_key().map_err(cannot)?.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{id}\n{machine}\n");
    let fresh = path.with_extension("new");
    fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &path)).map_err(cannot)?;
    Ok(Some(DaemonIdentity { id, host }))
}

/// Returns random bytes.
pub fn random_key() -> io::Result<[u8; 16]> {
    let mut key = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    Ok(key)
}

fn parse(text: &str) -> Option<(String, String)> {
    let mut lines = text.lines();
    let (id, machine) = (lines.next()?, lines.next()?);
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| (id.to_owned(), machine.to_owned()))
}

/// What tells this machine from others, without telling which it is: the system's own id is not for
/// passing on.
fn machine(host: &str) -> String {
    let id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let id = if id.trim().is_empty() { host } else { id.trim() };
    format!("{:016x}", pipemux_stable_hash::hash(format!("pipemux {id}").as_bytes()))
}

fn host() -> String {
    let name = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    name.unwrap_or_else(|| "localhost".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_state_has_an_identity_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let state = directory.path().to_str().unwrap().to_owned();
        let get = |name: &str| (name == "PIPEMUX_STATE_DIR").then(|| state.clone());
        let paths = Paths::from_env(get, 1000).unwrap();
        let first = of(&paths).unwrap().unwrap();
        assert_eq!(of(&paths).unwrap(), Some(first.clone()));
        assert_eq!(paths.identity(), Some(first.id.clone()));
        fs::write(paths.identity_file(), format!("{}\n0123456789abcdef\n", first.id)).unwrap();
        let copied = of(&paths).unwrap().unwrap();
        assert_ne!(copied.id, first.id);
        assert_eq!(of(&paths).unwrap(), Some(copied));
        fs::write(paths.identity_file(), "damaged").unwrap();
        assert!(of(&paths).unwrap().is_some());
    }
}
