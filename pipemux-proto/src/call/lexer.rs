//! Tokens of the call syntax, each with its position.

use unicode_width::UnicodeWidthChar;

use super::error::CallError;
use super::excerpt::clip;
use super::quoted::Quoted;
use super::span::Span;
use crate::refs::{Ref, RefError, token};
use crate::value::Value;

/// The note of every error about other syntax.
pub(super) const ONLY_CALLS: &str = "only calls: name(arg, name=value)";

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'a> {
    /// The token's kind and content.
    pub kind: TokenKind<'a>,
    /// The token's range; for a raw block that of `<<WORD`.
    pub span: Span,
}

/// The kind and content of a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'a> {
    /// A name with its qualifiers: `editor/b.replace`.
    Word(&'a str),
    /// A number literal.
    Number(Value),
    /// A bare ref.
    Ref(Ref),
    /// A raw block, or a quoted text without a backslash.
    Text(String),
    /// A quoted text with a backslash.
    Quoted(Box<Quoted>),
    /// One of `( ) [ ] { } , ; = :`.
    Sign(char),
    /// A `-` that doesn't begin a number.
    Dash,
    /// The end of a line.
    Newline,
    /// The end of the code.
    End,
}

/// Reads tokens on demand, so that the error that is reported is the first one in reading order.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    /// The whole code.
    pub(super) code: &'a str,
    /// The index of the next byte.
    pub(super) at: usize,
    /// The index at which the code continues after the current line, if raw blocks follow the line.
    pub(super) resume: Option<usize>,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of the code.
    pub fn new(code: &'a str) -> Self {
        Self { code, at: 0, resume: None }
    }

    /// Reads the next token; at the end of the code always [`TokenKind::End`].
    pub fn token(&mut self) -> Result<Token<'a>, CallError> {
        self.skip_space();
        let start = self.at;
        let mut following = self.rest().chars();
        let Some(first) = following.next() else {
            // Errors at the end are shown on the last line that isn't blank.
            let end = self.code.trim_end().len();
            return Ok(Token { kind: TokenKind::End, span: Span { start: end, end } });
        };
        let second = following.next();
        let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        let kind = match first {
            '\n' => self.newline(),
            '[' if begins_app_token(self.rest()) => self.app_token()?,
            '[' if let Some((target, length)) = super::markdown::markdown_link(self.rest()) => {
                let from = self.at + length - 1 - target.len();
                self.at = from + target.len();
                let kind = self.read_ref(from)?;
                self.at += 1;
                kind
            }
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '=' | ':' => {
                self.at += 1;
                TokenKind::Sign(first)
            }
            '\'' | '"' => self.quoted(first)?,
            '<' if second == Some('<') => TokenKind::Text(self.raw_block()?),
            '0'..='9' => self.number()?,
            '-' | '.' if digit(second) || (second == Some('.') && digit(following.next())) => {
                self.number()?
            }
            '-' => {
                self.at += 1;
                TokenKind::Dash
            }
            c if c.is_alphabetic() || c == '_' => self.word()?,
            c => return Err(self.unexpected(c, second)),
        };
        pipemux_tokens::work::spend(self.at - start + 1);
        Ok(Token { kind, span: self.span_from(start) })
    }

    /// Returns the code that hasn't been read yet.
    pub(super) fn rest(&self) -> &'a str {
        &self.code[self.at..]
    }

    /// Returns the range from `start` to the current position.
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    /// Skips white space within the line, and a comment that ends the line.
    pub(super) fn skip_space(&mut self) {
        let space = |c: char| (c.is_whitespace() && c != '\n') || c == '\u{feff}';
        self.at = self.code.len() - self.rest().trim_start_matches(space).len();
        if self.rest().starts_with("//") {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn newline(&mut self) -> TokenKind<'a> {
        self.at = self.resume.take().unwrap_or(self.at + 1);
        TokenKind::Newline
    }

    /// Reads characters while they match.
    fn take_while(&mut self, matches: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !matches(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn word(&mut self) -> Result<TokenKind<'a>, CallError> {
        let start = self.at;
        let mut word =
            self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '-'));
        if let Some(comment) = word.find("//") {
            word = &word[..comment];
            self.at = start + comment;
        }
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
            _ => Ok(TokenKind::Word(word)),
        }
    }

    fn reference(&mut self) -> Result<TokenKind<'a>, CallError> {
        let start = self.at;
        self.take_while(continues_ref);
        self.read_ref(start)
    }

    /// Reads `[[MT:Node:7]]`, whose key may contain white space.
    fn app_token(&mut self) -> Result<TokenKind<'a>, CallError> {
        let start = self.at;
        self.take_while(|c| !token::ends_id(c));
        if self.rest().starts_with("]]") {
            self.at += "]]".len();
            if self.rest().starts_with('@') {
                self.take_while(continues_ref);
            }
        }
        self.read_ref(start)
    }

    /// Parses the ref between `start` and the current position.
    fn read_ref(&self, start: usize) -> Result<TokenKind<'a>, CallError> {
        let text = &self.code[start..self.at];
        text.parse().map(TokenKind::Ref).map_err(|error: RefError| {
            let from = start + error.at;
            let span = Span { start: if from < self.at { from } else { start }, end: self.at };
            let note = format!("expected {}, for example {}", error.expected, error.example);
            CallError::new("not a ref", span, note)
        })
    }

    fn number(&mut self) -> Result<TokenKind<'a>, CallError> {
        let start = self.at;
        if self.rest().starts_with('-') {
            self.at += 1;
        }
        let run = self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        if run.ends_with(['e', 'E']) && self.rest().starts_with(['+', '-']) {
            self.at += 1;
            self.take_while(|c| c.is_alphanumeric());
        }
        let span = self.span_from(start);
        let text = &self.code[start..self.at];
        if text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            let note = format!("expected {} to {}", i64::MIN, i64::MAX);
            return text
                .parse()
                .map(|number| TokenKind::Number(Value::Int(number)))
                .map_err(|_| CallError::new("number too large", span, note));
        }
        // Rust's own grammar also accepts `1.`, which is more likely a typing mistake.
        let plain =
            text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
        match text.parse::<f64>() {
            Ok(number) if plain && !text.ends_with('.') && number.is_finite() => {
                Ok(TokenKind::Number(Value::Float(number)))
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
            ('/', Some('*')) | ('&', Some('&')) | ('|', Some('|')) => 2,
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
            _ if is_comment => error.hint("a comment begins with // and ends with its line"),
            '“' | '”' | '„' | '‘' | '’' | '‚' | '«' | '»' | '`' | '「' | '」' => {
                error.hint("texts stand in straight quotes: '…' or \"…\"")
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

/// Returns true for characters that don't end a ref.
fn continues_ref(c: char) -> bool {
    !(c.is_whitespace() || matches!(c, ',' | ')' | ']' | '}' | ';' | '\'' | '"'))
}

/// Returns true if the code begins with an Action Token: `[[MT:`. `[[1]]`, `[[name]]` and
/// `[[obj:7]]` are lists of lists, in which no word but `obj` and `link` is followed by a colon.
fn begins_app_token(code: &str) -> bool {
    let Some(inside) = code.strip_prefix("[[") else { return false };
    let end = inside.find(|c: char| !c.is_alphanumeric()).unwrap_or(inside.len());
    let (word, rest) = inside.split_at(end);
    !word.is_empty() && !matches!(word, "obj" | "link") && rest.starts_with(':')
}

/// Returns false for `obj: 7` and `link='…'`, where the word is the name of a parameter.
fn begins_ref(next: Option<char>) -> bool {
    next.is_some_and(|c| continues_ref(c) && !matches!(c, '<' | '[' | '(' | '{'))
}
