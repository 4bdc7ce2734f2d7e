//! Finds uses of standard input in code.

use super::lexer::{Lexer, TokenKind};
use super::span::Span;

/// Returns the first place where the code uses the name `stdin` as a value: outside of texts and
/// raw blocks, and not as the name of a parameter or a call. Code with a syntax error is read up to
/// the error.
pub fn stdin_at(code: &str) -> Option<Span> {
    let mut lexer = Lexer::new(code);
    let mut found = None;
    while let Ok(token) = lexer.token() {
        match token.kind {
            // After the word, these signs make it the name of a parameter or a call.
            TokenKind::Sign('=' | ':' | '(') => found = None,
            _ if found.is_some() => break,
            TokenKind::Word("stdin") => found = Some(token.span),
            TokenKind::End => break,
            _ => {}
        }
    }
    found
}
