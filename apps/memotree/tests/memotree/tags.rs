//! Tags: in the headings of Markdown, in searches, and in the place of nodes.

use crate::common::{Fixture, text, texts};

fn with_tags() -> Fixture {
    let mut tree = Fixture::new();
    let rows = "# Queue #decision\nOne file.\n## Retry #decision #ops\nThree times.\n# Fix \\#12 \\#later\n# Room #7\n";
    tree.call("add_many", [("rows", text(rows))]);
    tree
}

#[test]
fn words_with_a_hash_at_the_end_of_a_heading_are_tags() {
    let mut tree = with_tags();
    let all = tree.ask("show", []);
    let expected = "4 nodes\n- Queue #decision · 1 node\n  - Retry #decision #ops\n- Fix #12 #later\n- Room #7\n";
    assert_eq!(all, expected);
    let export = [("path", text("all.md"))];
    tree.call("export", export);
    let file = std::fs::read_to_string(tree.root().join("all.md")).unwrap();
    assert!(file.contains("## Retry #decision #ops [[MT:Node:retry]]\n"), "{file}");
    assert!(file.contains("# Fix \\#12 \\#later [[MT:Node:fix-12-later]]\n"), "{file}");
    let again = tree.call("import", [("path", text("all.md"))]);
    assert_eq!(again.brief, "nothing changed: the nodes are so already");
}

#[test]
fn tag_stands_for_the_nodes_that_have_it() {
    let mut tree = with_tags();
    tree.call("expand", [("nodes", texts(&["#decision"]))]);
    let view = tree.view();
    assert!(view.contains("One file.") && view.contains("Three times."), "{view}");
    let shown = tree.ask("show", [("nodes", text("#ops"))]);
    let expected = "retry\nRetry #decision #ops · below queue\n  Three times.\n";
    assert!(shown.starts_with(expected), "{shown}");
    let gists = tree.ask("show", [("nodes", text("#ops")), ("level", text("gist"))]);
    assert!(gists.contains("below queue\n  Three times.\n"), "{gists}");
    let found = tree.ask("search", [("query", text("#ops"))]);
    assert_eq!(found, "1 of 4 nodes\n- Retry #decision #ops\n  Three times.\n");
    let none = tree.ask("search", [("query", text("#three"))]);
    assert!(
        none.contains("no node has this tag; as a word: pipemux ask 'memotree.search(\"three\")'"),
        "{none}"
    );
    let fault = tree.fault("edit", [("node", text("#decision")), ("text", text("x"))]);
    assert_eq!(fault.message, "#decision stands for 2 nodes, expected one");
    assert_eq!(fault.hints[0], "name one of them: queue, retry");
    tree.call("edit", [("node", text("#ops")), ("text", text("Twice."))]);
    let fault = tree.fault("collapse", [("nodes", texts(&["#nothing"]))]);
    assert_eq!(fault.message, "no node has the tag #nothing");
}
