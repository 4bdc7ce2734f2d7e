use crate::common::{Fixture, text, texts};

#[test]
fn session_wakes_as_it_slept() {
    let mut tree = Fixture::with_nodes();
    tree.call("expand", [("nodes", texts(&["rope"]))]);
    tree.call("append", [("node", text("len")), ("text", text("more"))]);
    let before = tree.view();
    let version = tree.host.project(docui::Lod::Summary, 4_000).unwrap().version;
    tree.host.hibernate_and_wake(&[&[]]).unwrap();
    assert_eq!(tree.view(), before);
    assert_eq!(tree.host.project(docui::Lod::Summary, 4_000).unwrap().version, version);
    tree.call("undo", []);
    assert!(!tree.file("nodes/len.md").contains("more"));
}

#[test]
fn change_while_it_slept_is_noticed() {
    let mut tree = Fixture::with_nodes();
    tree.call("expand", [("nodes", texts(&["rope"]))]);
    tree.view();
    let version = tree.host.hibernate().unwrap();
    let file = tree.file("nodes/rope.md");
    tree.write("nodes/rope.md", &file.replace("Why a rope.", "Changed while it slept."));
    assert!(tree.host.wake(version, &[&[]]).unwrap().0);
    assert!(tree.view().contains("Changed while it slept."));
    assert!(tree.host.project(docui::Lod::Summary, 4_000).unwrap().version > version);
}

#[test]
fn restart_tells_what_was_kept() {
    let tree = Fixture::with_nodes();
    let Fixture { host, dir } = tree;
    drop(host);
    let state = dir.path().join("state-a");
    let mut host = docui::testing::Host::<pipemux_memotree::MemoTree>::restart(
        "memotree/main",
        &[&[]],
        &dir.path().join("proj"),
        &state,
    );
    assert!(host.text(docui::Lod::Summary, 4_000).unwrap().contains("4 nodes"));
}
