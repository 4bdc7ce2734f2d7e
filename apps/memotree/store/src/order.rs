//! Order keys: where a node stands among its siblings.
//!
//! A key is compared byte by byte. Between any two keys there is another one, so that a node moves
//! by a change of its own file and of no other. A key has an integer part, whose first character
//! tells its length, so that keys at the ends stay short however many nodes are appended; a
//! fraction may follow: `a5`, `b0c`, `a5V`. This is the scheme known as *fractional indexing*. Two
//! branches that insert at the same place would make the same key; a part that depends on the node
//! (`salt`) keeps them apart. Equal keys are ordered by node ids.

/// The digits of order keys, in ascending order.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns true for a key that can have others before and after it.
pub fn is_valid(key: &str) -> bool {
    let Some(length) = integer_length(key) else { return false };
    let digits = key.bytes().skip(1).all(|byte| digit(byte).is_some());
    // A fraction that ends in 0 would have nothing between it and the same without the 0.
    digits
        && key.len() >= length
        && (key.len() == length || !key.ends_with('0'))
        && key != "A00000000000000000000000000"
}

/// Returns a key between two others; none is the end. Keys that aren't valid, or aren't in order,
/// count as none: so the result is always a valid key, and between them if they are valid and in
/// order.
pub fn between(before: Option<&str>, after: Option<&str>, salt: u64) -> String {
    let before = before.filter(|key| is_valid(key));
    let after = after.filter(|key| is_valid(key));
    let after = after.filter(|after| before.is_none_or(|before| before < *after));
    let mut key = match (before, after) {
        (None, None) => "a0".to_owned(),
        (Some(before), None) => {
            let (integer, fraction) = split(before);
            increment(integer).unwrap_or_else(|| format!("{integer}{}", middle(fraction, None)))
        }
        (None, Some(after)) => {
            let (integer, fraction) = split(after);
            match decrement(integer) {
                _ if !fraction.is_empty() => integer.to_owned(),
                Some(smaller) => smaller,
                None => format!("{integer}{}", middle("", Some(fraction))),
            }
        }
        (Some(before), Some(after)) => {
            let ((low, low_fraction), (high, high_fraction)) = (split(before), split(after));
            match increment(low) {
                _ if low == high => format!("{low}{}", middle(low_fraction, Some(high_fraction))),
                Some(next) if next.as_str() < after => next,
                _ => format!("{low}{}", middle(low_fraction, None)),
            }
        }
    };
    if key == "A00000000000000000000000000" {
        key.push('V');
    }
    let salted = format!("{key}{}", suffix(salt));
    // What follows can't lift the key over `after` unless that begins with the key.
    match after {
        Some(after) if salted.as_str() >= after => key,
        _ => salted,
    }
}

/// Two digits that depend on the salt; the last one isn't 0.
fn suffix(salt: u64) -> String {
    let digit = |number: u64| char::from(DIGITS[(number % 62) as usize]);
    let last = char::from(DIGITS[1 + (salt / 62 % 61) as usize]);
    [digit(salt), last].iter().collect()
}

fn digit(byte: u8) -> Option<usize> {
    DIGITS.iter().position(|digit| *digit == byte)
}

/// Returns the length of the integer part by its first character.
fn integer_length(key: &str) -> Option<usize> {
    match key.bytes().next()? {
        head @ b'a'..=b'z' => Some(usize::from(head - b'a') + 2),
        head @ b'A'..=b'Z' => Some(usize::from(b'Z' - head) + 2),
        _ => None,
    }
}

fn split(key: &str) -> (&str, &str) {
    key.split_at(integer_length(key).unwrap_or(key.len()).min(key.len()))
}

/// Returns the integer part after this one; none after the largest.
fn increment(integer: &str) -> Option<String> {
    let (head, digits) = (integer.bytes().next()?, &integer.as_bytes()[1..]);
    let mut digits = digits.to_vec();
    for at in (0..digits.len()).rev() {
        match digit(digits[at]) {
            Some(61) => digits[at] = DIGITS[0],
            number => {
                digits[at] = DIGITS[number? + 1];
                return text(head, &digits);
            }
        }
    }
    match head {
        b'Z' => Some("a0".to_owned()),
        b'z' => None,
        b'a'..=b'y' => text(head + 1, &[&digits[..], b"0"].concat()),
        _ => text(head + 1, &digits[1..]),
    }
}

/// Returns the integer part before this one; none before the smallest.
fn decrement(integer: &str) -> Option<String> {
    let (head, digits) = (integer.bytes().next()?, &integer.as_bytes()[1..]);
    let mut digits = digits.to_vec();
    for at in (0..digits.len()).rev() {
        match digit(digits[at]) {
            Some(0) => digits[at] = DIGITS[61],
            number => {
                digits[at] = DIGITS[number? - 1];
                return text(head, &digits);
            }
        }
    }
    match head {
        b'a' => Some("Zz".to_owned()),
        b'A' => None,
        b'b'..=b'z' => text(head - 1, &digits[1..]),
        _ => text(head - 1, &[&digits[..], b"z"].concat()),
    }
}

fn text(head: u8, digits: &[u8]) -> Option<String> {
    let digits = std::str::from_utf8(digits).ok()?;
    Some(format!("{}{digits}", char::from(head)))
}

/// Returns a fraction between two others, of which the first is smaller; none is 1.
fn middle(low: &str, high: Option<&str>) -> String {
    let mut out = String::new();
    let (low, mut high) = (low.as_bytes(), high.map(str::as_bytes));
    let mut at = 0;
    loop {
        let below = low.get(at).and_then(|byte| digit(*byte)).unwrap_or(0);
        let above = match high {
            Some(high) => high.get(at).and_then(|byte| digit(*byte)).unwrap_or(0),
            None => 62,
        };
        if above > below + 1 {
            out.push(char::from(DIGITS[(below + above).div_ceil(2).min(61)]));
            return out;
        }
        out.push(char::from(DIGITS[below]));
        if above > below {
            // From here on only what is above the lower one counts.
            high = None;
        }
        at += 1;
        if at > low.len() + high.map_or(0, <[u8]>::len) + 2 {
            // Not in order: the callers exclude it, and any end is better than none.
            out.push('V');
            return out;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn key_is_between_its_neighbours(
            places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..150),
        ) {
            let mut keys: Vec<String> = Vec::new();
            for (place, salt) in places {
                let at = place.index(keys.len() + 1);
                let before = at.checked_sub(1).map(|at| keys[at].as_str());
                let after = keys.get(at).map(String::as_str);
                let key = between(before, after, salt);
                prop_assert!(is_valid(&key), "{key}");
                prop_assert!(before.is_none_or(|before| before < key.as_str()), "{before:?} {key} {after:?}");
                prop_assert!(after.is_none_or(|after| key.as_str() < after), "{before:?} {key} {after:?}");
                keys.insert(at, key);
            }
        }

        #[test]
        fn any_texts_as_neighbours_give_a_valid_key(
            before in proptest::option::of("[a0z-]{0,6}|.{0,6}"),
            after in proptest::option::of("[a0z-]{0,6}|.{0,6}"),
            salt: u64,
        ) {
            let key = between(before.as_deref(), after.as_deref(), salt);
            prop_assert!(is_valid(&key), "{key}");
        }
    }

    #[test]
    fn keys_at_the_ends_stay_short() {
        for forward in [true, false] {
            let mut last: Option<String> = None;
            for salt in 0..100_000 {
                let end = last.as_deref();
                let (before, after) = if forward { (end, None) } else { (None, end) };
                last = Some(between(before, after, salt));
            }
            assert!(last.unwrap().len() <= 8);
        }
    }

    #[test]
    fn two_branches_that_insert_at_one_place_make_two_keys() {
        assert_ne!(between(Some("a0"), Some("a1"), 1), between(Some("a0"), Some("a1"), 2));
    }
}
