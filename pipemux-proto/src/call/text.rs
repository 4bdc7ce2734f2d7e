//! Quoted texts and raw blocks.

use super::error::CallError;
use super::excerpt::clip;
use super::lexer::{Lexer, TokenKind};
use super::quoted::Quoted;
use super::span::Span;
use crate::text::read_code_point;

const LONG_TEXT: &str = "for several lines: '''…''', a raw block text=<<END, or text=stdin";

impl<'a> Lexer<'a> {
    /// Reads `'…'` or `'''…'''` and decodes its escapes.
    pub(super) fn quoted(&mut self, quote: char) -> Result<TokenKind<'a>, CallError> {
        let start = self.at;
        let single = &self.code[start..=start];
        let triple: String = [quote; 3].iter().collect();
        let is_triple = self.rest().starts_with(&triple);
        let close = if is_triple { triple.as_str() } else { single };
        self.at += close.len();
        let opening = self.span_from(start);
        let mut read = Quoted { text: Ok(String::new()), raw: String::new() };
        let mut has_escapes = false;
        loop {
            let rest = self.rest();
            if rest.starts_with(close) {
                self.at += close.len();
                self.check_after_text()?;
                return Ok(match read.text {
                    Ok(text) if !has_escapes => TokenKind::Text(text),
                    _ => TokenKind::Quoted(Box::new(read)),
                });
            }
            match rest.chars().next() {
                None if is_triple => return Err(self.unclosed(opening, close)),
                None => return Err(self.unclosed(opening, close).hint(LONG_TEXT)),
                Some('\n') if !is_triple => {
                    let note = "a quoted text ends on its line: write \\n for a line break";
                    let span = self.span_from(start);
                    return Err(CallError::new("line break in a text", span, note).hint(LONG_TEXT));
                }
                Some('\n') if self.resume.is_some() => {
                    let note = "can't go on over the line of a raw block: its body comes next";
                    let error = CallError::new("text runs into a raw block", opening, note);
                    return Err(error.hint("open the raw block on a line of its own"));
                }
                Some('\\') => {
                    has_escapes = true;
                    self.escape(quote, &mut read)?;
                }
                Some(other) => {
                    read.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
    }

    /// Reads `<<WORD`, and ahead of time its body, which begins on the next line, or after the body
    /// of the previous raw block of the same line.
    pub(super) fn raw_block(&mut self) -> Result<String, CallError> {
        let start = self.at;
        self.at += "<<".len();
        let word = self.block_word(start)?;
        let opening = self.span_from(start);
        let next_line = || self.rest().find('\n').map(|newline| self.at + newline + 1);
        let Some(body_start) = self.resume.or_else(next_line) else {
            let note = format!("the body of <<{word} begins on the next line, and there is none");
            return Err(CallError::new("unclosed raw block", opening, note));
        };
        let mut line_start = body_start;
        for line in self.code[body_start..].split_inclusive('\n') {
            let content = line.strip_suffix('\n').unwrap_or(line);
            if content.strip_suffix('\r').unwrap_or(content) == word {
                self.resume = Some(line_start + line.len());
                return Ok(drop_newline(&self.code[body_start..line_start]).to_owned());
            }
            line_start += line.len();
        }
        Err(self.unclosed_block(word, opening, body_start))
    }

    fn unclosed(&self, opening: Span, close: &str) -> CallError {
        CallError::new("unclosed text", opening, format!("expected {close} at its end"))
    }

    /// Refuses a text that is directly followed by a word or a quote: it contained its own quote.
    fn check_after_text(&self) -> Result<(), CallError> {
        match self.rest().chars().next() {
            Some(c) if c.is_alphanumeric() || matches!(c, '_' | '\'' | '"') => {
                let span = Span { start: self.at - 1, end: self.at };
                let quote = &self.code[span.start..span.end];
                let note = format!("the text ends here: write \\{quote} for a quote inside");
                Err(CallError::new("text goes on after its quote", span, note)
                    .hint("or use the other quotes, '''…''', or a raw block: text=<<END"))
            }
            _ => Ok(()),
        }
    }

    /// Reads a backslash and the character behind it.
    fn escape(&mut self, quote: char, read: &mut Quoted) -> Result<(), CallError> {
        let start = self.at;
        self.at += 1;
        if let Some((c, length)) = read_code_point(self.rest()) {
            self.at += length;
            read.raw.push_str(&self.code[start..self.at]);
            if let Ok(text) = &mut read.text {
                text.push(c);
            }
            return Ok(());
        }
        let escaped = self.rest().chars().next();
        self.at += escaped.map_or(0, char::len_utf8);
        let meaning = match escaped {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some(same @ ('\\' | '\'' | '"')) => Ok(same),
            Some(of) if is_of_regex(of) => {
                read.raw.extend(['\\', of]);
                if let Ok(text) = &mut read.text {
                    text.extend(['\\', of]);
                }
                return Ok(());
            }
            _ => {
                // Control characters, such as line breaks, can't be shown.
                let visible = escaped.filter(|c| !c.is_control());
                let end = start + 1 + visible.map_or(0, char::len_utf8);
                let shown = &self.code[start..end];
                let note = format!(
                    "only \\n \\t \\\\ \\' \\\" are escapes: write \\{shown} for this text"
                );
                Err(CallError::new("unknown escape", Span { start, end }, note)
                    .hint("in a raw block nothing is escaped: text=<<END, or text=stdin"))
            }
        };
        match (escaped, meaning) {
            // Nothing can be escaped by them, in no text.
            (None | Some('\n' | '\r'), Err(error)) => return Err(error),
            (_, Err(error)) if read.text.is_ok() => read.text = Err(error),
            (_, Err(_)) => {}
            (_, Ok(c)) => {
                if let Ok(text) = &mut read.text {
                    text.push(c);
                }
            }
        }
        // Two backslashes are one in every text: models write a regular expression either way.
        if escaped != Some(quote) && escaped != Some('\\') {
            read.raw.push('\\');
        }
        read.raw.extend(escaped);
        Ok(())
    }

    /// Reads the word of `<<WORD`, `<<'WORD'` or `<<"WORD"`.
    pub(super) fn block_word(&mut self, start: usize) -> Result<&'a str, CallError> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let unquoted = &rest[quote.map_or(0, char::len_utf8)..];
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = unquoted.find(|c| !is_word(c)).unwrap_or(unquoted.len());
        let (word, after) = unquoted.split_at(length);
        let closed = quote.is_none_or(|quote| after.starts_with(quote));
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) || !closed {
            let span = self.span_from(start);
            let note = "expected a word right behind: <<END, the text on the next lines, END alone";
            return Err(CallError::new("raw block without its word", span, note));
        }
        self.at += length + 2 * quote.map_or(0, char::len_utf8);
        Ok(word)
    }

    fn unclosed_block(&self, word: &str, opening: Span, body_start: usize) -> CallError {
        let body = self.code[body_start..].lines();
        let misses = body.enumerate().filter_map(|(index, line)| {
            let near = nearness(line.trim(), word)?;
            Some((near, index, line))
        });
        let best = misses.min_by_key(|(near, index, _)| (*near, *index));
        let word = clip(word);
        let note = format!("expected a later line that is exactly {word}");
        let Some((_, index, line)) = best else {
            return CallError::new("unclosed raw block", opening, note).hint(format!(
                "when the code itself came through a shell's <<{word}, that ended at the first {word}: use another word inside"
            ));
        };
        let number = self.code[..body_start].matches('\n').count() + 1 + index;
        let note = format!("{note}; line {number} is `{}`", clip(line));
        CallError::new("unclosed raw block", opening, note)
            .hint(format!("put {word} alone on its line, without spaces or signs"))
    }
}

/// Returns true for what has a meaning behind a backslash in regular expressions only, and none in
/// the texts of common languages: it stays as it is written, as in Python, since commands and code
/// are full of it.
fn is_of_regex(escaped: char) -> bool {
    const REGEX: &str = "dDsSwWBAzZpP.()[]{}*+?|^<>";
    REGEX.contains(escaped) || matches!(escaped, '1'..='9')
}

/// Drops one final newline, `\n` or `\r\n`.
pub(super) fn drop_newline(text: &str) -> &str {
    let Some(text) = text.strip_suffix('\n') else { return text };
    text.strip_suffix('\r').unwrap_or(text)
}

/// Returns how close a trimmed line is to the line that closes the block: less is closer, none is
/// far off.
fn nearness(line: &str, word: &str) -> Option<u8> {
    if line == word {
        return Some(0);
    }
    let continues = |c: char| c.is_alphanumeric() || c == '_';
    match line.strip_prefix(word) {
        Some(rest) if !rest.starts_with(continues) => Some(1),
        _ => line.eq_ignore_ascii_case(word).then_some(2),
    }
}
