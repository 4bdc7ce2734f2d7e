//! Tokens of the call syntax, each with its place.

use unicode_width::UnicodeWidthChar;

use super::excerpt::clip;
use super::{CallError, Span};
use crate::refs::{Ref, RefError, token};
use crate::value::Value;

/// What every refusal of other syntax says.
pub(super) const ONLY_CALLS: &str = "only calls: name(arg, name=value)";

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// Its place; of a raw block, that of `<<WORD`.
    pub span: Span,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind<'a> {
    /// A name with what may stand around it: `editor/b.replace`.
    Word(&'a str),
    /// A number.
    Number(Value),
    /// A bare ref.
    Ref(Ref),
    /// Quoted text or a raw block, decoded.
    Text(String),
    /// One of `( ) [ ] , ; = :`.
    Sign(char),
    /// A `-` that begins no number.
    Dash,
    /// A line's end.
    Newline,
    /// The code's end.
    End,
}

/// Reads tokens on demand, so that the first error in reading order is the one that is reported.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    /// The whole code.
    pub(super) code: &'a str,
    /// The next byte to read.
    pub(super) at: usize,
    /// Where the code goes on after the present line, when raw blocks lie between.
    pub(super) resume: Option<usize>,
}

impl<'a> Lexer<'a> {
    /// Begins at the code's start.
    pub fn new(code: &'a str) -> Self {
        Self { code, at: 0, resume: None }
    }

    /// Reads the next token; at the end, [`Kind::End`] for ever.
    pub fn token(&mut self) -> Result<Token<'a>, CallError> {
        self.skip_space();
        let start = self.at;
        let mut following = self.rest().chars();
        let Some(first) = following.next() else {
            // Errors about the end are shown on the last line that holds something.
            let end = self.code.trim_end().len();
            return Ok(Token { kind: Kind::End, span: Span { start: end, end } });
        };
        let second = following.next();
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let kind = match first {
            '\n' => self.newline(),
            '[' if begins_token(self.rest()) => self.app_token()?,
            '(' | ')' | '[' | ']' | ',' | ';' | '=' | ':' => {
                self.at += 1;
                Kind::Sign(first)
            }
            '\'' | '"' => Kind::Text(self.quoted(first)?),
            '<' if second == Some('<') => Kind::Text(self.raw_block()?),
            '0'..='9' => self.number()?,
            '-' | '.' if digit(second) || (second == Some('.') && digit(following.next())) => {
                self.number()?
            }
            '-' => {
                self.at += 1;
                Kind::Dash
            }
            c if c.is_alphabetic() || c == '_' => self.word()?,
            c => return Err(self.unexpected(c, second)),
        };
        Ok(Token { kind, span: self.span_from(start) })
    }

    /// What hasn't been read yet.
    pub(super) fn rest(&self) -> &'a str {
        &self.code[self.at..]
    }

    /// From there to the present place.
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    /// Passes over white space within the line.
    pub(super) fn skip_space(&mut self) {
        let space = |c: char| (c.is_whitespace() && c != '\n') || c == '\u{feff}';
        self.at = self.code.len() - self.rest().trim_start_matches(space).len();
    }

    fn newline(&mut self) -> Kind<'a> {
        self.at = self.resume.take().unwrap_or(self.at + 1);
        Kind::Newline
    }

    /// Reads characters while they match.
    fn run(&mut self, matches: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let run = &rest[..rest.find(|c| !matches(c)).unwrap_or(rest.len())];
        self.at += run.len();
        run
    }

    fn word(&mut self) -> Result<Kind<'a>, CallError> {
        let start = self.at;
        let word = self.run(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'));
        let mut following = self.rest().chars();
        match (following.next(), following.next()) {
            (Some(':'), next) if matches!(word, "obj" | "link") && begins_ref(next) => {
                self.at = start;
                self.reference()
            }
            (Some('\'' | '"'), _) => {
                let span = self.span_from(start);
                let note = "a text begins with its quote: no prefix before it";
                Err(CallError::new("unexpected text prefix", span, note)
                    .hint("without any escapes: a raw block, text=<<END, or text=stdin"))
            }
            _ => Ok(Kind::Word(word)),
        }
    }

    fn reference(&mut self) -> Result<Kind<'a>, CallError> {
        let start = self.at;
        self.run(continues_ref);
        self.read_ref(start)
    }

    /// Reads `[[MT:Node:7]]`, whose id may hold white space.
    fn app_token(&mut self) -> Result<Kind<'a>, CallError> {
        let start = self.at;
        self.run(|c| !token::ends_id(c));
        if self.rest().starts_with("]]") {
            self.at += "]]".len();
            if self.rest().starts_with('@') {
                self.run(continues_ref);
            }
        }
        self.read_ref(start)
    }

    /// Reads the ref that has been passed over.
    fn read_ref(&self, start: usize) -> Result<Kind<'a>, CallError> {
        let text = &self.code[start..self.at];
        text.parse().map(Kind::Ref).map_err(|error: RefError| {
            let from = start + error.at;
            let span = Span { start: if from < self.at { from } else { start }, end: self.at };
            let note = format!("expected {}, for example {}", error.expected, error.example);
            CallError::new("not a ref", span, note)
        })
    }

    fn number(&mut self) -> Result<Kind<'a>, CallError> {
        let start = self.at;
        if self.rest().starts_with('-') {
            self.at += 1;
        }
        let run = self.run(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        if run.ends_with(['e', 'E']) && self.rest().starts_with(['+', '-']) {
            self.at += 1;
            self.run(|c| c.is_alphanumeric());
        }
        let span = self.span_from(start);
        let text = &self.code[start..self.at];
        if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            let note = format!("expected {} to {}", i64::MIN, i64::MAX);
            return text
                .parse()
                .map(|number| Kind::Number(Value::Int(number)))
                .map_err(|_| CallError::new("number too large", span, note));
        }
        // Rust's own grammar also takes `1.`, which is rather a slip.
        let plain =
            text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
        match text.parse::<f64>() {
            Ok(number) if plain && !text.ends_with('.') && number.is_finite() => {
                Ok(Kind::Number(Value::Float(number)))
            }
            Ok(number) if plain && number.is_infinite() => {
                Err(CallError::new("number too large", span, "expected a number below 1.8e308"))
            }
            _ => {
                let note = "expected 42, -7, 0.5 or 1e6; a text stands in quotes";
                Err(CallError::new("not a number", span, note))
            }
        }
    }

    fn unexpected(&self, c: char, second: Option<char>) -> CallError {
        let start = self.at;
        let length = match (c, second) {
            ('/', Some('/' | '*')) | ('&', Some('&')) | ('|', Some('|')) => 2,
            _ => c.len_utf8(),
        };
        let span = Span { start, end: start + length };
        let is_comment = c == '#' || (c == '/' && length == 2);
        let title = match c {
            _ if is_comment => "unexpected comment".to_owned(),
            c if c.is_control() || c.width() == Some(0) => {
                format!("unexpected character U+{:04X}", u32::from(c))
            }
            _ => format!("unexpected `{}`", clip(&self.code[start..start + length])),
        };
        let error = CallError::new(title, span, ONLY_CALLS);
        match c {
            _ if is_comment => {
                error.hint("leave comments out: steps are separated by `;` or a new line")
            }
            '“' | '”' | '„' | '‘' | '’' | '‚' | '«' | '»' | '`' | '「' | '」' => {
                error.hint("texts stand in straight quotes: '…' or \"…\"")
            }
            '{' | '}' => {
                error.hint("there are no objects or blocks: pass named arguments, f(name=value)")
            }
            '\\' => error.hint("only inside a text is anything escaped: its own quotes are plain"),
            '@' => error.hint("a ref begins with its kind: obj:15@e3"),
            '+' => error.hint("give the whole value: there are no operators"),
            '\u{ff01}'..='\u{ff5e}' | '、' | '。' => {
                error.hint("write signs in ASCII: ( ) , ; = :")
            }
            _ => error,
        }
    }
}

/// What doesn't end a bare ref.
fn continues_ref(c: char) -> bool {
    !(c.is_whitespace() || matches!(c, ',' | ')' | ']' | ';' | '\'' | '"'))
}

/// `[[MT:` begins a token; `[[1]]`, `[[name]]` and `[[obj:7]]` are lists of lists, in which no other
/// word has a colon.
fn begins_token(code: &str) -> bool {
    let Some(inside) = code.strip_prefix("[[") else { return false };
    let end = inside.find(|c: char| !c.is_alphanumeric()).unwrap_or(inside.len());
    let (word, rest) = inside.split_at(end);
    !word.is_empty() && !matches!(word, "obj" | "link") && rest.starts_with(':')
}

/// `obj: 7` and `link='…'` are parameters of that name.
fn begins_ref(next: Option<char>) -> bool {
    next.is_some_and(|c| continues_ref(c) && !matches!(c, '<' | '[' | '('))
}
