//! The grammar of searches: words, phrases in quotes, `OR` between alternatives, and `#tags`.

use crate::tokenizer::{Token, tokens};

/// Most terms of a query of [`Grammar::WordsAndTags`]; further ones are left out.
const TERMS_MAX: usize = 32;

/// Shortest word that is also found inside other words of titles, gists and tags, in characters.
const INSIDE_MIN: usize = 3;

/// The elements allowed in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// Words and phrases. A word that is repeated right away counts once.
    Words,
    /// Words, phrases, and `#word`, which matches tags.
    WordsAndTags,
}

/// A parsed query: a note is found if it fits one of the alternatives. There is at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub alternatives: Vec<Alternative>,
}

/// A condition for a note to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alternative {
    /// All of these terms; there is at least one.
    Terms(Vec<Term>),
    /// Exactly this text, where nothing in it is a letter or digit.
    Literal(String),
}

/// A sequence of tokens that must follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    pub(crate) tokens: Vec<String>,
    /// True when the last token may be just the beginning of a word.
    prefix: bool,
    /// True when only tags are searched.
    in_tags: bool,
}

/// A part of a query as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// `OR` or `|`, outside of quotes.
    Or,
    /// A word outside of quotes.
    Word(&'a str),
    /// The text between two quotes, which may be blank.
    Quoted(&'a str),
}

/// Splits a query into its parts.
pub fn parts(query: &str) -> impl Iterator<Item = Part<'_>> {
    query.split(['"', '“', '”']).enumerate().flat_map(|(index, text)| {
        let (quoted, words) = match index % 2 == 1 {
            true => (Some(Part::Quoted(text)), ""),
            false => (None, text),
        };
        let words = words.split_whitespace();
        quoted
            .into_iter()
            .chain(words.map(|word| if is_or(word) { Part::Or } else { Part::Word(word) }))
    })
}

fn is_or(word: &str) -> bool {
    matches!(word, "OR" | "|" | "||")
}

impl Query {
    /// Parses a query. Returns `None` if it is blank.
    pub fn parse(text: &str, grammar: Grammar) -> Option<Self> {
        let mut alternatives = vec![(Vec::new(), String::new())];
        let mut count = 0;
        for part in parts(text) {
            let (word, quoted) = match part {
                Part::Or => {
                    alternatives.push((Vec::new(), String::new()));
                    continue;
                }
                Part::Word(word) => (word, false),
                Part::Quoted(phrase) => (phrase, true),
            };
            let Some((terms, literal)) = alternatives.last_mut() else { continue };
            let tag = tag(word).filter(|_| grammar == Grammar::WordsAndTags && !quoted);
            let tokens: Vec<_> = tokens(tag.unwrap_or(word)).map(|token| token.folded).collect();
            if !tokens.is_empty() && (count < TERMS_MAX || grammar == Grammar::Words) {
                let in_tags = tag.is_some();
                terms.push(Term { tokens, prefix: !quoted && !in_tags, in_tags });
                count += 1;
            }
            if !literal.is_empty() {
                literal.push(' ');
            }
            literal.push_str(word);
        }
        let written = alternatives.into_iter().filter(|(_, literal)| !literal.is_empty());
        let alternatives: Vec<_> = written
            .map(|(mut terms, literal)| {
                if grammar == Grammar::Words {
                    terms.dedup();
                }
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

/// Returns a query of [`Grammar::WordsAndTags`] in the query syntax of the index; `None` if it has
/// no word.
pub fn expression(query: &str) -> Option<String> {
    let query = Query::parse(query, Grammar::WordsAndTags)?;
    let terms = query.alternatives.iter().filter_map(|alternative| match alternative {
        Alternative::Terms(terms) => Some(all_of(terms)),
        Alternative::Literal(_) => None,
    });
    let alternatives: Vec<String> = terms.collect();
    (!alternatives.is_empty()).then(|| alternatives.join(" OR "))
}

/// Returns what has all terms, in the query syntax of the index.
pub fn all_of(terms: &[Term]) -> String {
    let terms: Vec<String> = terms.iter().map(Term::expression).collect();
    format!("({})", terms.join(" AND "))
}

/// Returns an exact text as a phrase in the query syntax of the index; `None` if it has no word.
pub fn phrase(text: &str) -> Option<String> {
    expression(&format!("\"{}\"", text.replace('"', " ")))
}

/// Returns the tag that a word such as `#decision` names. `#12` and `#` alone are none.
pub fn tag(word: &str) -> Option<&str> {
    word.strip_prefix('#').filter(|tag| tag.starts_with(char::is_alphabetic))
}

/// Returns true if an `OR` of a query has no word on one of its sides.
pub fn has_dangling_or(query: &str) -> bool {
    let mut words = query.split_whitespace().peekable();
    let mut after_or = true;
    while let Some(word) = words.next() {
        if is_or(word) && (after_or || words.peek().is_none()) {
            return true;
        }
        after_or = is_or(word);
    }
    false
}

impl Term {
    fn expression(&self) -> String {
        let column = if self.in_tags { "tags : " } else { "" };
        let star = if self.prefix { " *" } else { "" };
        format!("{column}\"{}\"{star}", self.tokens.join(" "))
    }

    /// Returns the word if it is also found inside other words: `hash` in `ahash`.
    pub fn inside(&self) -> Option<&str> {
        match (&self.tokens[..], self.prefix) {
            ([word], true) if word.chars().count() >= INSIDE_MIN => Some(word),
            _ => None,
        }
    }

    /// Returns true if tokens, of which there are as many, are those of the term.
    pub(crate) fn matches(&self, window: &[Token]) -> bool {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens.iter().zip(window).enumerate().all(|(index, (wanted, token))| {
            match self.prefix && index == last {
                true => token.folded.starts_with(wanted.as_str()),
                false => token.folded == *wanted,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_is_parsed_into_alternatives_of_terms_or_a_literal() {
        assert_eq!(Query::parse(" \t", Grammar::Words), None);
        let expressions = |text: &str| -> Vec<Vec<String>> {
            let terms = |alternative: &Alternative| match alternative {
                Alternative::Terms(terms) => terms.iter().map(Term::expression).collect(),
                Alternative::Literal(literal) => vec![literal.clone()],
            };
            Query::parse(text, Grammar::Words).unwrap().alternatives.iter().map(terms).collect()
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
        assert_eq!(expressions("a a #b"), [["\"a\" *", "\"b\" *"]]);
    }

    #[test]
    fn query_becomes_an_expression_without_syntax_of_the_user() {
        assert_eq!(expression(" \t-> "), None);
        assert_eq!(
            expression("rel \"Open files\" 检索 -").unwrap(),
            "(\"rel\" * AND \"open files\" AND \"检 索\" *)"
        );
        assert_eq!(expression("a OR b").unwrap(), "(\"a\" *) OR (\"b\" *)");
        assert_eq!(
            expression("#open-point x #12").unwrap(),
            "(tags : \"open point\" AND \"x\" * AND \"12\" *)"
        );
        assert!(["OR", "a OR", "OR a", "a OR OR b", "a | | b"].into_iter().all(has_dangling_or));
        assert!(!["a OR b", "a", "", "fOR OR b"].into_iter().any(has_dangling_or));
        assert_eq!(
            expression("x* NEAR(title : y)").unwrap(),
            "(\"x\" * AND \"near title\" * AND \"y\" *)"
        );
        assert_eq!(expression(&"w ".repeat(40)).unwrap().matches("\"w\"").count(), TERMS_MAX);
    }
}
