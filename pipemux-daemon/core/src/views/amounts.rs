//! Amounts for people: sizes and times in the unit that reads best, rounded.

/// Writes a size: `112 B`, `3.6 MiB`, `24 GiB`.
pub fn size(bytes: u64) -> String {
    let larger = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match larger.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        None => format!("{bytes} B"),
        // Tenths, rounded down: nothing is said to be more than it is.
        Some((unit, shift)) if bytes >> shift < 10 => {
            format!("{}.{} {unit}", bytes >> shift, ((bytes >> (shift - 10)) % 1024) * 10 / 1024)
        }
        Some((unit, shift)) => format!("{} {unit}", bytes >> shift),
    }
}

/// Writes a time in its two largest units: `4 s`, `3 min 12 s`, `3 h 12 min`, `2 d 4 h`.
pub fn time(seconds: u64) -> String {
    let units = [("d", 86_400), ("h", 3_600), ("min", 60)];
    let smaller = ["h", "min", "s"];
    match units.into_iter().zip(smaller).find(|((_, length), _)| seconds >= *length) {
        None => format!("{seconds} s"),
        Some(((unit, length), next)) => {
            let rest = seconds % length / if unit == "d" { 3_600 } else { length / 60 };
            format!("{} {unit} {rest} {next}", seconds / length)
        }
    }
}

/// Writes a processor's time, of which parts of a second count: `0.04 s`, `3 min 12 s`.
pub fn processor_time(ms: u64) -> String {
    match ms {
        0..60_000 => format!("{}.{:02} s", ms / 1000, ms % 1000 / 10),
        _ => time(ms / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_unit_that_reads_best() {
        for (bytes, text) in [
            (0, "0 B"),
            (112, "112 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (3_800_000, "3.6 MiB"),
            ((10 << 20) - 1, "9.9 MiB"),
            (64 << 20, "64 MiB"),
            (u64::MAX, "17179869183 GiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        for (seconds, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min 0 s"),
            (192, "3 min 12 s"),
            (11_520, "3 h 12 min"),
            (2 * 86_400 + 4 * 3_600 + 59, "2 d 4 h"),
        ] {
            assert_eq!(time(seconds), text);
        }
        for (ms, text) in
            [(0, "0.00 s"), (45, "0.04 s"), (59_999, "59.99 s"), (60_000, "1 min 0 s")]
        {
            assert_eq!(processor_time(ms), text);
        }
    }
}
