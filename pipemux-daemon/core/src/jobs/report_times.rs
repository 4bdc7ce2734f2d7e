//! Limits how often the progress of a job is reported: immediately, but not too often.

use crate::limits::JOB_REPORT_MS;
use crate::timers::Timer;
use crate::turn::Turn;

/// When the progress of one job was told, and is told again, on the monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReportTimes {
    last: Option<u64>,
    /// When it is told next, if there is something to tell.
    next: Option<u64>,
}

impl ReportTimes {
    /// Handles progress of a job. Returns true if it may be reported now; otherwise it is reported
    /// later, once.
    pub fn may_tell_now(&mut self, turn: &mut Turn, job: u64) -> bool {
        if self.next.is_some() {
            return false;
        }
        let now = turn.mono_ms();
        match self.last.map(|last| last + JOB_REPORT_MS).filter(|due| *due > now) {
            None => {
                self.last = Some(now);
                true
            }
            Some(due) => {
                self.next = Some(due);
                turn.set_timer(due, Timer::JobReport(job));
                false
            }
        }
    }

    /// The time has come at which progress that was put off is told. False if there is none.
    pub fn due(&mut self, turn: &Turn) -> bool {
        let put_off = self.next.take().is_some();
        if put_off {
            self.last = Some(turn.mono_ms());
        }
        put_off
    }

    /// The job ended: nothing more is told of its progress.
    pub fn end(&mut self, turn: &mut Turn, job: u64) {
        if let Some(at) = self.next.take() {
            turn.clear_timer(at, Timer::JobReport(job));
        }
    }
}
