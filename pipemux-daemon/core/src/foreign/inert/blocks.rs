//! Detects text that begins a Markdown block: fences and headings, at the start of a line or inside
//! quotes and list items.

use pipemux_tokens::work::spend;

/// The beginning of a line, before a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineStart {
    /// The line begins with at most three spaces.
    Outermost,
    /// More spaces, or marks of quotes and list items. A fence begins there, too, inside of them.
    Inside,
}

/// Returns true for the characters of which the marks of quotes and list items consist, and the
/// space around them.
pub(super) fn is_marker(c: char) -> bool {
    matches!(c, ' ' | '\t' | '>' | '-' | '+' | '*' | '.' | ')' | '0'..='9')
}

/// Returns true for text that begins a fence or a window's heading.
pub(super) fn starts_block(rest: &str, start: LineStart) -> bool {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    spend(hashes + 1);
    let heading = start == LineStart::Outermost
        && match hashes {
            1 | 2 => looks_like_a_window(&rest[hashes..]),
            3 => looks_like_an_embed(&rest[hashes..]),
            _ => false,
        };
    // A run that reaches the end may continue in the next piece.
    let fence = |c: char| {
        let run = rest.len() - rest.trim_start_matches(c).len();
        spend(run + 1);
        run >= 3 || (run > 0 && run == rest.len())
    };
    heading || fence('`') || fence('~')
}

/// Returns true for the rest of a heading that is a window's, `editor/main · …`, or that may become
/// one with the next piece. Other headings are the app's own.
fn looks_like_a_window(heading: &str) -> bool {
    let Some(first) = heading.chars().next() else { return true };
    if !first.is_whitespace() {
        // No heading: `#!/bin/sh`, `##x`.
        return false;
    }
    let line = heading.split('\n').next().unwrap_or_default();
    spend(line.len());
    let word = line.trim_start();
    let ends = word.find(char::is_whitespace);
    let first_word = ends.map_or(word, |end| &word[..end]);
    let slash = |c: char| matches!(c, '/' | '／' | '∕' | '⁄' | '╱' | '⧸');
    let is_open = ends.is_none() && line.len() == heading.len();
    // What follows in the next piece can't make an address of a word with another character.
    let may_grow = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    first_word.contains(slash) || (is_open && first_word.chars().all(may_grow))
}

/// The first word of the headings around an embedded window.
const EMBEDDED: &str = "embedded";

/// Returns true for the rest of a heading that is one of an embedded window, `embedded editor/main
/// · …`, or that may become one with the next piece.
fn looks_like_an_embed(heading: &str) -> bool {
    let Some(first) = heading.chars().next() else { return true };
    if !first.is_whitespace() {
        return false;
    }
    let line = heading.split('\n').next().unwrap_or_default();
    spend(line.len());
    let word = line.trim_start();
    let ends = word.find(|c: char| !c.is_alphanumeric());
    let first_word = ends.map_or(word, |end| &word[..end]).to_lowercase();
    let is_open = ends.is_none() && line.len() == heading.len();
    first_word == EMBEDDED || (is_open && EMBEDDED.starts_with(&first_word))
}

/// Returns the language of a fence that shows an app's text: nothing unless it is a word, and never
/// the one of blocks that run when a model repeats them.
pub(super) fn language(lang: &str) -> &str {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '.' | '_');
    let runs = lang.eq_ignore_ascii_case(pipemux_proto::call::blocks::WORD);
    if runs || lang.len() > LANGUAGE_MAX || !lang.chars().all(fits) { "" } else { lang }
}

/// The longest language name of a fence, in bytes.
const LANGUAGE_MAX: usize = 32;
