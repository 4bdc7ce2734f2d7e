//! A request that waits for the end of a job.

use crate::foreign::Started;

/// The end of a job that a request waits for.
#[derive(Debug)]
pub(crate) struct JobWait {
    pub number: u64,
    /// The time at which the wait ends even if the job runs, on the monotonic clock.
    pub until: u64,
    /// The app's reply about the job, if a step of the request's run started it.
    pub started: Option<Box<Started>>,
}
