//! Splits texts into tokens.
//!
//! In scripts that are written without spaces each character is a token, so that a word of one or
//! two characters is found anywhere, as a phrase. In other scripts a token is a word in lower case.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
    /// The indexed form: lower case, with Latin letters in their usual width.
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

/// The role of a character in tokenization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CharClass {
    /// The character is part of a word.
    Word,
    /// The character is a token by itself.
    Single,
    /// The character separates tokens.
    Separator,
}

impl CharClass {
    pub(crate) fn of(c: char) -> Self {
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
        assert_eq!(index_text("+ # a"), "a ");
    }
}
