//! Whether code asks for standard input.

use super::Span;
use super::lexer::{Kind, Lexer};

/// Finds the first place where the code has the name `stdin` as a value: outside of texts and raw
/// blocks, and neither a parameter's name nor a call's. Code that isn't of the syntax is read as far
/// as it is.
pub fn stdin_at(code: &str) -> Option<Span> {
    let mut lexer = Lexer::new(code);
    let mut found = None;
    while let Ok(token) = lexer.token() {
        match token.kind {
            // Behind the word it is a name.
            Kind::Sign('=' | ':' | '(') => found = None,
            _ if found.is_some() => break,
            Kind::Word("stdin") => found = Some(token.span),
            Kind::End => break,
            _ => {}
        }
    }
    found
}
