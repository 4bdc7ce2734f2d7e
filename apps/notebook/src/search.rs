//! Full-text search: splits texts and queries into tokens.
//!
//! | module | purpose |
//! |---|---|
//! | `lines` | shows the lines where words were found |
//!
//! In scripts that are written without spaces, each character is a token, so that a word of one or two
//! characters is found anywhere, as a phrase. In other scripts a token is a word in lower case. The
//! index holds nothing but these tokens, and queries are made of the same tokens, so nothing that a
//! user writes reaches the query syntax of the index.

mod lines;

pub use lines::{FoundLine, found_lines};

/// A token and its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The position of its first byte.
    pub start: usize,
    /// The position after its last byte.
    pub end: usize,
    /// The form that is indexed: lower case, Latin letters in their usual width.
    pub folded: String,
}

/// Splits a text into tokens.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> + '_ {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = chars.next()?;
            let class = CharClass::of(first);
            let mut token = Token { start, end: start + first.len_utf8(), folded: String::new() };
            if class == CharClass::Separator {
                continue;
            }
            fold(first, &mut token.folded);
            if class == CharClass::Single {
                return Some(token);
            }
            while let Some((at, c)) = chars.next_if(|(_, c)| CharClass::of(*c) == CharClass::Word) {
                fold(c, &mut token.folded);
                token.end = at + c.len_utf8();
            }
            // C++ and C# are words, different from C.
            while let Some((at, c)) = chars.next_if(|(_, c)| matches!(c, '+' | '#')) {
                token.folded.push(c);
                token.end = at + 1;
            }
            return Some(token);
        }
    })
}

/// Returns the form of a text that is indexed: its tokens, separated by spaces.
pub fn index_text(text: &str) -> String {
    let mut joined = String::with_capacity(text.len() + text.len() / 4);
    for token in tokens(text) {
        joined.push_str(&token.folded);
        joined.push(' ');
    }
    joined
}

/// A parsed search query: entries are found that fit one of the alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The alternatives, which `OR` separates.
    pub alternatives: Vec<Alternative>,
}

/// What an entry must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alternative {
    /// All of these.
    Terms(Vec<Term>),
    /// Exactly this text. Used where there is no letter or digit.
    Literal(String),
}

/// A sequence of tokens that must follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    tokens: Vec<String>,
    /// True when the last token may be just the beginning of a word.
    prefix: bool,
}

/// Shortest word that is also found inside other words of titles, gists and tags, in characters.
const INSIDE_MIN: usize = 3;

impl Query {
    /// Parses a query: words, phrases in quotes, and `OR` between alternatives. Returns `None` if it is blank.
    pub fn parse(text: &str) -> Option<Self> {
        let mut alternatives = vec![(Vec::new(), String::new())];
        for (index, part) in text.split(['"', '“', '”']).enumerate() {
            let quoted = index % 2 == 1;
            let words = if quoted { vec![part] } else { part.split_whitespace().collect() };
            for word in words {
                if !quoted && matches!(word, "OR" | "|" | "||") {
                    alternatives.push((Vec::new(), String::new()));
                    continue;
                }
                let Some((terms, literal)) = alternatives.last_mut() else { continue };
                let tokens: Vec<_> = tokens(word).map(|token| token.folded).collect();
                if !tokens.is_empty() {
                    terms.push(Term { tokens, prefix: !quoted });
                }
                if !literal.is_empty() {
                    literal.push(' ');
                }
                literal.push_str(word);
            }
        }
        let written = alternatives.into_iter().filter(|(_, literal)| !literal.is_empty());
        let alternatives: Vec<_> = written
            .map(|(mut terms, literal)| {
                terms.dedup();
                match terms.is_empty() {
                    true => Alternative::Literal(literal),
                    false => Alternative::Terms(terms),
                }
            })
            .collect();
        match (alternatives.is_empty(), text.trim()) {
            (false, _) => Some(Self { alternatives }),
            (true, "") => None,
            // Nothing but separators.
            (true, literal) => {
                Some(Self { alternatives: vec![Alternative::Literal(literal.to_owned())] })
            }
        }
    }
}

impl Term {
    /// Returns the term in the query syntax of the index.
    pub fn expression(&self) -> String {
        let star = if self.prefix { " *" } else { "" };
        format!("\"{}\"{star}", self.tokens.join(" "))
    }

    /// Returns the word if it is also found inside other words: `hash` in `ahash`.
    pub fn inside(&self) -> Option<&str> {
        match (&self.tokens[..], self.prefix) {
            ([word], true) if word.chars().count() >= INSIDE_MIN => Some(word),
            _ => None,
        }
    }

    fn matches(&self, window: &[Token]) -> bool {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.iter().zip(window).enumerate().all(|(index, (wanted, token))| {
            match self.prefix && index == last {
                true => token.folded.starts_with(wanted.as_str()),
                false => token.folded == *wanted,
            }
        })
    }
}

/// How a character takes part in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// It is part of a word.
    Word,
    /// It is a token by itself.
    Single,
    /// It separates tokens.
    Separator,
}

impl CharClass {
    fn of(c: char) -> Self {
        match c {
            // Thai, Lao, Myanmar, Khmer.
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            // Radicals; iteration marks and numerals; kana; Bopomofo; Hangul; ideographs.
            | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
            | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ffdc}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}'
            // Arrows, signs, emoji.
            | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => CharClass::Single,
            // Combining accents are part of the word that they are in.
            '\u{300}'..='\u{36f}' => CharClass::Word,
            c if c.is_alphanumeric() => CharClass::Word,
            _ => CharClass::Separator,
        }
    }
}

fn fold(c: char, into: &mut String) {
    // Japanese and Chinese texts may have full-width Latin letters.
    let narrow = match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        other => other,
    };
    into.extend(narrow.to_lowercase());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_into_words_and_single_characters() {
        assert_eq!(index_text("Die Größe, C++11?"), "die größe c++ 11 ");
        assert_eq!(index_text("全文検索はＳＱＬで"), "全 文 検 索 は sql で ");
        assert_eq!(index_text("replace_lines() 🦀"), "replace lines 🦀 ");
        assert_eq!(index_text("\"* AND NEAR(\u{0}"), "and near ");
    }

    fn parse(text: &str) -> Query {
        Query::parse(text).unwrap_or_else(|| panic!("{text:?} is blank"))
    }

    #[test]
    fn query_is_parsed_into_alternatives_of_terms_or_a_literal() {
        assert_eq!(Query::parse(" \t"), None);
        let expressions = |text: &str| -> Vec<Vec<String>> {
            let terms = |alternative: &Alternative| match alternative {
                Alternative::Terms(terms) => terms.iter().map(Term::expression).collect(),
                Alternative::Literal(literal) => vec![literal.clone()],
            };
            parse(text).alternatives.iter().map(terms).collect()
        };
        assert_eq!(expressions("-> "), [["->"]]);
        assert_eq!(
            expressions("rel \"Open files\" 检索 -"),
            [["\"rel\" *", "\"open files\"", "\"检 索\" *"]]
        );
        // One word, whatever is between its parts.
        assert_eq!(expressions("rust-version"), [["\"rust version\" *"]]);
        assert_eq!(
            expressions("hash fast OR map | -> OR"),
            [vec!["\"hash\" *", "\"fast\" *"], vec!["\"map\" *"], vec!["->"]]
        );
        assert_eq!(expressions("this or that")[0].len(), 3);
        assert_eq!(expressions("OR"), [["OR"]]);
    }
}
