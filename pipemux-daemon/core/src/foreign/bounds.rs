//! Cutting texts of apps to their bounds.

use std::borrow::Cow;

use pipemux_tokens::work::spend;

use crate::foreign::text::{ForeignStr, ForeignText};

/// Makes a text one line of at most `most` characters: line breaks become spaces, and a cut is
/// marked.
pub fn line(text: &mut ForeignText, most: usize) {
    own_line(&mut text.0, most);
}

/// Does what [`line`] does for a text of a fault or a declaration.
pub fn own_line(text: &mut String, most: usize) {
    if let Cow::Owned(bounded) = bounded_line(text, most) {
        *text = bounded;
    }
}

/// Returns a text as one line of at most so many characters; what is cut is told.
pub fn bounded_line(text: &str, most: usize) -> Cow<'_, str> {
    spend(text.len());
    let breaks = |c: char| matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    // Line breaks at the end say nothing.
    let whole = text.trim_end_matches(breaks);
    let short = whole.len() <= most || whole.char_indices().nth(most).is_none();
    if short && whole.len() == text.len() && !whole.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let (kept, more) = split(whole, most);
    // `\r\n` is one break.
    let joined = kept.replace("\r\n", " ").replace(breaks, " ");
    Cow::Owned(joined + &mark(more))
}

/// Cuts a text of several lines to at most so many characters; what is cut is told in a line of its
/// own.
pub fn lines(text: &mut ForeignText, most: usize) {
    own_lines(&mut text.0, most);
}

/// Does what [`lines`] does for a text of a fault.
pub fn own_lines(text: &mut String, most: usize) {
    spend(text.len());
    if text.len() <= most || text.char_indices().nth(most).is_none() {
        return;
    }
    let (kept, more) = split(text, most);
    *text = format!("{kept}\n{}", mark(more).trim_start());
}

/// Cuts a text to at most so many characters, untold.
pub fn keep_start(text: &mut ForeignText, most: usize) {
    if let Some((end, _)) = text.0.char_indices().nth(most) {
        text.0.truncate(end);
    }
}

/// Returns the text cut to at most so many characters, untold.
pub fn start(text: ForeignStr<'_>, most: usize) -> ForeignStr<'_> {
    let end = text.0.char_indices().nth(most).map_or(text.0.len(), |(end, _)| end);
    ForeignStr(&text.0[..end])
}

/// Cuts a text to at most so many characters, with an ellipsis.
pub fn clip(mut text: ForeignText, most: usize) -> ForeignText {
    if let Some((end, _)) = text.0.char_indices().nth(most) {
        text.0.truncate(end);
        text.0.push('…');
    }
    text
}

/// Adds words of the daemon to a text.
pub fn append(text: &mut ForeignText, words: &str) {
    text.0.push_str(words);
}

/// Cuts a list. Returns how many things were cut.
pub fn cut_list<T>(list: &mut Vec<T>, most: usize) -> usize {
    let more = list.len().saturating_sub(most);
    list.truncate(most);
    more
}

/// Splits a text behind so many characters. Returns also how many follow.
fn split(text: &str, most: usize) -> (&str, usize) {
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    (&text[..end], text[end..].chars().count())
}

fn mark(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => " … (1 more character)".to_owned(),
        more => format!(" … ({more} more characters)"),
    }
}
