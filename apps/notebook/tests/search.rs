//! Search and filter.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Fixture, add, at, edit, filter, search};
use pipemux_notebook::Action;
use pipemux_proto::fault::Code;
use proptest::prelude::*;

#[test]
fn english_chinese_and_japanese_words_are_found() {
    let mut fixture = Fixture::new();
    fixture.add("Parser", "The OLD recursive-descent parser, in C++ and Rust.", &["code"]);
    fixture.add("数据库", "全文检索要支持中文词语。", &["设计"]);
    fixture.add("会議メモ", "検索機能は来週リリースする。", &["会議"]);
    for (query, found) in [
        ("old", vec!["n1"]),
        ("recurs", vec!["n1"]),
        ("RUST parser", vec!["n1"]),
        ("rust 检索", vec![]),
        ("descent", vec!["n1"]),
        ("escent", vec![]),
        ("C++", vec!["n1"]),
        ("\"old recursive\"", vec!["n1"]),
        ("\"recursive old\"", vec![]),
        ("\"old recurs\"", vec![]),
        ("检索", vec!["n2"]),
        ("检", vec!["n2"]),
        ("词语", vec!["n2"]),
        ("索检", vec![]),
        ("据", vec!["n2"]),
        ("検索", vec!["n3"]),
        ("リリース", vec!["n3"]),
        ("索", vec!["n3", "n2"]),
        ("会議", vec!["n3"]),
        ("设计", vec!["n2"]),
        ("。", vec!["n3", "n2"]),
    ] {
        let count = found.len() as u64;
        let noun = if count == 1 { "result" } else { "results" };
        let brief = fixture.brief(search(query));
        assert!(brief.starts_with(&format!("{count} {noun} for ")), "{query}: {brief}");
        let mut shown = fixture.shown();
        shown.sort();
        let mut found = found;
        found.sort();
        assert_eq!(shown, found, "{query}");
    }
}

#[test]
fn best_match_comes_first_with_a_snippet() {
    let mut fixture = Fixture::new();
    fixture.add("Release plan", "ship it", &[]);
    let text = format!("{}\nand then the release of the release\nend", "filler line\n".repeat(50));
    fixture.add("Other", &text, &[]);
    fixture.done(search("release"));
    assert_eq!(fixture.shown(), ["n1", "n2"]);
    let text = fixture.text();
    assert!(text.starts_with("## 2 of 2 entries · search \"release\"\n[show all]"), "{text}");
    assert!(text.contains("  and then the release of the release\n"), "{text}");
    assert!(!text.contains("filler"), "{text}");
}

#[test]
fn search_without_results_says_so_and_hides_all_entries() {
    let mut fixture = Fixture::new();
    fixture.add("a", "b", &[]);
    assert_eq!(fixture.brief(search("zebra")), "0 results for \"zebra\"");
    let text = fixture.text();
    let expected = "## 0 of 1 entry · search \"zebra\"\n[show all](link:show_all) \n\
                    0 results for \"zebra\"\n";
    assert_eq!(text, expected);
    // A hidden entry says how to bring it into view.
    let how = docui::App::find(fixture.host.app().unwrap(), "n1");
    let docui::Found::Hidden { rev: 1, how } = how else { panic!("{how:?}") };
    assert!(how.contains("pipemux run 'notebook.show_all()'"), "{how}");
    // Adding an entry that the search hides offers to show all.
    let labels: Vec<_> =
        fixture.add("new", "x", &[]).links.into_iter().map(|link| link.label).collect();
    assert_eq!(labels, ["undo", "show all"]);
    fixture.done(Action::ShowAll {});
    assert_eq!(fixture.shown(), ["n2", "n1"]);
}

#[test]
fn search_and_filter_combine_and_survive_a_restart() {
    let mut fixture = Fixture::new();
    fixture.add("a", "needle", &["x"]);
    fixture.add("b", "needle", &["y", "x"]);
    fixture.add("c", "hay", &["x"]);
    assert_eq!(fixture.brief(filter("x")), "3 entries with tag x");
    assert_eq!(fixture.brief(search("needle")), "2 results for \"needle\" with tag x");
    assert_eq!(fixture.brief(filter("y")), "1 entry with tag y");
    let mut fixture = fixture.restart();
    assert_eq!(fixture.shown(), ["n2"]);
    let unknown = fixture.fault(filter("z"));
    assert_eq!((unknown.code, unknown.hints), (Code::NotFound, vec!["tags: x, y".to_owned()]));
    assert_eq!(fixture.brief(search("")), "search cleared");
    assert_eq!(fixture.shown(), ["n2"]);
    // The last entry with the tag loses it.
    fixture.done(Action::Tag { entry: at(2, 1), tags: vec![] });
    assert!(fixture.text().contains("0 results for tag y"));
    fixture.done(Action::ShowAll {});
    fixture.done(search("needle"));
    fixture.done(edit(1, 1, "gone"));
    assert_eq!(fixture.shown(), ["n2"]);
}

#[test]
fn long_query_is_refused_and_many_words_are_accepted() {
    let mut fixture = Fixture::new();
    fixture.add("a", &"w ".repeat(10), &[]);
    let many = (0..250).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    assert!(many.chars().count() > 1000);
    assert_eq!(fixture.fault(search(&many)).code, Code::Usage);
    let many: String = (0..500).map(|n| char::from_u32(0x4e00 + n).unwrap()).collect();
    assert!(fixture.brief(search(&many)).starts_with("0 results"));
    let many: String =
        (0..499).map(|n| format!("{} ", char::from_u32(0x4e00 + n).unwrap())).collect();
    assert!(fixture.brief(search(&many)).starts_with("0 results"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every query gets results, whatever characters it has.
    #[test]
    fn no_query_is_an_error(queries in proptest::collection::vec("\\PC{0,40}|[\"*^:(){}+\\-. aANDORNEAR\n\0]{0,40}", 1..6)) {
        let mut fixture = Fixture::new();
        fixture.add("title", "some text: AND OR NOT (near)", &["tag"]);
        for query in queries {
            fixture.done(search(&query));
            fixture.shown();
        }
    }

    /// Each word of an entry finds it, and so do any two adjacent characters of a script without
    /// spaces.
    #[test]
    fn each_word_of_an_entry_finds_it(
        words in proptest::collection::vec("[a-zA-Zäßé]{1,8}|[\u{4e00}-\u{4eff}\u{3041}-\u{3060}]{2,6}|[0-9]{1,4}", 1..8),
        gap in "[ ,.\n;]{1,3}",
        pick in any::<proptest::sample::Index>(),
    ) {
        let mut fixture = Fixture::new();
        fixture.done(add("other", "", &[]));
        fixture.done(add("x", &words.join(&gap), &[]));
        let word = pick.get(&words);
        fixture.done(search(word));
        prop_assert!(fixture.shown().contains(&"n2".to_owned()), "{word}");
        fixture.done(search(&word.to_uppercase()));
        prop_assert!(fixture.shown().contains(&"n2".to_owned()) || word.contains('ß'), "{word}");
        if !word.is_ascii() {
            let chars: Vec<_> = word.chars().collect();
            for pair in chars.windows(2).filter(|pair| pair.iter().all(|c| *c >= '\u{3041}')) {
                fixture.done(search(&pair.iter().collect::<String>()));
                prop_assert!(fixture.shown().contains(&"n2".to_owned()), "{pair:?}");
            }
        }
    }
}
