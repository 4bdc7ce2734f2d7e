//! Full-text search: splits texts and queries into tokens, as the notebook does.
//!
//! In scripts that are written without spaces each character is a token, so that a word of one or two characters is
//! found anywhere, as a phrase. Elsewhere a token is a word in lower case. The index holds nothing but these tokens, and queries
//! are made of the same tokens, so that nothing that somebody writes reaches the query syntax of the index.

/// Most words of a query.
const WORDS_MAX: usize = 32;

/// Returns the form of a text that is indexed: its tokens, separated by spaces.
pub fn index_text(text: &str) -> String {
    let mut joined = String::with_capacity(text.len() + text.len() / 4);
    let mut in_word = false;
    for c in text.chars() {
        match Class::of(c) {
            // C++ and C# are words, different from C.
            Class::Sign if in_word => joined.push(c),
            Class::Sign | Class::Separator => {
                if in_word {
                    joined.push(' ');
                }
                in_word = false;
            }
            Class::Word => {
                // A word after `+` or `#` is another one.
                if in_word && joined.ends_with(['+', '#']) {
                    joined.push(' ');
                }
                fold(c, &mut joined);
                in_word = true;
            }
            Class::Single => {
                if in_word {
                    joined.push(' ');
                }
                fold(c, &mut joined);
                joined.push(' ');
                in_word = false;
            }
        }
    }
    if in_word {
        joined.push(' ');
    }
    joined
}

/// Returns a query in the query syntax of the index; `None` if it has no word. Words in quotes stand in this order; `OR`
/// separates alternatives; the last part of a word that isn't in quotes may be just its beginning; `#word` is a tag.
pub fn expression(query: &str) -> Option<String> {
    let mut alternatives: Vec<Vec<String>> = vec![Vec::new()];
    let mut count = 0;
    for (index, part) in query.split(['"', '“', '”']).enumerate() {
        let quoted = index % 2 == 1;
        let words = if quoted { vec![part] } else { part.split_whitespace().collect() };
        for word in words {
            if !quoted && matches!(word, "OR" | "|" | "||") {
                alternatives.push(Vec::new());
                continue;
            }
            let (column, word) = match tag(word).filter(|_| !quoted) {
                Some(tag) => ("tags : ", tag),
                None => ("", word),
            };
            let tokens = index_text(word);
            if !tokens.is_empty() && count < WORDS_MAX {
                let star = if quoted || !column.is_empty() { "" } else { " *" };
                let last = alternatives.len() - 1;
                alternatives[last].push(format!("{column}\"{}\"{star}", tokens.trim_end()));
                count += 1;
            }
        }
    }
    let joined: Vec<String> = alternatives
        .into_iter()
        .filter(|terms| !terms.is_empty())
        .map(|terms| format!("({})", terms.join(" AND ")))
        .collect();
    (!joined.is_empty()).then(|| joined.join(" OR "))
}

/// Returns the tag that a word such as `#decision` names. `#12` and `#` alone are none.
pub fn tag(word: &str) -> Option<&str> {
    word.strip_prefix('#').filter(|tag| tag.starts_with(char::is_alphabetic))
}

/// Returns true if an `OR` of a query has no word on one of its sides.
pub fn has_dangling_or(query: &str) -> bool {
    let is_or = |word: &str| matches!(word, "OR" | "|" | "||");
    let mut words = query.split_whitespace().peekable();
    let mut last = true;
    while let Some(word) = words.next() {
        if is_or(word) && (last || words.peek().is_none()) {
            return true;
        }
        last = is_or(word);
    }
    false
}

/// How a character takes part in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It is part of a word.
    Word,
    /// It is a token by itself.
    Single,
    /// It ends a word, and is part of it.
    Sign,
    /// It separates tokens.
    Separator,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            '+' | '#' => Self::Sign,
            // Thai, Lao, Myanmar, Khmer.
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            // Radicals; iteration marks and numerals; kana; Bopomofo; Hangul; ideographs.
            | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
            | '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ffdc}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}'
            // Arrows, signs, emoji.
            | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Self::Single,
            // Combining accents are part of the word that they are in.
            '\u{300}'..='\u{36f}' => Self::Word,
            c if c.is_alphanumeric() => Self::Word,
            _ => Self::Separator,
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
        assert_eq!(index_text("+ # a"), "a ");
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
    }
}
