//! TypeScript's compiler, plain (`a.ts(1,22): error TS2307: …`) and pretty (`a.ts:1:22 - error
//! TS2307: …`).

use crate::collector::Collector;
use crate::model::{Place, Severity};
use crate::recogniser::{Claim, Recogniser};
use crate::scan::{number, place, place_start, severity_prefix};
use crate::transcript::Class;

#[derive(Debug, Clone, Default)]
pub(crate) struct Tsc {
    /// Whether the source is shown below messages.
    pretty: bool,
}

impl Recogniser for Tsc {
    fn line(&mut self, text: &str, within: bool, found: &mut Collector) -> Option<Claim> {
        let plain = bracketed(text);
        let pretty = plain.is_none();
        let start = match plain {
            Some((place, rest)) => Some((Some(place), rest)),
            None => match place_start(text) {
                Some((place, rest)) => rest.strip_prefix(" - ").map(|rest| (Some(place), rest)),
                // An error of the whole project: `error TS5083: Cannot read file …`.
                None => Some((None, text)),
            },
        };
        if let Some((severity, code, message)) = start.as_ref().and_then(|(_, rest)| coded(rest))
            && code.starts_with("TS")
        {
            found.problem(severity, Some(code), start.and_then(|(place, _)| place), message);
            self.pretty = pretty;
            return Claim::more(Class::Problem);
        }
        if text.starts_with("Found ") && text.contains(" error") {
            return Claim::one(Class::Progress);
        }
        // Plain: why, indented. Pretty: the source below an empty line.
        let source = text.is_empty() || number(text).is_some_and(|(_, rest)| rest.starts_with(' '));
        let belongs = text.starts_with("  ") || (self.pretty && source);
        if !within || !belongs || found.open_problem().is_none() {
            return None;
        }
        if !text.is_empty() {
            found.detail(text);
        }
        Claim::more(Class::Detail)
    }
}

/// `path(line,column): ` at the start of a text, and what follows.
pub(super) fn bracketed(text: &str) -> Option<(Place, &str)> {
    let colon = text.find("): ")?;
    let open = text[..colon].rfind('(')?;
    let (line, rest) = number(&text[open + 1..colon])?;
    let column = rest.strip_prefix(',').and_then(number).map(|(column, _)| column);
    (open > 0).then(|| (place(text[..open].trim(), Some(line), column), &text[colon + 3..]))
}

/// `error TS2307: Cannot find module …` and `warning CS0168: …`.
pub(super) fn coded(text: &str) -> Option<(Severity, &str, &str)> {
    let (head, message) = text.split_once(": ")?;
    let (word, code) = head.split_once(' ')?;
    let (severity, _) = severity_prefix(&format!("{word}:"))?;
    let letters = code.trim_end_matches(|c: char| c.is_ascii_digit());
    let valid = letters.len() < code.len()
        && !letters.is_empty()
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic());
    valid.then_some((severity, code, message))
}
