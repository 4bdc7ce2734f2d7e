//! Sizes and times as a manifest writes them.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use crate::limits::IDLE_MS;

/// A number of bytes: `1048576`, `"512K"`, `"512M"`, `"2G"` (powers of 1024).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// The idle time before sleep: `"never"`, minutes, or `"90s"`, `"30m"`, `"12h"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// The session runs until it is ended.
    Never,
    /// The session sleeps after this many milliseconds without a request.
    After(u64),
}

impl Default for Idle {
    fn default() -> Self {
        Self::After(IDLE_MS)
    }
}

const SIZES: [(&str, u64); 3] = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)];
/// `ms` stands before `m` and `s`, since the first that fits is taken.
const TIMES: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let expected = "a number of bytes above 0, or \"512K\", \"512M\", \"2G\"";
        from.deserialize_any(Quantity { units: &SIZES, bare: 1, expected }).map(Size)
    }
}

impl<'de> Deserialize<'de> for Idle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let expected = "\"never\", a number of minutes above 0, or \"90s\", \"30m\", \"12h\"";
        let ms = from.deserialize_any(Quantity { units: &TIMES, bare: 60_000, expected })?;
        Ok(if ms == NEVER { Self::Never } else { Self::After(ms) })
    }
}

/// The value of `"never"`; no written time is that long.
const NEVER: u64 = u64::MAX;

struct Quantity {
    units: &'static [(&'static str, u64)],
    /// The factor of a number without a unit.
    bare: u64,
    expected: &'static str,
}

impl Quantity {
    fn scaled<E: Error>(&self, number: u64, unit: u64) -> Result<u64, E> {
        match number.checked_mul(unit) {
            Some(value) if value > 0 && value < NEVER => Ok(value),
            _ => {
                Err(E::custom(format_args!("{number} is out of range: expected {}", self.expected)))
            }
        }
    }
}

impl Visitor<'_> for Quantity {
    type Value = u64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expected)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        self.scaled(number, self.bare)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        let number = u64::try_from(number)
            .map_err(|_| E::custom(format_args!("{number}: expected {}", self.expected)))?;
        self.scaled(number, self.bare)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        if text == "never" && self.bare == 60_000 {
            return Ok(NEVER);
        }
        let split = self.units.iter().find_map(|(unit, factor)| {
            Some((text.strip_suffix(unit)?.trim_end().parse().ok()?, *factor))
        });
        match split {
            Some((number, factor)) => self.scaled(number, factor),
            None => Err(E::custom(format_args!("`{text}`: expected {}", self.expected))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, I64Deserializer, StrDeserializer};

    use super::*;

    fn text<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, String> {
        let from: StrDeserializer<'_, Error> = text.into_deserializer();
        T::deserialize(from).map_err(|error| error.to_string())
    }

    fn number<T: for<'de> Deserialize<'de>>(number: i64) -> Result<T, String> {
        let from: I64Deserializer<Error> = number.into_deserializer();
        T::deserialize(from).map_err(|error| error.to_string())
    }

    #[test]
    fn sizes_and_times_have_their_units() {
        assert_eq!(number(4096), Ok(Size(4096)));
        assert_eq!(text("512K"), Ok(Size(512 << 10)));
        assert_eq!(text("2 G"), Ok(Size(2 << 30)));
        assert_eq!(number(30), Ok(Idle::After(1_800_000)));
        assert_eq!(text("500ms"), Ok(Idle::After(500)));
        assert_eq!(text("90s"), Ok(Idle::After(90_000)));
        assert_eq!(text("2h"), Ok(Idle::After(7_200_000)));
        assert_eq!(text("never"), Ok(Idle::Never));
    }

    #[test]
    fn invalid_quantities_are_refused_with_what_was_expected() {
        for wrong in ["", "M", "-1M", "1.5G", "1T", "五M", "99999999999G", "never", "0K"] {
            let error = text::<Size>(wrong).unwrap_err();
            assert!(error.contains("expected a number of bytes"), "{wrong}: {error}");
        }
        for wrong in ["", "soon", "ms", "-3m", "0s", "300000000000000000h"] {
            let error = text::<Idle>(wrong).unwrap_err();
            assert!(error.contains("expected \"never\""), "{wrong}: {error}");
        }
        assert!(number::<Size>(0).is_err() && number::<Size>(-1).is_err());
        assert!(number::<Idle>(0).is_err() && number::<Idle>(i64::MIN).is_err());
    }
}
