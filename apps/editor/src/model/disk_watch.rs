//! Checks the open files for changes by other programs, without waiting for a disk that hangs.
//!
//! The files are checked one after the other on one thread, which costs little while disks answer.
//! When one doesn't, the files after it get a thread each, so that only the one that hangs is not
//! known.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use docui::Handle;
use docui::blocking::Task;
use docui::deadline;

use crate::limits::{DISK_CHECK, DISK_CHECK_REST};

use super::disk_check::{DiskCheck, DiskFinding};

/// The running disk checks.
#[derive(Debug, Default)]
pub struct DiskWatch {
    handle: Handle,
    running: Vec<Batch>,
}

/// Files that one thread checks.
#[derive(Debug)]
struct Batch {
    findings: Receiver<DiskFinding>,
    /// The files that aren't checked yet; the check of the first one is running.
    left: Vec<PathBuf>,
    /// Set when the thread is to stop after the file that it checks.
    stop: Arc<AtomicBool>,
    task: Task<()>,
}

impl DiskWatch {
    /// Sets what wakes the serving loop when a check that took long is done.
    pub fn set_handle(&mut self, handle: Handle) {
        self.handle = handle;
    }

    /// Returns the handle that wakes the serving loop.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// True while the disk of a file hasn't answered.
    pub fn is_waiting(&self, path: &Path) -> bool {
        self.running.iter().any(|batch| batch.left.iter().any(|left| left == path))
    }

    /// Checks files, except those whose check is under way, and returns what is found soon, and
    /// what earlier checks have found since.
    pub fn check(&mut self, checks: impl Iterator<Item = DiskCheck>) -> Vec<DiskFinding> {
        let mut findings = Vec::new();
        self.collect(&mut findings);
        let due: Vec<_> = checks.filter(|check| !self.is_waiting(&check.path)).collect();
        if due.is_empty() {
            return findings;
        }
        self.start(due.clone());
        let Some(batch) = self.running.last_mut() else { return findings };
        batch.wait(deadline::after(DISK_CHECK), &mut findings);
        let left = batch.left.clone();
        if left.len() > 1 {
            batch.stop.store(true, Ordering::Release);
            batch.left.truncate(1);
            let rest = due.into_iter().filter(|check| left[1..].contains(&check.path));
            let before = self.running.len();
            rest.for_each(|check| self.start(vec![check]));
            let deadline = deadline::after(DISK_CHECK_REST);
            for batch in self.running.iter_mut().skip(before) {
                batch.wait(deadline, &mut findings);
            }
        }
        self.running.retain(|batch| !batch.left.is_empty());
        findings
    }

    fn collect(&mut self, findings: &mut Vec<DiskFinding>) {
        self.running.iter_mut().for_each(|batch| batch.wait(Instant::now(), findings));
        self.running.retain(|batch| !batch.left.is_empty());
    }

    fn start(&mut self, checks: Vec<DiskCheck>) {
        let left = checks.iter().map(|check| check.path.clone()).collect();
        let (sender, findings) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let task = Task::start(&self.handle, move || run(checks, &sender, &stopped));
        // Without a thread, the files stay as they were; the next check tries again.
        if let Ok(task) = task {
            self.running.push(Batch { findings, left, stop, task });
        }
    }
}

impl Batch {
    /// Takes what is found until then. If that isn't all, the rest wakes the serving loop.
    fn wait(&mut self, deadline: Instant, findings: &mut Vec<DiskFinding>) {
        while !self.left.is_empty() {
            let patience = deadline.saturating_duration_since(Instant::now());
            let found = self.findings.recv_timeout(patience).ok().or_else(|| {
                self.task.poll();
                self.findings.try_recv().ok()
            });
            let Some(found) = found else { return };
            self.left.retain(|left| *left != found.path);
            findings.push(found);
        }
    }
}

fn run(checks: Vec<DiskCheck>, findings: &Sender<DiskFinding>, stop: &AtomicBool) {
    for check in checks {
        // Nobody may wait for it any more.
        if findings.send(check.run()).is_err() || stop.load(Ordering::Acquire) {
            return;
        }
    }
}
