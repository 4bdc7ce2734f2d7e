//! Text that many owners share, and characters that text must not carry to a terminal.

use std::fmt::{self, Write};
use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;

/// A text that is shared without copying, also with the bytes of messages that are being sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedText(Arc<String>);

impl SharedText {
    /// Returns the text as bytes, without copying them.
    pub fn to_bytes(&self) -> Bytes {
        Bytes::from_owner(self.clone())
    }
}

impl From<String> for SharedText {
    fn from(mut text: String) -> Self {
        text.shrink_to_fit();
        Self(text.into())
    }
}

impl Deref for SharedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns true for a character that changes how other text is shown: it controls a terminal,
/// reorders the text around it, or is an invisible copy of ASCII (a tag character of Unicode). A
/// line break and a tab are not among them, nor are the joiners and variation selectors that
/// scripts and emoji need.
pub fn is_deceptive(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// Returns true for a character that is shown as its code point in a text that is not exact: a
/// deceptive one, or one that a program may take for a line break.
pub fn is_deceptive_in_prose(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') || is_deceptive(c)
}

/// Writes a character as its code point, `\u{001b}`. A quoted text of a call means the character by
/// that. At least four digits tell it from what is usual in source code.
///
/// # Errors
/// `out` can't be written to; a string always can.
pub fn write_code_point(out: &mut impl Write, c: char) -> fmt::Result {
    out.write_str(&code_point(c))
}

/// Returns a character as its code point, as [`write_code_point`] writes it.
pub fn code_point(c: char) -> String {
    format!("\\u{{{:04x}}}", c as u32)
}

/// Reads a code point as [`write_code_point`] writes it, from behind the backslash. Returns the
/// character and the number of bytes that were read.
pub fn read_code_point(text: &str) -> Option<(char, usize)> {
    let digits = text.strip_prefix("u{")?;
    let end = digits.bytes().take(CODE_POINT_DIGITS + 1).position(|byte| byte == b'}')?;
    let c = u32::from_str_radix(&digits[..end], 16).ok().and_then(char::from_u32)?;
    let written = code_point(c);
    let length = "u{".len() + end + "}".len();
    (is_deceptive_in_prose(c) && written[1..] == text[..length]).then_some((c, length))
}

/// The largest number of digits of a code point.
const CODE_POINT_DIGITS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_point_of_each_deceptive_character_reads_back() {
        let mut deceptive = 0;
        for c in ('\0'..=char::MAX).filter(|c| is_deceptive_in_prose(*c)) {
            let written = code_point(c);
            assert_eq!(
                read_code_point(&format!("{}x", &written[1..])),
                Some((c, written.len() - 1))
            );
            deceptive += 1;
        }
        assert_eq!(deceptive, 32 - 2 + 33 + 5 + 4 + 128 + 3);
    }

    #[test]
    fn code_point_in_another_form_is_none() {
        for text in [
            "u{1b}",
            "u{0041}",
            "u{001B}",
            "u{001b",
            "u001b",
            "u{+01b}",
            "u{é}",
            "u{}",
            "",
            "u{110000}",
        ] {
            assert_eq!(read_code_point(text), None, "{text}");
        }
    }

    #[test]
    fn joiners_and_selectors_are_no_deceptive_characters() {
        for c in "\u{200d}\u{200c}\u{fe0f}\u{200e}\u{200f}\u{e0100}é中🚀".chars() {
            assert!(!is_deceptive_in_prose(c), "{c:?}");
        }
    }
}
