//! Slots to Markdown: minting ids, making text inert, writing windows and answers.

pub mod answer;
pub mod answer_buffer;
pub mod answer_text;
pub mod content;
pub mod context;
pub mod delta;
pub mod inert;
pub mod outcome;
pub mod prototypes;
pub mod report;
pub mod trim;
pub mod window_part;
pub mod window_renderer;

use crate::event::Now;

/// RFC 3339 in UTC, to the second: `2025-12-10T10:00:00Z`.
pub fn timestamp(now: Now) -> String {
    let seconds = now.unix_ms / 1000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Days since 0000-03-01, in eras of 400 years: Howard Hinnant's civil-from-days.
    let z = days + 719_468;
    let (era, of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
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
    }
}
