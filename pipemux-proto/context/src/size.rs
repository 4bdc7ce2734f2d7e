//! The size of a text, as it counts against a budget.

use pipemux_tokens::Estimate;

/// The size of a text or a limit of it, in four units. An unset limit is `u64::MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// Estimated tokens.
    pub tokens: u64,
    /// Characters (Unicode scalar values).
    pub chars: u64,
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
}

impl Size {
    /// The size of an empty text.
    pub const ZERO: Self = Self { tokens: 0, chars: 0, bytes: 0, lines: 0 };

    /// The limit that allows any size.
    pub const UNLIMITED: Self =
        Self { tokens: u64::MAX, chars: u64::MAX, bytes: u64::MAX, lines: u64::MAX };

    /// Returns a limit in tokens alone. As a reservation, use [`Size::only_tokens`].
    pub fn tokens(tokens: u64) -> Self {
        Self { tokens, ..Self::UNLIMITED }
    }

    /// Returns a size of tokens and nothing else.
    pub fn only_tokens(tokens: u64) -> Self {
        Self { tokens, ..Self::ZERO }
    }

    /// Returns a limit in characters alone.
    pub fn chars(chars: u64) -> Self {
        Self { chars, ..Self::UNLIMITED }
    }

    /// Measures whole lines. A last line without a newline counts as if it had one.
    pub fn of_lines(text: &str) -> Self {
        if text.is_empty() {
            return Self::ZERO;
        }
        let mut estimate = Estimate::for_lines();
        estimate.add(text);
        let open = !text.ends_with('\n');
        if open {
            estimate.add("\n");
        }
        Self {
            tokens: estimate.tokens(),
            chars: text.chars().count() as u64 + u64::from(open),
            bytes: text.len() as u64 + u64::from(open),
            lines: text.bytes().filter(|byte| *byte == b'\n').count() as u64 + u64::from(open),
        }
    }

    /// Returns true when this is within a limit in each unit.
    pub fn fits_in(self, limit: Self) -> bool {
        self.to_array().iter().zip(limit.to_array()).all(|(own, limit)| *own <= limit)
    }

    /// Returns the sum; a limit that isn't set stays so.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// Returns what is left in each unit, at least 0; a limit that isn't set stays so.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, |own, other| if own == u64::MAX { own } else { own.saturating_sub(other) })
    }

    /// Returns this in whole steps, so that what grows a little asks for the same.
    #[must_use]
    pub fn in_steps_of(self, step: Self) -> Self {
        let stepped = |own: u64, step| own.checked_next_multiple_of(step).unwrap_or(own);
        self.zip(step, stepped)
    }

    /// Returns the smaller one in each unit.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, u64::min)
    }

    /// Returns the larger one in each unit.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    /// Combines two sizes unit by unit.
    #[must_use]
    pub fn zip(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        let (own, other) = (self.to_array(), other.to_array());
        Self::from_array(std::array::from_fn(|unit| combine(own[unit], other[unit])))
    }

    /// Returns tokens, characters, bytes and lines.
    pub fn to_array(self) -> [u64; 4] {
        [self.tokens, self.chars, self.bytes, self.lines]
    }

    /// Makes a size from the array of [`Size::to_array`].
    pub fn from_array([tokens, chars, bytes, lines]: [u64; 4]) -> Self {
        Self { tokens, chars, bytes, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_measured_in_all_units() {
        assert_eq!(Size::of_lines(""), Size::ZERO);
        let size = Size::of_lines("数据\nab");
        assert_eq!((size.chars, size.bytes, size.lines), (6, 10, 2));
        assert_eq!(size, Size::of_lines("数据\nab\n"));
        assert!(size.tokens > 0);
    }

    #[test]
    fn limit_that_is_not_set_stays_so() {
        let limit = Size::tokens(10);
        assert_eq!(limit.minus(Size { tokens: 4, chars: 9, bytes: 9, lines: 9 }), Size::tokens(6));
        assert!(Size::of_lines("a\n").fits_in(limit));
        assert!(!Size::only_tokens(11).fits_in(limit));
    }
}
