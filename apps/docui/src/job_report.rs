//! The pending reports of a job, and whether it should end.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use pipemux_proto::job::JobReport;

use crate::limits::JOB_OUTPUT_QUEUED_MAX;

/// Whether a job is to end before its time.
#[derive(Debug, Default)]
pub(crate) struct CancelFlag {
    cancelled: Mutex<bool>,
    changed: Condvar,
}

/// What is to be reported of a job.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PendingReport {
    pub(crate) report: JobReport,
    output: Vec<u8>,
    left_out: u64,
}

impl CancelFlag {
    /// Asks the work to end.
    pub(crate) fn set(&self) {
        *self.cancelled.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits until the work is asked to end, but not longer than this. Returns whether it is.
    pub(crate) fn is_set_within(&self, time: Duration) -> bool {
        let cancelled = self.cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(cancelled, time, |cancelled| !*cancelled);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.cancelled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingReport {
    pub(crate) fn add_output(&mut self, piece: &[u8]) {
        let fits = &piece[piece.len().saturating_sub(JOB_OUTPUT_QUEUED_MAX)..];
        let excess = (self.output.len() + fits.len()).saturating_sub(JOB_OUTPUT_QUEUED_MAX);
        self.output.drain(..excess);
        self.left_out += (excess + piece.len() - fits.len()) as u64;
        self.output.extend_from_slice(fits);
    }

    /// Makes the report of the job with this key.
    pub(crate) fn into_report(self, key: String) -> JobReport {
        let Self { report, mut output, left_out } = self;
        if left_out > 0 {
            let gap = format!("… {left_out} bytes left out\n");
            output.splice(..0, gap.into_bytes());
        }
        let output = (!output.is_empty()).then(|| Bytes::from(output));
        JobReport { job: key, output, ..report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_finds_no_room_is_counted() {
        let mut pending = PendingReport::default();
        pending.add_output(b"first");
        pending.add_output(&vec![b'x'; JOB_OUTPUT_QUEUED_MAX]);
        pending.add_output(b"last");
        let report = pending.into_report("j".into());
        let output = report.output.unwrap();
        assert!(output.starts_with("… 9 bytes left out\nxx".as_bytes()));
        assert!(output.ends_with(b"xxlast"));
    }
}
