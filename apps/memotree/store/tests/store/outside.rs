//! What other programs do to the files.

use std::fs;
use std::os::unix::fs::symlink;

use pipemux_memotree_store::{Level, StoreError};

use crate::common::{Tree, add, at, children, outline};

#[test]
fn changes_by_other_programs_are_noticed_and_told() {
    let tree = Tree::new();
    let mut store = tree.open();
    for title in ["a", "b", "c"] {
        add(&mut store, title, None);
    }
    assert!(store.files.refresh().unwrap().is_empty());
    tree.write("nodes/d.md", "---\ntitle: D\nparent: a\n---\nneedle\n");
    fs::remove_file(tree.path("nodes/b.md")).unwrap();
    fs::write(tree.path("nodes/c.md"), "---\ntitle: Other\n---\n").unwrap();
    let changes = store.files.refresh().unwrap();
    let ids = |nodes: &[pipemux_memotree_store::NodeId]| -> Vec<String> {
        nodes.iter().map(ToString::to_string).collect()
    };
    assert_eq!(ids(&changes.added), ["d"]);
    assert_eq!(ids(&changes.changed), ["c"]);
    assert_eq!(ids(&changes.removed), ["b"]);
    assert_eq!(outline(&store), "c\na\n  d\n");
    assert_eq!(store.index().search("needle", 9).unwrap().nodes[0].id.as_str(), "d");
    assert!(store.files.refresh().unwrap().is_empty());
}

#[test]
fn file_written_in_place_is_noticed_when_it_is_looked_at_or_swept() {
    let tree = Tree::new();
    let mut store = tree.open();
    for number in 0..10 {
        add(&mut store, &format!("n{number}"), None);
    }
    let text = tree.read("nodes/n7.md").replace("title: n7", "title: other");
    fs::write(tree.path("nodes/n7.md"), &text).unwrap();
    let changes = store.files.verify(["n7", "n6"]).unwrap();
    assert_eq!(changes.changed.len(), 1);
    assert_eq!(store.files.node("n7").unwrap().title, "other");
    fs::write(tree.path("nodes/n8.md"), text.replace("other", "again")).unwrap();
    let (mut noticed, mut rounds) = (0, 0);
    loop {
        let (changes, done) = store.files.sweep(4).unwrap();
        noticed += changes.changed.len();
        rounds += 1;
        if done {
            break;
        }
    }
    assert_eq!((noticed, rounds), (1, 3));
}

#[test]
fn changes_of_another_program_are_never_overwritten() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    add(&mut store, "b", None);
    fs::write(tree.path("nodes/a.md"), "theirs\n").unwrap();
    let error = store.edit("a", "mine").unwrap_err();
    assert_eq!(
        error.to_string(),
        "nodes/a.md changed by another program since it was shown: look at it, then repeat this"
    );
    assert_eq!(tree.read("nodes/a.md"), "theirs\n");
    assert_eq!(store.files.text("a").unwrap().1, "theirs\n", "what is there now is shown");
    // Said once more, it is meant.
    store.edit("a", "mine").unwrap();
    fs::write(tree.path("nodes/b.md"), "theirs too\n").unwrap();
    assert!(store.remove(&["a", "b"]).is_err());
    assert_eq!(tree.read("nodes/b.md"), "theirs too\n");
    assert_eq!(children(&store, None), ["a", "b"]);
    // Undo would overwrite it, too: here the edit of `a`.
    fs::write(tree.path("nodes/a.md"), "theirs again\n").unwrap();
    assert!(matches!(store.undo(), Err(StoreError::Changed(_))));
    assert_eq!(tree.read("nodes/a.md"), "theirs again\n");
}

#[test]
fn file_with_a_conflict_costs_that_node_only_and_is_not_written() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    add(&mut store, "b", Some("a"));
    let text =
        "---\ntitle: B\n<<<<<<< HEAD\nparent: a\n=======\nparent: c\n>>>>>>> other\n---\nbody\n";
    tree.write("nodes/b.md", text);
    store.files.refresh().unwrap();
    store.files.verify(["b"]).unwrap();
    assert_eq!(outline(&store), "a\n  b (line 3: a merge left a conflict there)\n");
    assert_eq!(
        store.append("b", "x").unwrap_err().to_string(),
        "nodes/b.md: line 3: a merge left a conflict there; mend the file, then repeat this"
    );
    assert_eq!(store.files.text("b").unwrap().1, text, "whoever mends it sees all of it");
    assert_eq!(tree.read("nodes/b.md"), text);
    tree.write("nodes/b.md", "---\ntitle: B\nparent: a\n---\nbody\n");
    store.files.verify(["b"]).unwrap();
    assert_eq!(outline(&store), "a\n  b\n");
}

#[test]
fn unreadable_files_cost_their_nodes_only() {
    let tree = Tree::new();
    tree.write("nodes/good.md", "---\nparent: latin\n---\n");
    fs::write(tree.path("nodes/latin.md"), b"caf\xe9").unwrap();
    tree.write("nodes/open.md", "---\ntitle: x\n");
    tree.write("nodes/empty.md", "");
    tree.write("nodes/notes.txt", "not a node");
    fs::create_dir(tree.path("nodes/folder.md")).unwrap();
    let large = fs::File::create(tree.path("nodes/large.md")).unwrap();
    large.set_len(9 << 20).unwrap();
    let mut store = tree.open();
    assert_eq!(
        outline(&store),
        "empty\nfolder (nodes/folder.md: it is not a file)\nlarge (its file has 9437184 bytes, at most 8388608)\n\
         latin (it isn't UTF-8 (byte 3))\n  good\nopen (its front matter has no closing line ---)\n"
    );
    assert!(store.edit("open", "x").unwrap_err().to_string().contains("no closing line"));
    store.edit("good", "x").unwrap();
}

#[test]
fn links_that_lead_out_of_the_folder_are_refused() {
    let tree = Tree::new();
    fs::write(tree.dir.path().join("secret.md"), "secret\n").unwrap();
    tree.write("nodes/real.md", "inside\n");
    symlink("../../secret.md", tree.path("nodes/out.md")).unwrap();
    symlink("real.md", tree.path("nodes/in.md")).unwrap();
    let mut store = tree.open();
    assert_eq!(
        outline(&store),
        "in\nout (nodes/out.md: it is a link that leads out of .memotree; put the file itself there)\nreal\n"
    );
    assert!(store.edit("out", "x").is_err());
    assert!(!store.files.text("out").is_ok_and(|(_, text)| text.contains("secret")));
    assert_eq!(fs::read_to_string(tree.dir.path().join("secret.md")).unwrap(), "secret\n");
    store.edit("in", "changed\n").unwrap();
    assert!(fs::symlink_metadata(tree.path("nodes/in.md")).unwrap().is_symlink());
    assert!(tree.read("nodes/real.md").ends_with("changed\n"));
    // A whole folder that leads out.
    fs::rename(tree.path("nodes"), tree.dir.path().join("elsewhere")).unwrap();
    symlink("../elsewhere", tree.path("nodes")).unwrap();
    assert!(store.files.refresh().unwrap_err().to_string().contains("leads out of .memotree"));
}

#[test]
fn linked_folder_is_the_tree_itself() {
    let tree = Tree::new();
    add(&mut tree.open(), "a", None);
    let other = tempfile::tempdir().unwrap();
    symlink(tree.root(), other.path().join(".memotree")).unwrap();
    let state = other.path().join("state");
    let (mut store, _) = crate::common::open(&other.path().join(".memotree"), &state);
    add(&mut store, "b", Some("a"));
    assert_eq!(outline(&tree.open()), "a\n  b\n");
}

#[test]
fn circles_and_missing_parents_that_a_merge_made_lose_no_node() {
    let tree = Tree::new();
    tree.write("nodes/a.md", "---\nparent: c\n---\n");
    tree.write("nodes/b.md", "---\nparent: a\n---\n");
    tree.write("nodes/c.md", "---\nparent: b\n---\n");
    tree.write("nodes/d.md", "---\nparent: c\n---\n");
    tree.write("nodes/e.md", "---\nparent: gone\n---\n");
    tree.write("nodes/f.md", "---\nparent: f\n---\n");
    let mut store = tree.open();
    let circle = "a (it is below itself: its parent is `c`)\n  b\n    c\n      d\n\
        e (its parent `gone` is missing)\nf (it is below itself: its parent is `f`)\n";
    assert_eq!(outline(&store), circle);
    // Files that come one by one make the same of it as all at once.
    let second = Tree::new();
    let mut other = second.open();
    for name in ["d", "c", "f", "b", "e", "a"] {
        second.write(&format!("nodes/{name}.md"), &tree.read(&format!("nodes/{name}.md")));
        other.files.refresh().unwrap();
        other.files.sweep(100).unwrap();
    }
    assert_eq!(outline(&other), circle);
    // The way out is an ordinary move.
    store.move_nodes(&["c"], &at(None, None)).unwrap();
    assert_eq!(
        outline(&store),
        "e (its parent `gone` is missing)\nf (it is below itself: its parent is `f`)\nc\n  a\n    b\n  d\n"
    );
}

#[test]
fn two_files_that_claim_one_id_are_told() {
    let tree = Tree::new();
    // One name in two normal forms.
    tree.write("nodes/caf\u{e9}.md", "composed\n");
    tree.write("nodes/cafe\u{301}.md", "decomposed\n");
    let mut store = tree.open();
    let rows = children(&store, None);
    assert_eq!(rows, ["caf\u{e9}"]);
    let problem = store.files.node("café").unwrap().problem.unwrap();
    assert!(
        problem.starts_with("two files claim this id: nodes/cafe\u{301}.md and nodes/"),
        "{problem}"
    );
    fs::remove_file(tree.path("nodes/cafe\u{301}.md")).unwrap();
    store.files.refresh().unwrap();
    assert_eq!(store.files.node("café").unwrap().problem, None);
    assert_eq!(store.files.text("café").unwrap().1, "composed\n");
}

#[test]
fn two_sessions_on_one_tree_are_told_of_each_other() {
    let tree = Tree::new();
    let mut one = tree.open();
    let (mut two, _) = crate::common::open(&tree.root(), &tree.dir.path().join("state-2"));
    add(&mut one, "a", None);
    assert_eq!(two.files.refresh().unwrap().added[0].as_str(), "a");
    two.edit("a", "from two").unwrap();
    assert!(matches!(one.edit("a", "from one"), Err(StoreError::Changed(_))));
    assert!(matches!(one.undo(), Err(StoreError::Changed(_))), "it would take back what two wrote");
    one.state.set_levels("default", &["a".to_owned()], Some(Level::Full)).unwrap();
    assert_eq!(two.state.level("default", "a").unwrap(), None);
}

#[test]
fn index_is_made_again_when_it_is_gone_or_damaged() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    add(&mut store, "b", Some("a"));
    drop(store);
    let index = tree.dir.path().join("state/index.db");
    for damage in [true, false] {
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", index.display()));
        }
        match damage {
            true => fs::write(&index, "no database").unwrap(),
            false => fs::remove_file(&index).unwrap(),
        }
        let (mut store, opened) = tree.open_with_report();
        assert!(opened.rebuilt && opened.changes.is_empty());
        assert_eq!(outline(&store), "a\n  b\n");
        assert!(
            matches!(store.undo(), Ok(done) if done.label == "add b"),
            "undo outlives the index"
        );
        store.redo().unwrap();
    }
}

#[test]
fn change_that_fails_halfway_leaves_nothing_behind() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    add(&mut store, "b", None);
    // The trash can't be written: a file is where its folder would be.
    tree.write("trash", "in the way");
    let files = tree.files();
    let error = store.remove(&["a", "b"]).unwrap_err();
    assert!(error.to_string().contains("trash"), "{error}");
    assert_eq!(tree.files(), files);
    assert_eq!(outline(&store), "a\nb\n");
    fs::remove_file(tree.path("trash")).unwrap();
    store.remove(&["a", "b"]).unwrap();
}

#[test]
fn file_that_cannot_be_read_is_told_once() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    symlink("nowhere", tree.path("nodes/broken.md")).unwrap();
    tree.write("nodes/long.md", &"x".repeat(9 << 20));
    assert_eq!(store.files.refresh().unwrap().added.len(), 2);
    assert_eq!(store.index().problems(9).unwrap().len(), 2);
    for _ in 0..3 {
        assert!(store.files.verify(["a", "broken", "long"]).unwrap().is_empty());
        assert!(store.files.refresh().unwrap().is_empty());
    }
    fs::remove_file(tree.path("nodes/long.md")).unwrap();
    tree.write("nodes/long.md", "short now\n");
    assert_eq!(store.files.verify(["long"]).unwrap().changed.len(), 1);
}

#[test]
fn undo_passes_over_files_that_are_gone_already() {
    let tree = Tree::new();
    let mut store = tree.open();
    for title in ["a", "b", "c"] {
        add(&mut store, title, None);
    }
    fs::remove_file(tree.path("nodes/c.md")).unwrap();
    for _ in 0..3 {
        store.undo().unwrap();
    }
    assert_eq!(children(&store, None), Vec::<String>::new());
    store.redo().unwrap();
    assert_eq!(children(&store, None), ["a"]);
}

/// The process ends at any point of a change, of its undo and of its redo: afterwards the files are
/// as they were left, and from there it goes on and back.
#[test]
fn change_during_which_the_process_ended_is_told_and_never_mended_unasked() {
    for (status, backwards) in [("pending", false), ("undoing", true), ("redoing", false)] {
        for written in 0_usize.. {
            let tree = Tree::new();
            let mut store = tree.open();
            for title in ["a", "b", "c"] {
                add(&mut store, title, None);
            }
            let before = tree.files();
            store.remove(&["a", "b", "c"]).unwrap();
            let after = tree.files();
            drop(store);
            let state = rusqlite::Connection::open(tree.dir.path().join("state/state.db")).unwrap();
            let latest = "(SELECT max(id) FROM changes)";
            let begun = format!("UPDATE changes SET status = '{status}' WHERE id = {latest}");
            assert_eq!(state.execute(&begun, []).unwrap(), 1);
            let sql = format!(
                "SELECT part, name, before, after FROM files WHERE change = {latest} ORDER BY at"
            );
            let mut statement = state.prepare(&sql).unwrap();
            let text = |row: &rusqlite::Row<'_>, at| row.get::<_, Option<Vec<u8>>>(at);
            let edits: Vec<_> = statement
                .query_map([], |row| {
                    let path = format!("{}/{}", row.get::<_, String>(0)?, row.get::<_, String>(1)?);
                    Ok((path, text(row, 2)?, text(row, 3)?))
                })
                .unwrap()
                .collect::<rusqlite::Result<_>>()
                .unwrap();
            if written > edits.len() {
                break;
            }
            let mut order: Vec<_> = edits.iter().collect();
            if backwards {
                order.reverse();
            }
            for (at, (path, old, new)) in order.into_iter().enumerate() {
                let made = (at < written) != backwards;
                match if made { new } else { old } {
                    Some(bytes) => fs::write(tree.path(path), bytes).unwrap(),
                    None => drop(fs::remove_file(tree.path(path))),
                }
            }
            drop(statement);
            drop(state);
            let left = tree.files();
            let (mut store, opened) = tree.open_with_report();
            assert_eq!(tree.files(), left, "{status} {written}: nothing is written");
            let half = written > 0 && written < edits.len();
            assert_eq!(opened.interrupted.is_some(), half, "{status} {written}");
            if half {
                let Some(told) = &opened.interrupted else { return };
                assert_eq!(told.done.len() + told.rest.len(), edits.len());
                store.redo().unwrap();
                assert_eq!(tree.files(), after, "{status} {written}: it goes on");
                store.undo().unwrap();
                store.undo().unwrap();
                assert_eq!(tree.files(), before, "{status} {written}: it goes back");
                continue;
            }
            match tree.files() == before {
                true if status == "pending" => assert!(store.redo().is_err()),
                true => {
                    store.redo().unwrap();
                    assert_eq!(tree.files(), after);
                }
                false => {
                    store.undo().unwrap();
                    assert_eq!(tree.files(), before);
                }
            }
        }
    }
}

#[test]
fn settings_that_are_no_file_are_refused_and_nothing_waits_for_them() {
    let tree = Tree::new();
    let made = std::process::Command::new("mkfifo").arg(tree.path("memotree.toml")).status();
    assert!(made.unwrap().success());
    let error = pipemux_memotree_store::folder::Folder::open(&tree.root()).unwrap().read_config();
    assert!(error.unwrap_err().to_string().contains("it is not a file"));
}

#[test]
fn file_whose_name_is_not_allowed_is_told_once_with_the_rule() {
    let tree = Tree::new();
    tree.write("nodes/plan.md", "Plan.\n");
    tree.write("nodes/release plan.md", "Ship.\n");
    tree.write("nodes/notes.txt", "none of ours");
    let (mut store, opened) = tree.open_with_report();
    assert_eq!(
        opened.changes.misnamed,
        [
            "nodes/release plan.md: a space is not allowed in a name: use letters of any script, digits, _ and -"
        ]
    );
    assert_eq!(outline(&store), "plan\n");
    tree.write("nodes/a+b.md", "x");
    let changes = store.files.refresh().unwrap();
    assert_eq!(changes.misnamed.len(), 1, "each once: {changes:?}");
    assert!(changes.misnamed[0].starts_with("nodes/a+b.md: `+` is not allowed"), "{changes:?}");
    fs::rename(tree.path("nodes/a+b.md"), tree.path("nodes/a-b.md")).unwrap();
    let changes = store.files.refresh().unwrap();
    assert_eq!((changes.misnamed.len(), changes.added.len()), (0, 1), "{changes:?}");
}

#[test]
fn appended_lines_change_no_byte_of_those_before_them() {
    let tree = Tree::new();
    tree.write("nodes/a.md", "---\ntitle: A\n---\none\r\ntwo\nthree");
    tree.write("nodes/b.md", "---\r\ntitle: B\r\n---\r\none\ntwo\r\n");
    let mut store = tree.open().with_date(String::new);
    store.append("a", "four\nfive").unwrap();
    store.append("b", "three\n").unwrap();
    assert_eq!(tree.read("nodes/a.md"), "---\ntitle: A\n---\none\r\ntwo\nthree\nfour\nfive\n");
    assert_eq!(tree.read("nodes/b.md"), "---\r\ntitle: B\r\n---\r\none\ntwo\r\nthree\r\n");
}

#[test]
fn node_of_a_circle_moves_before_the_one_at_the_root_which_stays_there() {
    let tree = Tree::new();
    tree.write("nodes/a.md", "---\nparent: c\n---\n");
    tree.write("nodes/b.md", "---\nparent: a\n---\n");
    tree.write("nodes/c.md", "---\nparent: b\n---\n");
    let mut store = tree.open();
    let circle = "a (it is below itself: its parent is `c`)\n  b\n    c\n";
    assert_eq!(outline(&store), circle);
    let done = store.move_nodes(&["b"], &at(None, Some("a"))).unwrap();
    assert_eq!(done.nodes.len(), 2, "`a` keeps the place where it was shown");
    assert_eq!(outline(&store), "b\n  c\na\n");
    store.undo().unwrap();
    assert_eq!(outline(&store), circle);
    assert_eq!(tree.read("nodes/a.md"), "---\nparent: c\n---\n");
}
