//! The jobs that actions have started.

use std::collections::BTreeSet;

use pipemux_proto::job::JobReport;

/// The keys of all jobs of the session.
#[derive(Debug, Default)]
pub struct JobTable {
    started: BTreeSet<String>,
    ended: BTreeSet<String>,
}

impl JobTable {
    /// Adds a job that an action has started; returns false if its key is an earlier job's.
    pub fn start(&mut self, key: &str) -> bool {
        self.started.insert(key.to_owned())
    }

    pub fn has_ended(&self, key: &str) -> bool {
        self.ended.contains(key)
    }

    /// Takes note of a report; returns what is wrong with it.
    pub fn record(&mut self, report: JobReport) -> Option<String> {
        let key = report.job;
        if !self.started.contains(&key) {
            return Some(format!("reports on {key:?}, which it hasn't started: it is dropped"));
        }
        if self.ended.contains(&key) {
            return Some(format!("reports on {key:?} after its end: it is dropped"));
        }
        if report.state.is_some() {
            self.ended.insert(key);
        }
        None
    }
}
