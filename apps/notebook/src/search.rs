//! Full-text search: splits texts and queries into tokens, and shows the lines where words were found.
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

/// A line of a text in which words of a query were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// The line's number, from 1.
    pub number: u64,
    /// The line, cut around the words if it is long, but not within a word.
    pub text: String,
}

/// Most matches of one term that are looked at in one text.
const MATCHES_MAX: usize = 50;
/// Most characters of a line before the first match, and between two matches.
const SNIPPET_BEFORE: usize = 40;
/// Most characters of a line from the beginning of its last match.
const SNIPPET_AFTER: usize = 90;

/// A place where a term was found: the index of the term, and the range in bytes.
type Match = (usize, usize, usize);

/// Returns the lines of a text that show each word of the query which is found there: as few lines as are needed,
/// in their order.
pub fn found_lines(text: &str, query: &Query) -> Vec<FoundLine> {
    let matches = matches(text, query);
    let line_of = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let mut lines: Vec<(usize, Vec<Match>)> = Vec::new();
    for found in matches {
        let start = line_of(found.1);
        match lines.last_mut() {
            Some((at, matches)) if *at == start => matches.push(found),
            _ => lines.push((start, vec![found])),
        }
    }
    let mut wanted: Vec<usize> =
        lines.iter().flat_map(|(_, matches)| matches.iter().map(|found| found.0)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut chosen: Vec<usize> = Vec::new();
    while !wanted.is_empty() {
        let shows = |(_, matches): &(usize, Vec<Match>)| {
            wanted.iter().filter(|term| matches.iter().any(|found| found.0 == **term)).count()
        };
        // Of equal ones, `max_by_key` returns the last, so that reversing gives the first.
        let best = lines.iter().enumerate().rev().max_by_key(|(_, line)| shows(line));
        let Some((best, (_, matches))) = best else { break };
        wanted.retain(|term| matches.iter().all(|found| found.0 != *term));
        chosen.push(best);
    }
    chosen.sort_unstable();
    let line = |index: usize| {
        let (start, matches) = &lines[index];
        let number = text[..*start].matches('\n').count() as u64 + 1;
        FoundLine { number, text: cut_line(text, *start, matches) }
    };
    chosen.into_iter().map(line).collect()
}

/// Finds the terms of all alternatives in a text, in the order of the places.
fn matches(text: &str, query: &Query) -> Vec<Match> {
    let mut terms: Vec<&Term> = Vec::new();
    let mut found: Vec<Match> = Vec::new();
    for alternative in &query.alternatives {
        match alternative {
            Alternative::Terms(more) => {
                more.iter().for_each(|term| {
                    if !terms.contains(&term) {
                        terms.push(term);
                    }
                });
            }
            Alternative::Literal(literal) => {
                let places = text.match_indices(literal.as_str()).take(MATCHES_MAX);
                found.extend(places.map(|(at, part)| (usize::MAX, at, at + part.len())));
            }
        }
    }
    let Some(longest) = terms.iter().map(|term| term.tokens.len()).max() else { return found };
    let mut counts = vec![0; terms.len()];
    let mut window: std::collections::VecDeque<Token> = Default::default();
    for token in tokens(text) {
        if window.len() == longest {
            window.pop_front();
        }
        window.push_back(token);
        let window = &*window.make_contiguous();
        for (index, term) in terms.iter().enumerate() {
            let Some(from) = window.len().checked_sub(term.tokens.len()) else { continue };
            if counts[index] < MATCHES_MAX
                && let (true, [first, .., last] | [first @ last]) =
                    (term.matches(&window[from..]), &window[from..])
            {
                counts[index] += 1;
                found.push((index, first.start, last.end));
            }
        }
    }
    found.sort_by_key(|(_, start, _)| *start);
    found
}

/// Returns a line, which begins at `start`, or the parts of it around the matches.
fn cut_line(text: &str, start: usize, matches: &[Match]) -> String {
    let last = matches.iter().map(|found| found.2).max().unwrap_or(start);
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let mut shown: Vec<(usize, usize)> = Vec::new();
    let mut terms = Vec::new();
    for (term, from, to) in matches {
        // Each term is shown once.
        if terms.contains(term) {
            continue;
        }
        terms.push(*term);
        let before = &text[start..*from];
        let first = before.char_indices().rev().nth(SNIPPET_BEFORE - 1);
        let first = first.map_or(start, |(at, _)| {
            // In scripts with spaces, the cut is not within a word.
            start + before[at..].find(' ').map_or(at, |space| at + space + 1)
        });
        let after = &text[*to..end];
        let rest = SNIPPET_AFTER.saturating_sub(text[*from..*to].chars().count());
        let last = match after.char_indices().nth(rest) {
            None => end,
            // The match itself ends with its word.
            Some((at, _)) => {
                let within = after[at..].chars().next().is_some_and(is_spaced_word);
                let space = if within { after[..at].rfind(' ') } else { None };
                let word_end = || after.find(' ').unwrap_or(after.len());
                to + match (within, space) {
                    (true, Some(space)) => space,
                    (true, None) if after[..at].chars().all(is_spaced_word) => {
                        word_end().min(at * 4)
                    }
                    _ => at,
                }
            }
        };
        let last = text.floor_char_boundary(last);
        match shown.last_mut() {
            Some((_, end)) if first <= *end => *end = (*end).max(last),
            _ => shown.push((first, last)),
        }
    }
    let mut cut = String::new();
    for (index, (from, to)) in shown.iter().enumerate() {
        if index > 0 || *from > start {
            cut.push('…');
        }
        cut += &text[*from..*to].split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if shown.last().is_some_and(|(_, to)| *to < end) {
        cut.push('…');
    }
    cut
}

fn is_spaced_word(c: char) -> bool {
    CharClass::of(c) == CharClass::Word
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

    fn lines(text: &str, query: &str) -> Vec<String> {
        let lines = found_lines(text, &parse(query)).into_iter();
        lines.map(|line| format!("{}: {}", line.number, line.text)).collect()
    }

    #[test]
    fn lines_show_each_word_that_was_found() {
        assert_eq!(lines("one\n  two Three\nfour", "thre"), ["2: two Three"]);
        assert_eq!(lines("数据库的全文检索", "检索"), ["1: 数据库的全文检索"]);
        assert_eq!(lines("a -> b", "->"), ["1: a -> b"]);
        assert_eq!(lines("nothing", "else"), [""; 0]);
        let text = "alpha\nbeta\ngamma alpha\nrust-version = 1.65\n";
        assert_eq!(lines(text, "alpha"), ["1: alpha"]);
        assert_eq!(lines(text, "gamma alpha"), ["3: gamma alpha"]);
        assert_eq!(lines(text, "beta rust-version"), ["2: beta", "4: rust-version = 1.65"]);
        assert_eq!(lines(text, "beta OR nothing"), ["2: beta"]);
    }

    #[test]
    fn long_line_is_cut_around_each_word_and_never_within_one() {
        let hay = "haystack ".repeat(50);
        let text = format!("{hay}needle {hay}thread {hay}");
        let [line] = &lines(&text, "needle thread")[..] else { panic!("one line") };
        let words =
            line.trim_start_matches("1: ").split(['…', ' ']).filter(|word| !word.is_empty());
        for word in words {
            assert!(["haystack", "needle", "thread"].contains(&word), "{line}");
        }
        assert!(line.contains(" needle ") && line.contains(" thread "), "{line}");
        assert!(line.chars().count() < 2 * (SNIPPET_BEFORE + SNIPPET_AFTER) + 10, "{line}");
        let long = "数".repeat(300) + "针" + &"数".repeat(300);
        let [line] = &lines(&long, "针")[..] else { panic!("one line") };
        assert!(line.chars().count() <= SNIPPET_BEFORE + SNIPPET_AFTER + 6, "{line}");
        // A word that is longer than what is shown is cut all the same.
        let word = "x".repeat(5000);
        assert!(lines(&format!("a {word}"), "a")[0].len() < 600);
    }
}
