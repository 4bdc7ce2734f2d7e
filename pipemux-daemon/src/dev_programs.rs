//! Programs that their authors work on (`dev = true`): whether they have changed since they were
//! started.
//!
//! It is asked when a client wants something, so nothing is watched meanwhile: a `stat` for each
//! file.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use pipemux_core::Start;
use pipemux_proto::Incarnation;
use rustc_hash::FxHashMap;

use crate::limits::DEV_FILES_MAX;

/// The values that identify a state of a file; `None` for a file that doesn't exist.
type Identity = Option<(u64, u64, i64, i64)>;

/// The program files of each process whose app is under development.
#[derive(Debug, Default)]
pub struct DevPrograms {
    by_app: FxHashMap<Incarnation, Vec<(PathBuf, Identity)>>,
}

impl DevPrograms {
    /// Remembers the state of a process's files at its start.
    pub fn watch(&mut self, app: Incarnation, start: &Start) {
        let files = program_files(start).into_iter().map(|path| {
            let identity = identity(&path);
            (path, identity)
        });
        self.by_app.insert(app, files.collect());
    }

    /// Removes the data of a process that has ended.
    pub fn forget(&mut self, app: Incarnation) {
        self.by_app.remove(&app);
    }

    /// Returns the processes whose files have changed; each once.
    pub fn take_changed(&mut self) -> Vec<Incarnation> {
        if self.by_app.is_empty() {
            return Vec::new();
        }
        let changed = |files: &[(PathBuf, Identity)]| {
            files.iter().any(|(path, before)| identity(path) != *before)
        };
        let found = self.by_app.iter().filter(|(_, files)| changed(files));
        let mut apps: Vec<Incarnation> = found.map(|(app, _)| *app).collect();
        apps.sort_unstable();
        for app in &apps {
            self.by_app.remove(app);
        }
        apps
    }
}

fn identity(path: &Path) -> Identity {
    let found = fs::metadata(path).ok()?;
    Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}

/// Returns the files that a program consists of, as far as its start tells: the program, files
/// among its arguments, and what lies beside them with the same ending.
fn program_files(start: &Start) -> Vec<PathBuf> {
    let named = [&start.command].into_iter().chain(&start.args).map(PathBuf::from);
    let named: Vec<PathBuf> = named.filter(|path| path.is_absolute() && path.is_file()).collect();
    let mut all = named.clone();
    for file in &named {
        let (Some(directory), Some(ending)) = (file.parent(), file.extension()) else { continue };
        let Ok(entries) = fs::read_dir(directory) else { continue };
        let beside = entries.filter_map(|entry| Some(entry.ok()?.path()));
        all.extend(beside.filter(|path| path.extension() == Some(ending)));
    }
    all.sort();
    all.dedup();
    all.truncate(DEV_FILES_MAX);
    all
}
