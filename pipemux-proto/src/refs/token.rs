//! Action Tokens: refs that an app itself writes into its content.

use std::fmt;

use super::{Local, Ref, RefError, RefKind, checked_key, expected, split_epoch};

/// Length of the longest prefix, in bytes.
const PREFIX_MAX: usize = 8;
const EXAMPLE: &str = "[[MT:Node:7]]";

/// Parses `[[MT:Node:7]]`; the caller has seen `[[`.
pub(super) fn parse(text: &str) -> Result<Ref, RefError> {
    let inside = text.strip_prefix("[[").unwrap_or(text);
    let at = text.len() - inside.len();
    let Some((prefix, rest)) = inside.split_once(':').filter(|(prefix, _)| is_prefix(prefix))
    else {
        let what =
            format!("an app's prefix: A-Z, then A-Z and 0-9, at most {PREFIX_MAX}, then `:`");
        return Err(expected(what, at, EXAMPLE));
    };
    let at = at + prefix.len() + 1;
    let Some((ty, rest)) = rest.split_once(':').filter(|(ty, _)| is_type(ty)) else {
        let what = "a type: a letter, then letters, digits, _ and -, then `:`";
        return Err(expected(what, at, EXAMPLE));
    };
    let at = at + ty.len() + 1;
    let end = rest.find(ends_id).unwrap_or(rest.len());
    let (id, rest) = rest.split_at(end);
    let Some(pin) = rest.strip_prefix("]]") else {
        return Err(expected("`]]` at the end of the id", at + end, EXAMPLE));
    };
    let local = checked_key(id.to_owned(), at)?;
    let (behind, epoch) = split_epoch(pin, at + end + 2)?;
    if !behind.is_empty() {
        return Err(expected("nothing behind `]]` but an epoch", at + end + 2, EXAMPLE));
    }
    Ok(Ref {
        prefix: Some(prefix.to_owned()),
        kind: RefKind::Obj,
        owner: None,
        ty: Some(ty.to_owned()),
        local,
        epoch,
    })
}

/// Writes the ref as a token with this prefix.
pub(super) fn write(f: &mut fmt::Formatter<'_>, prefix: &str, of: &Ref) -> fmt::Result {
    write!(f, "[[{prefix}:{}:", of.ty.as_deref().unwrap_or_default())?;
    match &of.local {
        Local::Id(id) => write!(f, "{id}]]"),
        Local::Key(key) => write!(f, "{key}]]"),
    }
}

/// Returns true for characters that end a token's key, which has no escapes.
pub(crate) fn ends_id(c: char) -> bool {
    matches!(c, ']' | '\n' | '\r')
}

fn is_prefix(text: &str) -> bool {
    text.len() <= PREFIX_MAX
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

pub(crate) fn is_type(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
