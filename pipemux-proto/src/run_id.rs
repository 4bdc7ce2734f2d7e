//! Ids of acting requests. A new one is a UUID of version 7 (RFC 9562), which begins with the time
//! at which it was made.
//!
//! A daemon remembers a request for about an hour. By the time in its id it can tell that a request
//! is older than what it remembers, and then it doesn't carry it out. Any other text is an id, too,
//! for clients of earlier releases; it is safe to send one again only as long as it is remembered.

/// Returns an id that was made at a time in milliseconds since 1970; of `random` 74 bits are used.
pub fn new(unix_ms: u64, random: u128) -> String {
    let (high, low) = (unix_ms >> 16 & 0xffff_ffff, unix_ms & 0xffff);
    let a = (random >> 62) & 0xfff;
    let b = random & ((1 << 62) - 1);
    let (variant, node) = (0x8000 | b >> 48, b & 0xffff_ffff_ffff);
    format!("{high:08x}-{low:04x}-7{a:03x}-{variant:04x}-{node:012x}")
}

/// Returns the time at which an id was made, in milliseconds since 1970; none when the id isn't a
/// UUID of version 7.
pub fn time_of(run_id: &str) -> Option<u64> {
    let bytes = run_id.as_bytes();
    let is_dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let well_formed = bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match is_dash(at) {
            true => *byte == b'-',
            false => byte.is_ascii_hexdigit(),
        });
    let is_version_7 = well_formed
        && bytes[14] == b'7'
        && matches!(bytes[19], b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
    if !is_version_7 {
        return None;
    }
    let high = u64::from_str_radix(run_id.get(..8)?, 16).ok()?;
    let low = u64::from_str_radix(run_id.get(9..13)?, 16).ok()?;
    Some(high << 16 | low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_when_it_was_made() {
        for (ms, random) in [(0, 0), (1_765_360_800_123, u128::MAX), ((1 << 48) - 1, 1 << 73)] {
            let id = new(ms, random);
            assert_eq!(time_of(&id), Some(ms), "{id}");
        }
        // The example of RFC 9562, and the same in capitals.
        let example = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        assert_eq!(time_of(example), Some(0x017f_22e2_79b0));
        assert_eq!(time_of(&example.to_uppercase()), Some(0x017f_22e2_79b0));
    }

    #[test]
    fn any_other_text_has_no_time() {
        let example = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
        for other in [
            "",
            "run-1",
            "0123456789abcdef0123456789abcdef",
            "017f22e2-79b0-4cc3-98c4-dc0c0c07398f",
            "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f",
            "017f22e2079b0-7cc3-98c4-dc0c0c07398f",
            "+17f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            "日本語日本語日本語日本語",
            &example[1..],
            &format!("{example}0"),
        ] {
            assert_eq!(time_of(other), None, "{other}");
        }
    }
}
