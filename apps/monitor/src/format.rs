//! Formats figures: short, and with their unit.

use std::time::Duration;

use crate::sample::Period;

/// Formats a share in percent: `38%`.
pub fn percent(share: f32) -> String {
    format!("{}%", share.round().max(0.0) as u64)
}

/// Formats a part of a whole in percent: `61%`. If the whole is 0, it is `0%`.
pub fn ratio(part: u64, whole: u64) -> String {
    percent(if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 100.0) as f32 })
}

/// Formats a number of bytes in powers of 1024: `512 MB`, `5.1 GB`.
pub fn size(bytes: u64) -> String {
    let (unit, name) = unit(bytes);
    format!("{} {name}", scaled(bytes, unit))
}

/// Formats two numbers of bytes in the unit of the second: `5.1/24 GB`.
pub fn used_of_total(used: u64, total: u64) -> String {
    let (unit, name) = unit(total);
    format!("{}/{} {name}", scaled(used, unit), scaled(total, unit))
}

/// Formats two numbers of bytes as [`used_of_total`] does, but rounded up, as `df -h` does.
pub fn used_of_total_up(used: u64, total: u64) -> String {
    let (unit, name) = unit(total);
    format!("{}/{} {name}", scaled_up(used, unit), scaled_up(total, unit))
}

/// Formats a load average: `0.8`.
pub fn load(load: f64) -> String {
    format!("{:.1}", load.max(0.0) + 0.0)
}

/// Formats a duration in one unit: `40 s`, `12 min`, `3 h`, `5 days`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86400),
    }
}

/// Names the period of a share of CPU time, with a space before it: ` over 12 min`. Empty for the
/// last few seconds, which readers expect.
pub fn period_suffix(period: Period) -> String {
    const FEW: Duration = Duration::from_secs(10);
    match period {
        Period::Boot => " since boot".into(),
        Period::Last(last) if last > FEW => format!(" over {}", duration(last)),
        Period::Last(_) => String::new(),
    }
}

const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];

/// Returns the largest unit that is not larger than a size, and its name.
fn unit(bytes: u64) -> (u64, &'static str) {
    let mut unit = (1, "B");
    for (power, name) in UNITS.into_iter().enumerate() {
        let size = 1u64 << (10 * power);
        if bytes >= size {
            unit = (size, name);
        }
    }
    unit
}

/// Formats a size in a unit, with one decimal below ten unless that is 0.
fn scaled(bytes: u64, unit: u64) -> String {
    let scaled = bytes as f64 / unit as f64;
    // From 9.95 on it would round to 10.0, so it is formatted as 10.
    let text = if scaled < 9.95 { format!("{scaled:.1}") } else { format!("{scaled:.0}") };
    text.strip_suffix(".0").map(Into::into).unwrap_or(text)
}

/// Formats a size in a unit as [`scaled`] does, but rounded up.
fn scaled_up(bytes: u64, unit: u64) -> String {
    let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(unit));
    match tenths {
        0..100 if tenths % 10 > 0 => format!("{}.{}", tenths / 10, tenths % 10),
        0..100 => (tenths / 10).to_string(),
        _ => u128::from(bytes).div_ceil(u128::from(unit)).to_string(),
    }
}

/// Makes a name, which anybody may have chosen, fit into one cell of a table.
pub(crate) fn printable(name: &str) -> String {
    const LONGEST: usize = 60;
    name.chars()
        .take(LONGEST)
        .map(|c| if c.is_control() || c == '|' || c == '`' { '?' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_at_most_one_decimal_and_a_unit() {
        const GB: u64 = 1 << 30;
        assert_eq!(used_of_total(GB * 51 / 10, 24 * GB), "5.1/24 GB");
        assert_eq!(used_of_total(0, 0), "0/0 B");
        assert_eq!(used_of_total(100 << 20, 2 * GB), "0.1/2 GB");
        assert_eq!(size(512 << 20), "512 MB");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(u64::MAX), "16777216 TB");
        assert_eq!(size(GB * 996 / 100), "10 GB");
        // As `df -h`: 252G, 27G.
        assert_eq!(used_of_total_up(27_688_072 << 10, 264_212_084 << 10), "27/252 GB");
        assert_eq!(used_of_total_up(GB * 51 / 10, 24 * GB), "5.1/24 GB");
        assert_eq!(used_of_total_up(1, 24 * GB), "0.1/24 GB");
        assert_eq!(used_of_total_up(0, 0), "0/0 B");
        assert_eq!(used_of_total_up(u64::MAX, u64::MAX), "16777216/16777216 TB");
    }

    #[test]
    fn shares_are_rounded_and_durations_have_one_unit() {
        assert_eq!(percent(37.6), "38%");
        assert_eq!(percent(-0.0), "0%");
        assert_eq!((ratio(61, 100), ratio(1, 0)), ("61%".into(), "0%".into()));
        assert_eq!(duration(Duration::from_secs(119)), "119 s");
        assert_eq!(duration(Duration::from_secs(7200)), "2 h");
        assert_eq!(period_suffix(Period::Last(Duration::from_secs(2))), "");
        assert_eq!(period_suffix(Period::Last(Duration::from_secs(720))), " over 12 min");
        assert_eq!(period_suffix(Period::Boot), " since boot");
    }
}
