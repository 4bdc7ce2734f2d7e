//! The clock of whoever looks: local times, as TZ or the system says.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};
use pipemux_client::ClientError;
use pipemux_client::proto::client::ClockOffset;
use pipemux_client::proto::limits::CLOCK_OFFSETS_MAX;

/// Returns how far the local clock is ahead of UTC, the newest first; empty where the system
/// doesn't say.
pub fn offsets() -> Vec<ClockOffset> {
    let Ok(zone) = TimeZone::try_system() else { return Vec::new() };
    let now = Timestamp::now();
    let before = zone.preceding(now).take(CLOCK_OFFSETS_MAX);
    let mut all: Vec<ClockOffset> = before
        .map(|change| ClockOffset {
            from_s: u64::try_from(change.timestamp().as_second()).unwrap_or(0),
            ahead_s: change.offset().seconds(),
        })
        .collect();
    if all.is_empty() {
        all.push(ClockOffset { from_s: 0, ahead_s: zone.to_offset(now).seconds() });
    }
    all
}

/// Returns a time in milliseconds since 1970 as this machine's clock shows it.
pub fn shown(unix_ms: i64) -> String {
    let at = Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    at.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Returns when `today`, `yesterday`, `2026-11-01`, `3h`, `90m` or `2d` is or was, in milliseconds
/// since 1970.
///
/// # Errors
/// It is none of these.
pub fn since(when: &str) -> Result<u64, ClientError> {
    let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
    since_at(when, &Timestamp::now().to_zoned(zone)).ok_or_else(|| {
        ClientError::invalid(format!("--since {when:?} is no time"))
            .hint("one of: today · yesterday · 2026-11-01 · 3h · 90m · 2d")
    })
}

fn since_at(when: &str, now: &Zoned) -> Option<u64> {
    let start = |day: Date| day.to_zoned(now.time_zone().clone()).ok().map(|day| day.timestamp());
    let at = match when {
        "today" => start(now.date())?,
        "yesterday" => start(now.date().checked_sub(1.day()).ok()?)?,
        date if date.contains('-') => start(date.parse().ok()?)?,
        span => {
            let (count, unit) = span.split_at_checked(span.len().checked_sub(1)?)?;
            let seconds: i64 = match unit {
                "m" => 60,
                "h" => 3_600,
                "d" => 86_400,
                _ => return None,
            };
            let count: u32 = count.parse().ok()?;
            let ago = SignedDuration::from_secs(seconds.checked_mul(count.into())?);
            now.timestamp().checked_sub(ago).unwrap_or(Timestamp::UNIX_EPOCH)
        }
    };
    u64::try_from(at.as_millisecond().max(0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_local_calendar() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now: Timestamp = "2026-03-29T10:00:00Z".parse().unwrap();
        let at = |when| {
            let ms = since_at(when, &now.to_zoned(zone.clone()))?;
            Some(Timestamp::from_millisecond(ms as i64).unwrap().to_string())
        };
        assert_eq!(at("today").as_deref(), Some("2026-03-28T23:00:00Z"));
        assert_eq!(at("yesterday").as_deref(), Some("2026-03-27T23:00:00Z"));
        assert_eq!(at("2026-07-01").as_deref(), Some("2026-06-30T22:00:00Z"));
        assert_eq!(at("3h").as_deref(), Some("2026-03-29T07:00:00Z"));
        assert_eq!(at("2d").as_deref(), Some("2026-03-27T10:00:00Z"));
        assert_eq!(at("4000000000m").as_deref(), Some("1970-01-01T00:00:00Z"));
        for wrong in ["", "h", "3", "-3h", "tomorrow", "2026-02-30", "3é", "9999999999d"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
