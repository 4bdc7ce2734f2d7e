//! The ref grammar.
//!
//! ```text
//! ref   = ( plain | token ) [ "@e" epoch ]
//! plain = kind ":" [ provider "/" session ":" ] [ type ":" ] local
//! kind  = "obj" | "link"
//! local = decimal: a display id | anything else: the app's own key; a decimal key is written "=7"
//! token = "[[" prefix ":" type ":" key "]]"
//! ```
//!
//! A first segment with `/` that is followed by `:` is provider/session. A key is percent-encoded,
//! so that a printed ref can stand without quotes in the call syntax and as the target of a
//! Markdown link. Parsing is more tolerant than printing: a key may contain any character that has
//! no meaning in refs.
//!
//! A token (Action Token) is an app's own notation for a ref to one of its things: `[[MT:Node:7]]`.
//! The prefix `[A-Z][A-Z0-9]{0,7}` identifies the app, the type is `[A-Za-z][A-Za-z0-9_-]*`, and
//! the key is written without escapes: it may contain anything but `]` and line ends.

pub mod scan;
pub(crate) mod token;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::SessionAddr;
use crate::limits::{KEY_MAX, TYPE_MAX};

/// The kind of thing that a ref refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RefKind {
    /// An object.
    Obj,
    /// A ready-made action.
    Link,
}

/// The last part of a ref, which identifies the thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Local {
    /// An id that the daemon assigned, unique in the workspace.
    Id(u64),
    /// The app's own key, without percent-encoding.
    Key(String),
}

/// A reference as an agent writes it. Messages and files contain its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ref {
    /// The prefix if this is a token: `MT`. The thing belongs to the app that declared the prefix.
    /// A token is an `obj` with a type and a key, and without an owner.
    pub prefix: Option<String>,
    /// The kind: a thing or an action.
    pub kind: RefKind,
    /// The session that owns the thing; only in the full form.
    pub owner: Option<SessionAddr>,
    /// The thing's type, which is checked if it is given.
    pub ty: Option<String>,
    /// The id or key.
    pub local: Local,
    /// The epoch in which the ref was seen, if it is pinned to one.
    pub epoch: Option<u64>,
}

/// The reason why a text isn't a ref.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a ref: expected {expected} at byte {at}, for example {example}")]
pub struct RefError {
    /// What the grammar expects at this position.
    pub expected: String,
    /// The position in bytes from the text's start; always on a character boundary.
    pub at: usize,
    /// An example of the form that was probably meant.
    pub example: &'static str,
}

impl Ref {
    /// Makes the short form of a ref to a thing: `obj:23`.
    pub fn obj(id: u64) -> Self {
        Self::short(RefKind::Obj, id)
    }

    /// Makes the short form of a ref to a ready-made action: `link:15`.
    pub fn link(id: u64) -> Self {
        Self::short(RefKind::Link, id)
    }

    /// Parses the argument of a verb: a ref, or an id alone (`15`, `15@e3`) of the default kind,
    /// with optional white space around it.
    ///
    /// # Errors
    /// The text is neither a ref nor an id.
    pub fn parse_loose(text: &str, default_kind: RefKind) -> Result<Self, RefError> {
        let trimmed = text.trim();
        let skipped = text.len() - text.trim_start().len();
        let parsed = if trimmed.starts_with(|c: char| c.is_ascii_digit()) {
            parse_id(trimmed, default_kind)
        } else {
            trimmed.parse()
        };
        parsed.map_err(|error| RefError { at: error.at + skipped, ..error })
    }

    /// Returns true for a type that can stand in a ref and isn't too long to be printed in each.
    pub fn shows_type(ty: &str) -> bool {
        ty.len() <= TYPE_MAX && is_type(ty)
    }

    fn short(kind: RefKind, id: u64) -> Self {
        Self { prefix: None, kind, owner: None, ty: None, local: Local::Id(id), epoch: None }
    }
}

impl FromStr for Ref {
    type Err = RefError;

    fn from_str(text: &str) -> Result<Self, RefError> {
        if text.starts_with("[[") {
            return token::parse(text);
        }
        let (kind, rest) = match text.split_once(':') {
            Some(("obj", rest)) => (RefKind::Obj, rest),
            Some(("link", rest)) => (RefKind::Link, rest),
            _ => return Err(expected("`obj:` or `link:`", 0, "obj:23")),
        };
        let start = text.len() - rest.len();
        let (body, epoch) = split_epoch(rest, start)?;
        let mut segments = body.splitn(4, ':');
        let (owner, ty, local) =
            match (segments.next(), segments.next(), segments.next(), segments.next()) {
                (Some(local), None, ..) => (None, None, local),
                (Some(owner), Some(local), None, _) if owner.contains('/') => {
                    (Some(owner), None, local)
                }
                (Some(ty), Some(local), None, _) => (None, Some(ty), local),
                (Some(owner), Some(ty), Some(local), None) if owner.contains('/') => {
                    (Some(owner), Some(ty), local)
                }
                _ => {
                    let what = "<provider>/<session>:, one type and a key whose `:` is written %3A";
                    return Err(expected(what, start, "obj:editor/main:file:a%3Ab"));
                }
            };
        let owner_at = start;
        let ty_at = owner_at + owner.map_or(0, |owner| owner.len() + 1);
        let local_at = ty_at + ty.map_or(0, |ty| ty.len() + 1);
        let owner = owner.map(|owner| parse_owner(owner, owner_at)).transpose()?;
        let ty = ty.map(|ty| parse_type(ty, ty_at)).transpose()?;
        let local = parse_local(local, local_at)?;
        Ok(Self { prefix: None, kind, owner, ty, local, epoch })
    }
}

impl TryFrom<String> for Ref {
    type Error = RefError;

    fn try_from(text: String) -> Result<Self, RefError> {
        text.parse()
    }
}

impl From<Ref> for String {
    fn from(reference: Ref) -> String {
        reference.to_string()
    }
}

/// Writes the canonical form, which parses as the same ref. No form exists for an empty key, a key
/// longer than [`KEY_MAX`], a type outside its grammar, and a token whose key contains `]` or a
/// line end.
impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.prefix {
            Some(prefix) => token::write(f, prefix, self)?,
            None => write_plain(f, self)?,
        }
        self.epoch.map_or(Ok(()), |epoch| write!(f, "@e{epoch}"))
    }
}

/// Writes the word before the first colon.
impl fmt::Display for RefKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RefKind::Obj => "obj",
            RefKind::Link => "link",
        })
    }
}

fn expected(what: impl Into<String>, at: usize, example: &'static str) -> RefError {
    RefError { expected: what.into(), at, example }
}

fn parse_id(text: &str, kind: RefKind) -> Result<Ref, RefError> {
    let (id, epoch) = split_epoch(text, 0)?;
    let example = match kind {
        RefKind::Obj => "obj:23",
        RefKind::Link => "link:15",
    };
    if let Some(at) = id.find(|c: char| !c.is_ascii_digit()) {
        return Err(expected("only digits, or a ref", at, example));
    }
    Ok(Ref { epoch, ..Ref::short(kind, parse_number(id, 0, example)?) })
}

/// Splits `@e17` off the end.
fn split_epoch(text: &str, at: usize) -> Result<(&str, Option<u64>), RefError> {
    let example = "obj:23@e17";
    let Some((body, pin)) = text.split_once('@') else { return Ok((text, None)) };
    let pin_at = at + body.len();
    match pin.strip_prefix('e') {
        Some(digits) if is_decimal(digits) => {
            Ok((body, Some(parse_number(digits, pin_at + 2, example)?)))
        }
        _ => Err(expected("`@e` and an epoch (an `@` in a key is written %40)", pin_at, example)),
    }
}

fn parse_owner(text: &str, at: usize) -> Result<SessionAddr, RefError> {
    text.parse().map_err(|_| expected("<provider>/<session>", at, "obj:editor/main:23"))
}

fn is_type(text: &str) -> bool {
    let tail = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.bytes().all(tail)
}

fn parse_type(text: &str, at: usize) -> Result<String, RefError> {
    if is_type(text) {
        Ok(text.to_owned())
    } else {
        let what = "a type: a lower-case letter, then a-z, 0-9, _ and - (a `:` in a key is %3A)";
        Err(expected(what, at, "obj:enemy:23"))
    }
}

fn parse_local(text: &str, at: usize) -> Result<Local, RefError> {
    if is_decimal(text) {
        return parse_number(text, at, "obj:23").map(Local::Id);
    }
    if let Some(key) = text.strip_prefix('=') {
        return if is_decimal(key) {
            checked_key(key.to_owned(), at)
        } else {
            Err(expected("digits after `=` (a key's own leading `=` is %3D)", at + 1, "obj:=7"))
        };
    }
    decode_key(text, at).and_then(|key| checked_key(key, at))
}

fn checked_key(key: String, at: usize) -> Result<Local, RefError> {
    if key.is_empty() {
        Err(expected("a display id or a key", at, "obj:23"))
    } else if key.len() > KEY_MAX {
        Err(expected(format!("a key of at most {KEY_MAX} bytes"), at, "obj:file:src/main.rs"))
    } else {
        Ok(Local::Key(key))
    }
}

fn decode_key(text: &str, at: usize) -> Result<String, RefError> {
    let example = "obj:file:my%20notes.md";
    let mut bytes = Vec::with_capacity(text.len());
    for (offset, c) in text.char_indices() {
        if c.is_whitespace() || c.is_control() {
            let what = "no white space (in a key it is percent-encoded: %20)";
            return Err(expected(what, at + offset, example));
        }
    }
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let decoded = match tail {
            [high, low, ..] => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        let Some(byte) = decoded else {
            let what = "two hex digits after `%` (a `%` in a key is %25)";
            return Err(expected(what, at + text.len() - rest.len(), example));
        };
        bytes.push(byte);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| expected("percent-encoded UTF-8", at, example))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Refuses leading zeros: with them, several texts would refer to one thing.
fn parse_number(digits: &str, at: usize, example: &'static str) -> Result<u64, RefError> {
    if digits.len() > 1 && digits.starts_with('0') {
        return Err(expected("a number without leading zeros", at, example));
    }
    digits.parse().map_err(|_| expected(format!("a number of at most {}", u64::MAX), at, example))
}

fn write_plain(f: &mut fmt::Formatter<'_>, of: &Ref) -> fmt::Result {
    f.write_str(match of.kind {
        RefKind::Obj => "obj:",
        RefKind::Link => "link:",
    })?;
    if let Some(owner) = &of.owner {
        write!(f, "{owner}:")?;
    }
    if let Some(ty) = &of.ty {
        f.write_str(ty)?;
        f.write_str(":")?;
    }
    match &of.local {
        Local::Id(id) => write!(f, "{id}"),
        Local::Key(key) if is_decimal(key) => write!(f, "={key}"),
        Local::Key(key) => write_key(f, key),
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    for (offset, c) in key.char_indices() {
        if must_encode(c) || (offset == 0 && c == '=') {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                write!(f, "%{byte:02X}")?;
            }
        } else {
            fmt::Write::write_char(f, c)?;
        }
    }
    Ok(())
}

/// Returns true for characters that end or split a ref, end it in the call syntax, break a Markdown
/// link or table (`&amp;` and a `|` would), or can't be seen.
fn must_encode(c: char) -> bool {
    let in_markdown = matches!(c, '(' | ')' | '[' | ']' | '<' | '>' | '`' | '\\' | '&' | '|');
    in_markdown
        || matches!(c, '%' | '@' | ':' | ',' | ';' | '}' | '\'' | '"')
        || c.is_whitespace()
        || c.is_control()
        || is_invisible(c)
}

/// Returns true for joiners, marks of direction and other characters that take no space.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}
