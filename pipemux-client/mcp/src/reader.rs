//! The name under which a connection reads. Agents that shared one would take each other's news.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, getpid, getppid};
use pipemux_client::options::session_reader;
use pipemux_client::proto::paths::Paths;

use crate::limits::SIBLINGS_MAX;

/// A reader's name, reserved among all bridges while this is held.
#[derive(Debug)]
pub struct Lease {
    name: String,
    /// Locked; the system unlocks it however this process ends.
    _lock: Option<File>,
}

impl Lease {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Chooses a name: the given one, else that of the harness's session, where the harness names it,
/// else one that is derived from the process that started this one. A bridge that the same harness
/// starts again has the same name, and so goes on where the last one was; a second one beside it
/// has another.
pub fn lease(paths: &Paths, given: Option<String>) -> Lease {
    let get = |name: &str| std::env::var(name).ok();
    let given = given.filter(|name| !name.is_empty()).or_else(|| session_reader(get));
    if let Some(name) = given {
        return Lease { name, _lock: None };
    }
    let parent = getppid();
    let base = format!("mcp-{parent}{}", started_at(parent.as_raw()));
    let directory = paths.state_dir.join("mcp");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    for number in 1..=SIBLINGS_MAX {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        let mut open = OpenOptions::new();
        open.create(true).truncate(false).write(true).mode(0o600);
        let Ok(lock) = made
            .as_ref()
            .map_err(|_| ())
            .and_then(|()| open.open(directory.join(&name)).map_err(|_| ()))
        else {
            break;
        };
        if lock.try_lock().is_ok() && is_file(&lock, &directory.join(&name)) {
            remove_left(&directory);
            return Lease { name, _lock: Some(lock) };
        }
    }
    Lease { name: format!("{base}-p{}", getpid()), _lock: None }
}

/// True if a file is still the one of that path, and wasn't removed before it was locked.
fn is_file(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(found)) = (file.metadata(), fs::metadata(path)) else { return false };
    (file.dev(), file.ino()) == (found.dev(), found.ino())
}

/// Removes the files of processes that are gone, whose names nobody will have again. What fails is
/// done another time.
fn remove_left(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_left = entry.file_name().to_str().is_some_and(is_of_gone_process);
        let lock = is_left.then(|| OpenOptions::new().write(true).open(entry.path()));
        if let Some(Ok(lock)) = lock
            && lock.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// True for a name that was derived from a process that runs no more.
fn is_of_gone_process(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("mcp-") else { return false };
    let Ok(pid) = rest.split('-').next().unwrap_or_default().parse::<i32>() else { return false };
    if kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH) {
        return true;
    }
    // Another process may have the id by now.
    let own = rest.strip_prefix(&format!("{pid}{}", started_at(pid)));
    !own.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Returns what tells a process from an earlier one with the same id: the time of its start, where
/// the system says it.
fn started_at(pid: i32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before the last bracket may contain spaces. Field 22 of all is the start, 20 of
    // those after the name.
    let start = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19));
    start.map_or(String::new(), |start| format!("-{start}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn paths(directory: &Path) -> Paths {
        let text = directory.to_str().expect("a path that is text");
        let get = |name: &str| {
            ["PIPEMUX_STATE_DIR", "PIPEMUX_RUNTIME_DIR"].contains(&name).then(|| text.to_owned())
        };
        Paths::from_env(get, 0).expect("paths")
    }

    #[test]
    fn name_is_free_again_when_its_bridge_has_ended() {
        let directory = tempfile::tempdir().unwrap();
        let paths = paths(directory.path());
        let first = lease(&paths, None);
        let second = lease(&paths, None);
        assert_ne!(first.name(), second.name());
        let name = first.name().to_owned();
        drop(first);
        // The child of another test may hold the lock until it executes its program.
        let deadline = Instant::now() + Duration::from_secs(30);
        while lease(&paths, None).name() != name {
            assert!(Instant::now() < deadline, "{name} is held");
        }
        assert_eq!(lease(&paths, Some("mine".into())).name(), "mine");
    }

    #[test]
    fn files_of_gone_processes_are_removed_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let paths = paths(directory.path());
        let own = lease(&paths, None);
        let leases = paths.state_dir.join("mcp");
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let gone = format!("mcp-{}-1", ended.id());
        let another = format!("mcp-{}-0-2", std::process::id());
        let held = format!("mcp-{}-2", ended.id());
        for name in [&gone, &another, &held, "notes", "mcp-x"] {
            fs::write(leases.join(name), "").unwrap();
        }
        let lock = File::open(leases.join(&held)).unwrap();
        lock.lock().unwrap();
        let second = lease(&paths, None);
        let mut left: Vec<_> =
            fs::read_dir(&leases).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        let mut expected: Vec<_> = [own.name(), second.name(), &held, "notes", "mcp-x"]
            .map(std::ffi::OsString::from)
            .into();
        expected.sort();
        // Where the system doesn't say when a process started, an id alone tells nothing.
        left.retain(|name| !started_at(getppid().as_raw()).is_empty() || *name != *another);
        assert_eq!(left, expected);
    }
}
