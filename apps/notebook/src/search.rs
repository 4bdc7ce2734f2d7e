//! Full-text search: splits texts and queries into tokens, and cuts snippets.
//!
//! In scripts that are written without spaces, each character is a token, so that a word of one or two
//! characters is found anywhere, as a phrase. In other scripts a token is a word in lower case. The
//! index holds nothing but these tokens, and queries are made of the same tokens, so nothing that a
//! user writes reaches the query syntax of the index.

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

/// A parsed search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Finds entries that contain all of these.
    Terms(Vec<Term>),
    /// Finds entries that contain exactly this text. Used for queries without letters or digits.
    Literal(String),
}

/// A sequence of tokens that must follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    tokens: Vec<String>,
    /// True when the last token may be just the beginning of a word.
    prefix: bool,
}

impl Query {
    /// Parses a query: words, and phrases in quotes. Returns `None` if it is blank.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let mut terms = Vec::new();
        for (index, part) in text.split(['"', '“', '”']).enumerate() {
            let quoted = index % 2 == 1;
            let words = if quoted { vec![part] } else { part.split_whitespace().collect() };
            let term = |word: &str| Term {
                tokens: tokens(word).map(|token| token.folded).collect(),
                prefix: !quoted,
            };
            terms.extend(words.into_iter().map(term).filter(|term| !term.tokens.is_empty()));
        }
        terms.dedup();
        Some(match terms.is_empty() {
            true => Query::Literal(text.to_owned()),
            false => Query::Terms(terms),
        })
    }

    /// Returns the range in bytes of the first match of any term in a text.
    fn first_match(&self, text: &str) -> Option<(usize, usize)> {
        let terms = match self {
            Query::Literal(literal) => {
                return text.find(literal).map(|at| (at, at + literal.len()));
            }
            Query::Terms(terms) => terms,
        };
        let longest = terms.iter().map(|term| term.tokens.len()).max()?;
        let mut window: Vec<Token> = Vec::with_capacity(longest);
        for token in tokens(text) {
            if window.len() == longest {
                window.remove(0);
            }
            window.push(token);
            for term in terms {
                let Some(from) = window.len().checked_sub(term.tokens.len()) else { continue };
                if let (true, [first, .., last] | [first @ last]) =
                    (term.matches(&window[from..]), &window[from..])
                {
                    return Some((first.start, last.end));
                }
            }
        }
        None
    }
}

impl Term {
    /// Returns the term in the query syntax of the index.
    pub fn expression(&self) -> String {
        let star = if self.prefix { " *" } else { "" };
        format!("\"{}\"{star}", self.tokens.join(" "))
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

/// Most characters of a snippet before the match.
const SNIPPET_BEFORE: usize = 40;
/// Most characters of a snippet from the beginning of the match.
const SNIPPET_AFTER: usize = 90;

/// Returns the line of the first match, cut around the match, or `None` if there is no match.
pub fn snippet(text: &str, query: &Query) -> Option<String> {
    let (start, end) = query.first_match(text)?;
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let before = &text[line_start..start];
    let from = before.char_indices().rev().nth(SNIPPET_BEFORE - 1).map_or(line_start, |(at, _)| {
        // In scripts with spaces, the cut is not within a word.
        let cut = before[at..].find(' ').map_or(at, |space| at + space);
        line_start + cut
    });
    let after = &text[start..line_end];
    let to = after.char_indices().nth(SNIPPET_AFTER).map_or(line_end, |(at, _)| start + at);
    let flat = text[from..to].split_whitespace().collect::<Vec<_>>().join(" ");
    let lead = if from > line_start { "…" } else { "" };
    let trail = if to < line_end { "…" } else { "" };
    Some(format!("{lead}{flat}{trail}"))
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

    #[test]
    fn query_is_parsed_into_terms_or_a_literal() {
        assert_eq!(Query::parse(" \t"), None);
        assert_eq!(Query::parse("-> "), Some(Query::Literal("->".into())));
        let Some(Query::Terms(terms)) = Query::parse("rel \"Open files\" 检索 -") else {
            panic!("terms expected")
        };
        let expressions: Vec<_> = terms.iter().map(Term::expression).collect();
        assert_eq!(expressions, ["\"rel\" *", "\"open files\"", "\"检 索\" *"]);
    }

    #[test]
    fn snippet_is_cut_around_its_match() {
        let snip = |text: &str, query: &str| snippet(text, &Query::parse(query).unwrap());
        assert_eq!(snip("one\n  two Three\nfour", "thre").as_deref(), Some("two Three"));
        assert_eq!(snip("数据库的全文检索", "检索").as_deref(), Some("数据库的全文检索"));
        assert_eq!(snip("a -> b", "->").as_deref(), Some("a -> b"));
        assert_eq!(snip("nothing", "else"), None);
        let long = format!("{} needle {}", "hay ".repeat(50), "hay ".repeat(50));
        let cut = snip(&long, "needle").unwrap();
        assert!(cut.starts_with('…') && cut.ends_with('…') && cut.contains(" needle "), "{cut}");
        assert!(cut.chars().count() <= SNIPPET_BEFORE + SNIPPET_AFTER + 2, "{cut}");
    }
}
