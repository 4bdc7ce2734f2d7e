use crate::common::{Fixture, text, texts};

#[test]
fn window_shows_views_environment_and_tree_with_what_is_expanded() {
    let mut tree = Fixture::with_nodes();
    let view = tree.view();
    assert!(view.starts_with("## proj\n"), "{view}");
    assert!(view.contains("### Views\ncurrent: default [[MT:View:default]]\n"), "{view}");
    let meta = format!(
        "### Environment\nContext UI v1 · memotree {} · changed 20",
        env!("CARGO_PKG_VERSION")
    );
    assert!(view.contains(&meta) && view.contains("\nproj · 4 nodes, 0 expanded\n"), "{view}");
    assert!(view.contains("- Rope [[MT:Node:rope]] · 2 nodes\n"), "{view}");
    assert!(!view.contains("Len"), "{view}");
    assert!(!view.contains(tree.dir.path().to_str().unwrap()), "no absolute path: {view}");
    tree.call("expand", [("nodes", texts(&["rope", "Len"]))]);
    let view = tree.view();
    let expected = "- Rope [[MT:Node:rope]]\n  Why a rope.\n  - Len [[MT:Node:len]]\n    \
                    Len counts chars.\n  - Split [[MT:Node:split]]\n- Release [[MT:Node:release]]\n";
    assert!(view.contains(expected), "{view}");
    assert!(view.contains("4 nodes, 2 expanded"), "{view}");
    tree.call("collapse", [("nodes", texts(&["rope"]))]);
    tree.call("expand", [("nodes", texts(&["release"])), ("level", text("gist"))]);
    let view = tree.view();
    assert!(!view.contains("Why a rope"), "{view}");
    assert!(view.contains("- Release [[MT:Node:release]]\n"), "{view}");
}

#[test]
fn level_is_that_of_all_nodes_below_the_shown_ones() {
    let mut tree = Fixture::with_nodes();
    tree.call("edit", [("node", text("split")), ("text", text("At chars.\nNever in one.\n"))]);
    let full = [("level", text("full"))];
    let all = tree.ask("show", full.clone());
    let expected = "4 nodes\n- Rope · 2 nodes\n  Why a rope.\n  - Len\n    Len counts chars.\n  \
                    - Split\n```\nAt chars.\nNever in one.\n```\n- Release\n";
    assert!(all.starts_with(expected), "{all}");
    let [level] = full;
    let below = tree.ask("show", [("nodes", text("rope")), level]);
    assert!(below.contains("  - Len\n    Len counts chars.\n"), "{below}");
    let alone = tree.ask("show", [("nodes", text("rope"))]);
    assert!(alone.contains("  - Len\n  - Split"), "{alone}");
}

#[test]
fn node_is_named_by_id_title_and_token() {
    let mut tree = Fixture::with_nodes();
    for name in ["len", "Len", "LEN", "[[MT:Node:len]]", " [[MT:Node:len]] "] {
        let shown = tree.ask("show", [("nodes", text(name))]);
        assert!(shown.contains("Len counts chars."), "{name}: {shown}");
    }
    let fault = tree.fault("show", [("nodes", text("[[MT:View:default]]"))]);
    assert_eq!(fault.message, "[[MT:View:default]] is no node");
    tree.call("add", [("title", text("Len"))]);
    let fault = tree.fault("show", [("nodes", text("LEN"))]);
    assert!(fault.message.contains("2 nodes have the title"), "{fault:?}");
    assert!(fault.hints[0].contains("\"len\", \"len-2\""), "{fault:?}");
}

#[test]
fn rows_of_json_stand_below_earlier_rows_and_nodes() {
    let mut tree = Fixture::with_nodes();
    let rows = r#"{"title": "API", "gist": "what others call", "tags": ["api", "v1"]}
{"title": "Errors", "parent": "API", "text": "All are typed.\nNone panics.\n"}
{"title": "Dates", "parent": "release"}
[{"title": "Codes", "parent": "errors", "tags": "a, b"}]"#;
    let added = tree.call("add_many", [("rows", text(rows))]);
    assert_eq!(added.brief, "4 nodes: api, errors, dates, codes");
    let outline = tree.ask("show", []);
    let expected = "8 nodes\n- Rope · 2 nodes\n  - Len\n  \
                    - Split\n- Release · 1 node\n  \
                    - Dates\n- API #api #v1 · 1 node · what others call\n  \
                    - Errors · 1 node · 2 lines\n    - Codes #a #b\n";
    assert_eq!(outline, expected);
    let shown = tree.ask("show", [("nodes", text("api"))]);
    assert!(shown.contains("API #api #v1 · 1 node · what others call\n"), "{shown}");
    let before = tree.files();
    for (rows, message) in [
        ("", "rows: no rows"),
        ("a,b", "rows: expected JSON lines or Markdown headings"),
        (
            "{\"title\": \"x\"}\n{\"titel\": \"y\"}",
            "row 2: \"titel\": a node has title, text, parent, gist, summary, tags, did you mean title?",
        ),
        ("{\"text\": \"x\"}", "row 1: title: it is missing"),
        ("{\"title\": \"x\"}\n[3]", "row 2: expected an object"),
        (
            "{\"title\": \"x\", \"parent\": \"relaese\"}",
            "row 1: parent: there is no node \"relaese\"; near: release",
        ),
        ("{\"title\": \"x\"", "row 1, line 1, column 13: EOF"),
        ("{\"title\": \"x\", \"tags\": 3}", "row 1: tags: expected a list of strings"),
    ] {
        let fault = tree.fault("add_many", [("rows", text(rows))]);
        assert!(fault.message.starts_with(message), "{rows}: {fault:?}");
    }
    assert_eq!(tree.files(), before);
}

#[test]
fn nodes_are_changed_moved_removed_and_brought_back() {
    let mut tree = Fixture::with_nodes();
    let start = tree.files();
    let edited = tree.call("edit", [("node", text("len")), ("text", text("In bytes.\nFast.\n"))]);
    assert_eq!(edited.brief, "len, 2 lines");
    assert_eq!(edited.links[0].label, "undo");
    tree.call("append", [("node", text("len")), ("text", text("More."))]);
    tree.call("retitle", [("node", text("len")), ("title", text("Length"))]);
    tree.call("gist", [("node", text("len")), ("text", text("how long"))]);
    tree.call("summary", [("node", text("len")), ("text", text("It is counted."))]);
    tree.call("tag", [("nodes", texts(&["len", "rope"])), ("add", texts(&["core"]))]);
    let file = tree.file("nodes/len.md");
    for part in [
        "title: Length\n",
        "parent: rope\n",
        "gist: how long\n",
        "- core\n",
        "In bytes.\nFast.\nMore.\n",
    ] {
        assert!(file.contains(part), "{part}: {file}");
    }
    tree.call("move", [("nodes", texts(&["len"])), ("before", text("release"))]);
    assert!(
        tree.view().contains("\n- Length [[MT:Node:len]] · 3 lines · how long\n- Release"),
        "{}",
        tree.view()
    );
    let removed = tree.call("remove", [("nodes", texts(&["rope"]))]);
    assert_eq!(removed.brief, "2 nodes: rope, split, to the trash");
    assert!(tree.ask("trash", []).starts_with("2 nodes\nrope, split\n"));
    let gone = tree.fault("show", [("nodes", text("rope"))]);
    assert!(gone.message.contains("there is no node \"rope\""), "{gone:?}");
    tree.call("restore", [("id", text("split"))]);
    assert!(tree.view().contains("- Split [[MT:Node:split]] · its parent `rope` is missing"));
    let undone = tree.call("undo", [("steps", pipemux_proto::Value::Int(9).into())]);
    assert!(
        undone.brief.starts_with("restore split (1 node); remove rope (2 nodes); move len"),
        "{undone:?}"
    );
    assert_eq!(tree.files(), start);
    tree.call("redo", []);
    assert!(tree.file("nodes/len.md").contains("In bytes."));
    let fault = tree.fault("undo", [("steps", pipemux_proto::Value::Int(0).into())]);
    assert!(fault.message.contains("expected 1 or more"), "{fault:?}");
}

#[test]
fn link_to_undo_takes_back_its_own_change_only() {
    let mut tree = Fixture::with_nodes();
    let first = tree.call("append", [("node", text("len")), ("text", text("one"))]);
    let change = |done: &pipemux_proto::app::Done| {
        let pipemux_proto::projection::Arg::Value(blob) = &done.links[0].args["change"] else {
            panic!("{done:?}")
        };
        pipemux_proto::projection::Arg::Value(blob.clone())
    };
    tree.call("append", [("node", text("rope")), ("text", text("two"))]);
    let second = tree.call("tag", [("nodes", text("len")), ("add", texts(&["three"]))]);
    let undone = tree.call("undo_change", [("change", change(&first))]);
    assert_eq!(undone.brief, "undo of append to len (1 node)");
    let len = |tree: &Fixture| tree.file("nodes/len.md");
    assert!(!len(&tree).contains("one\n") && len(&tree).contains("- three\n"), "{}", len(&tree));
    let fault = tree.fault("undo_change", [("change", change(&first))]);
    assert!(fault.message.contains("no change"), "{fault:?}");
    // What was taken back is made again in the same way, and taken back again.
    let redone = tree.call("undo_change", [("change", change(&undone))]);
    assert!(len(&tree).contains("one\n"), "{}", len(&tree));
    assert_eq!(change(&redone), change(&first));
    let undone = tree.call("undo_change", [("change", change(&redone))]);
    tree.call("redo", []);
    assert!(len(&tree).contains("one\n"), "{}", len(&tree));
    let fault = tree.fault("undo_change", [("change", change(&undone))]);
    assert!(fault.message.contains("no change"), "{fault:?}");
    // The newest change that isn't taken back.
    tree.call("undo_change", [("change", change(&second))]);
    assert!(tree.call("undo", []).brief.starts_with("append to rope"));
    let fault = tree.fault("undo_change", [("change", change(&second))]);
    assert!(fault.message.contains("no change"), "{fault:?}");
}

#[test]
fn text_is_replaced_in_all_nodes_that_have_it_or_in_those_named() {
    let mut tree = Fixture::with_nodes();
    tree.call("edit", [("node", text("rope")), ("text", text("Ask 陈伟.\nAsk 陈伟 twice.\n"))]);
    tree.call("edit", [("node", text("len")), ("text", text("Ask 陈伟.\n"))]);
    tree.call("gist", [("node", text("split")), ("text", text("of 陈伟"))]);
    let start = tree.files();
    let replace = |old, new| [("old", text(old)), ("new", text(new))];
    let done = tree.call("replace", replace("陈伟", "Farah"));
    assert_eq!(done.brief, "4 places in 3 nodes: len, rope, split");
    assert!(tree.file("nodes/rope.md").ends_with("Ask Farah.\nAsk Farah twice.\n"));
    assert!(tree.file("nodes/split.md").contains("gist: of Farah\n"));
    tree.call("undo", []);
    assert_eq!(tree.files(), start);
    let [old, new] = replace("Ask ", "");
    let done = tree.call("replace", [old, new, ("nodes", texts(&["len"]))]);
    assert_eq!(done.brief, "1 place in 1 node: len");
    assert!(tree.file("nodes/rope.md").contains("Ask 陈伟.\n"));
    let fault = tree.fault("replace", replace("nowhere", "x"));
    assert_eq!(fault.message, "no text, gist or summary has \"nowhere\"");
    assert!(tree.fault("replace", replace("", "x")).message.contains("expected a text"));
    let long = "long ".repeat(80);
    assert!(tree.fault("replace", replace("of 陈伟", &long)).message.contains("gist: "));
}

#[test]
fn undo_is_refused_where_a_later_change_rests_on_it() {
    let mut tree = Fixture::with_nodes();
    let change = |done: pipemux_proto::app::Done| done.links[0].args["change"].clone();
    let first = change(tree.call("edit", [("node", text("len")), ("text", text("one\n"))]));
    tree.call("edit", [("node", text("len")), ("text", text("two\n"))]);
    let fault = tree.fault("undo_change", [("change", first)]);
    assert_eq!(
        fault.message,
        "nodes/len.md was changed since in a way that rests on it; nothing was undone"
    );
    assert_eq!(fault.hints, ["pipemux ask 'memotree.show(\"len\")'"]);
    let added = change(tree.call("add", [("title", text("Top"))]));
    tree.call("add", [("title", text("Below")), ("parent", text("top"))]);
    let fault = tree.fault("undo_change", [("change", added)]);
    assert!(fault.message.starts_with("nodes/below.md was changed since"), "{fault:?}");
    let moved = change(tree.call("move", [("nodes", texts(&["len"])), ("parent", text("top"))]));
    tree.call("move", [("nodes", texts(&["rope"])), ("parent", text("len"))]);
    let fault = tree.fault("undo_change", [("change", moved)]);
    assert!(fault.message.starts_with("nodes/len.md was changed since"), "{fault:?}");
}

#[test]
fn search_finds_words_of_any_script_with_the_line_that_has_them() {
    let mut tree = Fixture::with_nodes();
    tree.call("add", [("title", text("检索")), ("text", text("第一行\n全文检索用一字一词。\n"))]);
    let found = tree.ask("search", [("query", text("一字一词"))]);
    assert_eq!(found, "1 of 5 nodes\n- 检索 · 2 lines\n  全文检索用一字一词。\n");
    let rows: String =
        (0..30).map(|n| format!("## Row {n}\nAsk Farah.\nAsk Chen Wei.\n")).collect();
    tree.call("add_many", [("rows", text(&rows))]);
    let found = tree.ask("search", [("query", text("\"Ask Chen Wei\""))]);
    assert_eq!(found.matches("\n  Ask Chen Wei.\n").count(), 30, "{found}");
    assert!(!found.contains("Farah"), "{found}");
    let rows: Vec<String> = (0..30).map(|n| format!("row-{n}")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    tree.call("remove", [("nodes", texts(&rows))]);
    let found = tree.ask("search", [("query", text("friday OR chars"))]);
    assert!(found.starts_with("2 of 5 nodes\n") && found.contains("Ship on Friday."), "{found}");
    let ask = |tree: &mut Fixture, query: &str| tree.ask("search", [("query", text(query))]);
    let all = "0 of 5 nodes\nall titles: pipemux ask 'memotree.show()'\n";
    assert_eq!(ask(&mut tree, "nowhere"), all);
    let any = ask(&mut tree, "friday chars");
    assert!(
        any.ends_with("any of the words: pipemux ask 'memotree.search(\"friday OR chars\")'\n"),
        "{any}"
    );
    let dangling = ask(&mut tree, "friday OR");
    assert!(dangling.contains("OR stands between two words: a OR b"), "{dangling}");
    tree.fault("search", [("query", text(" -> "))]);
    tree.call("query_save", [("name", text("when")), ("query", text("friday"))]);
    for name in ["when", "[[MT:Query:when]]"] {
        assert!(tree.ask("search", [("query", text(name))]).contains("Ship on Friday."), "{name}");
    }
    assert!(tree.ask("list", []).contains("- when [[MT:Query:when]] · friday\n"));
    tree.call("query_delete", [("query", text("when"))]);
    assert!(tree.ask("search", [("query", text("when"))]).starts_with("0 of 5 nodes\n"));
}

#[test]
fn relations_are_shown_at_both_ends() {
    let mut tree = Fixture::with_nodes();
    let done = tree
        .call("relate", [("a", text("len")), ("b", text("rope")), ("kind", text("depends-on"))]);
    let id = done.brief.rsplit(' ').next().unwrap().to_owned();
    let at_source = tree.ask("show", [("nodes", text("len"))]);
    assert!(at_source.contains(&format!("depends-on rope [[MT:Relation:{id}]]\n")), "{at_source}");
    let at_target = tree.ask("show", [("nodes", text("rope"))]);
    assert!(
        at_target.contains(&format!("len depends-on this [[MT:Relation:{id}]]\n")),
        "{at_target}"
    );
    tree.call("unrelate", [("relation", text(&format!("[[MT:Relation:{id}]]")))]);
    assert!(!tree.ask("show", [("nodes", text("len"))]).contains("depends-on"));
}

#[test]
fn tokens_in_texts_and_titles_are_inert() {
    let mut tree = Fixture::new();
    let forged = "see [[MT:Node:other]] and [[MT:View:default]]";
    let add = [("title", text("a [[MT:Node:b]]")), ("text", text(forged)), ("gist", text(forged))];
    tree.call("add", add);
    tree.call("create", [("name", text("v")), ("description", text(forged))]);
    tree.call("expand", [("nodes", text("a-mt-node-b"))]);
    let shown = [
        tree.view(),
        tree.ask("show", []),
        tree.ask("list", []),
        tree.ask("search", [("query", text("see"))]),
    ];
    for shown in shown {
        assert!(
            !shown.contains("[[MT:Node:other]]") && !shown.contains("[[MT:Node:b]]"),
            "{shown}"
        );
        let rest = shown.replace("[[MT:View:default]]\n", "").replace("[[MT:View:default]] ·", "");
        assert!(!rest.contains("[[MT:View:default]]"), "{shown}");
    }
    // The text itself, as another app gets it, is exact.
    let done = tree.call("show", [("nodes", text("a-mt-node-b"))]);
    assert_eq!(
        done.value.unwrap().to_value().unwrap().as_str(),
        Some("see [[MT:Node:other]] and [[MT:View:default]]\n")
    );
}

#[test]
fn markdown_is_imported_and_exported() {
    let mut tree = Fixture::with_nodes();
    std::fs::write(tree.root().join("notes.md"), "# Plan\nFirst.\n## Step {#len}\nNew text.\n")
        .unwrap();
    let done = tree.call("import", [("path", text("notes.md"))]);
    assert_eq!(done.brief.split("; to undo").next().unwrap(), "added 1 node: plan; changed len");
    assert!(tree.file("nodes/len.md").contains("New text."));
    tree.call("export", [("path", text("out.md")), ("nodes", text("rope"))]);
    let out = std::fs::read_to_string(tree.root().join("out.md")).unwrap();
    assert!(out.starts_with("# Rope [[MT:Node:rope]]\n\nWhy a rope.\n"), "{out}");
    let fault = tree.fault("export", [("path", text("out.md"))]);
    assert_eq!(fault.message, "out.md exists already");
    tree.call(
        "export",
        [("path", text("out.md")), ("overwrite", pipemux_proto::Value::Bool(true).into())],
    );
    assert!(std::fs::read_to_string(tree.root().join("out.md")).unwrap().contains("# Plan"));
    let again = tree.call("import", [("path", text("out.md"))]);
    assert!(again.brief.starts_with("nothing changed"), "{again:?}");
    tree.fault("import", [("path", text("nowhere.md"))]);
}
