//! Makes a line inert: showing it moves no cursor, reorders nothing, and hides nothing.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Calls `each` with every part of `raw` that a terminal would show one after the other in the same
/// line; the last part is what stays. `raw` has neither `\n` nor `\r`.
pub(crate) fn parts(raw: &[u8], each: &mut dyn FnMut(&str, bool)) {
    // Nearly every line of nearly every output: nothing to remove, nothing to copy.
    if raw.iter().all(|byte| (0x20..0x7f).contains(byte) || *byte == b'\t')
        && let Ok(text) = std::str::from_utf8(raw)
    {
        return each(text, true);
    }
    let text = String::from_utf8_lossy(raw);
    if !text.chars().any(needs_care) {
        return each(&text, true);
    }
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                Some('[') => {
                    let (parameters, last) = control_sequence(&mut chars);
                    // To the first column: what stood there is overwritten, as by a carriage
                    // return.
                    if last == Some('G') && matches!(&*parameters, "" | "0" | "1") {
                        if !clean.trim().is_empty() {
                            each(&clean, false);
                        }
                        clean.clear();
                    }
                }
                Some(']' | 'P' | 'X' | '^' | '_') => string_sequence(&mut chars),
                // A character set: what designates it, and then its letter.
                Some(' '..='/') => {
                    while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
                    chars.next_if(|c| ('0'..='~').contains(c));
                }
                _ => {}
            },
            '\u{8}' => {
                clean.pop();
            }
            '\t' => clean.push('\t'),
            '\0' | '\u{7}' => {}
            c if c.is_control() => clean.push('\u{fffd}'),
            c if is_hidden(c) && !is_in_its_place(c, clean.chars().next_back(), chars.peek()) => {
                let _ = write!(clean, "⟨U+{:04X}⟩", u32::from(c));
            }
            c => clean.push(c),
        }
    }
    each(&clean, true);
}

/// What stays of a line of output in a terminal, without its end: inert, and what was overwritten
/// left out.
#[must_use]
pub fn visible(raw: &[u8]) -> String {
    let raw = raw.strip_suffix(b"\n").unwrap_or(raw);
    let end = raw.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
    let start = raw[..end].iter().rposition(|byte| *byte == b'\r').map_or(0, |last| last + 1);
    let mut shown = String::new();
    parts(&raw[start..end], &mut |text, last| {
        if last {
            text.clone_into(&mut shown);
        }
    });
    shown
}

/// The parameters of a control sequence and its last character. A character that can't be in one
/// ends it and stays.
fn control_sequence(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> (String, Option<char>) {
    let mut parameters = String::new();
    while let Some(c) = chars.next_if(|c| (' '..='?').contains(c)) {
        if parameters.len() < 8 {
            parameters.push(c);
        }
    }
    (parameters, chars.next_if(|c| ('@'..='~').contains(c)))
}

/// Titles, links and the like: everything up to their terminator. One that isn't terminated in its
/// line is no sequence, or it would hide the rest of the line: only its introducer is removed.
fn string_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let mut ahead = chars.clone();
    while let Some(c) = ahead.next() {
        if c == '\u{7}' || c == '\u{9c}' || (c == '\u{1b}' && ahead.peek() == Some(&'\\')) {
            if c == '\u{1b}' {
                ahead.next();
            }
            *chars = ahead;
            return;
        }
        if c == '\u{1b}' {
            return;
        }
    }
}

fn needs_care(c: char) -> bool {
    (c.is_control() && c != '\t') || is_hidden(c)
}

/// Returns true for characters that reorder or hide what is around them, or that carry text which
/// no person sees.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns true for a hidden character that belongs to what is around it: a joiner between letters
/// of other scripts or emoji, and the one selector that says whether a symbol is an emoji. A second
/// one in a row could carry text.
fn is_in_its_place(c: char, before: Option<char>, next: Option<&char>) -> bool {
    // The sign stands behind one that was made visible.
    let seen = |c: char| !c.is_ascii() && !is_hidden(c) && !c.is_whitespace() && c != '⟩';
    let Some(before) = before else { return false };
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            let is_keycap = next == Some(&'\u{20e3}') && before.is_ascii();
            is_keycap || (seen(before) && !before.is_alphabetic())
        }
        '\u{200c}' => seen(before) && next.is_some_and(|next| seen(*next)),
        '\u{200d}' => {
            (seen(before) || before == '\u{fe0f}') && next.is_some_and(|next| seen(*next))
        }
        _ => false,
    }
}

/// Cuts `text` to at most `max` bytes, at a character boundary.
pub(crate) fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(max)]))
}
