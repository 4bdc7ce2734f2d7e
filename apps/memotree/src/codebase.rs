//! The source *codebase*: which symbols a project has, so that who reads its knowledge finds the
//! code.
//!
//! | module | purpose |
//! |---|---|
//! | [`scan`] | reads the source files, as `.gitignore` allows, and remembers what it read |
//! | [`outline`] | writes what was found: the most referenced symbols, then folder → file → type → function |
//!
//! **Invariant: nothing waits for it.** The files are read by a thread of its own, and the window
//! shows what was found last. What is read is bounded by [`limits`], and what didn't change isn't
//! read again.

pub mod limits;
pub mod outline;
pub mod scan;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use docui::Handle;
use docui::blocking::Task;

pub use outline::section;
pub use scan::Codebase;

/// The time after a scan before the next one may begin.
const SCAN_EVERY: Duration = Duration::from_secs(60);

/// The codebase of a session, and the scan that looks for changes.
#[derive(Debug)]
pub struct Scanner {
    root: PathBuf,
    cache: PathBuf,
    /// The result of the last scan.
    pub found: Codebase,
    running: Option<Task<Codebase>>,
    finished: Option<Instant>,
}

impl Scanner {
    /// Scans a project's folder; what was read is remembered in the session's state directory.
    pub fn new(root: PathBuf, state: &std::path::Path) -> Self {
        let cache = state.join("codebase.cache");
        let found = scan::last_found(&cache);
        Self { root, cache, found, running: None, finished: None }
    }

    /// Takes in what a scan found, and starts the next one when it is time. Returns whether
    /// something else is found than before.
    pub fn refresh(&mut self, handle: &Handle) -> bool {
        let mut changed = false;
        if let Some(task) = &mut self.running
            && let Some(found) = task.poll()
        {
            changed = found != self.found;
            (self.found, self.running, self.finished) = (found, None, Some(Instant::now()));
        }
        let is_due = self.finished.is_none_or(|at| at.elapsed() > SCAN_EVERY);
        if self.running.is_none() && is_due {
            let (root, cache) = (self.root.clone(), self.cache.clone());
            // Without a thread it is tried again at the next look.
            self.running = Task::start(handle, move || scan::scan(&root, &cache)).ok();
            // Asked for once, so that the end of the scan wakes the session.
            if let Some(found) = self.running.as_mut().and_then(Task::poll) {
                changed |= found != self.found;
                (self.found, self.running, self.finished) = (found, None, Some(Instant::now()));
            }
        }
        changed
    }
}
