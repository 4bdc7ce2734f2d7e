//! Whether a text of the code is open at a line's end: then a fence line is part of the text.

use std::collections::VecDeque;

use crate::call::excerpt::clip;
use crate::call::lexer::{Kind, Lexer};

/// Follows the code line by line.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    state: State,
    /// The line on which the open text begins.
    begun: usize,
}

#[derive(Debug, Default)]
enum State {
    /// Nothing is open.
    #[default]
    Code,
    /// A `'''…'''` text.
    Quoted(&'static str),
    /// Raw blocks, by the words that end them.
    Raw(VecDeque<String>),
    /// The code isn't of the syntax: it won't run.
    Lost,
}

impl Hidden {
    /// Takes in a line of the code, which is that line of the message.
    pub fn line(&mut self, line: &str, number: usize) {
        match &mut self.state {
            State::Code => self.code(line, number),
            State::Quoted(quotes) => match after_quotes(line, quotes) {
                Some(behind) => self.code(behind, number),
                None if ends_in_escape(line) => self.state = State::Lost,
                None => {}
            },
            State::Raw(words) => {
                if words.front().is_some_and(|word| word == line) {
                    words.pop_front();
                }
                if words.is_empty() {
                    self.state = State::Code;
                }
            }
            State::Lost => {}
        }
    }

    /// Whether a text is open.
    pub fn hides(&self) -> bool {
        matches!(self.state, State::Quoted(_) | State::Raw(_))
    }

    /// The open text in words, and the line on which it begins.
    pub fn what(&self) -> Option<(String, usize)> {
        match &self.state {
            State::Quoted(quotes) => Some((format!("the text {quotes}"), self.begun)),
            State::Raw(words) => {
                let word = words.front().map(|word| clip(word)).unwrap_or_default();
                Some((format!("the raw block <<{word}"), self.begun))
            }
            State::Code | State::Lost => None,
        }
    }

    /// Reads code up to the line's end.
    fn code(&mut self, line: &str, number: usize) {
        self.begun = number;
        self.state = State::Code;
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
                    Err(_) => return self.state = State::Lost,
                }
            } else if let Some(quotes) = ["'''", "\"\"\""].into_iter().find(|q| rest.starts_with(q))
            {
                match after_quotes(&rest[quotes.len()..], quotes) {
                    Some(behind) => lexer.at = line.len() - behind.len(),
                    // A text can't go on over the lines of a raw block.
                    None if !words.is_empty() || ends_in_escape(rest) => {
                        return self.state = State::Lost;
                    }
                    None => return self.state = State::Quoted(quotes),
                }
            } else {
                match lexer.token() {
                    Ok(token) if token.kind == Kind::End => break,
                    Ok(_) => {}
                    Err(_) => return self.state = State::Lost,
                }
            }
        }
        if !words.is_empty() {
            self.state = State::Raw(words);
        }
    }
}

/// What follows the quotes that end a text; none: the text goes on.
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

/// Whether an escape would be of the line end, which is none.
fn ends_in_escape(line: &str) -> bool {
    let slashes = line.len() - line.trim_end_matches('\\').len();
    slashes % 2 == 1
}
