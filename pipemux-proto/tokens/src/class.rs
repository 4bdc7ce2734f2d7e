//! The classes of characters that the pattern distinguishes.

/// The class of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    Tab,
    Newline,
    /// A sign that often shares a token with the following word.
    Join,
    Sign,
    /// The same sign or other character as the previous one, which only the caller knows.
    Same,
    Han,
    /// Kana, Hangul, and the scripts of South-East Asia, whose tokens are as short.
    Syllable,
    Letter,
    Other,
    Astral,
}

pub(super) const CLASSES: [Class; 14] = [
    Class::Lower,
    Class::Upper,
    Class::Digit,
    Class::Space,
    Class::Tab,
    Class::Newline,
    Class::Join,
    Class::Sign,
    Class::Same,
    Class::Han,
    Class::Syllable,
    Class::Letter,
    Class::Other,
    Class::Astral,
];

const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b' ' => Class::Space,
            b'\t' => Class::Tab,
            b'\n' | b'\r' => Class::Newline,
            b'(' | b'.' | b'_' => Class::Join,
            b'!'..=b'~' => Class::Sign,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// The class of each ASCII character, followed by the class of each that repeats the one before it.
pub(super) static BYTES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let class = ASCII[byte];
        classes[byte] = class as u8;
        classes[128 + byte] = match class {
            Class::Join | Class::Sign | Class::Other => Class::Same as u8,
            class => class as u8,
        };
        byte += 1;
    }
    classes
};

/// Returns the class of a character; never [`Class::Same`].
#[inline]
pub(super) fn class(c: char) -> Class {
    match ASCII.get(c as usize) {
        Some(class) => *class,
        None => wide_class(c),
    }
}

fn wide_class(c: char) -> Class {
    match c {
        '\u{e00}'..='\u{1dff}' | '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7af}' => {
            Class::Syllable
        }
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Class::Han,
        // Typographic marks, full-width punctuation: « — “ … 。「」，：
        '\u{a1}'..='\u{bf}' | '\u{2010}'..='\u{2027}' => Class::Sign,
        '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => Class::Sign,
        '\u{ff3b}'..='\u{ff40}' | '\u{ff5b}'..='\u{ff65}' => Class::Sign,
        // Alphabets, including their combining marks, which are part of the words.
        '\u{c0}'..='\u{dff}' | '\u{1e00}'..='\u{1fff}' => Class::Letter,
        '\u{10000}'.. => Class::Astral,
        c if c.is_alphabetic() => Class::Letter,
        _ => Class::Other,
    }
}
