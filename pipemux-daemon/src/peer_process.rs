//! Finds out which process a client is, and which processes started it.
//!
//! The process id is the one that the system noted when the client connected. A handle of that
//! process, where the system has one, tells whether it still lived once its ancestors were known;
//! otherwise its id could be another process's by then.

use std::os::unix::net::UnixStream;

use pipemux_core::peer::{Evidence, PeerProcess};
use pipemux_launcher::MarkOrigin;

/// The processes that started clients.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Default)]
pub struct PeerProcesses;

#[cfg(not(target_os = "linux"))]
impl PeerProcesses {
    /// Describes the process at the other end. `origin` is what the marks of this daemon's apps
    /// have in common.
    pub fn identify(&mut self, _: &UnixStream, _: MarkOrigin) -> PeerProcess {
        PeerProcess { evidence: Evidence::Unavailable, ..PeerProcess::default() }
    }
}

#[cfg(target_os = "linux")]
pub use linux::PeerProcesses;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File};
    use std::io::Read;
    use std::os::fd::{AsFd, OwnedFd};

    use nix::errno::Errno;
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::signal::kill;
    use nix::sys::socket::getsockopt;
    use nix::sys::socket::sockopt::{PeerCredentials, PeerPidfd};
    use nix::unistd::Pid;
    use pipemux_core::peer::Ancestor;
    use pipemux_launcher::{mark_of, process_handle};
    use rustc_hash::FxHashMap;

    use super::*;
    use crate::limits::{ANCESTORS_KNOWN_MAX, ANCESTORS_MAX, ANCESTRY_TRIES};

    /// Bytes of what the system tells of a process that are read: its name and its parent are at
    /// the front.
    const STAT_READ: usize = 256;

    /// The processes that started clients, as long as they live: most clients of a user have the
    /// same ones.
    ///
    /// **Invariant: a process is the child of another as long as that one lives.** The system gives
    /// a child to another parent only when its own has ended, and the handle of that one tells. A
    /// process that goes on as another program keeps the name that it had.
    #[derive(Debug, Default)]
    pub struct PeerProcesses {
        known: FxHashMap<u32, KnownProcess>,
    }

    #[derive(Debug)]
    struct KnownProcess {
        /// Absent where the system has none, and beyond a bound: such a process is known for one
        /// client only.
        handle: Option<OwnedFd>,
        name: String,
        parent: u32,
    }

    impl PeerProcesses {
        /// Describes the process at the other end. `origin` is what the marks of this daemon's apps
        /// have in common.
        pub fn identify(&mut self, stream: &UnixStream, origin: MarkOrigin) -> PeerProcess {
            let unavailable =
                || PeerProcess { evidence: Evidence::Unavailable, ..Default::default() };
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
            let program = program.map(|path| path.to_string_lossy().into_owned());
            let program = program.unwrap_or_default();
            let (ancestors, complete) = (0..ANCESTRY_TRIES)
                .find_map(|_| self.ancestors(pid).map(|found| (found, true)))
                .unwrap_or_default();
            let mark = i32::try_from(pid).ok().and_then(mark_of);
            let marked = mark.is_some_and(|mark| mark.is_of(origin));
            let lives = match &handle {
                Some(handle) => all_live([handle].into_iter()),
                None => name_and_parent(pid).is_some(),
            };
            let evidence = match lives {
                false => Evidence::Ended,
                true if complete => Evidence::Complete,
                true => Evidence::Partial,
            };
            PeerProcess { pid: Some(pid), program, ancestors, evidence, marked }
        }

        /// Returns the processes that started a process, its parent first; none when one of them
        /// ended meanwhile, or when there are too many.
        fn ancestors(&mut self, pid: u32) -> Option<Vec<Ancestor>> {
            let found = self.find_ancestors(pid);
            let handles =
                found.iter().flatten().filter_map(|ancestor| self.known.get(&ancestor.pid));
            let live = all_live(handles.filter_map(|known| known.handle.as_ref()));
            match live && self.known.len() < ANCESTORS_KNOWN_MAX {
                true => self.known.retain(|_, known| known.handle.is_some()),
                // Those that ended, and what is known of their children.
                false => self.known.clear(),
            }
            found.filter(|_| live)
        }

        fn find_ancestors(&mut self, pid: u32) -> Option<Vec<Ancestor>> {
            let mut found = Vec::new();
            let (_, mut parent) = name_and_parent(pid)?;
            let mut child = pid;
            while parent != 0 {
                if found.len() >= ANCESTORS_MAX {
                    return None;
                }
                if !self.known.contains_key(&parent) {
                    self.learn(parent, child)?;
                }
                let Some(known) = self.known.get(&parent) else {
                    found.push(Ancestor { pid: parent, name: String::new() });
                    return Some(found);
                };
                found.push(Ancestor { pid: parent, name: known.name.clone() });
                (child, parent) = (parent, known.parent);
            }
            Some(found)
        }

        /// Looks up a process that started another one; none when it isn't that one's parent any
        /// more. Of other users' processes the system may show nothing: such a one isn't known
        /// afterwards.
        fn learn(&mut self, pid: u32, child: u32) -> Option<()> {
            let raw = i32::try_from(pid).ok()?;
            let room = self.known.len() < ANCESTORS_KNOWN_MAX;
            let handle = if room { process_handle(raw).ok() } else { None };
            let stat = name_and_parent(pid);
            // Only now it is certain that this is of its parent, and not of another process that
            // got the same id.
            if name_and_parent(child)?.1 != pid {
                return None;
            }
            match stat {
                Some((name, parent)) => {
                    self.known.insert(pid, KnownProcess { handle, name, parent });
                    Some(())
                }
                None => (kill(Pid::from_raw(raw), None) == Err(Errno::EPERM)).then_some(()),
            }
        }
    }

    /// Reads the name of a process, and the id of its parent: 0 for the first process, and for one
    /// whose parent is outside of what this process can see.
    fn name_and_parent(pid: u32) -> Option<(String, u32)> {
        let mut stat = [0; STAT_READ];
        let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
        let stat = String::from_utf8_lossy(&stat[..length]);
        // The name may contain anything, also parentheses.
        let (before, after) = stat.rsplit_once(") ")?;
        let name = before.split_once('(')?.1.to_owned();
        Some((name, after.split(' ').nth(1)?.parse().ok()?))
    }

    /// Returns true while the processes of all of these handles live.
    fn all_live<'a>(handles: impl Iterator<Item = &'a OwnedFd>) -> bool {
        let wait = |handle: &'a OwnedFd| PollFd::new(handle.as_fd(), PollFlags::POLLIN);
        let mut waits: Vec<PollFd<'_>> = handles.map(wait).collect();
        poll(&mut waits, PollTimeout::ZERO) == Ok(0)
    }

    #[cfg(test)]
    mod tests {
        use std::process::{Child, Command, Stdio};

        use super::*;

        #[test]
        fn own_process_has_its_parents_and_lives() {
            let (ours, _theirs) = UnixStream::pair().unwrap();
            let origin = MarkOrigin::of(&std::env::temp_dir()).unwrap();
            let mut peers = PeerProcesses::default();
            let peer = peers.identify(&ours, origin);
            assert_eq!(peer.pid, Some(std::process::id()));
            assert_eq!(peer.evidence, Evidence::Complete);
            assert!(!peer.marked && !peer.program.is_empty(), "{peer:?}");
            let parent = u32::try_from(nix::unistd::getppid().as_raw()).unwrap();
            assert_eq!(peer.ancestors.first().map(|first| first.pid), Some(parent));
            assert!(peers.known.contains_key(&parent));
            assert_eq!(peers.identify(&ours, origin), peer);
        }

        #[test]
        fn nothing_is_known_of_a_process_once_one_that_started_it_has_ended() {
            let cat = || Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
            let (mut one, mut other) = (cat(), cat());
            let known = |process: &Child, parent: u32| KnownProcess {
                handle: process_handle(i32::try_from(process.id()).unwrap()).ok(),
                name: "cat".into(),
                parent,
            };
            // As if the second one had started this process, and the first one the second.
            let me = std::process::id();
            let (_, parent) = name_and_parent(me).unwrap();
            let mut peers = PeerProcesses::default();
            peers.known.insert(parent, known(&other, one.id()));
            peers.known.insert(one.id(), known(&one, 0));
            let pids = |found: Vec<Ancestor>| found.iter().map(|one| one.pid).collect::<Vec<_>>();
            assert_eq!(peers.ancestors(me).map(pids), Some(vec![parent, one.id()]));
            drop(one.stdin.take());
            one.wait().unwrap();
            assert_eq!(peers.ancestors(me), None);
            assert!(peers.known.is_empty());
            let found = peers.ancestors(me).map(pids).unwrap();
            assert!(found.starts_with(&[parent]) && !found.contains(&one.id()), "{found:?}");
            drop(other.stdin.take());
            other.wait().unwrap();
        }

        #[test]
        fn name_with_parentheses_and_spaces_hides_no_parent() {
            assert!(name_and_parent(std::process::id()).is_some());
            assert_eq!(name_and_parent(u32::MAX), None);
        }
    }
}
