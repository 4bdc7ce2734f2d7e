use proptest::prelude::*;

use super::conflict::first_side;
use super::*;

fn parse(text: &str) -> NodeFile {
    NodeFile::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn any_file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("---".to_owned()),
        "[a-z]{1,6}: .{0,12}",
        "  [a-z界🚀: -]{0,9}",
        "- [a-z]{0,5}",
        "#.{0,5}",
        ".{0,12}",
        Just(String::new()),
    ];
    (any::<bool>(), any::<bool>(), proptest::collection::vec(line, 0..12)).prop_map(
        |(bom, crlf, lines)| {
            let text = format!("{}---\n{}", if bom { BOM } else { "" }, lines.join("\n"));
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn file_is_printed_as_it_was_read(text in any_file()) {
        if let Ok(file) = NodeFile::parse(text.as_bytes()) {
            prop_assert_eq!(String::from_utf8(file.print()).unwrap(), text);
        }
    }

    #[test]
    fn values_that_are_set_are_read_again_and_nothing_else_changes(
        text in any_file(),
        title in "[\\PC\n\t\r\u{0}\"'\\\\]{1,30}",
        summary in "([a-z界 :#-]{0,12}\n){0,4}[a-z]{1,5}",
        tags in proptest::collection::vec("[a-z界 ,\"'\\[\\]#-]{1,8}", 0..4),
        content in "[a-z界\n-]{0,30}",
    ) {
        let Ok(mut file) = NodeFile::parse(text.as_bytes()) else { return Ok(()) };
        let tags: Vec<String> = tags.into_iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect();
        let others = |file: &NodeFile| -> Vec<FrontMatterEntry> {
            let set = ["title", "summary", "tags"];
            file.entries.iter().filter(|e| !e.key.as_deref().is_some_and(|key| set.contains(&key))).cloned().collect()
        };
        let before = others(&file);
        file.set("title", &title);
        file.set("summary", &summary);
        file.set_list("tags", &tags);
        file.set_content(&content);
        let again = NodeFile::parse(&file.print()).unwrap();
        prop_assert_eq!(again.get("title").unwrap_or_default(), title.trim_end());
        prop_assert_eq!(again.get("summary").unwrap_or_default(), summary.trim_end());
        prop_assert_eq!(again.list("tags"), tags);
        let whole = if content.is_empty() || content.ends_with('\n') { content } else { content + "\n" };
        prop_assert_eq!(again.content(), whole);
        prop_assert_eq!(others(&again), before);
        prop_assert_eq!(again.print(), file.print());
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(file) = NodeFile::parse(&bytes) {
            prop_assert_eq!(file.print(), bytes);
        }
    }
}

#[test]
fn new_file_is_written_in_the_fixed_order() {
    let mut file = NodeFile::default();
    file.set_content("First line.\n\nSecond: 数据\n");
    file.set("modified", "2031-01-02");
    file.set("created", "2031-01-01");
    file.set_list("tags", &["rope".into(), "a, b".into()]);
    file.set("title", "Rope: why?");
    file.set("order", "a0Kq");
    file.set("parent", "editor");
    file.set("summary", "Two lines\nof it");
    let text = "---\ntitle: \"Rope: why?\"\nparent: editor\norder: a0Kq\nsummary: |\n  Two lines\n  of it\n\
        tags:\n  - rope\n  - \"a, b\"\ncreated: 2031-01-01\nmodified: 2031-01-02\n---\n\nFirst line.\n\nSecond: 数据\n";
    assert_eq!(String::from_utf8(file.print()).unwrap(), text);
}

#[test]
fn forms_that_people_and_tools_write_are_read() {
    let file = parse(
        "---\r\ntitle:   'It''s a rope'\r\ntags: [a, \"b, c\" , 'd']\r\n# a comment\r\nsummary: >\r\n  folded\r\n  text\r\n\
         aliases:\r\n- x\r\n- y\r\n---\r\n\r\nbody\r\n",
    );
    assert_eq!(file.title().as_deref(), Some("It's a rope"));
    assert_eq!(file.list("tags"), ["a", "b, c", "d"]);
    assert_eq!(file.list("aliases"), ["x", "y"]);
    assert_eq!(file.get("summary").as_deref(), Some("folded text"));
    assert_eq!(file.content(), "body\n");
    assert_eq!(parse("# Just Markdown\n\ntext\n").title().as_deref(), Some("Just Markdown"));
    assert_eq!(parse("").title(), None);
}

#[test]
fn broken_front_matter_says_where() {
    let error = |text: &str| NodeFile::parse(text.as_bytes()).unwrap_err().to_string();
    assert_eq!(error("---\ntitle: a\n"), "its front matter has no closing line ---");
    assert_eq!(
        error("---\ntitle: a\nno entry\n---\n"),
        "line 3: expected `key: value`, found `no entry`"
    );
    assert_eq!(error("---\ntitle: a\ntitle: b\n---\n"), "line 3: `title` is there twice");
    assert_eq!(NodeFile::parse(b"a\xff").unwrap_err().to_string(), "it isn't UTF-8 (byte 1)");
}

#[test]
fn conflict_markers_are_found_and_the_first_side_can_be_seen() {
    let text =
        "---\ntitle: a\n<<<<<<< HEAD\norder: a1\n=======\norder: a2\n>>>>>>> other\n---\nbody\n";
    assert_eq!(conflict_line(text), Some(3));
    assert_eq!(first_side(text), "---\ntitle: a\norder: a1\n---\nbody\n");
    for text in
        ["<<<<<<< a\n=======\n", "    <<<<<<< a\n=======\n>>>>>>> b\n", "=======\n>>>>>>> b\n"]
    {
        assert_eq!(conflict_line(text), None, "{text:?}");
    }
}
