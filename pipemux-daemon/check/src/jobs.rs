//! Rules for jobs: their keys, reports and ends.

use std::time::Instant;

use pipemux_core::lint;
use pipemux_proto::Method;
use pipemux_proto::app::Empty;
use pipemux_proto::job::{CancelJob, JobReport};

use crate::checker::Checker;
use crate::limits::{JOB, JOB_CANCEL, JOB_SILENCE};

impl Checker<'_> {
    /// An action began a job. Waits for its end, and cancels it if that doesn't come soon: what is looked at afterwards
    /// isn't changed by it any more. Returns false for one that has no end.
    pub fn job_started(&mut self, place: &str, key: &str) -> bool {
        let place = format!("{place} · job {key}");
        if !self.jobs.insert(key.to_owned()) {
            let text = "the key of an earlier job: each job of a session has one of its own";
            self.report.add(&place, "job-twice", text);
            return true;
        }
        if self.job_ends(&place, key, Instant::now() + JOB) {
            return true;
        }
        let cancel = CancelJob { job: key.to_owned() };
        match self.ask::<Empty>(&place, Method::CancelJob, &cancel) {
            // It may be at its end already.
            Some(_) => {}
            None => return true,
        }
        if self.job_ends(&place, key, Instant::now() + JOB_CANCEL) || self.process.is_none() {
            return true;
        }
        let text = format!(
            "was cancelled, and no JobReport with a `state` came within {} s: it counts as running",
            JOB_CANCEL.as_secs()
        );
        self.report.add(&place, "job-end", text);
        // It goes on, and changes what it will.
        self.restless = true;
        false
    }

    /// Returns true once a job has ended; false when the time is over or the app is lost.
    fn job_ends(&mut self, place: &str, key: &str, deadline: Instant) -> bool {
        loop {
            self.report_strays(place);
            if self.ended_jobs.contains(key) {
                return true;
            }
            let Some(process) = self.process.as_mut() else { return false };
            if Instant::now() >= deadline {
                return false;
            }
            process.drain(JOB_SILENCE);
        }
    }

    /// Checks what jobs reported.
    pub fn job_reports(&mut self, place: &str, reports: Vec<JobReport>) {
        for report in reports {
            self.lints(&format!("{place} · JobReport"), lint::job_report(&report));
            let key = report.job;
            if !self.jobs.contains(&key) {
                let text = format!("reports on {key:?}, which it hasn't started: it is dropped");
                self.report.add(place, "job", text);
            } else if self.ended_jobs.contains(&key) {
                let text = format!("reports on {key:?} after its end: it is dropped");
                self.report.add(place, "job", text);
            } else if report.state.is_some() {
                self.ended_jobs.insert(key);
            }
        }
    }
}
