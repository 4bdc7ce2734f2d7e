//! Finds out which process a client is, and which processes started it.
//!
//! The process id is the one that the system noted when the client connected. A handle of that process, where the
//! system has one, tells whether it still lived once its ancestors were known; otherwise its id could be another
//! process's by then.

use std::os::unix::net::UnixStream;

use pipemux_core::peer::{Evidence, PeerProcess};
use pipemux_launcher::MarkOrigin;

/// Describes the process at the other end. `origin` is what the marks of this daemon's apps have in common.
#[cfg(not(target_os = "linux"))]
pub fn identify(_: &UnixStream, _: MarkOrigin) -> PeerProcess {
    PeerProcess { evidence: Evidence::Unavailable, ..PeerProcess::default() }
}

#[cfg(target_os = "linux")]
pub use linux::identify;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::fd::{AsFd, OwnedFd};

    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::signal::kill;
    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::{PeerCredentials, PeerPidfd};
    use nix::unistd::Pid;
    use pipemux_core::peer::Ancestor;

    use super::*;
    use crate::limits::{ANCESTORS_MAX, ANCESTRY_TRIES};

    /// Describes the process at the other end. `origin` is what the marks of this daemon's apps have in common.
    pub fn identify(stream: &UnixStream, origin: MarkOrigin) -> PeerProcess {
        let unavailable = || PeerProcess { evidence: Evidence::Unavailable, ..Default::default() };
        let Ok(credentials) = getsockopt(stream, PeerCredentials) else { return unavailable() };
        // 0 stands for a process that this one can't see, in another namespace.
        let Some(pid) = u32::try_from(credentials.pid()).ok().filter(|pid| *pid > 0) else {
            return unavailable();
        };
        let handle = match getsockopt(stream, PeerPidfd) {
            Ok(handle) => Some(handle),
            Err(Errno::ESRCH | Errno::EINVAL | Errno::ENODATA) => {
                let evidence = Evidence::Ended;
                return PeerProcess { pid: Some(pid), evidence, ..PeerProcess::default() };
            }
            // Linux before 6.5 has no such handles.
            Err(_) => None,
        };
        let program = fs::read_link(format!("/proc/{pid}/exe"));
        let program = program.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let (ancestors, complete) = (0..ANCESTRY_TRIES)
            .find_map(|_| ancestors(pid).map(|found| (found, true)))
            .unwrap_or_default();
        let marked = i32::try_from(pid).is_ok_and(|pid| origin.has_marked(pid));
        let evidence = match lives(handle.as_ref(), pid) {
            false => Evidence::Ended,
            true if complete => Evidence::Complete,
            true => Evidence::Partial,
        };
        PeerProcess { pid: Some(pid), program, ancestors, evidence, marked }
    }

    /// Returns the processes that started a process, its parent first; none when one of them ended meanwhile, or when
    /// there are too many.
    fn ancestors(pid: u32) -> Option<Vec<Ancestor>> {
        let mut found = Vec::new();
        let (_, mut parent) = name_and_parent(pid)?;
        while parent != 0 {
            if found.len() >= ANCESTORS_MAX {
                return None;
            }
            let Some((name, next)) = name_and_parent(parent) else {
                // Of other users' processes the system may show nothing.
                let hidden = i32::try_from(parent)
                    .is_ok_and(|pid| kill(Pid::from_raw(pid), None) == Err(Errno::EPERM));
                found.push(Ancestor { pid: parent, name: String::new() });
                return hidden.then_some(found);
            };
            found.push(Ancestor { pid: parent, name });
            parent = next;
        }
        // A process whose parent ended meanwhile would have been found below another one.
        let (_, parent) = name_and_parent(pid)?;
        (parent == found.first().map_or(0, |first| first.pid)).then_some(found)
    }

    /// Reads the name of a process, and the id of its parent: 0 for the first process, and for one whose parent is
    /// outside of what this process can see.
    fn name_and_parent(pid: u32) -> Option<(String, u32)> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name may contain anything, also parentheses.
        let (before, after) = stat.rsplit_once(") ")?;
        let name = before.split_once('(')?.1.to_owned();
        Some((name, after.split(' ').nth(1)?.parse().ok()?))
    }

    /// Returns true while the process that connected lives.
    fn lives(handle: Option<&OwnedFd>, pid: u32) -> bool {
        match handle {
            Some(handle) => {
                let mut wait = [PollFd::new(handle.as_fd(), PollFlags::POLLIN)];
                poll(&mut wait, PollTimeout::ZERO) == Ok(0)
            }
            None => name_and_parent(pid).is_some(),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn own_process_has_its_parents_and_lives() {
            let (ours, _theirs) = UnixStream::pair().unwrap();
            let origin = MarkOrigin::of(&std::env::temp_dir()).unwrap();
            let peer = identify(&ours, origin);
            assert_eq!(peer.pid, Some(std::process::id()));
            assert_eq!(peer.evidence, Evidence::Complete);
            assert!(!peer.marked && !peer.program.is_empty(), "{peer:?}");
            let parent = u32::try_from(nix::unistd::getppid().as_raw()).unwrap();
            assert_eq!(peer.ancestors.first().map(|first| first.pid), Some(parent));
        }

        #[test]
        fn name_with_parentheses_and_spaces_hides_no_parent() {
            assert!(name_and_parent(std::process::id()).is_some());
            assert_eq!(name_and_parent(u32::MAX), None);
        }
    }
}
