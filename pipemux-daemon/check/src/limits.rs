//! The time limits and sizes of a check.

use std::time::Duration;

/// The longest wait for any answer, equal to a daemon's for a `Hello` with its opens.
pub const ANSWER: Duration = Duration::from_secs(10);
/// The time limit for a whole action, as for a client's.
pub const ACTION: Duration = Duration::from_secs(30);
/// The time after which a daemon pings an app that hasn't answered a request.
pub const PING_AFTER: Duration = Duration::from_secs(5);
/// The time that a daemon waits for the answer to a `Ping`.
pub const PING: Duration = Duration::from_secs(2);
/// The time that a daemon waits for a window before it shows the last one.
pub const PROJECT: Duration = Duration::from_secs(1);
/// The time that a daemon waits for a `Locate`.
pub const LOCATE: Duration = Duration::from_millis(500);
/// The time that a process has to end after `AppClose` or the end of its connection.
pub const END: Duration = Duration::from_secs(2);
/// The time after which a late end is reported, which tolerates a busy machine.
pub const END_WAIT: Duration = Duration::from_secs(5);
/// The number of successive late answers that rule out a slow machine as the cause.
pub const SLOW_TRIES: usize = 5;
/// Times that a lost app is started again.
pub const RESTARTS: usize = 5;
/// How long the window is left alone to find out whether it changes by itself, as a gauge does that
/// takes a sample each second.
pub const QUIET: Duration = Duration::from_millis(1100);
/// Times that it is left alone before it counts as one that doesn't.
pub const QUIET_TRIES: usize = 3;
/// Changes without a request after which an app counts as one that changes by itself.
pub const RESTLESS_CHANGES: u32 = 3;
/// Milliseconds by which a time to be woken may be past: it was to come when the app looked.
pub const WAKE_PAST: u64 = 10_000;
/// Milliseconds by which it may be ahead: a hundred years.
pub const WAKE_FUTURE: u64 = 100 * 365 * 86_400 * 1000;
/// Questions that one action may ask before it is given up.
pub const QUESTIONS: usize = 4;
/// The time after which a running job is cancelled.
pub const JOB: Duration = Duration::from_secs(1);
/// The longest wait for the end of a cancelled job.
pub const JOB_CANCEL: Duration = Duration::from_secs(5);
/// The time of each wait for reports of jobs.
pub const JOB_SILENCE: Duration = Duration::from_millis(50);
/// Things of a window whose values are read.
pub const READS: usize = 8;
/// Bytes of one read.
pub const READ_MAX: u32 = 128 * 1024;
/// Links of a window that are clicked.
pub const CLICKS: usize = 8;
/// Findings that are printed.
pub const FINDINGS: usize = 100;
/// Characters of an argument or a value that a finding quotes.
pub const QUOTE: usize = 60;
/// The duration of an action above which it is tried only once.
pub const LONG_ACTION: Duration = Duration::from_millis(1500);
