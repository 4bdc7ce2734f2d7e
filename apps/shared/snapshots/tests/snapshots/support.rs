//! A project, and its snapshots.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pipemux_snapshots::{Change, Direction, PutBack, Refused, Store, Tree};
use tempfile::TempDir;

/// A project in a git repository, with snapshots.
pub struct Sample {
    dir: TempDir,
    pub store: Store,
}

impl Sample {
    /// Makes a project without files.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q"]);
        let store = Store::open(&root, &dir.path().join("state")).unwrap();
        Self { dir, store }
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn take(&self) -> Tree {
        self.store.take().unwrap()
    }

    /// Says what something changes.
    pub fn change(&self, act: impl FnOnce(&Self)) -> Change {
        let before = self.take();
        act(self);
        self.store.change(&before, &self.take()).unwrap()
    }

    pub fn back(&self, change: &Change) -> Result<PutBack, Refused> {
        self.store.put(change, Direction::Back)
    }
}

/// Runs git in a folder, for a test.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args);
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns all that is in a folder: paths, modes, times and contents.
pub fn all(folder: &Path) -> Vec<(PathBuf, String)> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is = fs::symlink_metadata(&path).unwrap();
        let content = match (is.is_symlink(), is.is_file()) {
            (true, _) => fs::read_link(&path).unwrap().display().to_string(),
            (_, true) => format!("{:?}", fs::read(&path).unwrap_or_default()),
            _ => String::new(),
        };
        let told = format!("{:o} {} {} {content}", is.mode(), is.mtime(), is.mtime_nsec());
        found.push((path.clone(), told));
        if is.is_dir() {
            found.extend(all(&path));
        }
    }
    found.sort();
    found
}
