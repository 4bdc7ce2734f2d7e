//! Control groups: what the kernel itself holds a session to, with all that it starts.
//!
//! They are used where the daemon has a part of the hierarchy of its own: a unit of systemd with
//! `Delegate=yes`. A group with processes can't hand controllers on, so the daemon and its launcher
//! move to a group below.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};

use crate::message::{ExceededLimit, Limits};

/// The controllers that are used if they are available.
const CONTROLLERS: [&str; 4] = ["memory", "pids", "cpu", "io"];
/// The group that the daemon and its launcher move to.
const OWN: &str = "pipemuxd";
/// The prefix of the name of a session's group.
const SESSION: &str = "app-";
/// The attributes by which systemd marks a delegated group: its own, and a user manager's.
const DELEGATED: [&str; 2] = ["trusted.delegate", "user.delegate"];

/// The daemon's part of the hierarchy.
#[derive(Debug)]
pub struct CgroupTree {
    root: PathBuf,
    controllers: Vec<&'static str>,
}

/// The group of one session's process.
#[derive(Debug)]
pub(crate) struct SessionCgroup {
    path: PathBuf,
    /// The file to which a process writes itself to join the group.
    procs: File,
}

impl CgroupTree {
    /// Finds the delegated group that this process is in, without changing anything; none if there
    /// is none.
    pub fn find() -> Option<PathBuf> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        let path = own_group(&groups, &mounts)?;
        // Below, if this process has moved there already.
        let path = if path.ends_with(OWN) { path.parent()?.to_owned() } else { path };
        DELEGATED.iter().any(|name| crate::sys::has_attribute(&path, name)).then_some(path)
    }

    /// Takes over a delegated group: moves its processes to a group below, and hands the
    /// controllers on.
    ///
    /// # Errors
    /// The hierarchy refuses.
    pub fn take_over(root: PathBuf) -> io::Result<Self> {
        let own = root.join(OWN);
        if !own.is_dir() {
            fs::create_dir(&own)?;
        }
        for pid in fs::read_to_string(root.join("cgroup.procs"))?.split_ascii_whitespace() {
            write(&own.join("cgroup.procs"), pid)?;
        }
        let there = fs::read_to_string(root.join("cgroup.controllers"))?;
        let there: Vec<&str> = there.split_ascii_whitespace().collect();
        let mut controllers = Vec::new();
        for controller in CONTROLLERS.into_iter().filter(|name| there.contains(name)) {
            if write(&root.join("cgroup.subtree_control"), &format!("+{controller}")).is_ok() {
                controllers.push(controller);
            }
        }
        // What an earlier launcher left: only an empty group can be removed.
        for entry in fs::read_dir(&root)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(SESSION) {
                let _ = fs::remove_dir(entry.path());
            }
        }
        Ok(Self { root, controllers })
    }

    /// The controllers that enforce the limits of sessions.
    pub fn controllers(&self) -> &[&'static str] {
        &self.controllers
    }

    /// Creates the group of a process.
    ///
    /// # Errors
    /// The hierarchy refuses.
    pub(crate) fn create(&self, incarnation: u64, limits: Limits) -> io::Result<SessionCgroup> {
        let path = self.root.join(format!("{SESSION}{incarnation}"));
        fs::create_dir(&path)?;
        let result = self.limit(&path, limits);
        if result.is_err() {
            let _ = fs::remove_dir(&path);
        }
        result.map(|procs| SessionCgroup { path, procs })
    }

    fn limit(&self, path: &Path, limits: Limits) -> io::Result<File> {
        let has = |name: &str| self.controllers.contains(&name);
        if let Some(max) = limits.memory.filter(|_| has("memory")) {
            write(&path.join("memory.max"), &max.to_string())?;
            // One process of it can't be killed alone and leave the others without it.
            write(&path.join("memory.oom.group"), "1")?;
        }
        if let Some(max) = limits.threads.filter(|_| has("pids")) {
            // The kernel counts threads here.
            write(&path.join("pids.max"), &max.to_string())?;
        }
        OpenOptions::new().write(true).open(path.join("cgroup.procs"))
    }
}

impl SessionCgroup {
    /// The file to which a process writes `0` to join the group.
    pub(crate) fn procs(&self) -> RawFd {
        self.procs.as_raw_fd()
    }

    /// Returns the limit that the kernel held the group to, if it ended by it.
    pub(crate) fn exceeded(&self, limits: Limits) -> Option<ExceededLimit> {
        let count = |file: &str, name: &str| {
            let text = fs::read_to_string(self.path.join(file)).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line?.trim().parse::<u64>().ok()
        };
        if count("memory.events", "oom_kill").is_some_and(|kills| kills > 0) {
            return limits.memory.map(ExceededLimit::TreeMemory);
        }
        None
    }

    /// Kills every process of the group at once; an older kernel can't.
    pub(crate) fn kill(&self) {
        let _ = write(&self.path.join("cgroup.kill"), "1");
    }

    /// Removes the group once it is empty.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir(&self.path);
    }
}

/// Returns the directory of the group that a process is in.
fn own_group(groups: &str, mounts: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, place, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup2").then_some(place)
    })?;
    // The root of a hierarchy is nobody's own.
    (!group.is_empty()).then(|| Path::new(mount).join(group))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the files of a group, which a real hierarchy creates by itself.
    fn fake_group(path: &Path, controllers: &str) {
        fs::create_dir_all(path).unwrap();
        let files = ["cgroup.procs", "cgroup.subtree_control", "cgroup.kill", "memory.max"];
        for name in files.iter().chain(&["memory.oom.group", "pids.max", "memory.events"]) {
            fs::write(path.join(name), "").unwrap();
        }
        fs::write(path.join("cgroup.controllers"), controllers).unwrap();
    }

    fn text(path: PathBuf) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn own_group_is_found_unless_it_is_the_root() {
        let mounts = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
        let group = "0::/user.slice/user@1000.service/pipemux.service\n";
        let found = own_group(group, mounts).unwrap();
        assert_eq!(found, Path::new("/sys/fs/cgroup/user.slice/user@1000.service/pipemux.service"));
        assert_eq!(own_group("0::/\n", mounts), None);
        assert_eq!(own_group("4:memory:/x\n", mounts), None);
        assert_eq!(own_group(group, "cgroup /sys/fs/cgroup/memory cgroup rw\n"), None);
    }

    #[test]
    fn delegated_group_hands_on_the_controllers_that_are_there() {
        let root = tempfile::tempdir().unwrap();
        fake_group(root.path(), "cpuset cpu memory hugetlb\n");
        fake_group(&root.path().join(OWN), "");
        fs::write(root.path().join("cgroup.procs"), "41\n42\n").unwrap();
        let tree = CgroupTree::take_over(root.path().to_owned()).unwrap();
        assert_eq!(tree.controllers(), ["memory", "cpu"]);
        // Each is a write of its own, which in a real group adds and here overwrites from the
        // beginning.
        assert_eq!(text(root.path().join(OWN).join("cgroup.procs")), "42");
        assert!(text(root.path().join("cgroup.subtree_control")).starts_with("+cpu"));
    }

    #[test]
    fn session_is_limited_by_what_is_there_and_told_what_it_exceeded() {
        let root = tempfile::tempdir().unwrap();
        let tree = CgroupTree { root: root.path().to_owned(), controllers: vec!["memory", "pids"] };
        let limits = Limits { memory: Some(1 << 20), threads: Some(64), ..Limits::default() };
        // Here nothing makes the files of a new group, so it can't be limited, and nothing is left
        // of it.
        assert!(tree.create(7, limits).is_err());
        assert!(!root.path().join("app-7").exists());

        let path = root.path().join("app-8");
        fake_group(&path, "");
        let procs = tree.limit(&path, limits).unwrap();
        assert_eq!(text(path.join("memory.max")), "1048576");
        assert_eq!(text(path.join("memory.oom.group")), "1");
        assert_eq!(text(path.join("pids.max")), "64");
        let group = SessionCgroup { path: path.clone(), procs };
        assert_eq!(group.exceeded(limits), None);
        fs::write(path.join("memory.events"), "low 0\noom 2\noom_kill 1\n").unwrap();
        assert_eq!(group.exceeded(limits), Some(ExceededLimit::TreeMemory(1 << 20)));
        group.kill();
        assert_eq!(text(path.join("cgroup.kill")), "1");
        let none = CgroupTree { root: root.path().to_owned(), controllers: Vec::new() };
        let free = root.path().join("app-9");
        fake_group(&free, "");
        none.limit(&free, limits).unwrap();
        assert_eq!(text(free.join("memory.max")), "");
    }
}
