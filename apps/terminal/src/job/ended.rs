//! The exit of a command, and the findings in its output.

use std::sync::Arc;
use std::time::Duration;

use pipemux_problems::Report;
use portable_pty::ExitStatus;

use crate::file_changes::Changed;
use crate::places::Places;

/// The way in which a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// The command exited with this status.
    Exited(u32),
    /// The command was ended by this signal.
    Signalled(String),
    /// Somebody stopped it.
    Stopped,
    /// The command exceeded its time limit.
    TimedOut,
    /// The end of the command can't be known, for this reason.
    Lost(String),
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    pub how: How,
    pub took: Duration,
    /// The number of processes that the command left running, which were then ended.
    pub left: usize,
    /// The report on the previous run, as far as the two runs can be compared.
    pub before: Option<Arc<Report>>,
    pub report: Arc<Report>,
    /// The present places of the problems.
    pub places: Places,
    /// The file changes; unknown for one of several commands in order, which are one change.
    pub changed: Changed,
}

impl From<ExitStatus> for How {
    fn from(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Signalled(signal.to_owned()),
            None => Self::Exited(status.exit_code()),
        }
    }
}

impl How {
    /// Returns true if the command did what it was to do, as far as its status tells.
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }

    /// Returns true if the command ended by itself.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Exited(_))
    }
}

/// Returns what of an earlier run this one can be compared with: nothing if it didn't get to its
/// end, and no tests if it failed before it ran any. What wasn't looked at isn't fixed.
pub(super) fn comparable(before: &Arc<Report>, now: &Report, how: &How) -> Option<Arc<Report>> {
    if !how.is_complete() {
        return None;
    }
    let is_tested = now.tests.passed + now.tests.failed + now.tests.skipped > 0;
    if is_tested || how.is_success() || before.failures.is_empty() {
        return Some(before.clone());
    }
    let mut before = Report::clone(before);
    before.failures.clear();
    Some(Arc::new(before))
}

impl Ended {
    /// Says how it ended: `exit 101 after 8.4 s`.
    pub fn verdict(&self) -> String {
        let time = match self.took.as_millis() {
            0..1000 => String::new(),
            _ => format!(" after {}", duration(self.took)),
        };
        self.status() + &time + &self.leftovers()
    }

    /// Says the same without the time, for a line that has it.
    pub fn untimed(&self) -> String {
        self.status() + &self.leftovers()
    }

    fn status(&self) -> String {
        match &self.how {
            How::Exited(code) => format!("exit {code}"),
            How::Signalled(signal) => format!("ended by signal {signal}"),
            How::Stopped => "stopped".to_owned(),
            How::TimedOut => "timed out".to_owned(),
            How::Lost(why) => format!("its end is unknown: {why}"),
        }
    }

    fn leftovers(&self) -> String {
        match self.left {
            0 => String::new(),
            1 => " · ended 1 process that it left behind".to_owned(),
            left => format!(" · ended {left} processes that it left behind"),
        }
    }
}

/// Describes a duration: `8.4 s`, `2 min 5 s`, `3 h 20 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}.{} s", time.subsec_millis() / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pipemux_problems::OutputReader;

    fn report(output: &str) -> Arc<Report> {
        let mut reader = OutputReader::new();
        reader.feed(output.as_bytes());
        Arc::new(reader.finish())
    }

    #[test]
    fn files_that_were_not_looked_at_are_not_compared() {
        let failed = "test a ... FAILED\n\nfailures:\n\nfailures:\n    a\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let before = report(failed);
        assert!(!before.failures.is_empty());
        for how in
            [How::Stopped, How::TimedOut, How::Signalled("Killed".into()), How::Lost("x".into())]
        {
            assert_eq!(comparable(&before, &report(""), &how), None);
        }
        // It failed before any test ran.
        let errors = report("a.c:1:1: error: x\n");
        assert!(comparable(&before, &errors, &How::Exited(101)).unwrap().failures.is_empty());
        for (now, status) in [("", 0), (failed, 101)] {
            let same = comparable(&before, &report(now), &How::Exited(status)).unwrap();
            assert_eq!(same, before);
        }
    }
}
