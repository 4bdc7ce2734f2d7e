//! Colours for people at a terminal: differences, links, and what went wrong. What is piped has
//! none.

use std::borrow::Cow;
use std::io::IsTerminal;

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// Returns true for a stream that shows colours, unless the user wants none: `NO_COLOR`,
/// `TERM=dumb`.
pub fn is_wanted(stream: &impl IsTerminal) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    stream.is_terminal()
        && !is_set("NO_COLOR")
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// Colours an answer: added lines green, removed ones and steps that failed red, the refs of links
/// dim.
pub fn answer(text: &str) -> String {
    let mut painted = String::with_capacity(text.len() * 2);
    let (mut in_hunk, mut in_delta) = (false, false);
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.find('\n').map_or(rest.len(), |end| end + 1));
        let shown = line.trim_start_matches(' ');
        if shown.starts_with("@@ ") {
            in_hunk = true;
        } else if !shown.starts_with(['+', '-', ' ', '\\']) {
            in_hunk = false;
        }
        if line.starts_with("## ") {
            // `- ` is also the bullet of a list: of a window's lines it is a removed one only
            // beside an added one.
            let section = after.find("\n## ").map_or(after, |end| &after[..end]);
            in_delta = section.lines().any(|line| line.starts_with("+ "));
        }
        match changed(shown).filter(|(_, numbered)| *numbered || in_hunk || in_delta) {
            Some((colour, _)) => surround(&mut painted, colour, line),
            None => {
                let (failure, line) = line.split_at(failure(line));
                if !failure.is_empty() {
                    surround(&mut painted, RED, failure);
                }
                links(&mut painted, line);
            }
        }
        rest = after;
    }
    painted
}

/// Colours the first word of an error red.
pub fn error(text: &str) -> String {
    let end = text.find([' ', '\n', ',']).unwrap_or(text.len());
    let (first, rest) = text.split_at(end);
    format!("{RED}{first}{RESET}{rest}")
}

/// Colours bytes that are text with one of these functions, for a stream that shows colours.
pub fn for_stream<'a>(
    bytes: &'a [u8],
    stream: &impl IsTerminal,
    paint: impl Fn(&str) -> String,
) -> Cow<'a, [u8]> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_wanted(stream) => paint(text).into_bytes().into(),
        _ => bytes.into(),
    }
}

/// Returns how long the words are at the beginning of a line that tell of a step that failed:
/// `2 failed`.
fn failure(line: &str) -> usize {
    let outcome = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(' ');
    let words = ["failed", "refused", "unavailable", "unknown"];
    let word = words
        .iter()
        .find(|word| outcome.strip_prefix(**word).is_some_and(|rest| rest.starts_with([' ', ','])));
    word.map_or(0, |word| line.len() - outcome.len() + word.len())
}

/// Returns the colour of a line that may be an added or a removed one, and whether it has a number,
/// which makes it certain.
fn changed(line: &str) -> Option<(&'static str, bool)> {
    let colour = match line.as_bytes().first()? {
        b'+' => GREEN,
        b'-' => RED,
        _ => return None,
    };
    let number = line[1..].split('\t').next().unwrap_or_default();
    let numbered = number.len() + 1 < line.len() && !number.is_empty();
    Some((colour, numbered && number.bytes().all(|byte| byte.is_ascii_digit())))
}

/// Writes a line in a colour, which ends before the line does.
fn surround(painted: &mut String, colour: &str, line: &str) {
    let text = line.trim_end_matches('\n');
    painted.extend([colour, text, RESET, &line[text.len()..]]);
}

/// Writes a line with the refs of its links dim.
fn links(painted: &mut String, line: &str) {
    let mut rest = line;
    while let Some(at) = ["](link:", "](obj:"].iter().filter_map(|mark| rest.find(mark)).min() {
        let (before, link) = rest.split_at(at + 1);
        let end = link.find(')').map_or(link.trim_end_matches('\n').len(), |end| end + 1);
        let (link, after) = link.split_at(end);
        painted.extend([before, DIM, link, RESET]);
        rest = after;
    }
    painted.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn without_colours(text: &str) -> String {
        [RED, GREEN, DIM, RESET].iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
    }

    #[test]
    fn changes_links_and_errors_have_their_colours() {
        let painted =
            answer("## a/b\n-3\told\n+3\tnew [x](link:4 \"a.b()\")\n- bullet\n[u](link:1)\n");
        let expected = format!(
            "## a/b\n{RED}-3\told{RESET}\n{GREEN}+3\tnew [x](link:4 \"a.b()\"){RESET}\n- bullet\n[u]{DIM}(link:1){RESET}\n"
        );
        assert_eq!(painted, expected);
        let hunk = answer("   --- a\n   +++ a\n   @@ -1 +1 @@\n   -one\n   +ONE\n2. -x\n-y");
        assert!(hunk.contains(&format!("{RED}   -one{RESET}\n{GREEN}   +ONE{RESET}\n2. -x\n-y")));
        let delta = answer("## a/b\n+ new\n- old\n\n## c/d\n- bullet\n");
        assert_eq!(
            delta,
            format!("## a/b\n{GREEN}+ new{RESET}\n{RED}- old{RESET}\n\n## c/d\n- bullet\n")
        );
        let steps = answer("1 done · x\n2 failed · y\nfailedly\n");
        assert_eq!(steps, format!("1 done · x\n{RED}2 failed{RESET} · y\nfailedly\n"));
        assert_eq!(error("refused, nothing ran\n"), format!("{RED}refused{RESET}, nothing ran\n"));
    }

    proptest! {
        #[test]
        fn colours_add_nothing_else(text in "([-+@# 3\t\n\\[\\](:)]|link|obj|深|## |@@ )*") {
            prop_assert_eq!(without_colours(&answer(&text)), text.clone());
            prop_assert_eq!(without_colours(&error(&text)), text);
        }
    }
}
