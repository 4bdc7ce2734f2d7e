//! Texts in quotes, of which their parameter decides whether a backslash escapes.

use super::error::CallError;

/// A quoted text with a backslash, in both of its readings.
#[derive(Debug, Clone, PartialEq)]
pub struct Quoted {
    /// The text with its escapes resolved; an error if one of them is unknown.
    pub text: Result<String, CallError>,
    /// The text as it is written, but for the backslashes before its own quotes, and with `\\` for
    /// one backslash.
    pub raw: String,
}

impl Quoted {
    /// Takes over a character in both meanings.
    pub(super) fn push(&mut self, c: char) {
        self.raw.push(c);
        if let Ok(text) = &mut self.text {
            text.push(c);
        }
    }
}

/// Writes a text in quotes for a parameter that takes it raw. A line break is written as the
/// regular expression that matches it.
pub fn write_raw(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut written = String::from(quote);
    let mut escaped = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => written.push_str(if escaped { "n" } else { "\\n" }),
            // Reading takes two backslashes for one, and one before a quote away.
            '\\' if rest.peek().is_none_or(|next| {
                *next == '\\' || *next == quote || (escaped && *next == '\n')
            }) =>
            {
                written.push_str("\\\\");
            }
            _ if c == quote => {
                written.push('\\');
                written.push(c);
            }
            _ => written.push(c),
        }
        escaped = c == '\\' && !escaped;
    }
    written.push(quote);
    written
}
