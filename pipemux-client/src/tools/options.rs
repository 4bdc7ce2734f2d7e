//! The options of a tool's commands, and the words that a command is split into.

use pipemux_proto::client::{HeldWindow, Verb};
use pipemux_proto::limits::WAIT_MAX_MS;
use pipemux_proto::projection::Lod;

use super::request::{ToolRequest, ToolVerb};
use crate::error::ClientError;

/// The options of commands.
#[derive(Debug, Default)]
pub struct CommandOptions {
    pub budget: Option<u32>,
    pub lod: Option<Lod>,
    pub at: Option<u64>,
    pub since: Option<u64>,
    pub rounds: Option<u32>,
    pub lines: Option<u32>,
    pub wait_ms: u32,
    pub detail: bool,
    pub full: bool,
    pub aliases: bool,
    pub end: bool,
    pub held: Vec<HeldWindow>,
}

impl CommandOptions {
    pub fn verb(self, verb: Verb) -> ToolRequest {
        let CommandOptions { budget, lod, at, wait_ms, .. } = self;
        ToolRequest::Verb(Box::new(ToolVerb { verb, budget, lod, at, wait_ms }))
    }

    /// Takes the options that a text begins with, and returns what follows.
    pub fn take_leading<'t>(&mut self, mut text: &'t str) -> Result<&'t str, ClientError> {
        loop {
            text = text.trim_start_matches(' ');
            if !text.starts_with("--") || text.starts_with("--to ") {
                return Ok(text);
            }
            let (word, rest) = split_word(text);
            let (name, given) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word, None),
            };
            if self.switch(name) {
                text = rest;
                continue;
            }
            let (value, rest) = match given {
                Some(value) => (value, rest),
                None => split_word(rest.trim_start()),
            };
            self.set(name, value)?;
            text = rest;
        }
    }

    /// Takes the options among a command's words, and returns the others.
    pub fn take_all(&mut self, words: Vec<String>) -> Result<Vec<String>, ClientError> {
        let (mut others, mut words) = (Vec::new(), words.into_iter());
        while let Some(word) = words.next() {
            let (name, given) = match word.split_once('=').filter(|_| word.starts_with("--")) {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            if word == "--" {
                others.push(word);
                others.extend(words.by_ref());
            } else if !word.starts_with("--") {
                others.push(word);
            } else if !self.switch(name) {
                let value = given.or_else(|| words.next()).unwrap_or_default();
                self.set(name, &value)?;
            }
        }
        Ok(others)
    }

    /// Takes the quotes off code that is one word of a shell, and the options behind it.
    pub fn take_quoted(&mut self, text: &str) -> Result<String, ClientError> {
        let Some(parts) = text.starts_with(['\'', '"']).then(|| words(text).ok()).flatten() else {
            return Ok(text.to_owned());
        };
        let mut code = self.take_all(parts)?;
        Ok(if code.len() == 1 { code.remove(0) } else { text.to_owned() })
    }

    fn switch(&mut self, name: &str) -> bool {
        match name {
            "--detail" | "--diff" => self.detail = true,
            "--full" => self.full = true,
            "--aliases" => self.aliases = true,
            "--end" => self.end = true,
            "--all" | "--help" => {}
            _ => return false,
        }
        true
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), ClientError> {
        match name {
            "--budget" => self.budget = Some(number_of(name, value)?),
            "--rounds" => self.rounds = Some(number_of(name, value)?),
            "--lines" => self.lines = Some(number_of(name, value)?),
            "--since" => self.since = Some(number_of(name, value.trim_start_matches('e'))?),
            "--at" => self.at = Some(number_of(name, value.trim_start_matches('e'))?),
            "--have" => self.held.extend(value.parse()),
            "--wait" => {
                let seconds: Option<f64> = value.parse().ok();
                let found =
                    seconds.filter(|n| (0.001..=f64::from(WAIT_MAX_MS) / 1000.0).contains(n));
                let seconds = found.ok_or_else(|| expected(name, value, "seconds"))?;
                self.wait_ms = (seconds * 1000.0) as u32;
            }
            "--lod" => {
                self.lod = Some(match value.to_ascii_lowercase().as_str() {
                    "gist" => Lod::Gist,
                    "summary" => Lod::Summary,
                    "full" => Lod::Full,
                    _ => return Err(expected(name, value, "gist, summary or full")),
                });
            }
            _ => {
                return Err(ClientError::invalid(format!("there is no option {name} here")).hint(
                    "options: --budget N, --lod gist|summary|full, --at eN, --wait SECONDS, --have WINDOW=VERSION",
                ));
            }
        }
        Ok(())
    }
}

fn expected(name: &str, value: &str, what: &str) -> ClientError {
    ClientError::invalid(format!("{name} is `{value}`: expected {what}"))
}

pub fn number_of<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, ClientError> {
    value.trim().parse().map_err(|_| expected(name, value, "a whole number"))
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

/// Takes the quotes off a text that is one word of a shell as a whole.
pub fn unquoted(text: &str) -> String {
    let quoted = text.starts_with('\'') || (text.starts_with('"') && text.ends_with('"'));
    match words(text) {
        Ok(words) if quoted && words.len() == 1 => words.into_iter().next().unwrap_or_default(),
        _ => text.to_owned(),
    }
}

/// Splits a command as a shell does: at spaces outside of quotes.
pub fn words(text: &str) -> Result<Vec<String>, ClientError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.extend(chars.next()),
                        Some(other) => word.push(other),
                        None => {
                            return Err(ClientError::invalid(format!("the quote {c} has no end")));
                        }
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}
