//! Finds the end of a standalone value.

use super::error::CallError;
use super::lexer::{Lexer, TokenKind};
use super::span::Span;

/// Returns the end of the value that a text begins with: of a quoted text, a list or a record. What
/// follows it isn't read.
///
/// # Errors
/// The value isn't closed, or has something in it that no value has.
pub fn value_end(code: &str) -> Result<usize, CallError> {
    let mut lexer = Lexer::new(code);
    let mut depth = 0usize;
    loop {
        let token = lexer.token()?;
        match token.kind {
            TokenKind::Sign('(' | '[' | '{') => depth += 1,
            TokenKind::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            TokenKind::End => {
                let open = Span { start: 0, end: code.chars().next().map_or(0, char::len_utf8) };
                return Err(CallError::new("unclosed value", open, "this is never closed"));
            }
            _ => {}
        }
        if depth == 0 {
            return Ok(token.span.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_ends_with_its_own_sign() {
        for (code, rest) in [
            ("'a b' c=1", " c=1"),
            ("'''a'b''', x", ", x"),
            ("[1, {a: ']'}] more “text", " more “text"),
            ("{a: f(1)}", ""),
        ] {
            assert_eq!(value_end(code).map(|end| &code[end..]), Ok(rest), "{code}");
        }
        for code in ["'a", "[1, 2", "{a: 1", "[“"] {
            assert!(value_end(code).is_err(), "{code}");
        }
    }
}
