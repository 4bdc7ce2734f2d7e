//! Times as JavaScript writes them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Writes a time as JavaScript does, in UTC.
pub fn date(time: SystemTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"];
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that a leap day is the last one; eras have 400 years.
    let from_era = day.saturating_add(719_468);
    let (era, in_era) = (from_era / 146_097, from_era % 146_097);
    let year = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let date = in_year - (153 * month + 2) / 5 + 1;
    let year = year + era * 400 + u64::from(month >= 10);
    let name = |names: &[&'static str], at: u64| {
        usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or_default()
    };
    format!(
        "{} {} {date:02} {year} {:02}:{:02}:{:02} GMT+0000 (Coordinated Universal Time)",
        name(&DAYS, day % 7),
        name(&MONTHS, month),
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_are_those_of_javascript() {
        for (seconds, written) in [
            (0, "Thu Jan 01 1970 00:00:00"),
            (951_782_400, "Tue Feb 29 2000 00:00:00"),
            (1_795_834_800, "Sat Nov 28 2026 03:00:00"),
            (4_107_542_399, "Sun Feb 28 2100 23:59:59"),
        ] {
            let date = date(UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(date, format!("{written} GMT+0000 (Coordinated Universal Time)"));
        }
    }
}
