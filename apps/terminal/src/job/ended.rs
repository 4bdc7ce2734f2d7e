//! How a command ended, and what its output told.

use std::sync::Arc;
use std::time::Duration;

use pipemux_problems::Report;
use portable_pty::ExitStatus;

use crate::places::Places;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// It ended by itself with this status.
    Exited(u32),
    /// A signal ended it.
    Signalled(String),
    /// Somebody stopped it.
    Stopped,
    /// It took longer than it was given.
    TimedOut,
    /// Its end can't be known.
    Lost(String),
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub how: How,
    /// How long it ran.
    pub took: Duration,
    /// How many processes it left running, which were then ended.
    pub left: usize,
    /// What was recognised of its output.
    pub report: Arc<Report>,
    /// Where its problems are now.
    pub places: Places,
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
}

impl Ended {
    /// Says how it ended: `exit 101 after 8.4 s`.
    pub fn verdict(&self) -> String {
        let verdict = match &self.how {
            How::Exited(code) => format!("exit {code}"),
            How::Signalled(signal) => format!("ended by signal {signal}"),
            How::Stopped => "stopped".to_owned(),
            How::TimedOut => "timed out".to_owned(),
            How::Lost(why) => format!("its end is unknown: {why}"),
        };
        let verdict = match self.took.as_millis() {
            0..1000 => verdict,
            _ => format!("{verdict} after {}", duration(self.took)),
        };
        match self.left {
            0 => verdict,
            1 => format!("{verdict} · ended 1 process that it left behind"),
            left => format!("{verdict} · ended {left} processes that it left behind"),
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
