//! A request that waits for something to happen.

use pipemux_proto::client::{ViewArgs, WatchArgs};

/// The event that a request waits for.
#[derive(Debug)]
pub(crate) enum Wait {
    /// A change of a view since its reader last saw it.
    View {
        /// The view that is shown at the end of the wait.
        view: ViewArgs,
        /// The longest wait in seconds, for the note that nothing changed.
        seconds: f64,
        /// The monotonic time from which the progress of jobs ends the wait, too.
        progress_from: u64,
    },
    /// An entry of the feed.
    Watch(WatchArgs),
}

/// The times between which a wait ends, on the monotonic clock in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitLimits {
    /// The earliest time, so that a flood of events is reported in few answers.
    pub not_before: u64,
    /// The latest time, at which the wait ends even if nothing happened.
    pub until: u64,
    /// The time for which the timer of the wait is set.
    pub timer_at: u64,
    /// The time of the next check of sessions that don't say by themselves that they have changed,
    /// while no check is under way.
    pub check_at: Option<u64>,
    /// The number of outstanding replies of the current check.
    pub checks_open: u32,
}
