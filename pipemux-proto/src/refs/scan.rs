//! Finding refs and tokens in any text: a prompt, a model's message, a commit.

use std::ops::Range;

use super::Ref;
use crate::limits::REF_MAX;

/// Finds the refs and tokens of a text, in order, each with its place in bytes. In prose,
/// punctuation behind a ref is none of it. The work for each place where one may begin is bounded.
pub fn find(text: &str) -> impl Iterator<Item = (Range<usize>, Ref)> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        while from < text.len() {
            let rest = &text[from..];
            let start = from + rest.find(['[', 'o', 'l'])?;
            match at(text, start) {
                Some((end, found)) => {
                    from = end;
                    return Some((start..end, found));
                }
                None => from = start + 1,
            }
        }
        None
    })
}

/// Returns the ref that begins at a place, and where it ends.
fn at(text: &str, start: usize) -> Option<(usize, Ref)> {
    let rest = &text[start..];
    if rest.starts_with("[[") {
        let within = up_to(rest, REF_MAX);
        let end = within.find("]]")? + 2;
        let pinned = end + pin(&within[end..]);
        return within[..pinned].parse().ok().map(|found| (start + pinned, found));
    }
    if !rest.starts_with("obj:") && !rest.starts_with("link:") {
        return None;
    }
    // `myobj:3` is none.
    let before = text[..start].chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '/' | '-')) {
        return None;
    }
    let within = up_to(rest, REF_MAX);
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ')' | '(' | ']' | '[' | '<' | '>' | ',' | ';' | '\'' | '"' | '`' | '|' | '}' | '\\'
            )
    };
    let mut word = &within[..within.find(ends).unwrap_or(within.len())];
    loop {
        if let Ok(found) = word.parse() {
            return Some((start + word.len(), found));
        }
        // The end of a sentence.
        word = word.strip_suffix(['.', ':', '!', '?', '…', '。', '，', '*', '_'])?;
    }
}

/// Returns the length of an epoch behind a token: `@e17`.
fn pin(text: &str) -> usize {
    let Some(digits) = text.strip_prefix("@e") else { return 0 };
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    if length > 0 { 2 + length } else { 0 }
}

/// Returns the beginning of a text, of at most about so many bytes.
fn up_to(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<String> {
        find(text).map(|(_, found)| found.to_string()).collect()
    }

    #[test]
    fn refs_are_found_in_prose_markdown_and_code() {
        let text = "See [plan](obj:note:5), obj:7@e17. And [[MT:Node:路线图]]; link:12: or `obj:file:src/a.rs`!";
        let all = ["obj:note:5", "obj:7@e17", "[[MT:Node:路线图]]", "link:12", "obj:file:src/a.rs"];
        assert_eq!(found(text), all);
        assert_eq!(
            found("[[MT:Node:a]]@e3 [[MT:View:b]]@else"),
            ["[[MT:Node:a]]@e3", "[[MT:View:b]]"]
        );
    }

    #[test]
    fn text_that_only_resembles_a_ref_is_none() {
        for text in [
            "object:5",
            "myobj:3",
            "obj:",
            "[[MT:Node]]",
            "[[mt:Node:a]]",
            "[[MT:Node:a]",
            "a link: 5",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }

    proptest! {
        #[test]
        fn found_ref_is_the_text_at_its_place(text in "(\\[\\[MT:|obj:|link:|a|\\]\\]|5|中| |Node:|@e1|\\.){0,40}") {
            let mut end = 0;
            for (place, found) in find(&text) {
                prop_assert!(place.start >= end);
                end = place.end;
                prop_assert_eq!(text[place].parse::<Ref>(), Ok(found));
            }
        }
    }
}
