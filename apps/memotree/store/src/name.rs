//! The names of nodes, views and queries.
//!
//! A name consists of ASCII letters, digits, `_`, `-`, and characters from U+0080 to U+FFFF: what
//! the seed's pattern `[\w\-\u0080-\uffff]+` allows. Existing files may use all of these. A *new*
//! name has only letters, digits and their marks beyond ASCII, so that no two names look alike or
//! turn a line around.

use std::fmt;

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Characters of a name that is made from a title.
pub const MADE_CHARS_MAX: usize = 48;

/// Bytes of a name; with `.md` and what a temporary file adds, a file name may have 255.
pub const NAME_BYTES_MAX: usize = 200;

/// The id of a node, stable for life and never reused for another node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(String);

/// The reason why a name isn't allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a name has at least one character: letters, digits, _ and -")]
    Empty,
    #[error("a name has at most {NAME_BYTES_MAX} bytes, not {0}")]
    TooLong(usize),
    /// It has a character that names don't have.
    #[error("{} is not allowed in a name: use letters of any script, digits, _ and -", VisibleChar(*.0))]
    Character(char),
    /// The name has a letter that other programs encode differently.
    #[error("this name has letters in decomposed form: write it as {0}")]
    Decomposed(String),
}

/// A character as it can be shown: an invisible one as its code point.
struct VisibleChar(char);

impl fmt::Display for VisibleChar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ' ' => f.write_str("a space"),
            c if c.is_ascii_graphic() || is_name_letter(c) => write!(f, "`{c}`"),
            c => write!(f, "U+{:04X}", c as u32),
        }
    }
}

impl NodeId {
    /// Reads the name of an existing node.
    ///
    /// # Errors
    /// It has a character that no name has, or is empty or too long.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        check(text, in_pattern).map(|()| Self(text.to_owned()))
    }

    /// Reads the name of a node from that of its file: `plan.md`. Some file systems decompose
    /// letters, which doesn't make another name. `None` if it isn't the file of a node.
    pub fn of_file(name: &str) -> Option<Result<Self, NameError>> {
        let stem = name.strip_suffix(".md").filter(|stem| !stem.starts_with('.'))?;
        Some(Self::parse(&stem.nfc().collect::<String>()))
    }

    /// Makes a name from a title. `is_taken` is asked with candidates in lower case, since some
    /// file systems don't tell `Plan` from `plan`.
    ///
    /// # Errors
    /// Those of `is_taken`.
    pub fn from_title<E>(
        title: &str,
        mut is_taken: impl FnMut(&str) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let mut base = String::new();
        let mut count = 0;
        for c in title.nfkc() {
            if count == MADE_CHARS_MAX || base.len() + 8 > NAME_BYTES_MAX {
                break;
            }
            if c.is_ascii_alphanumeric() || c == '_' || is_name_letter(c) {
                base.extend(c.to_lowercase().filter(|c| *c <= '\u{ffff}'));
                count += 1;
            } else if !base.is_empty() && !base.ends_with('-') {
                base.push('-');
                count += 1;
            }
        }
        let base: String = base.trim_end_matches('-').nfc().collect();
        let base = if base.is_empty() { "node".to_owned() } else { base };
        if !is_taken(&base)? {
            return Ok(Self(base));
        }
        // The first free number is found in few steps, however many nodes have the title.
        let numbered = |number: u64| format!("{base}-{number}");
        let (mut taken, mut free) = (1, 2);
        while is_taken(&numbered(free))? {
            (taken, free) = (free, free * 2);
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            if is_taken(&numbered(middle))? { taken = middle } else { free = middle }
        }
        Ok(Self(numbered(free)))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.md", self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns what names that look alike have in common: no case, and the usual form of letters.
pub(crate) fn folded(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).collect()
}

/// Checks the name of a new view or query.
///
/// # Errors
/// It has a character that new names don't have, or is empty or too long.
pub fn check_new(text: &str) -> Result<(), NameError> {
    check(text, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-') || is_name_letter(c))?;
    match is_nfc(text) {
        true => Ok(()),
        false => Err(NameError::Decomposed(text.nfc().collect())),
    }
}

/// Checks the name of an existing view or query.
///
/// # Errors
/// It has a character that no name has, or is empty or too long.
pub fn check_existing(text: &str) -> Result<(), NameError> {
    check(text, in_pattern)
}

fn check(text: &str, is_allowed: impl Fn(char) -> bool) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(NameError::TooLong(text.len()));
    }
    match text.chars().find(|c| !is_allowed(*c)) {
        Some(c) => Err(NameError::Character(c)),
        None => Ok(()),
    }
}

/// Returns true for the characters of the seed's pattern.
pub(crate) fn in_pattern(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '\u{80}'..='\u{ffff}')
}

/// Returns true for a letter, digit or mark beyond ASCII that a new name may have.
fn is_name_letter(c: char) -> bool {
    let mark = matches!(c,
        '\u{300}'..='\u{36f}' | '\u{900}'..='\u{dff}' | '\u{e31}'..='\u{e4e}' | '\u{3099}' | '\u{309a}');
    let letter = c.is_alphanumeric() || mark || matches!(c, '\u{3005}' | '\u{30fc}');
    ('\u{80}'..='\u{ffff}').contains(&c) && letter && !is_ignorable(c)
}

/// Returns true for joiners, fillers and selectors, some of which count as letters or marks, but
/// can't be seen.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for a text of which something can be seen: not only space, marks without a letter,
/// and what has no width.
pub fn is_visible(text: &str) -> bool {
    text.chars()
        .any(|c| !(c.is_whitespace() || c.is_control() || is_combining_mark(c) || is_ignorable(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn made(title: &str) -> String {
        NodeId::from_title::<Infallible>(title, |_| Ok(false)).unwrap().to_string()
    }

    #[test]
    fn names_are_made_from_titles() {
        assert_eq!(made("Rope design: why?"), "rope-design-why");
        assert_eq!(made("数据库 设计 v2"), "数据库-设计-v2");
        assert_eq!(made("メモ・ツリー"), "メモ-ツリー");
        assert_eq!(made("🚀"), "node");
        assert_eq!(made("../../etc/passwd"), "etc-passwd");
        assert_eq!(made(".."), "node");
        assert_eq!(made("a\u{202e}b\u{200b}c"), "a-b-c");
        assert_eq!(made("e\u{301}te"), "éte");
        let taken = ["plan", "plan-2"];
        let id = NodeId::from_title::<Infallible>("Plan", |name| Ok(taken.contains(&name)));
        assert_eq!(id.unwrap().as_str(), "plan-3");
        assert_eq!(made(&"x".repeat(500)).len(), MADE_CHARS_MAX);
        assert!(made(&"界".repeat(500)).len() <= NAME_BYTES_MAX);
    }

    #[test]
    fn text_is_visible_when_something_in_it_is() {
        for text in
            ["", " \u{3000}", "\u{200b}", "\u{301}\u{fe0f}", "\u{3164}\u{2800}", "\u{e0041}"]
        {
            assert!(!is_visible(text), "{text:?}");
        }
        for text in ["a", "e\u{301}", "界", "🚀", "-", "\u{200b}x"] {
            assert!(is_visible(text), "{text:?}");
        }
    }

    #[test]
    fn refused_names_say_which_character_and_which_are_allowed() {
        let message = |text: &str| check_new(text).unwrap_err().to_string();
        assert!(message("a b").starts_with("a space is not allowed in a name: use letters"));
        assert!(message("a/b").contains("`/`"));
        assert!(message("a\u{202e}b").contains("U+202E"));
        assert!(message("..").contains("`.`"));
        assert!(message("e\u{301}").contains("é"));
        assert!(message("").contains("at least one"));
        assert!(check_new("数据-2").is_ok());
        assert!(NodeId::parse("a\u{3000}b").is_ok(), "the seed's pattern has it");
        assert!(NodeId::parse("🚀").is_err());
        assert!(NodeId::of_file("e\u{301}.md").unwrap().unwrap().as_str() == "é");
        assert!(NodeId::of_file(".plan.md").is_none());
        assert!(NodeId::of_file("plan.txt").is_none());
    }
}
