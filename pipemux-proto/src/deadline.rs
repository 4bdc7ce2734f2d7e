//! Adds durations to times without overflow: durations come from outside and may be huge.

use std::time::{Duration, Instant};

/// A practically infinite duration, which is longer than any process lives.
const FAR: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The time when a duration from now will have passed; a hundred years from now at the latest.
pub fn after(duration: Duration) -> Instant {
    behind(Instant::now(), duration)
}

/// Returns the time plus a duration of at most a hundred years.
pub fn behind(time: Instant, duration: Duration) -> Instant {
    time.checked_add(duration.min(FAR)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_duration_is_too_long() {
        let now = Instant::now();
        assert!(after(Duration::MAX) > now && behind(now, Duration::MAX) > now);
        assert_eq!(behind(now, Duration::from_secs(1)).duration_since(now).as_secs(), 1);
    }
}
