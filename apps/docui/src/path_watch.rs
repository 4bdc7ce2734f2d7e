//! Watches the paths that apps name ([`crate::App::watched`]) for changes by other programs.
//!
//! The directories of the paths are watched, so that a file that is replaced by a rename counts as
//! changed, and one that is made where none was. A disk may hang when a watch is added, so that is
//! done on another thread. While a path can't be watched, its app is refreshed once a second.

mod system;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pipemux_proto::deadline;
use pipemux_proto::ids::Incarnation;

use crate::blocking::Task;
use crate::handle::Handle;
use crate::limits::{UNWATCHED_REFRESH, WATCH_SETTLE, WATCH_SPACING, WATCHED_PATHS_MAX};

use system::{Event, System, WatchId};

/// The watched paths of all sessions of a process.
#[derive(Debug)]
pub(crate) struct PathWatch {
    system: Arc<System>,
    sessions: HashMap<Incarnation, SessionPaths>,
    /// When events are read again, so that a busy directory doesn't keep the serving loop busy.
    rest_until: Option<Instant>,
}

/// The watched paths of one session.
#[derive(Debug, Default)]
struct SessionPaths {
    handle: Handle,
    wanted: BTreeSet<PathBuf>,
    /// True when there are more paths than are watched.
    too_many: bool,
    /// The watched places of each path. A symbolic link has two: its own, and that of its target.
    watched: HashMap<PathBuf, Vec<Place>>,
    adding: Vec<Adding>,
    /// When the app is refreshed, since something changed.
    settles: Option<Instant>,
    /// When the app is refreshed all the same, since not all of its paths are watched.
    retry: Option<Instant>,
}

/// The last part of a watched path that stands for all entries of its directory.
const ALL_NAMES: &str = "*";

/// A name in a watched directory.
type Place = (WatchId, OsString);

/// Watches that another thread adds.
#[derive(Debug)]
struct Adding {
    paths: BTreeSet<PathBuf>,
    task: Task<Vec<(PathBuf, Vec<Place>)>>,
}

impl PathWatch {
    /// Returns `None` where the system has no watches, or gives no more.
    pub(crate) fn new() -> Option<Self> {
        let system = Arc::new(System::new()?);
        Some(Self { system, sessions: HashMap::new(), rest_until: None })
    }

    /// Watches these paths for a session, and no others.
    pub(crate) fn set(&mut self, session: Incarnation, handle: &Handle, paths: Vec<PathBuf>) {
        let found = self.sessions.entry(session).or_default();
        found.handle = handle.clone();
        found.too_many = paths.len() > WATCHED_PATHS_MAX;
        let wanted: BTreeSet<PathBuf> = paths.into_iter().take(WATCHED_PATHS_MAX).collect();
        if wanted != found.wanted {
            found.watched.retain(|path, _| wanted.contains(path));
            found.wanted = wanted;
            found.add_missing(&self.system);
            self.remove_unused();
        }
    }

    /// Watches nothing for a session any more.
    pub(crate) fn forget(&mut self, session: Incarnation) {
        if self.sessions.remove(&session).is_some() {
            self.remove_unused();
        }
    }

    /// What is readable once a watched path changed; `None` while events rest.
    pub(crate) fn events(&self) -> Option<BorrowedFd<'_>> {
        match self.rest_until {
            None => Some(self.system.events()),
            Some(_) => None,
        }
    }

    /// When [`PathWatch::run`] has something to do, whether events come or not.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let sessions = self.sessions.values();
        let due =
            sessions.filter_map(|paths| [paths.settles, paths.retry].into_iter().flatten().min());
        due.chain(self.rest_until).min()
    }

    /// Takes in what happened. Returns the sessions whose apps are to be refreshed.
    pub(crate) fn run(&mut self, now: Instant) -> HashSet<Incarnation> {
        if self.rest_until.is_none_or(|until| until <= now) {
            let any = self.read_events(now);
            self.rest_until = any.then(|| deadline::behind(now, WATCH_SPACING));
        }
        let mut due = HashSet::new();
        for (session, paths) in &mut self.sessions {
            // What changed while a watch was being added is found by a refresh.
            let added = paths.take_added();
            if paths.retry.is_some_and(|at| at <= now) {
                paths.add_missing(&self.system);
                paths.retry = paths.retry.map(|_| deadline::behind(now, UNWATCHED_REFRESH));
                due.insert(*session);
            }
            if paths.settles.is_some_and(|at| at <= now) {
                paths.settles = None;
                due.insert(*session);
            }
            if added {
                due.insert(*session);
            }
        }
        due
    }

    /// Returns whether there were any.
    fn read_events(&mut self, now: Instant) -> bool {
        let sessions = &mut self.sessions;
        self.system.read_events(|event| {
            for paths in sessions.values_mut() {
                if paths.concerns(&event, now) {
                    paths.settles.get_or_insert(deadline::behind(now, WATCH_SETTLE));
                }
            }
        })
    }

    /// Ends the watches of directories that no path needs. Not while watches are being added, since
    /// they may be the same ones.
    fn remove_unused(&mut self) {
        if self.sessions.values().any(|paths| !paths.adding.is_empty()) {
            return;
        }
        let places = self.sessions.values().flat_map(|paths| paths.watched.values().flatten());
        let used: HashSet<WatchId> = places.map(|(watch, _)| *watch).collect();
        self.system.keep_only(&used);
    }
}

impl SessionPaths {
    /// Returns whether an event is about a path of this session. What can't be watched any more is
    /// tried again.
    fn concerns(&mut self, event: &Event<'_>, now: Instant) -> bool {
        match event {
            Event::Name(watch, name) => {
                let mut places = self.watched.values().flatten();
                places.any(|(of, known)| of == watch && (known == name || known == ALL_NAMES))
            }
            Event::Gone(watch) => {
                let before = self.watched.len();
                self.watched.retain(|_, places| places.iter().all(|(of, _)| of != watch));
                if self.watched.len() == before {
                    return false;
                }
                self.retry.get_or_insert(deadline::behind(now, WATCH_SETTLE));
                true
            }
            Event::Overflow => true,
        }
    }

    /// Has another thread add the watches that are missing.
    fn add_missing(&mut self, system: &Arc<System>) {
        let is_known = |path: &&PathBuf| {
            self.watched.contains_key(*path)
                || self.adding.iter().any(|adding| adding.paths.contains(*path))
        };
        let missing: BTreeSet<PathBuf> =
            self.wanted.iter().filter(|path| !is_known(path)).cloned().collect();
        if !missing.is_empty() {
            let (system, paths) = (system.clone(), missing.clone());
            let work = move || {
                let watched = paths.into_iter().filter_map(|path| {
                    let places = places(&system, &path)?;
                    Some((path, places))
                });
                watched.collect()
            };
            // Without a thread it is tried again.
            if let Ok(task) = Task::start(&self.handle, work) {
                self.adding.push(Adding { paths: missing, task });
                // Most disks answer at once; a task that is polled too early wakes the loop.
                if self.take_added() {
                    self.settles.get_or_insert_with(|| deadline::after(WATCH_SETTLE));
                }
            }
        }
        self.note_missing();
    }

    /// Takes in the watches that were added. Returns whether there were any.
    fn take_added(&mut self) -> bool {
        let mut done = Vec::new();
        self.adding.retain_mut(|adding| match adding.task.poll() {
            Some(watched) => {
                done.extend(watched);
                false
            }
            None => true,
        });
        let any = !done.is_empty();
        let wanted = &self.wanted;
        self.watched.extend(done.into_iter().filter(|(path, _)| wanted.contains(path)));
        self.note_missing();
        any
    }

    fn note_missing(&mut self) {
        let is_missing = self.too_many || self.watched.len() < self.wanted.len();
        self.retry = match is_missing {
            true => Some(self.retry.unwrap_or_else(|| deadline::after(UNWATCHED_REFRESH))),
            false => None,
        };
    }
}

/// Returns the places to watch for a path: its directory and, for a symbolic link, also the
/// directory of its target.
fn places(system: &System, path: &Path) -> Option<Vec<Place>> {
    let place = |path: &Path| {
        let watch = system.watch(path.parent()?).ok()?;
        Some((watch, path.file_name()?.to_owned()))
    };
    let mut places = vec![place(path)?];
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
        && let Ok(real) = fs::canonicalize(path)
    {
        places.push(place(&real)?);
    }
    Some(places)
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
mod tests;
