//! An estimate of what a text costs a model, in tokens of the o200k kind.
//!
//! A rule of thumb over character classes, for budgets and receipts: a real tokenizer's tables are
//! 65 MB and too slow for every answer.

/// Costs are counted in twelfths of a token, so that the sum stays in whole numbers.
const UNIT: u64 = 12;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Digit,
    Space,
    Newline,
    Sign,
    Cjk,
    Other,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' => Class::Word,
        '0'..='9' => Class::Digit,
        ' ' | '\t' => Class::Space,
        '\n' | '\r' => Class::Newline,
        '!'..='~' => Class::Sign,
        '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}' => Class::Cjk,
        c if c.is_alphabetic() => Class::Word,
        _ => Class::Other,
    }
}

/// About how many tokens the text is.
pub fn estimate(text: &str) -> u64 {
    let mut twelfths = 0;
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let class = class(first);
        let mut length: u64 = 1;
        while chars.next_if(|c| self::class(*c) == class).is_some() {
            length += 1;
        }
        twelfths += match class {
            // Common words are one token up to about eight letters; rare ones split.
            Class::Word => UNIT * length.div_ceil(8),
            Class::Digit => UNIT * length.div_ceil(3),
            // One space belongs to the word behind it; a longer run is one token.
            Class::Space => {
                if length > 1 {
                    UNIT
                } else {
                    0
                }
            }
            Class::Newline => UNIT,
            Class::Sign => UNIT * length.div_ceil(2),
            Class::Cjk => length * 9,
            Class::Other => length * UNIT * 2,
        };
    }
    twelfths.div_ceil(UNIT)
}
