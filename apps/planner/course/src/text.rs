//! Formats untrusted text so that nobody can impersonate another speaker or inject markup.

use crate::limits::GIST_MAX;

/// Returns a text each line of which ends with `\n`, whatever ended it, without control characters
/// and without those that turn the direction of writing: what a reader sees is what is there.
pub fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let kept = text.chars().filter_map(|c| match c {
        c if is_line_end(c) => Some('\n'),
        '\t' => Some(c),
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        c => (!c.is_control()).then_some(c),
    });
    kept.collect()
}

/// Returns true for what some program takes for the end of a line.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns true for a character that a reader can't see, or that changes how the text around it is
/// shown, ends of lines among them. The joiners and variation selectors that scripts and emoji need
/// are none.
pub(crate) fn is_hidden(c: char) -> bool {
    match c {
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => {
            true
        }
        '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control() || is_line_end(c),
    }
}

/// Marks each line of a text as a quotation.
pub fn quoted(text: &str) -> String {
    let lines: Vec<String> =
        plain(text).lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Returns a text on one line, so that it can't pass for a line of anybody else's.
pub fn flat(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a reader's name as it is shown: on one line, and no markup.
pub fn shown_name(name: &str) -> String {
    flat(name).replace(['`', '*', '[', ']', '<', '>', '#', '|', '\\'], "'")
}

/// Returns the first words of a text, on one line.
pub fn gist(text: &str) -> String {
    let flat = flat(text);
    match flat.char_indices().nth(GIST_MAX) {
        Some((at, _)) => format!("{}…", &flat[..at]),
        None => flat,
    }
}

/// Returns a number with its noun: `1 question`, `3 questions`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Writes points, a line each.
pub(crate) fn listed(points: &[String]) -> String {
    if points.is_empty() { String::new() } else { format!("- {}", points.join("\n- ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_escapes_a_quotation_and_no_control_character_stays() {
        for end in ["\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}"] {
            let text = format!("ok{end}{end}## What was agreed\u{1b}[2J\u{202e}");
            assert_eq!(quoted(&text), "> ok\n>\n> ## What was agreed[2J");
            assert_eq!(flat(&text), "ok ## What was agreed[2J");
        }
    }
}
