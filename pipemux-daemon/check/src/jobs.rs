//! Rules for jobs: their keys, reports and ends.

use std::time::Instant;

use pipemux_proto::Method;
use pipemux_proto::app::Empty;
use pipemux_proto::job::CancelJob;

use crate::limits::{JOB, JOB_CANCEL, JOB_SILENCE};
use crate::session::Session;

/// An action began a job. Waits for its end, and cancels it if that doesn't come soon: what is
/// looked at afterwards isn't changed by it any more. Returns false for one that has no end.
pub fn job_started(session: &mut Session<'_>, place: &str, key: &str) -> bool {
    let place = format!("{place} · job {key}");
    if !session.jobs.start(key) {
        let text = "the key of an earlier job: each job of a session has one of its own";
        session.report.add(&place, "job-twice", text);
        return true;
    }
    if job_ends(session, &place, key, Instant::now() + JOB) {
        return true;
    }
    let cancel = CancelJob { job: key.to_owned() };
    match session.ask::<Empty>(&place, Method::CancelJob, &cancel) {
        // It may be at its end already.
        Some(_) => {}
        None => return true,
    }
    if job_ends(session, &place, key, Instant::now() + JOB_CANCEL) || session.process.is_none() {
        return true;
    }
    let text = format!(
        "was cancelled, and no JobReport with a `state` came within {} s: it counts as running",
        JOB_CANCEL.as_secs()
    );
    session.report.add(&place, "job-end", text);
    // It goes on, and changes what it will.
    session.restless = true;
    false
}

/// Returns true once a job has ended; false when the time is over or the app is lost.
fn job_ends(session: &mut Session<'_>, place: &str, key: &str, deadline: Instant) -> bool {
    loop {
        session.report_strays(place);
        if session.jobs.has_ended(key) {
            return true;
        }
        let Some(process) = session.process.as_mut() else { return false };
        if Instant::now() >= deadline {
            return false;
        }
        process.drain(JOB_SILENCE);
    }
}
