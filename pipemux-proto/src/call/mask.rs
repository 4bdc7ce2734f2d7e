//! Code with its secrets replaced, so that it can be shown and kept.
//!
//! It reads tokens, not calls: code that is refused for its syntax may hold a secret as well.

use super::lexer::{Lexer, Token, TokenKind};
use super::span::Span;

/// The replacement of a secret; it is a text, so that the code around it still parses.
pub const MASKED: &str = "'***'";

/// Says which arguments are secret.
pub trait Secrets {
    /// True when an argument of an action is secret. The action is as it is written, without its
    /// owner.
    fn is_secret(&self, action: &str, argument: ArgumentName<'_>) -> bool;
}

/// The name or position of an argument in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentName<'a> {
    /// The argument has this name.
    Named(&'a str),
    /// The argument is at this position, from 0.
    At(usize),
}

/// Takes every value for a secret: of code that nobody has checked.
#[derive(Debug, Clone, Copy)]
pub struct AllValues;

impl Secrets for AllValues {
    fn is_secret(&self, _: &str, _: ArgumentName<'_>) -> bool {
        true
    }
}

/// Returns the ranges of the values of secret arguments. When the code can't be read to its end,
/// all of the rest is one: nobody knows what it means.
pub fn secret_spans(code: &str, secrets: &dyn Secrets) -> Vec<Span> {
    let mut lexer = Lexer::new(code);
    let mut reader = Reader { secrets, open: Vec::new(), word: None, last: 0, spans: Vec::new() };
    loop {
        let (from, block) = (lexer.at, lexer.resume);
        let Ok(token) = lexer.token() else {
            reader.end(from, code.len());
            return reader.spans;
        };
        if token.kind == TokenKind::End {
            reader.end(code.len(), code.len());
            return reader.spans;
        }
        reader.token(&token);
        // The body of a raw block is somewhere else than its word.
        let opens_block = || code.get(token.span.start..).is_some_and(|rest| rest.starts_with('<'));
        if matches!(token.kind, TokenKind::Text(_)) && reader.is_in_secret() && opens_block() {
            let rest = || code.get(token.span.end..).and_then(|rest| rest.find('\n'));
            let start = block.or_else(|| rest().map(|at| token.span.end + at + 1));
            if let (Some(start), Some(end)) = (start, lexer.resume) {
                reader.spans.push(Span { start, end });
            }
        }
    }
}

/// Returns the code with `'***'` in place of each secret.
pub fn masked(code: &str, secrets: &dyn Secrets) -> String {
    let mut spans = secret_spans(code, secrets);
    spans.sort_unstable_by_key(|span| span.start);
    let (mut out, mut at) = (String::new(), 0);
    for span in spans.into_iter().filter(|span| span.start < span.end) {
        out.push_str(code.get(at..span.start).unwrap_or_default());
        if span.end > at {
            let ends_line = code.get(..span.end).is_some_and(|before| before.ends_with('\n'));
            out.push_str(MASKED);
            out.push_str(if ends_line { "\n" } else { "" });
        }
        at = at.max(span.end);
    }
    out.push_str(code.get(at..).unwrap_or_default());
    out
}

/// Returns the code with each byte of its secrets replaced, so that all positions in it stay.
pub fn masked_in_place(code: &str, secrets: &dyn Secrets) -> String {
    let mut bytes = code.as_bytes().to_vec();
    for span in secret_spans(code, secrets) {
        let secret = bytes.get_mut(span.start..span.end).into_iter().flatten();
        // Lines stay where they are, too.
        secret.filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
    }
    // Whole tokens are replaced, so that no character is split.
    String::from_utf8(bytes).unwrap_or_default()
}

/// An open call, list or record.
struct Open<'a> {
    /// The action of a call.
    action: Option<&'a str>,
    /// The position of the current argument.
    position: usize,
    /// The name of the current argument, if it is given.
    name: Option<&'a str>,
    /// The start of the current argument's value, if it is secret.
    secret: Option<usize>,
}

struct Reader<'a, 's> {
    secrets: &'s dyn Secrets,
    open: Vec<Open<'a>>,
    /// The last token, if it is a word: the name of a call or of an argument, or a value.
    word: Option<(&'a str, usize)>,
    /// The end of the last token.
    last: usize,
    spans: Vec<Span>,
}

impl<'a> Reader<'a, '_> {
    fn is_in_secret(&self) -> bool {
        self.open.iter().any(|open| open.secret.is_some())
    }

    fn token(&mut self, token: &Token<'a>) {
        let word = self.word.take();
        let is_name = |open: &Open<'_>| open.action.is_some() && open.name.is_none();
        match (&token.kind, word, self.open.last_mut()) {
            (TokenKind::Newline, ..) => {
                self.word = word;
                return;
            }
            (TokenKind::Sign('=' | ':'), Some((name, _)), Some(open)) if is_name(open) => {
                open.name = Some(name);
            }
            (TokenKind::Sign('('), Some((name, start)), _) => {
                self.begin_value(start);
                self.enter(Some(name.rsplit('.').next().unwrap_or(name)));
            }
            (kind, word, _) => {
                if let Some((_, start)) = word {
                    self.begin_value(start);
                }
                self.other(kind, token.span);
            }
        }
        self.last = token.span.end;
    }

    fn other(&mut self, kind: &TokenKind<'a>, span: Span) {
        match kind {
            TokenKind::Sign('(' | '[' | '{') => {
                self.begin_value(span.start);
                self.enter(None);
            }
            TokenKind::Sign(')' | ']' | '}') => {
                self.end_value();
                self.open.pop();
            }
            TokenKind::Sign(',') => {
                self.end_value();
                if let Some(open) = self.open.last_mut() {
                    (open.position, open.name) = (open.position + 1, None);
                }
            }
            TokenKind::Sign(_) | TokenKind::End | TokenKind::Newline => {}
            TokenKind::Word(word) => self.word = Some((word, span.start)),
            _ => self.begin_value(span.start),
        }
    }

    fn enter(&mut self, action: Option<&'a str>) {
        self.open.push(Open { action, position: 0, name: None, secret: None });
    }

    fn begin_value(&mut self, start: usize) {
        let Some(open) = self.open.last_mut() else { return };
        let Some(action) = open.action.filter(|_| open.secret.is_none()) else { return };
        let argument = open.name.map_or(ArgumentName::At(open.position), ArgumentName::Named);
        if self.secrets.is_secret(action, argument) {
            open.secret = Some(start);
        }
    }

    fn end_value(&mut self) {
        let secret = self.open.last_mut().and_then(|open| open.secret.take());
        if let Some(start) = secret {
            self.spans.push(Span { start, end: self.last.max(start) });
        }
    }

    /// Ends the reading; the code from `unread` or from an open secret to `end` is masked.
    fn end(&mut self, unread: usize, end: usize) {
        if let Some((_, start)) = self.word.take() {
            self.begin_value(start);
        }
        let secret = self.open.iter().find_map(|open| open.secret);
        self.spans.push(Span { start: secret.unwrap_or(unread), end });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Password;

    impl Secrets for Password {
        fn is_secret(&self, action: &str, argument: ArgumentName<'_>) -> bool {
            let secret = matches!(argument, ArgumentName::Named("key") | ArgumentName::At(1));
            action == "unlock" && secret
        }
    }

    #[test]
    fn secrets_are_replaced_wherever_they_stand() {
        for (code, expected) in [
            ("v.unlock('a', 'b')", "v.unlock('a', '***')"),
            (
                "v/x.unlock(user='a', key='b'); v.lock(key='b')",
                "v/x.unlock(user='a', key='***'); v.lock(key='b')",
            ),
            ("unlock(\n 'a',\n key: \"\"\"b\nc\"\"\",\n)", "unlock(\n 'a',\n key: '***',\n)"),
            ("unlock('a', stdin)", "unlock('a', stdin)".replace("stdin", "'***'").as_str()),
            ("unlock('a', <<X)\nbody\nX\nlock()", "unlock('a', '***')\n'***'\nlock()"),
            (
                "lock(<<A); unlock('a', <<B)\none\nA\ntwo\nB\n",
                "lock(<<A); unlock('a', '***')\none\nA\n'***'\n",
            ),
            ("unlock('a', [1, {key: 'b'}], 2)", "unlock('a', '***', 2)"),
            ("unlock('a', get('b', key='c'))", "unlock('a', '***')"),
            ("unlock(unlock('a', 'b'), key=secret)", "unlock(unlock('a', '***'), key='***')"),
            // What can't be read.
            ("unlock('a', key='b", "unlock('a', key='***'"),
            ("unlock('a', 'b'c')", "unlock('a','***'"),
            ("unlock('a', key=b c d", "unlock('a', key='***'"),
            ("lock('a); unlock('a', 'b')", "lock('***'"),
            ("x “y” unlock('a', 'b')", "x'***'"),
            ("lock(key='b')", "lock(key='b')"),
            ("", ""),
        ] {
            assert_eq!(masked(code, &Password), expected, "{code}");
        }
    }

    #[test]
    fn positions_stay_when_masked_in_place() {
        for code in ["unlock('ä', 'b')", "unlock('a', <<X)\nbödy\nX\nlock()", "unlock('a', '界"]
        {
            let shown = masked_in_place(code, &Password);
            assert_eq!(shown.len(), code.len(), "{shown}");
            assert!(!shown.contains('b') || code.contains('ö'), "{shown}");
            assert!(!shown.contains("dy") && !shown.contains('界'), "{shown}");
        }
    }
}
