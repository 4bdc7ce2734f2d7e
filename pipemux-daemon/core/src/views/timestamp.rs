//! Times as text.

use jiff::Timestamp;
use pipemux_proto::client::ClockOffset;
use pipemux_proto::limits::CLOCK_OFFSETS_MAX;

use crate::event::Now;

/// Formats a time as RFC 3339 in UTC, to the second: `2025-12-10T10:00:00Z`.
pub fn timestamp(now: Now) -> String {
    let seconds = i64::try_from(now.unix_ms / 1000).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

/// A time in the reader's time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalTime {
    /// `2025-12-10`
    pub day: String,
    /// `10:00:00`; in UTC `10:00:00Z`.
    pub time: String,
}

impl LocalTime {
    /// Returns the local time of so many milliseconds since 1970, UTC. The offsets come newest
    /// first; none for UTC.
    pub fn of(unix_ms: u64, clock: &[ClockOffset]) -> Self {
        let seconds = unix_ms / 1000;
        let clock = clock.get(..CLOCK_OFFSETS_MAX).unwrap_or(clock);
        let offset = clock.iter().find(|one| one.from_s <= seconds).or(clock.last());
        let ahead = offset.map_or(0, |one| one.ahead_s.into());
        let local = seconds.saturating_add_signed(ahead).saturating_mul(1000);
        let text = timestamp(Now { mono_ms: 0, unix_ms: local });
        let (day, time) = text.split_once('T').unwrap_or((&text, ""));
        let time = if offset.is_some() { time.trim_end_matches('Z') } else { time };
        Self { day: day.to_owned(), time: time.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_of_a_reader_goes_by_the_offset_of_that_time() {
        let clock = [
            ClockOffset { from_s: 1_761_440_400, ahead_s: 3600 },
            ClockOffset { from_s: 1_743_296_400, ahead_s: 7200 },
        ];
        let at = |seconds: u64, clock: &[ClockOffset]| {
            let LocalTime { day, time } = LocalTime::of(seconds * 1000, clock);
            format!("{day} {time}")
        };
        assert_eq!(at(1_765_360_800, &[]), "2025-12-10 10:00:00Z");
        assert_eq!(at(1_761_440_399, &clock), "2025-10-26 02:59:59");
        assert_eq!(at(1_761_440_400, &clock), "2025-10-26 02:00:00");
        assert_eq!(at(0, &clock), "1970-01-01 02:00:00");
        let wild = [ClockOffset { from_s: 0, ahead_s: i32::MIN }];
        assert_eq!(at(0, &wild), "1970-01-01 00:00:00");
        LocalTime::of(u64::MAX, &[ClockOffset { from_s: 0, ahead_s: i32::MAX }]);
    }

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
