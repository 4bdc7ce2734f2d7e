//! Numbers as a reader wants them: short, and with their unit.

use std::time::Duration;

use crate::sample::Period;

/// A share in percent: `38%`.
pub fn percent(share: f32) -> String {
    format!("{}%", share.round().max(0.0) as u64)
}

/// A part of a whole: `61%`; of nothing: `0%`.
pub fn part(part: u64, whole: u64) -> String {
    percent(if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 100.0) as f32 })
}

/// A size with its unit, in powers of 1024: `512 MB`, `5.1 GB`.
pub fn size(bytes: u64) -> String {
    let (unit, name) = unit(bytes);
    format!("{} {name}", scaled(bytes, unit))
}

/// A part of a whole in the whole's unit: `5.1/24 GB`.
pub fn of(part: u64, whole: u64) -> String {
    let (unit, name) = unit(whole);
    format!("{}/{} {name}", scaled(part, unit), scaled(whole, unit))
}

/// A load average: `0.8`.
pub fn load(load: f64) -> String {
    format!("{:.1}", load.max(0.0) + 0.0)
}

/// A duration in its largest unit: `40 s`, `12 min`, `3 h`, `5 days`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86400),
    }
}

/// What a share of CPU time is over, when that isn't the last few seconds: ` over 12 min`.
pub fn over(period: Period) -> String {
    const FEW: Duration = Duration::from_secs(10);
    match period {
        Period::Boot => " since boot".into(),
        Period::Last(last) if last > FEW => format!(" over {}", duration(last)),
        Period::Last(_) => String::new(),
    }
}

const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];

/// The largest unit that a size has one of.
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

/// One decimal below ten, where it says something.
fn scaled(bytes: u64, unit: u64) -> String {
    let scaled = bytes as f64 / unit as f64;
    // What would round to 10.0 is 10.
    let text = if scaled < 9.95 { format!("{scaled:.1}") } else { format!("{scaled:.0}") };
    text.strip_suffix(".0").map(Into::into).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        const GB: u64 = 1 << 30;
        assert_eq!(of(GB * 51 / 10, 24 * GB), "5.1/24 GB");
        assert_eq!(of(0, 0), "0/0 B");
        assert_eq!(of(100 << 20, 2 * GB), "0.1/2 GB");
        assert_eq!(size(512 << 20), "512 MB");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(u64::MAX), "16777216 TB");
        assert_eq!(size(GB * 996 / 100), "10 GB");
    }

    #[test]
    fn shares_and_times_are_short() {
        assert_eq!(percent(37.6), "38%");
        assert_eq!(percent(-0.0), "0%");
        assert_eq!((part(61, 100), part(1, 0)), ("61%".into(), "0%".into()));
        assert_eq!(duration(Duration::from_secs(119)), "119 s");
        assert_eq!(duration(Duration::from_secs(7200)), "2 h");
        assert_eq!(over(Period::Last(Duration::from_secs(2))), "");
        assert_eq!(over(Period::Last(Duration::from_secs(720))), " over 12 min");
        assert_eq!(over(Period::Boot), " since boot");
    }
}
