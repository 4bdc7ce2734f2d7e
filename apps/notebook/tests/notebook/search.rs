//! Queries: search, filter, show.

use crate::common::{Fixture, add, filter, search, show, show_at, titles};
use docui::tokens;
use pipemux_notebook::Action;
use pipemux_notebook::action::{LevelName, Rest};
use pipemux_proto::Value;
use pipemux_proto::fault::Code;
use proptest::prelude::*;

#[test]
fn english_chinese_and_japanese_words_are_found() {
    let mut fixture = Fixture::new();
    fixture.add("Parser", "The OLD recursive-descent parser, in C++ and Rust.", &["code"]);
    fixture.add("数据库", "全文检索要支持中文词语。", &["设计"]);
    fixture.add("会議メモ", "検索機能は来週リリースする。", &["会議"]);
    for (query, found) in [
        ("old", vec!["Parser"]),
        ("recurs", vec!["Parser"]),
        ("RUST parser", vec!["Parser"]),
        ("rust 检索", vec![]),
        ("descent", vec!["Parser"]),
        ("escent", vec![]),
        ("C++", vec!["Parser"]),
        ("\"old recursive\"", vec!["Parser"]),
        ("\"recursive old\"", vec![]),
        ("\"old recurs\"", vec![]),
        ("检索", vec!["数据库"]),
        ("检", vec!["数据库"]),
        ("词语", vec!["数据库"]),
        ("索检", vec![]),
        ("据", vec!["数据库"]),
        ("検索", vec!["会議メモ"]),
        ("リリース", vec!["会議メモ"]),
        ("索", vec!["会議メモ", "数据库"]),
        ("会議", vec!["会議メモ"]),
        ("设计", vec!["数据库"]),
        ("。", vec!["会議メモ", "数据库"]),
    ] {
        let mut shown = fixture.listed(search(query));
        shown.sort();
        let mut found = found;
        found.sort_unstable();
        assert_eq!(shown, found, "{query}");
    }
}

#[test]
fn result_shows_the_line_of_each_word_and_no_filter_stays() {
    let mut fixture = Fixture::new();
    let text = "A fast hash.\nlicense: MIT\nrust-version: 1.60\ncategory: data";
    fixture.add("ahash", text, &["data"]);
    fixture.add("mio", "IO.\nlicense: MIT\nrust-version: 1.65\n", &["io"]);
    fixture.add("release", "and then the release of the release\nend", &[]);
    for (query, expected) in [
        (
            "license rust-version",
            "2 of 3 notes\n[ahash] #data 2: license: MIT · 3: rust-version: 1.60\n\
            [mio] #io 2: license: MIT · 3: rust-version: 1.65\n",
        ),
        (
            "hash OR release",
            "2 of 3 notes\n[release] 1: and then the release of the release\n\
            [ahash] #data 1: A fast hash.\n",
        ),
        ("rust-version 1.60", "1 of 3 notes\n[ahash] #data 3: rust-version: 1.60\n"),
        ("data", "1 of 3 notes\n[ahash] #data 4: category: data\n"),
        ("zebra", "0 of 3 notes\n"),
    ] {
        assert_eq!(fixture.ask(search(query)), expected, "{query}");
    }
    assert_eq!(fixture.shown(), ["n3", "n2", "n1"], "the window is as before");
}

#[test]
fn best_match_comes_first_and_equal_ones_in_the_order_of_titles() {
    let mut fixture = Fixture::new();
    fixture.add("zebra", "it hashes fast, too", &[]);
    fixture.add("Beta", "fast as well, with more", &[]);
    fixture.add("fast path", "the word is in the title", &[]);
    fixture.add("alpha", "is as fast", &[]);
    for number in 0..20 {
        fixture.add(&format!("other {number}"), "slow", &[]);
    }
    assert_eq!(fixture.listed(search("fast")), ["fast path", "alpha", "Beta", "zebra"]);
}

#[test]
fn words_are_found_inside_the_words_of_titles_gists_and_tags() {
    let mut fixture = Fixture::new();
    for (title, text, tag) in [
        ("dashmap", "concurrent", "data"),
        ("other", "a roadmap", "x"),
        ("third", "map of it", "y"),
        ("fourth", "q", "bitmaps"),
    ] {
        fixture.add(title, text, &[tag]);
    }
    assert_eq!(
        fixture.listed(search("map")),
        ["third", "dashmap", "fourth"],
        "whole words come first, then titles in order"
    );
    assert_eq!(fixture.listed(search("map concurrent")), ["dashmap"]);
    assert_eq!(
        fixture.ask(search("map concurrent")),
        "1 of 4 notes\n[dashmap] #data 1: concurrent\n"
    );
    assert_eq!(fixture.listed(search("ma")), ["third"], "two letters only begin a word");
}

#[test]
fn filter_lists_all_that_it_counts() {
    let mut fixture = Fixture::new();
    fixture.add("a", "needle", &["x"]);
    fixture.add("b", "needle", &["y", "x"]);
    fixture.add("c", "hay", &["x"]);
    assert_eq!(
        fixture.ask(filter("x")),
        "3 of 3 notes\n[a] #x needle\n[b] #x #y needle\n[c] #x hay\n"
    );
    let both = Action::Filter { tags: vec!["x".into(), "y".into()], skip: None };
    assert_eq!(fixture.ask(both), "1 of 3 notes\n[b] #x #y needle\n");
    assert_eq!(fixture.ask(filter("z")), "0 of 3 notes\ntags: x 3, y 1\n");
    assert_eq!(fixture.ask(show("x")), fixture.ask(Action::ShowAll {}));
    assert_eq!(fixture.shown().len(), 3);
}

#[test]
fn show_lists_gists_and_reads_texts_byte_for_byte() {
    let mut fixture = Fixture::new();
    let text = "Zeile 1\r\n\t数据库 🦀 \"\\\n# [x](obj:1)\nno newline at the end";
    fixture.add("数据库", text, &["db"]);
    fixture.add("mio", "IO.\n\nmore", &["io"]);
    fixture.add("mio", "the other one", &[]);
    assert_eq!(
        fixture.ask(show("all")),
        "3 notes\n[数据库] #db Zeile 1\n[mio](obj:n2) #io IO.\n[mio](obj:n3) the other one\n"
    );
    assert_eq!(fixture.ask(show("db")), "1 of 3 notes\n[数据库] #db Zeile 1\n");
    assert_eq!(fixture.ask(show("#db")), fixture.ask(show("db")), "a tag as it is shown");
    let value = fixture.done(show("数据库")).value.unwrap().to_value().unwrap();
    assert_eq!(value, Value::from(text), "the bare text, for another app");
    assert_eq!(
        fixture.ask(show("数据库")),
        format!("1 of 3 notes\n[数据库] #db\n```\n{text}\n```\n")
    );
    let summaries = show_at("all", Some(LevelName::Summary), Rest::None);
    assert!(fixture.ask(summaries).contains("[mio](obj:n2) #io 3 lines\n  IO.\n  more\n"));
    let rest = show_at("db", Some(LevelName::Full), Rest::Gist);
    assert!(
        fixture.ask(rest).ends_with("```\n[mio](obj:n2) #io IO.\n[mio](obj:n3) the other one\n")
    );
    let unknown = fixture.fault(show("nothing"));
    assert_eq!(unknown.code, Code::NotFound);
    assert_eq!(unknown.hints.last().unwrap(), "tags: db 1, io 1");
    let list =
        Action::Show { what: titles(&["数据库", "io"]), level: None, rest: None, skip: None };
    assert!(fixture.ask(list).starts_with("2 of 3 notes\n[数据库] #db"));
}

#[test]
fn answer_keeps_to_its_budget_and_leads_to_what_was_cut() {
    let mut fixture = Fixture::new();
    for n in 1..=60 {
        fixture.add(&format!("note {n:02}"), &"some words in a line\n".repeat(20), &["t"]);
    }
    let mut titles_shown = 0;
    for (budget, action) in [
        (300, show("all")),
        (300, search("words")),
        (900, show_at("t", Some(LevelName::Full), Rest::None)),
        (300, show_at("all", Some(LevelName::Summary), Rest::None)),
    ] {
        fixture.host.set_budget(budget);
        let text = fixture.ask(action);
        let spent = tokens::estimate(&text);
        assert!(spent <= u64::from(budget) && spent > u64::from(budget) / 2, "{spent}: {text}");
        titles_shown += text.matches("[note ").count();
        let more = text.lines().last().unwrap();
        assert!(
            more.starts_with("… more: pipemux ask 'notebook.") && more.ends_with(")'"),
            "{text}"
        );
    }
    assert!(titles_shown > 20, "{titles_shown}");
    // The command goes on where the answer ended, to the last note.
    let (mut skip, mut seen) = (0, Vec::new());
    fixture.host.set_budget(300);
    loop {
        let text = fixture.ask(Action::Search { words: "words".into(), skip: Some(skip) });
        seen.extend(text.lines().filter_map(|line| Some(line.split_once("] ")?.0.to_owned())));
        let Some((_, rest)) = text.rsplit_once("skip=") else { break };
        skip = rest.trim_end_matches(")'\n").parse().unwrap();
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 60, "{seen:?}");
    // Where the gists don't fit, the titles do.
    fixture.host.set_budget(500);
    let text = fixture.ask(show("all"));
    assert!(text.contains("[note 01] #t some words in a line\n"), "{text}");
    assert!(text.contains(" [note 59] [note 60]\n… "), "{text}");
    assert!(text.ends_with(" gists without room: a larger --budget shows them\n"), "{text}");
    assert!(tokens::estimate(&text) <= 500, "{text}");
    // A sole text that doesn't fit is cut, with the way to its rest.
    fixture.add("long", &"数据库 line\n".repeat(5000), &[]);
    let text = fixture.ask(show("long"));
    assert!(text.contains(" of 5000 lines more: pipemux read obj:notebook/main:n61\n"), "{text}");
    assert!(tokens::estimate(&text) <= 500, "{text}");
}

#[test]
fn long_query_is_refused_and_many_words_are_accepted() {
    let mut fixture = Fixture::new();
    fixture.add("a", &"w ".repeat(10), &[]);
    let many = (0..250).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    assert!(many.chars().count() > 1000);
    assert_eq!(fixture.fault(search(&many)).code, Code::Usage);
    assert_eq!(fixture.fault(search(" ")).code, Code::Usage);
    let many: String = (0..500).map(|n| char::from_u32(0x4e00 + n).unwrap()).collect();
    assert!(fixture.brief(search(&many)).starts_with("0 of 1 note"));
    let many: String =
        (0..499).map(|n| format!("{} ", char::from_u32(0x4e00 + n).unwrap())).collect();
    assert!(fixture.brief(search(&many)).starts_with("0 of 1 note"));
    let many = "ab OR ".repeat(160);
    assert!(fixture.brief(search(&many)).starts_with("0 of 1 note"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every query gets results, whatever characters it has.
    #[test]
    fn no_query_is_an_error(queries in proptest::collection::vec("\\PC{0,40}|[\"*^:(){}+\\-. aANDORNEAR\n\0]{0,40}", 1..6)) {
        let mut fixture = Fixture::new();
        fixture.add("title", "some text: AND OR NOT (near)", &["tag"]);
        for query in queries {
            if !query.trim().is_empty() {
                fixture.done(search(&query));
            }
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
        let found = fixture.listed(search(word));
        prop_assert!(found.contains(&"x".to_owned()), "{word}");
        let found = fixture.listed(search(&word.to_uppercase()));
        prop_assert!(found.contains(&"x".to_owned()) || word.contains('ß') || word == "or", "{word}");
        if !word.is_ascii() {
            let chars: Vec<_> = word.chars().collect();
            for pair in chars.windows(2).filter(|pair| pair.iter().all(|c| *c >= '\u{3041}')) {
                let found = fixture.listed(search(&pair.iter().collect::<String>()));
                prop_assert!(found.contains(&"x".to_owned()), "{pair:?}");
            }
        }
    }
}
