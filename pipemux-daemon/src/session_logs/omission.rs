//! The part of a flood that is left out of a log.

use crate::limits::LOG_TAIL;

/// A part of the output that isn't written to the log.
#[derive(Debug, Default)]
pub(super) struct Omission {
    pub(super) bytes: u64,
    /// The last bytes of the omitted output, at most [`LOG_TAIL`].
    tail: Vec<u8>,
}

impl Omission {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let last = &bytes[bytes.len().saturating_sub(LOG_TAIL)..];
        let surplus = (self.tail.len() + last.len()).saturating_sub(LOG_TAIL);
        self.tail.drain(..surplus);
        self.tail.extend_from_slice(last);
    }

    /// Returns what is to be written of it: everything if all of it is here, otherwise the last
    /// complete lines.
    pub(super) fn end(&self) -> &[u8] {
        if self.bytes == self.tail.len() as u64 {
            return &self.tail;
        }
        match self.tail.iter().position(|byte| *byte == b'\n') {
            Some(at) if at + 1 < self.tail.len() => &self.tail[at + 1..],
            // A single line that is longer than what is kept: its end, from the first complete
            // character.
            _ => {
                let inner = self.tail.iter().take(4).position(|byte| byte & 0xc0 != 0x80);
                &self.tail[inner.unwrap_or(0)..]
            }
        }
    }
}

/// Formats a number as `12,345,678`.
pub(super) fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::with_commas;

    #[test]
    fn numbers_have_commas() {
        let shown = [0, 999, 1000, 12_345_678].map(with_commas);
        assert_eq!(shown, ["0", "999", "1,000", "12,345,678"]);
    }
}
