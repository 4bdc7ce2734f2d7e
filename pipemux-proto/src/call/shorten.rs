//! A call as it was written, on one line and without its long texts.

use super::lexer::{Lexer, TokenKind};
use super::span::Span;
use crate::text::is_deceptive_in_prose;
use crate::value::Value;

/// The numbers of characters that may remain of a text; the largest one that makes the call fit is
/// used.
const TEXT_CHARS: [usize; 4] = [60, 30, 15, 6];

/// Writes the part of the code on one line of at most `max` characters, with normalized white
/// space. Long texts and raw blocks become `'first words…'`, so that an answer never repeats long
/// input.
pub fn shorten(code: &str, span: Span, max: usize) -> String {
    let mut line = String::new();
    for text_chars in TEXT_CHARS {
        line = one_line(code, span, text_chars, max);
        if line.chars().nth(max).is_none() {
            return line;
        }
    }
    cut(&line, max)
}

/// Writes tokens until the line is certainly too long.
fn one_line(code: &str, span: Span, text_chars: usize, max: usize) -> String {
    let mut line = String::new();
    let mut lexer = Lexer::new(code);
    let line_start =
        code.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    // The position of a raw block's body depends on the blocks before it on the same line, and the
    // beginning of that line may be inside a text. In this case everything before the span must be
    // read too.
    if code.get(line_start..span.start).is_some_and(|before| !before.contains("<<")) {
        lexer.at = span.start;
    }
    let mut gap = "";
    let mut braces = 0usize;
    // A character has at most 4 bytes, so beyond this length the line is certainly too long.
    while let Ok(token) = lexer.token()
        && token.kind != TokenKind::End
        && token.span.start < span.end
        && line.len() <= max.saturating_mul(4)
    {
        if token.span.start < span.start {
            continue;
        }
        match token.kind {
            TokenKind::Sign('{') => braces += 1,
            TokenKind::Sign('}') => braces = braces.saturating_sub(1),
            _ => {}
        }
        match token.kind {
            TokenKind::Newline => continue,
            TokenKind::Sign(')' | ']' | '}') => {}
            _ => line.push_str(gap),
        }
        gap = "";
        match token.kind {
            TokenKind::Sign(',') => gap = ", ",
            // That of a named argument is written without a space, that of a record's field with
            // one.
            TokenKind::Sign(':') if braces > 0 => gap = ": ",
            TokenKind::Sign(';') => gap = "; ",
            TokenKind::Text(_) | TokenKind::Quoted(_) => {
                let written = &code[token.span.start..token.span.end];
                let text = match token.kind {
                    TokenKind::Quoted(text) => text.text.unwrap_or(text.raw),
                    TokenKind::Text(text) => text,
                    _ => String::new(),
                };
                if is_short(written, text_chars) && !written.starts_with('<') {
                    line.push_str(written);
                } else {
                    line.push_str(&quoted(&text, text_chars));
                }
            }
            _ => line.push_str(&code[token.span.start..token.span.end]),
        }
    }
    line
}

fn is_short(written: &str, chars: usize) -> bool {
    let changes_line = |c: char| c.is_control() || is_deceptive_in_prose(c);
    written.chars().nth(chars + 2).is_none() && !written.contains(changes_line)
}

/// Returns the beginning of the text in quotes.
fn quoted(text: &str, chars: usize) -> String {
    let kept: String = text.chars().take(chars).collect();
    let is_whole = text.chars().nth(chars).is_none();
    Value::Str(if is_whole { kept } else { cut(&(kept + "…"), chars) }).to_string()
}

/// Shortens the text to at most `max` characters, including the ellipsis.
fn cut(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(max.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}
