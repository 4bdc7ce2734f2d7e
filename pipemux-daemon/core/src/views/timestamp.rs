//! Times as text.

use jiff::Timestamp;

use crate::event::Now;

/// Formats a time as RFC 3339 in UTC, to the second: `2025-12-10T10:00:00Z`.
pub fn timestamp(now: Now) -> String {
    let seconds = i64::try_from(now.unix_ms / 1000).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_calendar_dates() {
        let at = |unix_ms| timestamp(Now { mono_ms: 0, unix_ms });
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_765_360_800_999), "2025-12-10T10:00:00Z");
        assert_eq!(at(4_107_542_399_000), "2100-02-28T23:59:59Z");
        assert!(at(u64::MAX).starts_with("9999-12-30T"));
    }
}
