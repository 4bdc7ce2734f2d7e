//! The search against the plainest way to do it: each line on its own, with the crate `regex`.

use std::ops::Range;
use std::path::Path;

use pipemux_search::{Filters, Pattern};
use proptest::prelude::*;
use regex::Regex;

fn line() -> impl Strategy<Value = String> {
    "[ab_. \r笔🙂]{0,8}"
}

/// Texts with either line ending, with and without the last one.
fn text() -> impl Strategy<Value = String> {
    let ending = prop_oneof![Just("\n"), Just("\r\n")];
    let lines = prop::collection::vec((line(), ending), 0..8);
    (lines, any::<bool>()).prop_map(|(lines, ends)| {
        let mut text: String =
            lines.into_iter().flat_map(|(line, end)| [line, end.into()]).collect();
        if !ends {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

/// Expressions of what the texts are made of.
fn expression() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a"),
        Just("b"),
        Just("ab"),
        Just("a+"),
        Just("."),
        Just(".*"),
        Just("^a"),
        Just("b$"),
        Just(r"\b"),
        Just(r"\s"),
        Just("笔"),
        Just("🙂?"),
        Just("[ab]+"),
        Just("(a|ab)"),
        Just("_"),
    ];
    prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

/// The lines of a text with the range of each, without its ending.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let body =
            line.strip_suffix('\n').map_or(line, |body| body.strip_suffix('\r').unwrap_or(body));
        let range = start..start + body.len();
        start += line.len();
        range
    });
    lines.collect()
}

/// The number of the line and the range of each match.
fn naive(text: &str, regex: &Regex, not: Option<&Regex>) -> Vec<(u64, Range<usize>)> {
    let mut found = Vec::new();
    for (index, line) in lines(text).into_iter().enumerate() {
        let body = &text[line.clone()];
        if not.is_some_and(|not| not.is_match(body)) {
            continue;
        }
        let matches = regex.find_iter(body);
        found.extend(
            matches.map(|one| (index as u64 + 1, line.start + one.start()..line.start + one.end())),
        );
    }
    found
}

fn found(pattern: &Pattern, text: &str) -> Vec<(u64, Range<usize>)> {
    let matches = pattern.search(Path::new("a"), text);
    matches.found.into_iter().map(|one| (one.line, one.bytes)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn expression_is_found_where_each_line_on_its_own_has_it(text in text(), expression in expression()) {
        let pattern = Pattern::new(&expression, true, true, Filters::default()).unwrap();
        let regex = Regex::new(&expression).unwrap();
        prop_assert_eq!(found(&pattern, &text), naive(&text, &regex, None));
    }

    #[test]
    fn words_are_found_and_all_others_counted(text in text(), word in "[ab]{1,2}") {
        let filters = Filters { word: true, ..Filters::default() };
        let matches = Pattern::new(&word, false, true, filters).unwrap().search(Path::new("a"), &text);
        let regex = Regex::new(&format!(r"\b{word}\b")).unwrap();
        let words: Vec<_> = matches.found.iter().map(|one| (one.line, one.bytes.clone())).collect();
        let expected = naive(&text, &regex, None);
        prop_assert_eq!(&words, &expected);
        let all = naive(&text, &Regex::new(&word).unwrap(), None);
        let meets = |one: &Range<usize>| {
            expected.iter().any(|(_, word)| word.start < one.end && one.start < word.end)
        };
        let others = all.iter().filter(|(_, one)| !meets(one)).count();
        prop_assert_eq!(matches.left.not_words.matches, others as u64);
    }

    #[test]
    fn excluded_lines_have_no_match_and_all_are_counted(text in text(), one in "[ab]", not in expression()) {
        let filters = Filters { not: Some(not.clone()), ..Filters::default() };
        let matches = Pattern::new(&one, false, true, filters).unwrap().search(Path::new("a"), &text);
        let (one, not) = (Regex::new(&one).unwrap(), Regex::new(&not).unwrap());
        let kept: Vec<_> = matches.found.iter().map(|one| (one.line, one.bytes.clone())).collect();
        let expected = naive(&text, &one, Some(&not));
        prop_assert_eq!(&kept, &expected);
        let all = naive(&text, &one, None).len();
        prop_assert_eq!(matches.left.excluded.matches as usize, all - expected.len());
    }

    /// A text over several lines is found by its lines, whatever ends them.
    #[test]
    fn lines_in_a_row_are_found_with_either_ending(text in text(), wanted in "[ab]{0,2}\n[ab]{0,2}") {
        let pattern = Pattern::new(&wanted, false, true, Filters::default()).unwrap();
        let plain = text.replace("\r\n", "\n");
        let found = found(&pattern, &text);
        let expected: Vec<_> = plain.match_indices(&wanted).map(|(at, _)| at).collect();
        prop_assert_eq!(found.len(), expected.len());
        for ((line, bytes), at) in found.iter().zip(expected) {
            prop_assert_eq!(text[bytes.clone()].replace("\r\n", "\n"), wanted.clone());
            prop_assert_eq!(*line as usize, plain[..at].matches('\n').count() + 1);
            prop_assert_eq!(text[..bytes.start].replace("\r\n", "\n").len(), at);
        }
    }

    #[test]
    fn counts_are_those_of_the_matches(text in text(), expression in expression()) {
        let pattern = Pattern::new(&expression, true, true, Filters::default()).unwrap();
        let counts = pattern.search(Path::new("a"), &text).counts();
        let mut lines: Vec<u64> = found(&pattern, &text).into_iter().map(|(line, _)| line).collect();
        prop_assert_eq!(counts.matches as usize, lines.len());
        lines.dedup();
        prop_assert_eq!(counts.lines as usize, lines.len());
    }
}
