//! Takes snapshots.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::Unavailable;
use crate::git::{Git, Objects, failed};
use crate::limits::{
    FILE_BYTES_MAX, FILES_MAX, KEPT_BYTES_MAX, KEPT_LOOK, LEFT_OUT_MAX, MODES_CHANGED_MAX,
    PACK_FILES, PACKED_FROM,
};
use crate::modes::Modes;
use crate::project::{Project, find_git, read};

/// The snapshots of one project. Only one process at a time may use their directory.
#[derive(Debug)]
pub struct Store {
    pub(crate) git: Git,
    pub(crate) root: PathBuf,
    directory: PathBuf,
    exclude: PathBuf,
    state: Mutex<StoreState>,
}

#[derive(Debug, Default)]
struct StoreState {
    /// The newest tree, which matches the index.
    newest: Option<String>,
    /// Snapshots with changes since it was looked at what all of them take.
    unlooked: u32,
    /// The permission bits of files that differ from those of a new file.
    modes: Modes,
}

/// The state of a project's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// The id of the tree: a hash of its content.
    pub(crate) id: String,
    /// The paths left out, relative to the project: files, and folders ending with `/`.
    pub(crate) left_out: BTreeSet<Vec<u8>>,
    /// The project's own ignore rules.
    pub(crate) exclude: Vec<u8>,
    /// Permission bits of files that came or went since the snapshot before, where git doesn't know
    /// them.
    pub(crate) modes: Vec<(Vec<u8>, u32)>,
    /// Files whose permission bits changed since the snapshot before, where git doesn't know them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) modes_changed: Vec<Vec<u8>>,
}

/// The pending changes of paths in the index.
#[derive(Default)]
struct Work {
    /// Files that aren't there any more, or are left out now.
    gone: Vec<Vec<u8>>,
    /// Files that are written as they are.
    single: Vec<Vec<u8>>,
    /// Files that may be written as one pack.
    many: Vec<Vec<u8>>,
    left_out: BTreeSet<Vec<u8>>,
    /// The permission bits of files that were added or removed.
    modes: Vec<(Vec<u8>, u32)>,
    /// The remaining files whose permission bits changed.
    modes_changed: Vec<Vec<u8>>,
    bytes: u64,
}

impl Store {
    /// Opens the snapshots of the project that a folder belongs to, which are kept in `directory`.
    ///
    /// # Errors
    /// There is no git, the folder is in no repository, or the directory can't be written.
    pub fn open(folder: &Path, directory: &Path) -> Result<Self, Unavailable> {
        let project = Project::of(folder)?;
        let program = find_git(&project.root)?;
        let (root, exclude) = (project.root.clone(), project.exclude.clone());
        let of = directory.join("of");
        let is_same = fs::read(&of).is_ok_and(|of| of == root.as_os_str().as_bytes());
        let begin = || -> io::Result<Git> {
            if !is_same || bytes_below(directory) > KEPT_BYTES_MAX {
                remove(directory)?;
            }
            fs::create_dir_all(directory)?;
            fs::write(&of, root.as_os_str().as_bytes())?;
            Git::new(program, directory, project)
        };
        let git = begin().map_err(failed)?;
        let state =
            StoreState { modes: Modes::load(directory.join("modes")), ..StoreState::default() };
        let directory = directory.to_owned();
        Ok(Self { git, root, directory, exclude, state: Mutex::new(state) })
    }

    /// Returns the project's topmost folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Takes a snapshot. It waits for another one that is being taken.
    ///
    /// # Errors
    /// The project has too many files, or git complains.
    pub fn take(&self) -> Result<Tree, Unavailable> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.take_in(&mut state);
        if taken.is_err() {
            // Part of the work may be in the index.
            state.newest = None;
            let _ = fs::remove_file(self.directory.join("index.lock"));
        }
        taken
    }

    fn take_in(&self, state: &mut StoreState) -> Result<Tree, Unavailable> {
        let (dirty, others) = thread::scope(|scope| {
            let dirty = ["diff-files", "--raw", "-z", "--ignore-submodules=all"];
            let dirty = scope.spawn(move || self.git.run(&dirty, Objects::Own, &[]));
            let others = ["ls-files", "--others", "--exclude-standard", "-z"];
            let others = self.git.run(&others, Objects::Own, &[]);
            let stopped = || Err(Unavailable::Failed("it was stopped".to_owned()));
            (dirty.join().unwrap_or_else(|_| stopped()), others)
        });
        let work = self.work(&dirty?, &others?, &mut state.modes)?;
        // Modes that aren't of the index are only of no use; the other way round they would be
        // missing.
        state.modes.save().map_err(failed)?;
        self.write(&work)?;
        if self.files() > FILES_MAX {
            return Err(Unavailable::TooMany);
        }
        let is_changed = !(work.gone.is_empty() && work.single.is_empty() && work.many.is_empty());
        let id = match state.newest.clone().filter(|_| !is_changed) {
            Some(newest) => newest,
            None => {
                let id = self.git.run(&["write-tree", "--missing-ok"], Objects::Own, &[])?;
                String::from_utf8_lossy(&id).trim().to_owned()
            }
        };
        state.newest = Some(id.clone());
        state.unlooked += u32::from(is_changed);
        if state.unlooked >= KEPT_LOOK {
            state.unlooked = 0;
            if bytes_below(&self.directory.join("objects")) > KEPT_BYTES_MAX {
                self.begin_anew().map_err(failed)?;
                state.newest = None;
                return Err(Unavailable::Failed("its snapshots take too much room".to_owned()));
            }
        }
        let exclude = read(&self.exclude).unwrap_or_default();
        let Work { left_out, modes, modes_changed, .. } = work;
        Ok(Tree { id, left_out, exclude, modes, modes_changed })
    }

    /// Forgets all snapshots.
    fn begin_anew(&self) -> io::Result<()> {
        let _ = fs::remove_file(self.directory.join("index"));
        remove(&self.directory.join("objects"))?;
        fs::create_dir_all(self.directory.join("objects"))
    }

    /// Says what is to be done with what git tells of.
    fn work(&self, dirty: &[u8], others: &[u8], modes: &mut Modes) -> Result<Work, Unavailable> {
        // Of each: `:100644 100755 1234… 0000… M`, and its path.
        let fields: Vec<&[u8]> = dirty.split(|byte| *byte == 0).collect();
        let dirty = fields.chunks_exact(2).filter_map(|pair| pair.get(1).copied());
        let others = others.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let mut work = Work::default();
        let mut found = 0;
        for (path, is_known) in
            dirty.map(|path| (path, true)).chain(others.map(|path| (path, false)))
        {
            found += 1;
            if found > FILES_MAX {
                return Err(Unavailable::TooMany);
            }
            if path.ends_with(b"/") {
                work.left_out.insert(path.to_vec());
                continue;
            }
            let path = path.to_vec();
            let (found, mode) = self.found(&path, &mut work.bytes);
            if work.bytes > KEPT_BYTES_MAX {
                return Err(Unavailable::TooMuch);
            }
            let was = modes.set(&path, mode);
            let is_changed = is_known && mode.is_some() && was != modes.get(&path);
            if is_changed && work.modes_changed.len() < MODES_CHANGED_MAX {
                work.modes_changed.push(path.clone());
            }
            if let Some(mode) =
                if is_known { was.filter(|_| mode.is_none()) } else { modes.get(&path) }
            {
                work.modes.push((path.clone(), mode));
            }
            match found {
                PathContent::Kept => work.many.push(path),
                PathContent::Small => work.single.push(path),
                PathContent::Gone if is_known => work.gone.push(path),
                PathContent::Gone => {}
                PathContent::LeftOut => {
                    work.left_out.insert(path.clone());
                    if is_known {
                        work.gone.push(path);
                    }
                }
            }
        }
        if work.left_out.len() > LEFT_OUT_MAX {
            let why = format!("more than {LEFT_OUT_MAX} files are too large or can't be read");
            return Err(Unavailable::Failed(why));
        }
        match work.many.len() < PACKED_FROM {
            true => work.single.append(&mut work.many),
            // That is no command's change, but a project that is looked at for the first time.
            false => work.modes.clear(),
        }
        Ok(work)
    }

    /// Looks what is at a path. A file that is kept has permission bits, and its length is added to
    /// `bytes`.
    fn found(&self, path: &[u8], bytes: &mut u64) -> (PathContent, Option<u32>) {
        let path = self.root.join(std::ffi::OsStr::from_bytes(path));
        match fs::symlink_metadata(&path) {
            Err(_) => (PathContent::Gone, None),
            Ok(found) if found.is_symlink() => (PathContent::Small, None),
            Ok(found) if !found.is_file() => (PathContent::Gone, None),
            Ok(found) if found.len() > FILE_BYTES_MAX => (PathContent::LeftOut, None),
            Ok(_) if open(&path).is_err() => (PathContent::LeftOut, None),
            Ok(found) => {
                *bytes = bytes.saturating_add(found.len());
                // An empty one is written as an object of its own in any case.
                let kind = if found.len() == 0 { PathContent::Small } else { PathContent::Kept };
                (kind, Some(found.permissions().mode() & 0o7777))
            }
        }
    }

    fn write(&self, work: &Work) -> Result<(), Unavailable> {
        let list = |paths: &[Vec<u8>]| {
            let mut list = paths.join(&0);
            list.push(0);
            list
        };
        if !work.gone.is_empty() {
            let args = ["update-index", "--force-remove", "-z", "--stdin"];
            self.git.run(&args, Objects::Own, &list(&work.gone))?;
        }
        let add = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
        if !work.single.is_empty() {
            self.git.run(&add, Objects::Own, &list(&work.single))?;
        }
        for many in work.many.chunks(PACK_FILES) {
            // What is streamed becomes a pack, and doesn't touch the times of what the project has.
            let packed = [&["-c", "core.bigFileThreshold=1"][..], &add].concat();
            self.git.run(&packed, Objects::AlsoOfProject, &list(many))?;
        }
        Ok(())
    }

    /// Returns how many files the index has: its header tells.
    fn files(&self) -> usize {
        let mut header = [0; 12];
        let read = File::open(self.directory.join("index"))
            .and_then(|mut index| index.read_exact(&mut header));
        match (read, header) {
            (Ok(()), [.., a, b, c, d]) => u32::from_be_bytes([a, b, c, d]) as usize,
            _ => 0,
        }
    }
}

/// What is at a path.
enum PathContent {
    Kept,
    /// A file that is stored as an object of its own.
    Small,
    Gone,
    LeftOut,
}

impl Tree {
    /// Returns true if it leaves a path out.
    pub(crate) fn leaves_out(&self, path: &[u8]) -> bool {
        let folders = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        self.left_out.contains(path)
            || folders
                .map(|(at, _)| path.get(..=at))
                .any(|folder| folder.is_some_and(|folder| self.left_out.contains(folder)))
    }
}

/// Opens what must be a file, without waiting for anything.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")),
    }
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn bytes_below(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = entries.filter_map(|entry| {
        let found = entry.metadata().ok()?;
        Some(if found.is_dir() { bytes_below(&entry.path()) } else { found.len() })
    });
    bytes.sum()
}

pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    std::ffi::OsString::from_vec(bytes).into()
}
