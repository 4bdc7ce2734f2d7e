//! Action Tokens: `[[MT:Node:<NodeId>]]` and its kin, by which a text names a thing of the tree.

use std::borrow::Cow;
use std::fmt;

use crate::name::in_pattern;

/// The prefix of every token.
const OPEN: &str = "[[MT:";

/// The kind of object that a token names.
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

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// The kind of the named object.
    pub kind: TokenKind,
    /// The object's name or id.
    pub name: String,
}

/// The error for a text that isn't a token.
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

/// Makes what looks like a token, a heading or HTML that acts in somebody's line inert: it is
/// shown, but names nothing, begins no part and hides nothing.
pub fn inert(text: &str) -> Cow<'_, str> {
    let bare = text.trim_start();
    let is_block = is_heading(bare) || is_underline(bare);
    if !is_block && !text.contains(OPEN) && !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut out = text[..text.len() - bare.len()].to_owned();
    out.extend(is_block.then_some('\\'));
    let (line, mut done) = (bare.replace(OPEN, "[\\[MT:"), 0);
    for (at, _) in line.match_indices('<') {
        out += &line[done..at];
        let escapes = out.len() - out.trim_end_matches('\\').len();
        out.extend(
            (escapes.is_multiple_of(2) && is_html(&line[at + 1..], at == 0)).then_some('\\'),
        );
        done = at;
    }
    Cow::Owned(out + &line[done..])
}

fn is_heading(line: &str) -> bool {
    let after = line.trim_start_matches('#');
    after.len() < line.len() && after.chars().next().is_none_or(char::is_whitespace)
}

/// Returns true for a line that makes a heading of the line above it.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && (line.bytes().all(|c| c == b'=') || line.bytes().all(|c| c == b'-'))
}

/// Elements that are a heading, or whose content isn't shown as text, wherever they stand.
const ACTING: &[&str] = &[
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "script",
    "style",
    "textarea",
    "title",
    "template",
    "iframe",
    "noscript",
    "xmp",
    "plaintext",
];

/// Returns true for what follows a `<` of HTML that acts; at the beginning of a line any element
/// does.
fn is_html(rest: &str, is_first: bool) -> bool {
    let element = rest.strip_prefix('/').unwrap_or(rest);
    let name = element.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    rest.starts_with(['!', '?'])
        || ACTING.iter().any(|acting| name.eq_ignore_ascii_case(acting))
        || (is_first && element.starts_with(|c: char| c.is_ascii_alphabetic()))
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
    fn what_imitates_a_part_of_the_document_is_inert_and_other_text_stays() {
        for (text, shown) in [
            ("## Views", "\\## Views"),
            ("  ===", "  \\==="),
            ("---  ", "\\---  "),
            ("-", "\\-"),
            ("<h3>Views</h3>", "\\<h3>Views\\</h3>"),
            ("see <H3 id=x>", "see \\<H3 id=x>"),
            ("a <!-- b", "a \\<!-- b"),
            ("  <div>", "  \\<div>"),
            ("a <script>x</script>", "a \\<script>x\\</script>"),
            ("a \\<script>", "a \\<script>"),
            ("a \\\\<script>", "a \\\\\\<script>"),
        ] {
            assert_eq!(inert(text), shown);
            assert_eq!(inert(shown), shown, "twice");
        }
        for text in ["a == b", "- item", "Vec<String> < 3", "a <b@c.de>", "x <- y", "#tag", "a---"]
        {
            assert_eq!(inert(text), text);
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
