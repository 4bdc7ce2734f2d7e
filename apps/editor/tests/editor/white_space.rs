//! White space is never the caller's work: ranges of whole items are items, and one final newline
//! ends a line.

use proptest::prelude::*;

use crate::support::*;

const CODE: &str = "import os\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n\n\n@mark\ndef c():\n    return 3\n";

fn session() -> TestSession {
    TestSession::with(&[("w.py", CODE)])
}

fn move_after(range: &str, after: &str) -> Action {
    Action::Move {
        range: line_of(range),
        before: None,
        after: Some(line_of(after)),
        at_start_of: None,
        at_end_of: None,
    }
}

fn insert_at(text_: &str, after: Option<&str>, at_end_of: Option<&str>) -> Action {
    Action::InsertBeside {
        text: text(text_),
        before: None,
        after: after.map(line_of),
        at_start_of: None,
        at_end_of: at_end_of.map(line_of),
        indent: String::new(),
    }
}

#[test]
fn range_of_whole_items_moves_as_the_items_do() {
    let moved = "import os\n\n\n@mark\ndef c():\n    return 3\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n";
    // With the empty lines around them, or without.
    for range in ["w.py:4-9", "w.py:4-11", "w.py:3-10"] {
        let mut session = session();
        session.done(&move_after(range, "c"));
        assert_eq!(session.text(), moved, "{range}");
        session.view();
        session.done(&undo());
        assert_eq!(session.text(), CODE);
    }
    let mut there = session();
    there.done(&move_after("w.py:4-9", "c"));
    there.view();
    there.done(&move_after("w.py:9-13", "w.py:1"));
    assert_eq!(there.text().matches("\n\n\n\n").count(), 0, "{}", there.text());
    for (range, wanted) in [
        ("w.py:8-11", "import os\n\n\ndef a():\n    return 1\n\n\n@mark\ndef c():\n    return 3\n"),
        ("w.py:4-14", "import os\n"),
        // A part of an item is lines, and nothing else goes with them.
        (
            "w.py:9-10",
            "import os\n\n\ndef a():\n    return 1\n\n\ndef b():\n\n@mark\ndef c():\n    return 3\n",
        ),
    ] {
        let mut session = session();
        session.done(&Action::Delete { range: line_of(range) });
        assert_eq!(session.text(), wanted, "{range}");
    }
}

#[test]
fn final_newline_of_a_text_is_the_end_of_its_last_line() {
    let n = "def n():\n    return 0";
    let wanted = CODE.replace("def b", &format!("{n}\n\n\ndef b"));
    for text in [n.to_owned(), format!("{n}\n"), format!("\n{n}\n\n\n")] {
        let mut beside = session();
        beside.done(&insert_at(&text, Some("a"), None));
        assert_eq!(beside.text(), wanted, "{text:?}");
        let mut behind = session();
        behind.done(&insert_at(&text, None, Some("w.py")));
        assert_eq!(behind.text(), format!("{CODE}\n\n{n}\n"), "{text:?}");
    }
    for text in ["    return 22", "    return 22\n"] {
        let wanted = CODE.replace("    return 2\n", "    return 22\n");
        let mut lines = session();
        lines.done(&replace_lines(9, 9, text));
        assert_eq!(lines.text(), wanted, "{text:?}");
        for old in ["    return 2", "    return 2\n"] {
            let mut session = session();
            session.done(&replace_all(old, text));
            assert_eq!(session.text(), wanted, "{old:?} {text:?}");
            let mut session = self::session();
            let (path, new_str) = ("w.py".into(), text.into());
            session.done(&Action::StrReplace { path, old_str: old.into(), new_str });
            assert_eq!(session.text(), wanted, "{old:?} {text:?}");
        }
    }
    // Of lines that end with an empty one, a final newline stands for that one.
    for (text, wanted) in [
        ("    return 22", "    return 22\n"),
        ("    return 22\n", "    return 22\n\n"),
        ("    return 22\n\n", "    return 22\n\n"),
        ("    return 22\n\n\n", "    return 22\n\n\n"),
    ] {
        let mut lines = session();
        lines.done(&replace_lines(9, 11, text));
        assert_eq!(lines.text(), CODE.replace("    return 2\n\n\n", wanted), "{text:?}");
    }
    // Text by reference has no such line.
    let mut by_reference = session();
    let two =
        Text { text: "    return 22\n".into(), from: Some(("editor/main".into(), "x:1".into())) };
    by_reference.done(&Action::ReplaceLines { first: at(9), last: at(11), text: two });
    assert_eq!(by_reference.text(), CODE.replace("    return 2\n\n\n", "    return 22\n"));
    // A newline alone, and lines that are joined on purpose.
    for (old, new, wanted) in [
        ("\n", ",", CODE.replace('\n', ",")),
        ("\n\n\n", "\n", CODE.replace("\n\n\n", "\n")),
        ("def b():\n", "def b(): ", CODE.replace("def b():\n", "def b(): ")),
    ] {
        let mut session = session();
        session.done(&replace_all(old, new));
        assert_eq!(session.text(), wanted, "{old:?} {new:?}");
    }
    let mut imports = session();
    imports.done(&insert_at("import re\n", Some("w.py:1"), None));
    assert!(imports.text().starts_with("import os\nimport re\n\n\ndef a"), "{}", imports.text());
}

/// A file of items of several lines, with one number of empty lines between them.
fn items() -> impl Strategy<Value = (Vec<String>, usize, &'static str)> {
    let body = prop::sample::select(vec!["{\n    1\n}", "{\n    // 中\n\n    2\n}"]);
    let doc = prop::sample::select(vec!["", "/// Doc.\n", "#[inline]\n"]);
    let items = prop::collection::vec((doc, body), 3..7);
    let endings = prop::sample::select(vec!["\n", "\r\n"]);
    (items, 1..3usize, endings).prop_map(|(items, gap, ending)| {
        let named = items.into_iter().enumerate();
        let items = named.map(|(n, (doc, body))| format!("{doc}fn f{n}() -> u8 {body}\n"));
        (items.collect(), gap, ending)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Several neighbours go behind another item, by name or by their lines with empty lines around
    /// them, and back.
    #[test]
    fn neighbours_keep_their_distance_there_and_back(
        (items, gap, ending) in items(),
        first in any::<prop::sample::Index>(),
        last in any::<prop::sample::Index>(),
        around in 0..2i64,
    ) {
        let between = "\n".repeat(gap);
        let original = items.join(&between).replace('\n', ending);
        let (first, last) = (first.index(items.len() - 1), last.index(items.len() - 1));
        let (first, last) = (first.min(last), first.max(last));
        let line_before = |n: usize| {
            let above = items[..n].join(&between) + if n > 0 { &between } else { "" };
            above.matches('\n').count() as i64
        };
        let (from, to) = (line_before(first) + 1, line_before(last) + items[last].matches('\n').count() as i64);
        let all = original.matches('\n').count() as i64;
        let (from, to) = ((from - around).max(1), (to + around).min(all));
        let mut session = TestSession::with(&[("a.rs", &original)]);
        session.done(&move_after(&format!("a.rs:{from}-{to}"), &format!("f{}", items.len() - 1)));
        let mut moved: Vec<&String> = items.iter().collect();
        let block: Vec<&String> = moved.drain(first..=last).collect();
        moved.extend(block);
        let wanted: Vec<&str> = moved.into_iter().map(String::as_str).collect();
        prop_assert_eq!(session.text(), wanted.join(&between).replace('\n', ending));
        session.view();
        if first > 0 {
            let start = wanted[..wanted.len() - (last - first + 1)].join(&between) + &between;
            let start = start.matches('\n').count() as i64 + 1;
            let end = session.text().matches('\n').count();
            session.done(&move_after(&format!("a.rs:{start}-{end}"), &format!("f{}", first - 1)));
            prop_assert_eq!(session.text(), original);
        }
    }
}
