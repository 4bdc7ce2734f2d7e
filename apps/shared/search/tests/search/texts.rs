//! Matches in one text, and what the filters leave out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pipemux_search::{Counts, Filters, Matches, Part, PartOf, Pattern, PatternError};

fn search(text: &str, pattern: &Pattern) -> Matches {
    pattern.search(Path::new("a.rs"), text)
}

fn plain(text: &str, wanted: &str) -> Vec<(u64, String)> {
    let found = search(text, &Pattern::new(wanted, false, true, Filters::default()).unwrap());
    shown(text, &found)
}

fn regex(text: &str, wanted: &str) -> Vec<(u64, String)> {
    let found = search(text, &Pattern::new(wanted, true, true, Filters::default()).unwrap());
    shown(text, &found)
}

fn shown(text: &str, matches: &Matches) -> Vec<(u64, String)> {
    matches.found.iter().map(|one| (one.line, text[one.bytes.clone()].to_owned())).collect()
}

/// `//` begins a comment, and quotes stand around strings.
fn classify(_: &Path, text: &str) -> Option<PartOf> {
    let mut parts = vec![Part::Code; text.len()];
    let (mut now, mut at) = (Part::Code, 0);
    while at < text.len() {
        let rest = &text[at..];
        let opens = now == Part::Code && rest.starts_with('"');
        now = match now {
            Part::Code if rest.starts_with("//") => Part::Comment,
            _ if opens => Part::String,
            Part::Comment if rest.starts_with('\n') => Part::Code,
            same => same,
        };
        parts[at] = now;
        if !opens && now == Part::String && rest.starts_with('"') {
            now = Part::Code;
        }
        at += 1;
    }
    Some(Box::new(move |range| parts[range.start]))
}

#[test]
fn text_is_found_as_it_is() {
    assert_eq!(plain("a.b\naxb\na.b a.b", "a.b").len(), 3);
    assert_eq!(plain("笔记🙂笔\n🙂", "🙂"), [(1, "🙂".into()), (2, "🙂".into())]);
    assert_eq!(plain("", "a"), []);
    assert_eq!(plain("\n\n", "a"), []);
    assert_eq!(plain("aaaa", "aa").len(), 2, "without overlaps");
    assert_eq!(plain("x", r"\n"), []);
    assert_eq!(plain(r"a\n", r"\n"), [(1, r"\n".into())]);
}

#[test]
fn regular_expression_matches_within_lines() {
    assert_eq!(regex("fn a\n  fn b\nfnord", r"\bfn\s").len(), 2);
    assert_eq!(regex("a \n b", r"a\s*b"), [], "white space isn't a line break");
    assert_eq!(regex("ab\nb", "^b$"), [(2, "b".into())]);
    assert_eq!(regex("a\nb", r"^").len(), 2, "empty matches count");
    assert_eq!(regex("x1y22", "[0-9]+").len(), 2);
}

#[test]
fn lines_may_end_with_a_carriage_return() {
    let text = "foo\r\nbar foo\r\nfoo";
    assert_eq!(regex(text, "foo$").iter().map(|one| one.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(regex(text, "foo.*"), [(1, "foo".into()), (2, "foo".into()), (3, "foo".into())]);
    assert_eq!(plain(text, "foo\nbar"), [(1, "foo\r\nbar".into())]);
    assert_eq!(plain(text, "foo\r\nbar"), [(1, "foo\r\nbar".into())]);
    assert_eq!(regex(text, r"o\nb"), [(1, "o\r\nb".into())]);
    assert_eq!(plain("a\r\n\r\nb", "a\n\nb"), [(1, "a\r\n\r\nb".into())]);
    assert_eq!(plain("a\nb\r\n", "b\n"), [(2, "b\r\n".into())]);
}

#[test]
fn match_over_several_lines_counts_each_of_them_once() {
    let pattern = Pattern::new("b\nc", false, true, Filters::default()).unwrap();
    assert!(pattern.is_multi_line());
    let found = search("ab\ncb\nc\nb\nc", &pattern);
    let lines: Vec<_> = found.found.iter().map(|one| (one.line, one.last_line)).collect();
    assert_eq!(lines, [(1, 2), (2, 3), (4, 5)]);
    assert_eq!(found.counts(), Counts { matches: 3, lines: 5 });
    let ends = search("a\na\n", &Pattern::new("a\n", false, true, Filters::default()).unwrap());
    assert_eq!(ends.counts(), Counts { matches: 2, lines: 2 }, "a line's ending is of its line");
}

#[test]
fn a_line_counts_once_however_many_matches_it_has() {
    let found = search("aa\nba", &Pattern::new("a", false, true, Filters::default()).unwrap());
    assert_eq!(found.counts(), Counts { matches: 3, lines: 2 });
}

#[test]
fn filters_tell_what_they_left_out() {
    let text = "foo food\n// foo, xfoo\nfoo(\"foo\") // foo\nlet foo = old;\n";
    let filters = Filters {
        word: true,
        only: Some(Part::Code),
        classify: Some(Arc::new(classify)),
        not: Some(r"\bold\b".into()),
        ..Filters::default()
    };
    let found = search(text, &Pattern::new("foo", false, true, filters).unwrap());
    assert_eq!(shown(text, &found), [(1, "foo".into()), (3, "foo".into())]);
    assert_eq!((found.left.not_words.matches, found.left.not_words.all()), (2, Some(&[1, 2][..])));
    assert_eq!((found.left.excluded.matches, found.left.excluded.all()), (1, Some(&[4][..])));
    assert_eq!((found.left.comments.matches, found.left.comments.all()), (2, Some(&[2, 3][..])));
    assert_eq!((found.left.strings.matches, found.left.strings.all()), (1, Some(&[3][..])));
    assert_eq!(found.left.code.matches + found.left.unknown.matches, 0);
    assert_eq!(found.left.matches(), 6);
}

#[test]
fn where_the_language_is_not_known_no_part_counts() {
    let filters = Filters {
        only: Some(Part::Code),
        classify: Some(Arc::new(|_, _| None)),
        ..Filters::default()
    };
    let found = search("a\na\n", &Pattern::new("a", false, true, filters).unwrap());
    assert!(found.found.is_empty());
    assert_eq!(found.left.unknown.matches, 2);
}

#[test]
fn many_left_out_lines_are_counted_but_not_all_named() {
    let text = "ab\n".repeat(100);
    let filters = Filters { word: true, ..Filters::default() };
    let found = search(&text, &Pattern::new("a", false, true, filters).unwrap());
    assert_eq!((found.left.not_words.matches, found.left.not_words.all()), (100, None));
}

#[test]
fn word_of_a_regular_expression_may_be_longer_than_its_first_match() {
    let filters = Filters { word: true, ..Filters::default() };
    let pattern = Pattern::new("foo|foobar", true, true, filters).unwrap();
    let text = "foobar foo foobarn";
    let found = search(text, &pattern);
    assert_eq!(shown(text, &found), [(1, "foobar".into()), (1, "foo".into())]);
    assert_eq!(found.left.not_words.matches, 1);
}

#[test]
fn case_can_be_ignored() {
    let pattern = Pattern::new("straße", false, false, Filters::default()).unwrap();
    assert_eq!(search("STRAßE Straße", &pattern).found.len(), 2);
}

#[test]
fn empty_invalid_and_too_large_patterns_are_refused() {
    let new = |text: &str, is_regex, not: Option<&str>| {
        let filters = Filters { not: not.map(Into::into), ..Filters::default() };
        Pattern::new(text, is_regex, true, filters).err()
    };
    assert_eq!(new("", false, None), Some(PatternError::Empty));
    assert!(new("(", true, None).unwrap().to_string().contains("unclosed group"));
    assert!(new("a", false, Some("(")).unwrap().to_string().starts_with("not: "));
    assert!(new("(", false, None).is_none());
    assert!(new(r"(\w{1000}){1000}", true, None).is_some(), "it is too large");
}

#[test]
fn huge_line_is_searched() {
    let text = format!("{}needle{}", "x".repeat(3_000_000), " y".repeat(1_000_000));
    assert_eq!(plain(&text, "needle"), [(1, "needle".into())]);
    assert_eq!(plain(&text, " y").len(), 1_000_000);
}

#[test]
fn search_for_the_first_lines_finds_the_beginning_of_all() {
    let text = "a a\nb\na\nc\na\n".repeat(50);
    let pattern = Pattern::new("a", false, true, Filters::default()).unwrap();
    let all = pattern.search(Path::new("x.txt"), &text);
    for lines in [1, 2, 7, 1_000] {
        let first = pattern.search_first(Path::new("x.txt"), &text, lines);
        assert_eq!(first.counts().lines, all.counts().lines.min(lines as u64));
        assert_eq!(first.found, all.found[..first.found.len()]);
    }
}

#[test]
fn only_matches_within_the_parts_of_a_file_count() {
    let text = "a1\na2\r\na3\r\na4\n";
    let search = |wanted: &str, is_regex: bool, parts: &[(usize, usize)]| {
        let parts = parts.iter().map(|(from, to)| *from..*to).collect();
        let within = [(PathBuf::from("a.txt"), parts)].into();
        let filters = Filters { within, ..Filters::default() };
        let pattern = Pattern::new(wanted, is_regex, true, filters).unwrap();
        let lines = |path: &str| {
            let found = pattern.search(Path::new(path), text).found;
            found.iter().map(|one| (one.bytes.start, one.line)).collect::<Vec<_>>()
        };
        assert_eq!(pattern.search(Path::new("a.txt"), text).left, Matches::default().left);
        (lines("a.txt"), lines("b.txt").len())
    };
    assert_eq!(search("a", false, &[(3, 7)]), (vec![(3, 2)], 4));
    assert_eq!(search("a", false, &[(3, 7), (11, 14)]), (vec![(3, 2), (11, 4)], 4));
    assert_eq!(search("a", false, &[(4, 7)]), (vec![], 4));
    // A match over two lines that begins before a part doesn't hide the one in it.
    assert_eq!(search(r"a\d\na", true, &[(0, 14)]), (vec![(0, 1), (7, 3)], 2));
    assert_eq!(search(r"a\d\na", true, &[(3, 14)]), (vec![(3, 2)], 2));
    assert_eq!(search(r"a\d\na", true, &[(3, 11)]), (vec![(3, 2)], 2));
    assert_eq!(search(r"a\d\na", true, &[(3, 7)]), (vec![], 2));
    // Parts that the text doesn't have.
    assert_eq!(search(r"a\d\na", true, &[(3, 99)]), (vec![], 2));
}

#[test]
fn groups_of_a_replacement_are_named_without_doubt() {
    let pattern = Pattern::new(r"(\w+)-(?<day>\d+)", true, true, Filters::default()).unwrap();
    for (written, meant) in [
        ("$1dates.js", "${1}dates.js"),
        ("${day}$2x$0", "${day}${2}x${0}"),
        ("$day", "${day}"),
        ("a$$1 $ b$", "a$$1 $$ b$$"),
        ("日$1本", "日${1}本"),
    ] {
        assert_eq!(pattern.replacement(written).as_deref(), Ok(meant), "{written}");
    }
    for (written, name) in [("$3", "3"), ("${days}", "days"), ("$day1", "day1"), ("$33x", "33")] {
        assert_eq!(pattern.replacement(written), Err(name.to_owned()), "{written}");
    }
    let text = "x-12";
    let found = &pattern.search(Path::new("a"), text).found[0];
    let new = pattern.replacement("$1st $$ $day").unwrap();
    assert_eq!(pattern.expand(text, found, &new), "xst $ 12");
}
