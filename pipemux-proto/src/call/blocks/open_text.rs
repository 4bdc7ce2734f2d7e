//! Determines whether a text of the code is still open at the end of a line. If so, a fence on the
//! next line is part of it.

use std::collections::VecDeque;

use crate::call::excerpt::clip;
use crate::call::lexer::{Lexer, TokenKind};

/// Follows the code of a block line by line.
#[derive(Debug, Default)]
pub(super) struct OpenText {
    state: TextState,
    /// The line of the message on which the open text begins.
    begun: usize,
}

#[derive(Debug, Default)]
enum TextState {
    /// No text is open.
    #[default]
    Code,
    /// A `'''…'''` text with these quotes is open.
    Quoted(&'static str),
    /// Raw blocks are open; these words end them, in order.
    Raw(VecDeque<String>),
    /// The code has a syntax error, so it will not run.
    Invalid,
}

impl OpenText {
    /// Processes the next line of the code; `number` is its line in the message.
    pub fn next_line(&mut self, line: &str, number: usize) {
        match &mut self.state {
            TextState::Code => self.read_code(line, number),
            TextState::Quoted(quotes) => match after_quotes(line, quotes) {
                Some(behind) => self.read_code(behind, number),
                None if ends_in_escape(line) => self.state = TextState::Invalid,
                None => {}
            },
            TextState::Raw(words) => {
                if words.front().is_some_and(|word| word == line) {
                    words.pop_front();
                }
                if words.is_empty() {
                    self.state = TextState::Code;
                }
            }
            TextState::Invalid => {}
        }
    }

    /// Returns true if a text is open.
    pub fn is_open(&self) -> bool {
        matches!(self.state, TextState::Quoted(_) | TextState::Raw(_))
    }

    /// Returns a description of the open text, and the line on which it begins.
    pub fn describe(&self) -> Option<(String, usize)> {
        match &self.state {
            TextState::Quoted(quotes) => Some((format!("the text {quotes}"), self.begun)),
            TextState::Raw(words) => {
                let word = words.front().map(|word| clip(word)).unwrap_or_default();
                Some((format!("the raw block <<{word}"), self.begun))
            }
            TextState::Code | TextState::Invalid => None,
        }
    }

    /// Reads code up to the end of the line.
    fn read_code(&mut self, line: &str, number: usize) {
        self.begun = number;
        self.state = TextState::Code;
        let mut words = VecDeque::new();
        let mut lexer = Lexer::new(line);
        loop {
            lexer.skip_space();
            let rest = lexer.rest();
            if rest.starts_with("<<") {
                let start = lexer.at;
                lexer.at += "<<".len();
                match lexer.block_word(start) {
                    Ok(word) => words.push_back(word.to_owned()),
                    Err(_) => return self.state = TextState::Invalid,
                }
            } else if let Some(quotes) = ["'''", "\"\"\""].into_iter().find(|q| rest.starts_with(q))
            {
                match after_quotes(&rest[quotes.len()..], quotes) {
                    Some(behind) => lexer.at = line.len() - behind.len(),
                    // A text can't continue beyond the body of a raw block.
                    None if !words.is_empty() || ends_in_escape(rest) => {
                        return self.state = TextState::Invalid;
                    }
                    None => return self.state = TextState::Quoted(quotes),
                }
            } else {
                match lexer.token() {
                    Ok(token) if token.kind == TokenKind::End => break,
                    Ok(_) => {}
                    Err(_) => return self.state = TextState::Invalid,
                }
            }
        }
        if !words.is_empty() {
            self.state = TextState::Raw(words);
        }
    }
}

/// Returns what follows the closing quotes, or none if the text continues.
fn after_quotes<'a>(text: &'a str, quotes: &str) -> Option<&'a str> {
    let mut rest = text;
    loop {
        let at = rest.find(['\\', '\'', '"'])?;
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix(quotes) {
            return Some(behind);
        }
        let mut following = rest.chars();
        if following.next() == Some('\\') {
            following.next();
        }
        rest = following.as_str();
    }
}

/// Returns true if the line ends with an escape, which a line end can't complete.
fn ends_in_escape(line: &str) -> bool {
    let slashes = line.len() - line.trim_end_matches('\\').len();
    slashes % 2 == 1
}
