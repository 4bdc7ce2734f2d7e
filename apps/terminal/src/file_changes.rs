//! What commands changed in the files of the workspace's project: a snapshot before each, and one
//! after it.

mod saved;
mod sessions;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use docui::{Fault, Opening};
use pipemux_snapshots::{Direction, FileChange, Refused, Store, Tree, Unavailable, Untaken};

use crate::limits::{AFTER_PATIENCE, BEFORE_PATIENCE, CHANGED_SHOWN, CHANGED_TOLD, LATE_MAX};
pub use saved::Saved;
use saved::SavedChanges;

/// The name for other writers that may have changed files while a job ran.
const OTHERS: &str = "others";

/// The file changes of a session's commands. Cheap to clone.
#[derive(Clone)]
pub struct FileChanges(Arc<Shared>);

struct Shared {
    /// The workspace.
    folder: PathBuf,
    /// The session's state directory.
    state_dir: PathBuf,
    store: Mutex<Option<Arc<Store>>>,
    saved: Mutex<SavedChanges>,
    running: Mutex<Vec<Arc<Running>>>,
    /// Snapshots in a row that weren't there in time.
    late: AtomicU32,
    /// Whether the last late snapshot is available by now.
    caught_up: Mutex<Arc<AtomicBool>>,
}

/// A running command, or several that run in order.
#[derive(Debug, Default)]
struct Running {
    /// The command's name and line.
    name: OnceLock<(String, String)>,
    /// Others that changed files meanwhile.
    beside: Mutex<Vec<String>>,
}

/// The time span of a command, or of several that run in order.
pub struct Span {
    changes: FileChanges,
    before: Result<Tree, String>,
    running: Arc<Running>,
    /// The time of the beginning.
    since: SystemTime,
    /// Tells other sessions that it runs.
    _held: Option<File>,
}

/// The result of an undo or redo; paths are relative to the project.
pub struct Put {
    /// The files that were written, created or removed.
    pub files: Vec<PathBuf>,
    /// The files that were left as they are.
    pub kept: Vec<PathBuf>,
    /// Files that seem new but may be older, since ignore rules changed.
    pub unsure: Vec<PathBuf>,
    /// Other things that changed while the command ran.
    pub untaken: Untaken,
    /// For an undo, the trees of all files before and after it.
    pub redo: Option<(Tree, Tree)>,
}

/// The changes of a command, as far as they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Changed {
    /// No known file changed.
    #[default]
    Nothing,
    /// The changes aren't known, for this reason.
    Unknown(String),
    /// Files: the name of the change, and what is said of it.
    Files {
        /// The name of the change.
        change: String,
        /// `changed src/a.rs, src/b.rs, +12 more`.
        words: String,
        /// The absolute paths of the first files, unless others may have changed them.
        paths: Vec<String>,
    },
}

impl FileChanges {
    /// Takes over what an earlier process of the session kept.
    pub fn new(opening: &Opening) -> Self {
        Self(Arc::new(Shared {
            folder: opening.cwd.clone(),
            state_dir: opening.state_dir.clone(),
            store: Mutex::default(),
            saved: Mutex::new(SavedChanges::load(&opening.state_dir)),
            running: Mutex::default(),
            late: AtomicU32::new(0),
            caught_up: Mutex::new(Arc::new(AtomicBool::new(true))),
        }))
    }

    /// Looks at the files before a command begins. It may wait for the disk.
    pub fn begin(&self) -> Span {
        let running = Arc::new(Running::default());
        // Whoever ends from here on may have changed files after the look.
        locked(&self.0.running).push(running.clone());
        let (held, since) = (sessions::hold(&self.0.state_dir).ok(), SystemTime::now());
        let before = self.take(BEFORE_PATIENCE);
        Span { changes: self.clone(), before, running, since, _held: held }
    }

    /// Returns a change: the one with this name, else the newest one of a reader.
    pub fn find(&self, name: Option<&str>, reader: &str) -> Option<Saved> {
        locked(&self.0.saved).find(name, reader)
    }

    /// Takes a change back, or makes it again, but for the files that are kept as they are:
    /// absolute paths, or relative ones of the project. It waits for the disk.
    ///
    /// # Errors
    /// Nothing was written, and why.
    pub fn put(
        &self,
        saved: &Saved,
        direction: Direction,
        keep: &[String],
    ) -> Result<Put, Refused> {
        let store = self.store()?;
        let mut change = store.change(&saved.before, &saved.after)?;
        let is_kept = |file: &FileChange| {
            let path = store.root().join(&file.path);
            keep.iter().any(|keep| store.root().join(keep) == path)
        };
        let kept = change.files.extract_if(.., |file| is_kept(file)).map(|file| file.path);
        let kept: Vec<PathBuf> = kept.collect();
        // What is made again is what was taken back: others may have taken theirs back from the
        // same files before.
        if let (Direction::Again, Some((found, left))) = (direction, &saved.redo) {
            let mut again = store.change(left, found)?;
            again.files.retain(|file| change.files.iter().any(|own| own.path == file.path));
            change = again;
        }
        let look = || (direction == Direction::Back).then(|| store.take().ok()).flatten();
        let found = look();
        // Where it isn't known, nothing is said: the files are what matters.
        let untaken = match direction {
            Direction::Back => store.untaken(&saved.after, saved.span()).unwrap_or_default(),
            Direction::Again => Untaken::default(),
        };
        let put = store.put(&change, direction)?;
        // It is no command's change.
        self.told_to_others(None, &format!("an undo of {}", saved.name));
        let redo = found.zip(look());
        Ok(Put { files: put.files, kept, unsure: put.unsure, untaken, redo })
    }

    /// Returns the absolute paths of files of the project, as many as are told.
    pub fn absolute(&self, files: &[PathBuf]) -> Vec<String> {
        let root = self.store().map(|store| store.root().to_owned());
        root.map(|root| absolute(&root, files.iter().map(PathBuf::as_path))).unwrap_or_default()
    }

    /// Keeps that a change is taken back, or made again, but for these files.
    ///
    /// # Errors
    /// It can't be saved.
    pub fn mark(
        &self,
        name: &str,
        direction: Direction,
        kept: &[String],
        redo: Option<(Tree, Tree)>,
    ) -> Result<(), Fault> {
        locked(&self.0.saved).mark(name, direction == Direction::Back, kept, redo)
    }

    fn store(&self) -> Result<Arc<Store>, Unavailable> {
        let mut store = locked(&self.0.store);
        if store.is_none() {
            let directory = self.0.state_dir.join("snapshots");
            // A folder may become a repository later.
            *store = Some(Arc::new(Store::open(&self.0.folder, &directory)?));
        }
        store.clone().ok_or(Unavailable::NoRepository)
    }

    /// Takes a snapshot, if that doesn't take too long.
    fn take(&self, patience: Duration) -> Result<Tree, String> {
        let (late, slow) = (&self.0.late, "looking through the project's files takes too long");
        if late.load(Ordering::Relaxed) >= LATE_MAX {
            return Err(slow.to_owned());
        }
        if !locked(&self.0.caught_up).load(Ordering::Relaxed) {
            return Err("the project's files are still being looked through".to_owned());
        }
        let store = self.store().map_err(|why| why.to_string())?;
        let is_there = Arc::new(AtomicBool::new(false));
        let there = is_there.clone();
        let (sender, taken) = sync_channel(1);
        let begun = thread::Builder::new().name("snapshot".into()).spawn(move || {
            let _ = sender.send(store.take());
            there.store(true, Ordering::Relaxed);
        });
        begun.map_err(|error| error.to_string())?;
        match taken.recv_timeout(patience) {
            Ok(taken) => {
                late.store(0, Ordering::Relaxed);
                taken.map_err(|why| why.to_string())
            }
            Err(_) => {
                late.fetch_add(1, Ordering::Relaxed);
                *locked(&self.0.caught_up) = is_there;
                Err(slow.to_owned())
            }
        }
    }

    /// Lets all that run, but one, know who else changed files.
    fn told_to_others(&self, but: Option<&Arc<Running>>, who: &str) {
        for other in locked(&self.0.running).iter() {
            if but.is_none_or(|but| !Arc::ptr_eq(but, other)) {
                locked(&other.beside).push(who.to_owned());
            }
        }
    }
}

impl Span {
    /// Names the command once it is known: its name, and its line.
    pub fn name(&self, name: String, line: String) {
        let _ = self.running.name.set((name, line));
    }

    /// Says what it changed, and keeps that, for a reader. It waits for the disk. If it outlasted
    /// its call, whoever wrote meanwhile may have done so: its reader went on with other work.
    pub fn end(self, reader: &str, outlasted: bool) -> Changed {
        let Some((name, line)) = self.running.name.get().cloned() else { return Changed::Nothing };
        let looked = self.look();
        if looked.as_ref().is_ok_and(|looked| looked.files.is_empty()) {
            return Changed::Nothing;
        }
        self.changes.told_to_others(Some(&self.running), &name);
        let Looked { files, paths, before, after } = match looked {
            Ok(looked) => looked,
            Err(why) => return Changed::Unknown(why),
        };
        let mut beside = locked(&self.running.beside).clone();
        let others = locked(&self.changes.0.running);
        // One that still runs may have changed them, too.
        let others = others.iter().filter(|other| !Arc::ptr_eq(other, &self.running));
        beside.extend(others.filter_map(|other| Some(other.name.get()?.0.clone())));
        beside.extend(sessions::busy(&self.changes.0.state_dir, self.since));
        beside.extend(outlasted.then(|| OTHERS.to_owned()));
        beside.sort_unstable();
        beside.dedup();
        let mut words = format!("changed {files}");
        if !beside.is_empty() {
            words += &format!(" (or {} did)", beside.join(", "));
        }
        let paths = if beside.is_empty() { paths } else { Vec::new() };
        let reader = reader.to_owned();
        let change = name.clone();
        let since_1970 = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = |at| u64::try_from(since_1970(at).as_millis()).unwrap_or_default();
        let ran = (ms(self.since), ms(SystemTime::now()));
        let (undone, kept, redo) = (false, Vec::new(), None);
        let saved =
            Saved { name, line, reader, files, before, after, beside, ran, undone, kept, redo };
        match locked(&self.changes.0.saved).add(saved) {
            Ok(()) => Changed::Files { change, words, paths },
            Err(fault) => Changed::Unknown(fault.message),
        }
    }

    /// Looks at the files after the command. Returns those that changed, and what they were and
    /// are.
    fn look(&self) -> Result<Looked, String> {
        let before = self.before.clone()?;
        let after = self.changes.take(AFTER_PATIENCE)?;
        let store = self.changes.store().map_err(|why| why.to_string())?;
        let change = store.change(&before, &after).map_err(|why| why.to_string())?;
        let changed = change.files.iter().map(|file| file.path.as_path());
        let paths = absolute(store.root(), changed);
        Ok(Looked { files: change.named(CHANGED_SHOWN), paths, before, after })
    }
}

/// The result of examining the files after a command.
struct Looked {
    /// The changed files, in words.
    files: String,
    /// Their absolute paths, as many as are told.
    paths: Vec<String>,
    before: Tree,
    after: Tree,
}

/// Returns the absolute paths of files of a project, as many as are told. Those that are no text
/// are left out.
fn absolute<'p>(root: &Path, files: impl Iterator<Item = &'p Path>) -> Vec<String> {
    let paths = files.filter_map(|file| root.join(file).into_os_string().into_string().ok());
    paths.take(CHANGED_TOLD).collect()
}

impl Drop for Span {
    fn drop(&mut self) {
        locked(&self.changes.0.running).retain(|running| !Arc::ptr_eq(running, &self.running));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
