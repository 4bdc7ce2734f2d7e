use std::time::Duration;

use docui::testing::Unasked;
use pipemux_proto::Code;

use crate::common::{Fixture, open, text, texts};

/// How long to wait for what surely comes.
const SURELY: Duration = Duration::from_secs(60);

fn notices(unasked: &[Unasked]) -> Vec<String> {
    let notice = |one: &Unasked| match one {
        Unasked::Notice(text) => Some(text.clone()),
        _ => None,
    };
    unasked.iter().filter_map(notice).collect()
}

/// Waits until readers are told this, and that the window changed.
fn told(tree: &mut Fixture, wanted: &str) {
    let all = noticed(tree, wanted);
    assert!(all.contains(&Unasked::Changed), "{all:?}");
}

/// Waits until readers are told this.
fn noticed(tree: &mut Fixture, wanted: &str) -> Vec<Unasked> {
    let mut all = Vec::new();
    while !notices(&all).iter().any(|notice| notice == wanted) {
        let unasked = tree.host.wait_unasked(SURELY);
        assert!(!unasked.is_empty(), "never told: {wanted}: {all:?}");
        all.extend(unasked);
    }
    all
}

#[test]
fn readers_are_told_of_files_that_others_write_replace_and_remove() {
    let mut tree = Fixture::with_nodes();
    tree.view();
    // In place, of a node that isn't shown.
    let file = tree.file("nodes/len.md");
    tree.write("nodes/len.md", &file.replace("Len counts", "It counts"));
    told(&mut tree, "The tree's files were changed outside: changed len.");
    tree.write("nodes/new.md", "---\ntitle: New\n---\n");
    told(&mut tree, "The tree's files were changed outside: added new.");
    assert!(tree.view().contains("- New [[MT:Node:new]]"));
    std::fs::remove_file(tree.path("nodes/release.md")).unwrap();
    told(&mut tree, "The tree's files were changed outside: removed release.");
    assert!(!tree.view().contains("release"));
    tree.write("views/api.toml", "description = \"from outside\"\n");
    let unasked = tree.host.wait_unasked(SURELY);
    assert!(unasked.contains(&Unasked::Changed), "{unasked:?}");
    assert!(tree.view().contains("- api [[MT:View:api]] · from outside"));
}

#[test]
fn first_file_of_a_tree_is_noticed() {
    let mut tree = Fixture::new();
    assert!(tree.view().contains("no .memotree yet"));
    tree.write("nodes/new.md", "---\ntitle: New\n---\n");
    told(&mut tree, "The tree's files were changed outside: added new.");
    assert!(tree.view().contains("- New [[MT:Node:new]]"));
}

#[test]
fn text_that_somebody_else_changed_is_not_replaced_unseen() {
    let mut tree = Fixture::with_nodes();
    tree.view();
    let file = tree.file("nodes/len.md");
    let changed = file.replace("Len counts", "It counts");
    tree.write("nodes/len.md", &changed);
    told(&mut tree, "The tree's files were changed outside: changed len.");
    let fault = tree.fault("edit", [("node", text("len")), ("text", text("mine"))]);
    assert_eq!(fault.code, Code::Stale);
    assert_eq!(fault.hints, ["pipemux ask 'memotree.show(\"len\")'; then repeat the edit"]);
    assert_eq!(tree.file("nodes/len.md"), changed);
    tree.view();
    tree.call("edit", [("node", text("len")), ("text", text("mine"))]);
    assert!(tree.file("nodes/len.md").contains("mine"));
}

#[test]
fn session_sees_what_another_session_does_on_the_same_tree() {
    let mut tree = Fixture::with_nodes();
    tree.call("expand", [("nodes", texts(&["rope"]))]);
    tree.view();
    let mut other = open(&tree.dir, "b").unwrap();
    other.call("append", [("node", text("rope")), ("text", text("And it is simple."))]);
    told(&mut tree, "The tree's files were changed outside: changed rope.");
    assert!(tree.view().contains("  And it is simple.\n"), "{}", tree.view());
}

#[test]
fn change_that_an_action_is_the_first_to_notice_is_told_and_not_replaced() {
    let mut tree = Fixture::with_nodes();
    tree.view();
    let file = tree.file("nodes/len.md");
    let changed = file.replace("Len counts", "It counts");
    // Nothing has looked at the folder since.
    tree.write("nodes/len.md", &changed);
    let fault = tree.fault("edit", [("node", text("len")), ("text", text("mine"))]);
    assert_eq!(fault.code, Code::Stale);
    tree.call("append", [("node", text("len")), ("text", text("more"))]);
    assert!(tree.file("nodes/len.md").contains("It counts chars.\nmore\n"));
    noticed(&mut tree, "The tree's files were changed outside: changed len.");
    tree.view();
    tree.call("edit", [("node", text("len")), ("text", text("mine"))]);
}
