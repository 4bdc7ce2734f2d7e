//! Two branches of one tree, merged by git.

use std::fs;
use std::path::Path;
use std::process::Command;

use pipemux_memotree_store::Store;

use crate::common::{add, at, open, outline};

fn git(dir: &Path, args: &[&str]) -> Option<bool> {
    let identity =
        ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let mut command = Command::new("git");
    command.current_dir(dir).args(identity).args(["-c", "init.defaultBranch=main"]).args(args);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    Some(command.output().ok()?.status.success())
}

fn commit(dir: &Path, message: &str) {
    assert_eq!(git(dir, &["add", "-A", ".memotree"]), Some(true));
    assert_eq!(git(dir, &["commit", "-q", "-m", message]), Some(true));
}

fn tree(dir: &Path, state: &str) -> Store {
    open(&dir.join(".memotree"), &dir.join("..").join(state)).0
}

#[test]
fn branches_that_both_moved_and_added_nodes_merge() {
    let outer = tempfile::tempdir().unwrap();
    let dir = &outer.path().join("project");
    fs::create_dir(dir).unwrap();
    if git(dir, &["init", "-q"]).is_none() {
        eprintln!("there is no git here");
        return;
    }
    let mut store = tree(dir, "state");
    for title in ["a", "b", "c", "d"] {
        add(&mut store, title, None);
    }
    store.edit("a", "one\n\ntwo\n\nthree\n").unwrap();
    commit(dir, "base");
    assert_eq!(git(dir, &["checkout", "-q", "-b", "other"]), Some(true));
    // One branch edits a node that the other one moves, both insert at the same place, and both
    // move siblings.
    store.move_nodes(&["a"], &at(Some("b"), None)).unwrap();
    store.move_nodes(&["d"], &at(None, Some("c"))).unwrap();
    let place = pipemux_memotree_store::actions::NewPlace::At(at(None, Some("c")));
    let new = |title: &str| pipemux_memotree_store::actions::NewNode {
        title: title.to_owned(),
        place: place.clone(),
        ..Default::default()
    };
    store.add(&[new("theirs")]).unwrap();
    commit(dir, "theirs");
    assert_eq!(git(dir, &["checkout", "-q", "main"]), Some(true));
    let changes = store.files.refresh().unwrap();
    assert_eq!((changes.changed.len(), changes.removed.len()), (2, 1), "{changes:?}");
    assert_eq!(outline(&store), "a\nb\nc\nd\n");
    store.edit("a", "one\n\ntwo\n\nthree\n\nfour\n").unwrap();
    store.add(&[new("ours")]).unwrap();
    store.move_nodes(&["b"], &at(None, Some("a"))).unwrap();
    commit(dir, "ours");
    assert_eq!(
        git(dir, &["merge", "-q", "-m", "merge", "other"]),
        Some(true),
        "it merges by itself"
    );
    let changes = store.files.refresh().unwrap();
    assert_eq!((changes.added.len(), changes.changed.len()), (1, 2), "{changes:?}");
    let merged = outline(&store);
    let lines: Vec<&str> = merged.lines().collect();
    assert_eq!(lines[..2], ["b", "  a"]);
    assert_eq!(lines.last(), Some(&"c"));
    let mut between = lines[2..lines.len() - 1].to_vec();
    between.sort_unstable();
    assert_eq!(between, ["d", "ours", "theirs"], "{merged}");
    assert!(store.files.text("a").unwrap().1.ends_with("four\n"));
    assert_eq!(store.index().problems(9).unwrap(), []);
}

#[test]
fn conflict_of_a_merge_is_told_and_the_rest_goes_on() {
    let outer = tempfile::tempdir().unwrap();
    let dir = &outer.path().join("project");
    fs::create_dir(dir).unwrap();
    if git(dir, &["init", "-q"]).is_none() {
        eprintln!("there is no git here");
        return;
    }
    let mut store = tree(dir, "state");
    add(&mut store, "a", None);
    add(&mut store, "b", None);
    store.edit("a", "text\n").unwrap();
    commit(dir, "base");
    assert_eq!(git(dir, &["checkout", "-q", "-b", "other"]), Some(true));
    store.edit("a", "theirs\n").unwrap();
    // Below each other after the merge: a circle.
    store.move_nodes(&["a"], &at(Some("b"), None)).unwrap();
    commit(dir, "theirs");
    assert_eq!(git(dir, &["checkout", "-q", "main"]), Some(true));
    store.files.refresh().unwrap();
    store.edit("a", "ours\n").unwrap();
    store.move_nodes(&["b"], &at(Some("a"), None)).unwrap();
    commit(dir, "ours");
    assert_eq!(git(dir, &["merge", "-q", "-m", "merge", "other"]), Some(false));
    store.files.refresh().unwrap();
    let shown = outline(&store);
    assert!(shown.starts_with("a (line "), "{shown}");
    assert!(shown.contains("a merge left a conflict there"), "{shown}");
    assert!(shown.contains("  b\n"), "{shown}");
    store.edit("b", "goes on\n").unwrap();
    assert!(store.edit("a", "x").is_err());
    let text = store.files.text("a").unwrap().1;
    assert!(text.contains("ours") && text.contains("theirs"), "{text}");
}
