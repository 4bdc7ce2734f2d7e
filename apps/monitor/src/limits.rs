//! The bounds of the monitor.

use std::time::Duration;

/// Most processes that are listed.
pub const TOP_MAX: i64 = 100;
/// Longest time that one call watches, in seconds. It leaves room for the answer before the
/// request's deadline.
pub const WATCH_SECONDS_MAX: i64 = 25;
/// Shortest time between two samples, in seconds.
pub const WATCH_EVERY_MIN: i64 = 1;
/// The period over which the first CPU share of a watch is measured.
pub const FIRST_SHARE: Duration = Duration::from_millis(250);
/// The default number of top processes by memory that are watched at each moment.
pub const WATCHED_TOP: usize = 3;
/// The number of watched processes that are reported, unless more are requested.
pub const WATCHED_LISTED: usize = 10;
