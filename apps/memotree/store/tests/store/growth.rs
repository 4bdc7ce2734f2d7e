//! What things cost in large trees: counted, not timed. The times are in `examples/growth.rs`.

use std::fs;

use pipemux_memotree_store::Level;
use pipemux_memotree_store::actions::{NewNode, NewPlace};

use crate::common::{Tree, at, children, node};
use crate::rendering::text;

/// A tree of `count` nodes: ten at the root, ten below each, and so on.
fn grown(count: usize) -> Tree {
    let tree = Tree::new();
    let mut store = tree.open();
    let nodes: Vec<NewNode> = (0..count)
        .map(|number| {
            let place = match number.checked_sub(10) {
                None => NewPlace::default(),
                Some(rest) => NewPlace::Below(rest / 10),
            };
            NewNode { place, text: format!("word{number}\n"), ..node(&format!("n{number}"), None) }
        })
        .collect();
    store.add(&nodes).expect("nodes");
    tree
}

#[test]
fn clean_index_is_opened_without_reading_a_file() {
    let tree = grown(300);
    // The folder's time must be past for a later session to rely on it.
    drop(tree.open());
    let settled = || {
        let mut store = tree.open();
        store.files.refresh().unwrap();
        tree.open_with_report().1
    };
    assert!(!settled().rebuilt);
    // A file that nobody can read isn't noticed, since it isn't read: until it is looked at.
    let file = tree.path("nodes/n7.md");
    let bytes = fs::read(&file).unwrap();
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, [b"\xff".as_slice(), &bytes[1..]].concat()).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    let (mut store, opened) = tree.open_with_report();
    assert!(opened.changes.is_empty() && !opened.rebuilt);
    assert_eq!(store.files.verify(["n7"]).unwrap().changed.len(), 1);
}

#[test]
fn view_of_a_budget_is_the_same_in_a_small_tree_and_in_a_large_one() {
    let shown = [400, 2_000].map(|count| {
        let tree = grown(count);
        let mut store = tree.open();
        let all: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
        store.state.set_levels("default", &all, Some(Level::Gist)).unwrap();
        text(&mut store, 1_000).lines().count()
    });
    assert!(shown[0].abs_diff(shown[1]) <= 2, "{shown:?}");
}

#[test]
fn thousands_of_siblings_keep_short_keys_and_move_alone() {
    let tree = Tree::new();
    let mut store = tree.open();
    let nodes: Vec<NewNode> = (0..3_000).map(|number| node(&format!("n{number}"), None)).collect();
    store.add(&nodes).unwrap();
    let done = store.move_nodes(&["n2999"], &at(None, Some("n1"))).unwrap();
    assert_eq!(done.nodes.len(), 1);
    assert_eq!(children(&store, None)[..3], ["n0", "n2999", "n1"]);
    let longest =
        store.index().children(None, 0, 3_000).unwrap().iter().map(|row| row.order.len()).max();
    assert!(longest <= Some(8), "{longest:?}");
    // Always before the same one: keys grow slowly.
    for _ in 0..200 {
        store
            .add(&[NewNode { place: NewPlace::At(at(None, Some("n1"))), ..node("x", None) }])
            .unwrap();
    }
    let longest =
        store.index().children(None, 0, 4_000).unwrap().iter().map(|row| row.order.len()).max();
    assert!(longest <= Some(500), "{longest:?}");
}
