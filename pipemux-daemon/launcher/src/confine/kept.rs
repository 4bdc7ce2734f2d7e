//! Caches descriptors of paths between starts, and detects that a path has changed.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::libc;

/// The identity of a file or directory; of a file, also the state of its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    pub is_directory: bool,
    /// Size and times; zero for a directory, which changes with each entry.
    contents: [i64; 5],
}

impl Identity {
    /// Returns what is at a path, links followed; none if there is nothing.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|found| Self::of(&found))
    }

    fn of(found: &Metadata) -> Self {
        let is_directory = found.is_dir();
        let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
        let [mtime, mtime_ns, ctime, ctime_ns] = times;
        let contents = match is_directory {
            true => [0; 5],
            false => [found.size() as i64, mtime, mtime_ns, ctime, ctime_ns],
        };
        Self { device: found.dev(), inode: found.ino(), is_directory, contents }
    }
}

/// A path with a descriptor of what it leads to, opened again once that is another file or
/// directory.
#[derive(Debug)]
pub(super) struct KeptPath {
    pub path: PathBuf,
    opened: Option<(u64, u64, Opened)>,
}

/// A descriptor that names a file or directory.
#[derive(Debug)]
pub(super) struct Opened {
    pub descriptor: OwnedFd,
    pub is_directory: bool,
}

impl KeptPath {
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), opened: None }
    }

    /// Returns what is there now; none if there is nothing.
    pub(super) fn refreshed(&mut self) -> Option<&Opened> {
        let found = fs::metadata(&self.path).map(|found| (found.dev(), found.ino())).ok();
        let known = self.opened.as_ref().map(|(device, inode, _)| (*device, *inode));
        if found != known {
            self.opened = found.and_then(|(device, inode)| {
                Opened::at(&self.path).ok().map(|opened| (device, inode, opened))
            });
        }
        self.opened()
    }

    /// Returns what was there when it was looked at last.
    pub(super) fn opened(&self) -> Option<&Opened> {
        self.opened.as_ref().map(|(_, _, opened)| opened)
    }
}

impl Opened {
    /// Opens a path only to name it; this neither waits for nor changes what is there.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let flags = libc::O_PATH | libc::O_CLOEXEC;
        let opened = File::options().read(true).custom_flags(flags).open(path)?;
        let is_directory = opened.metadata()?.is_dir();
        Ok(Self { descriptor: opened.into(), is_directory })
    }

    /// Returns the path without links of what was opened at `path`.
    pub(super) fn path(&self, path: &Path) -> io::Result<PathBuf> {
        // Without a `/proc` it is looked up once more.
        fs::read_link(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
            .or_else(|_| path.canonicalize())
    }
}

/// Paths that seldom change, looked at only once a directory that one of them is in has changed.
#[derive(Debug)]
pub(super) struct KeptPaths {
    paths: Vec<KeptPath>,
    directories: Vec<(PathBuf, Option<DirectoryState>)>,
    /// False if a directory was changed so recently that its times may not tell the next change.
    settled: bool,
    /// The number of times that the paths were checked.
    pub looks: u64,
}

type DirectoryState = (u64, u64, i64, i64);

impl KeptPaths {
    pub(super) fn new(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let paths = paths.into_iter().map(KeptPath::new).collect();
        Self { paths, directories: Vec::new(), settled: false, looks: 0 }
    }

    /// Returns what was at the paths when they were looked at, without those where nothing was.
    pub(super) fn opened(&self) -> impl Iterator<Item = &Opened> {
        self.paths.iter().filter_map(KeptPath::opened)
    }

    /// Looks at the paths again if they may have changed.
    pub(super) fn refresh(&mut self) {
        let same = |(path, state): &(PathBuf, _)| directory_state(path) == *state;
        if !self.settled || !self.directories.iter().all(same) {
            // The directories come first, so that what changes meanwhile shows the next time.
            let places: BTreeSet<PathBuf> =
                self.paths.iter().flat_map(|kept| directories_of(&kept.path)).collect();
            let state = |path: PathBuf| {
                let state = directory_state(&path);
                (path, state)
            };
            self.directories = places.into_iter().map(state).collect();
            for path in &mut self.paths {
                path.refreshed();
            }
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let latest = now.as_secs() as i64 - SETTLED_SECONDS;
            let states = self.directories.iter().filter_map(|(_, state)| *state);
            self.settled = states.into_iter().all(|(_, _, changed, _)| changed < latest);
            self.looks += 1;
        }
    }
}

/// The age of a directory's last change, in seconds, from which its times are reliable.
const SETTLED_SECONDS: i64 = 2;
/// The maximum number of links followed from one path.
const LINKS_MAX: usize = 8;

fn directory_state(path: &Path) -> Option<DirectoryState> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

/// The directories that hold the names of a path and of the links on it.
fn directories_of(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Some(directory) = path.parent().map(Path::to_owned) else { break };
        let target = fs::read_link(&path).map(|target| directory.join(target));
        found.push(directory);
        let Ok(target) = target else { break };
        path = target;
    }
    found
}

/// Looks at paths and remembers what was there, so that it can be told later whether the same would
/// be found again.
#[derive(Debug, Default)]
pub(super) struct Probe {
    seen: Vec<(PathBuf, Option<Identity>)>,
}

impl Probe {
    pub(super) fn look(&mut self, path: &Path) -> Option<Identity> {
        if let Some((_, found)) = self.seen.iter().find(|(seen, _)| seen == path) {
            return *found;
        }
        let found = Identity::at(path);
        self.seen.push((path.to_owned(), found));
        found
    }

    pub(super) fn is_file(&mut self, path: &Path) -> bool {
        self.look(path).is_some_and(|found| !found.is_directory)
    }

    pub(super) fn is_directory(&mut self, path: &Path) -> bool {
        self.look(path).is_some_and(|found| found.is_directory)
    }

    /// The path without links; a part that doesn't exist is left as it is.
    pub(super) fn canonical(&mut self, path: &Path) -> PathBuf {
        for above in path.ancestors() {
            if self.look(above).is_some()
                && let Ok(found) = above.canonicalize()
            {
                let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
                return if rest.as_os_str().is_empty() { found } else { found.join(rest) };
            }
        }
        path.to_owned()
    }

    /// True if nothing that was looked at is different now.
    pub(super) fn still_holds(&self) -> bool {
        self.seen.iter().all(|(path, found)| Identity::at(path) == *found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(opened: &Opened) -> Vec<u8> {
        fs::read(format!("/proc/self/fd/{}", opened.descriptor.as_raw_fd())).unwrap()
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_opened_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut kept = KeptPath::new(&path);
        assert!(kept.refreshed().is_none());
        fs::write(&path, "one").unwrap();
        let first = kept.refreshed().unwrap().descriptor.as_raw_fd();
        assert_eq!(kept.refreshed().unwrap().descriptor.as_raw_fd(), first);
        fs::write(directory.path().join("new"), "two").unwrap();
        fs::rename(directory.path().join("new"), &path).unwrap();
        assert_eq!(text(kept.refreshed().unwrap()), b"two");
        fs::remove_file(&path).unwrap();
        assert!(kept.refreshed().is_none());
    }

    #[test]
    fn kept_paths_follow_each_change_of_a_file_or_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("run")).unwrap();
        fs::write(at("run/stub"), "one").unwrap();
        std::os::unix::fs::symlink("run/stub", at("link")).unwrap();
        let mut kept = KeptPaths::new([at("link"), at("missing")]);
        let texts = |kept: &mut KeptPaths| {
            kept.refresh();
            kept.opened().map(text).collect::<Vec<_>>()
        };
        assert_eq!(texts(&mut kept), [b"one"]);
        // As if the directories hadn't changed for long.
        kept.settled = true;
        fs::write(at("run/new"), "two").unwrap();
        fs::rename(at("run/new"), at("run/stub")).unwrap();
        assert_eq!(texts(&mut kept), [b"two"]);
        assert!(!kept.settled);
        fs::write(at("missing"), "three").unwrap();
        assert_eq!(texts(&mut kept), [b"two".to_vec(), b"three".to_vec()]);
    }

    #[test]
    fn a_probe_holds_until_something_that_it_saw_changes() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("there")).unwrap();
        std::os::unix::fs::symlink("there", at("link")).unwrap();
        let mut probe = Probe::default();
        let there = at("there").canonicalize().unwrap();
        assert_eq!(probe.canonical(&at("link/not/yet")), there.join("not/yet"));
        assert!(!probe.is_file(&at("missing")));
        // What is created in a directory doesn't change which directory it is.
        fs::write(at("there/file"), "x").unwrap();
        assert!(probe.still_holds());
        assert!(probe.is_file(&at("there/file")));
        fs::write(at("there/file"), "xy").unwrap();
        assert!(!probe.still_holds());
        let mut probe = Probe::default();
        assert!(!probe.is_directory(&at("missing")));
        fs::create_dir(at("missing")).unwrap();
        assert!(!probe.still_holds());
    }
}
