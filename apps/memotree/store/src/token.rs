//! Action Tokens: `[[MT:Node:<NodeId>]]` and its kin, by which a text names a thing of the tree.

use std::borrow::Cow;
use std::fmt;

use crate::name::in_pattern;

/// What every token begins with.
const OPEN: &str = "[[MT:";

/// What a token names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// A node, by its id.
    Node,
    /// A view, by its name.
    View,
    /// A saved search, by its name.
    Query,
    /// A relation between two nodes, by its id.
    Relation,
}

impl TokenKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Node, Self::View, Self::Query, Self::Relation];

    /// Returns the kind as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "Node",
            Self::View => "View",
            Self::Query => "Query",
            Self::Relation => "Relation",
        }
    }
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// What it names.
    pub kind: TokenKind,
    /// The name.
    pub name: String,
}

/// Why a text isn't a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected [[MT:Node:<id>]], [[MT:View:<name>]], [[MT:Query:<name>]] or [[MT:Relation:<id>]]"
)]
pub struct TokenError;

impl Token {
    /// Makes a token.
    pub fn new(kind: TokenKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }

    /// Reads a text that is a token and nothing else.
    ///
    /// # Errors
    /// It isn't one.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        match read(text) {
            Some((token, end)) if end == text.len() => Ok(token),
            _ => Err(TokenError),
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OPEN}{}:{}]]", self.kind.name(), self.name)
    }
}

/// Reads a token at the beginning of a text. Returns also where it ends.
fn read(text: &str) -> Option<(Token, usize)> {
    let rest = text.strip_prefix(OPEN)?;
    let (kind, name) = TokenKind::ALL
        .into_iter()
        .find_map(|kind| Some((kind, rest.strip_prefix(kind.name())?.strip_prefix(':')?)))?;
    let end = name.find(|c| !in_pattern(c)).filter(|end| *end > 0)?;
    let after = name[end..].strip_prefix("]]")?;
    Some((Token::new(kind, &name[..end]), text.len() - after.len()))
}

/// Finds the tokens of a text, each with where it begins and ends. The time is linear in the text.
pub fn find(text: &str) -> impl Iterator<Item = (usize, usize, Token)> + '_ {
    text.match_indices(OPEN).filter_map(|(start, _)| {
        let (token, length) = read(&text[start..])?;
        Some((start, start + length, token))
    })
}

/// Makes what looks like a token or a heading in somebody's line inert: it is shown, but names nothing and begins no part.
pub fn inert(text: &str) -> Cow<'_, str> {
    let bare = text.trim_start();
    let after = bare.trim_start_matches('#');
    let is_heading =
        after.len() < bare.len() && after.chars().next().is_none_or(char::is_whitespace);
    if !is_heading && !text.contains(OPEN) {
        return Cow::Borrowed(text);
    }
    let (indent, escape) = (&text[..text.len() - bare.len()], if is_heading { "\\" } else { "" });
    Cow::Owned(format!("{indent}{escape}{}", bare.replace(OPEN, "[\\[MT:")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_token_is_read_again(
            kind in proptest::sample::select(TokenKind::ALL.to_vec()),
            name in "[a-zA-Z0-9_中ñ\u{3000}-]{1,20}",
            before in "[a-z\\[\\]: ]{0,9}",
            after in "[a-z\\[\\]: ]{0,9}",
        ) {
            let token = Token::new(kind, name);
            let text = token.to_string();
            prop_assert_eq!(Token::parse(&text), Ok(token.clone()));
            let whole = format!("{before}{text}{after}");
            let found: Vec<_> = find(&whole).collect();
            prop_assert_eq!(&found, &[(before.len(), before.len() + text.len(), token)]);
            let harmless = inert(&whole);
            prop_assert_eq!(find(&harmless).count(), 0);
        }

        #[test]
        fn no_text_breaks_the_reader(text in "[\\[\\]MT:Node中🚀 a]{0,60}|.{0,60}") {
            for (start, end, token) in find(&text) {
                prop_assert_eq!(&text[start..end], token.to_string());
            }
        }
    }

    #[test]
    fn only_the_exact_form_is_a_token() {
        for text in [
            "[[MT:Node:]]",
            "[[MT:Node:a b]]",
            "[[MT:node:a]]",
            "[[MT:Node:a]",
            "[MT:Node:a]]",
            "[[MT:Node:../x]]",
            "[[MT:Other:a]]",
            "[[XX:Node:a]]",
            "[[MT:Node:🚀]]",
        ] {
            assert_eq!(find(text).count(), 0, "{text}");
            assert_eq!(Token::parse(text), Err(TokenError), "{text}");
        }
        assert_eq!(find("[[MT:Node:[[MT:Node:a]]").count(), 1);
    }
}
