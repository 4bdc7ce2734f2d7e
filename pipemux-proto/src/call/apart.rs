//! Calls with their long texts apart, for a log that tells which text it was without holding it.

use super::lexer::{Lexer, TokenKind};

/// Returns the code on one line, in parts; a part is a long text if its flag is true. A text of
/// more than `text_max` bytes is one, and so is what can't be read as code and everything behind
/// the first `code_max` bytes.
pub fn texts_apart(code: &str, text_max: usize, code_max: usize) -> Vec<(String, bool)> {
    let mut parts: Vec<(String, bool)> = Vec::new();
    let mut written = String::new();
    let mut lexer = Lexer::new(code);
    let mut gap = "";
    loop {
        let from = lexer.at;
        let rest = || code.get(from..).unwrap_or_default().trim().to_owned();
        let Ok(token) = lexer.token() else {
            return finish(parts, written, rest(), text_max);
        };
        let length = written.len()
            + parts.iter().map(|(text, apart)| if *apart { 0 } else { text.len() }).sum::<usize>();
        if token.kind != TokenKind::End && length > code_max {
            return finish(parts, written, rest(), 0);
        }
        match token.kind {
            TokenKind::End => return finish(parts, written, String::new(), text_max),
            TokenKind::Newline => {
                gap = if written.is_empty() && parts.is_empty() { "" } else { " " };
                continue;
            }
            TokenKind::Sign(')' | ']' | '}' | '(' | ',' | ';' | '=' | ':') => {}
            _ => written.push_str(gap),
        }
        gap = "";
        let source = code.get(token.span.start..token.span.end).unwrap_or_default();
        let text = match token.kind {
            TokenKind::Text(text) => text,
            TokenKind::Quoted(quoted) => quoted.text.unwrap_or(quoted.raw),
            TokenKind::Sign(',') => {
                written.push(',');
                gap = " ";
                continue;
            }
            TokenKind::Sign(';') => {
                written.push(';');
                gap = " ";
                continue;
            }
            _ => {
                written.push_str(source);
                continue;
            }
        };
        if text.len() > text_max {
            parts.push((std::mem::take(&mut written), false));
            parts.push((text, true));
        } else if source.starts_with('<') {
            written.push_str(&format!("{text:?}"));
        } else {
            written.push_str(source);
        }
    }
}

fn finish(
    mut parts: Vec<(String, bool)>,
    mut written: String,
    rest: String,
    text_max: usize,
) -> Vec<(String, bool)> {
    let long = rest.len() > text_max;
    if !rest.is_empty() && !long {
        let gap = if written.is_empty() { "" } else { " " };
        written.push_str(&format!("{gap}{rest}"));
    }
    if !written.is_empty() {
        parts.push((written, false));
    }
    if long {
        parts.push((rest, true));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: &str) -> String {
        let part = |(text, apart): (String, bool)| match apart {
            true => format!("⟨{}⟩", text.len()),
            false => text,
        };
        texts_apart(code, 8, 40).into_iter().map(part).collect()
    }

    #[test]
    fn long_texts_stand_apart_from_calls() {
        assert_eq!(shown("notes.add('short', 'much longer')"), "notes.add('short', ⟨11⟩)");
        assert_eq!(
            shown("a.b(x=1,\n  y=\"\"\"a text of 3 lines\"\"\");\nc()"),
            "a.b(x=1, y=⟨17⟩); c()"
        );
        assert_eq!(shown("a.b(<<END)\nthe long body\nEND\nc(<<E)\nab\nE\n"), "a.b(⟨13⟩) c(\"ab\")");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn text_that_is_no_code_and_code_that_is_too_long_are_reported_apart() {
        assert_eq!(shown("yes"), "yes");
        assert_eq!(shown("a.b('no end of this text"), "a.b(⟨20⟩");
        let many = "a(1); ".repeat(20);
        assert!(shown(&many).ends_with('⟩') && shown(&many).len() < 80, "{}", shown(&many));
    }
}
