//! The bounds of the monitor.

use std::time::Duration;

/// Most processes that are listed.
pub const TOP_MAX: i64 = 100;
/// Longest time that one call watches, in seconds. It leaves room for the answer before the
/// request's deadline.
pub const WATCH_SECONDS_MAX: i64 = 25;
/// Shortest time between two samples, in seconds.
pub const WATCH_EVERY_MIN: i64 = 1;
/// The period of the first share of CPU time that is watched.
pub const FIRST_SHARE: Duration = Duration::from_millis(250);
/// How many of the processes that take most memory are watched at each moment.
pub const WATCHED_TOP: usize = 3;
/// How many of them are told.
pub const WATCHED_LISTED: usize = 10;
