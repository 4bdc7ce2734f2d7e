//! The commands of a session, for every thread that starts or looks at one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use docui::{Fault, Handle, Opening, regular_file, state_file};
use pipemux_problems::Report;

use crate::file_changes::{FileChanges, Span};
use crate::job::{Circumstances, Job};
use crate::limits::{OUTPUT_BYTES, RUNNING_MAX, RUNS_MAX};
use crate::order::Order;
use crate::permit::Permit;
use crate::port_watch::PortWatch;

/// The jobs of a session. Cheap to clone.
#[derive(Clone)]
pub struct JobTable(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    state_dir: PathBuf,
    outputs: PathBuf,
    handle: Handle,
    callee: String,
    config_file: String,
    ports: PortWatch,
    changes: FileChanges,
}

struct State {
    /// The jobs in the order in which they were started.
    jobs: Vec<Arc<Job>>,
    newest: u64,
    /// True once the session has ended.
    closed: bool,
}

impl JobTable {
    /// Makes a table without commands. What an earlier process kept is of commands that nobody
    /// knows any more.
    ///
    /// # Errors
    /// The session's directory can't be written to.
    pub fn new(opening: &Opening, config_file: String) -> Result<Self, Fault> {
        let outputs = opening.state_dir.join("output");
        let _ = fs::remove_dir_all(&outputs);
        fs::create_dir_all(&outputs)
            .map_err(|error| Fault::failed(format!("{}: {error}", outputs.display())))?;
        let state = State { jobs: Vec::new(), newest: newest(&opening.state_dir), closed: false };
        Ok(Self(Arc::new(Shared {
            state: Mutex::new(state),
            state_dir: opening.state_dir.clone(),
            outputs,
            handle: opening.handle.clone(),
            callee: opening.callee(),
            config_file,
            ports: PortWatch::default(),
            changes: FileChanges::new(opening),
        })))
    }

    /// Returns true if a command was ever started, in this process or an earlier one.
    pub fn was_used(&self) -> bool {
        self.state().newest > 0
    }

    /// Returns all commands, in the order in which they were started.
    pub fn all(&self) -> Vec<Arc<Job>> {
        self.state().jobs.clone()
    }

    /// Returns the commands that run.
    pub fn running(&self) -> Vec<Arc<Job>> {
        self.all().into_iter().filter(|job| job.ended().is_none()).collect()
    }

    /// Returns what commands changed in files.
    pub fn file_changes(&self) -> &FileChanges {
        &self.0.changes
    }

    /// Has it looked up soon where the running commands listen.
    pub fn watch_ports(&self) {
        let table = self.clone();
        self.0.ports.look(&self.0.handle, move || table.running());
    }

    /// Starts a command.
    ///
    /// # Errors
    /// Too many run already, the session has ended, or it can't be started.
    pub fn start(
        &self,
        permit: Permit,
        timeout: Option<Duration>,
        reader: &str,
        span: Option<Span>,
    ) -> Result<Arc<Job>, Fault> {
        let mut state = self.state();
        if state.closed {
            return Err(Fault::unavailable("the session has ended"));
        }
        let running = state.jobs.iter().filter(|job| job.ended().is_none()).count();
        if running >= RUNNING_MAX {
            let callee = &self.0.callee;
            return Err(Fault::refused(format!(
                "{running} commands run already, which is the limit"
            ))
            .hint(format!("pipemux view {callee}"))
            .hint(format!("pipemux run '{callee}.stop()'")));
        }
        let number = state.newest + 1;
        // Numbers are never used twice, not even by the next process.
        state_file::replace(&self.0.state_dir.join("newest"), number.to_string().as_bytes())?;
        state.newest = number;
        let with = Circumstances {
            timeout,
            reader: reader.to_owned(),
            before: state.before(permit.order()),
            config_file: self.0.config_file.clone(),
            session: self.0.handle.clone(),
            span,
        };
        let job = Job::start(number, permit, &self.0.outputs, with)?;
        state.jobs.push(job.clone());
        state.make_room();
        drop(state);
        self.watch_ports();
        Ok(job)
    }

    /// Kills all commands, and starts no other one.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.jobs.iter().for_each(|job| job.kill());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns what the newest run of the same command found that has ended by itself.
    fn before(&self, order: &Order) -> Option<Arc<Report>> {
        let same = |job: &&Arc<Job>| {
            let other = &job.order;
            (&other.line, &other.cwd, &other.given) == (&order.line, &order.cwd, &order.given)
        };
        let ended = |job: &Arc<Job>| job.ended().filter(|ended| ended.how.is_complete());
        let report = |job| Some(ended(job)?.report.clone());
        self.jobs.iter().rev().filter(same).find_map(report)
    }

    /// Forgets the oldest commands that have ended, and their output.
    fn make_room(&mut self) {
        let mut excess = self.jobs.len().saturating_sub(RUNS_MAX);
        self.jobs.retain(|job| {
            let forget = excess > 0 && job.ended().is_some();
            excess -= usize::from(forget);
            !forget
        });
        let mut bytes = 0;
        for job in self.jobs.iter().rev().filter(|job| job.ended().is_some()) {
            job.with(|state| {
                let kept = state.spill.kept_bytes();
                match bytes + kept <= OUTPUT_BYTES {
                    true => bytes += kept,
                    false => state.spill.remove(),
                }
            });
        }
    }
}

fn newest(state_dir: &Path) -> u64 {
    let newest = regular_file::read_to_string(&state_dir.join("newest")).ok();
    newest.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
