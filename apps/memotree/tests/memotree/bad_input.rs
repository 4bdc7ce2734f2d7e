use std::os::unix::fs::symlink;

use pipemux_proto::Code;

use crate::common::{Fixture, text, texts};

#[test]
fn unknown_names_are_answered_with_the_nearest_ones() {
    let mut tree = Fixture::with_nodes();
    let fault = tree.fault("edit", [("node", text("relaese")), ("text", text("x"))]);
    assert_eq!(
        (fault.code, fault.message.as_str()),
        (Code::NotFound, "there is no node \"relaese\"; near: release")
    );
    let fault = tree.fault("expand", [("nodes", texts(&["rope", "Rlease"]))]);
    assert!(fault.message.contains("near: release"), "{fault:?}");
    let fault = tree.fault("switch", [("view", text("defualt"))]);
    assert_eq!(fault.message, "there is no view `defualt`; near: default");
    let fault = tree.fault("show", [("nodes", text("quite another thing"))]);
    assert_eq!(fault.hints, ["pipemux ask 'memotree.show()'"]);
    let fault = tree.fault("expand", [("nodes", texts(&[]))]);
    assert!(fault.message.contains("expected at least one"), "{fault:?}");
    let fault = tree.fault("unrelate", [("relation", text("r0"))]);
    assert_eq!(fault.code, Code::NotFound);
}

#[test]
fn moves_that_make_no_tree_and_names_that_are_not_allowed_are_refused() {
    let mut tree = Fixture::with_nodes();
    let before = tree.files();
    let fault = tree.fault("move", [("nodes", text("rope")), ("parent", text("len"))]);
    assert_eq!(fault.message, "`rope` can't move below `len`, which is below it");
    let fault = tree.fault(
        "move",
        [("nodes", text("rope")), ("parent", text("release")), ("before", text("len"))],
    );
    assert_eq!(fault.message, "`len` is not a child of `release`");
    let fault = tree.fault("create", [("name", text("a b"))]);
    assert!(fault.message.contains("a space is not allowed in a name: use letters"), "{fault:?}");
    let fault = tree.fault("create", [("name", text("a\u{202e}b"))]);
    assert!(fault.message.contains("U+202E"), "{fault:?}");
    tree.fault("add", [("title", text("two\nlines"))]);
    tree.fault("add", [("title", text(" "))]);
    tree.fault("tag", [("nodes", text("rope"))]);
    tree.fault("tag", [("nodes", text("rope")), ("add", texts(&["a\u{202e}b"]))]);
    tree.fault("relate", [("a", text("rope")), ("b", text("len")), ("kind", text("depends on"))]);
    assert_eq!(tree.files(), before);
}

#[test]
fn file_that_is_broken_costs_its_node_only_and_is_never_overwritten() {
    let mut tree = Fixture::with_nodes();
    let conflict =
        "---\ntitle: Len\nparent: rope\n---\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n";
    tree.write("nodes/len.md", conflict);
    tree.write("nodes/split.md", "---\ntitle: Split\n");
    let other = tree.dir.path().join("secret.md");
    std::fs::write(&other, "secret text").unwrap();
    symlink(&other, tree.path("nodes/out.md")).unwrap();
    let view = tree.view();
    assert!(view.contains("problem: len: line 5: a merge left a conflict there\n"), "{view}");
    assert!(
        view.contains("problem: out: nodes/out.md: it is a link that leads out of .memotree"),
        "{view}"
    );
    assert!(view.contains("problem: split: its front matter has no closing line ---\n"), "{view}");
    assert!(view.contains("- Release [[MT:Node:release]]"), "{view}");
    let shown = tree.ask("show", [("nodes", text("len"))]);
    assert!(shown.contains("<<<<<<< HEAD\nours\n"), "{shown}");
    let fault = tree.fault("append", [("node", text("len")), ("text", text("x"))]);
    assert!(fault.message.contains("mend the file, then repeat this"), "{fault:?}");
    assert_eq!(fault.hints, ["pipemux open editor .memotree/nodes/len.md"]);
    assert_eq!(tree.file("nodes/len.md"), conflict);
    let out = tree.try_call("show", [("nodes", text("out"))]);
    assert!(!format!("{out:?}").contains("secret text"));
    tree.call("edit", [("node", text("release")), ("text", text("still works"))]);
}

#[test]
fn two_files_that_claim_one_id_are_told() {
    let mut tree = Fixture::new();
    tree.write("nodes/\u{e9}.md", "---\ntitle: composed\n---\n");
    tree.write("nodes/e\u{301}.md", "---\ntitle: decomposed\n---\n");
    let view = tree.view();
    assert!(view.contains("two files claim this id"), "{view}");
}

#[test]
fn folder_that_cannot_be_written_loses_nothing() {
    let mut tree = Fixture::with_nodes();
    // Root may write anywhere, so the folder is replaced by something else.
    let nodes = tree.path("nodes");
    std::fs::rename(&nodes, tree.path("kept")).unwrap();
    std::fs::write(&nodes, "no folder").unwrap();
    let fault = tree.fault("add", [("title", text("x"))]);
    assert!(fault.message.contains("nodes"), "{fault:?}");
    let view = tree.view();
    assert!(view.contains("skipped: nodes: it is not a folder"), "{view}");
    assert!(view.contains("### Views"), "{view}");
    std::fs::remove_file(&nodes).unwrap();
    std::fs::rename(tree.path("kept"), &nodes).unwrap();
    assert!(tree.view().contains("- Rope [[MT:Node:rope]]"), "{}", tree.view());
}

#[test]
fn context_has_no_path_and_no_secret() {
    let mut tree = Fixture::with_nodes();
    let view = tree.view();
    let home = std::env::var("HOME").unwrap_or_default();
    let path = std::env::var("PATH").unwrap_or_default();
    for secret in [home, path, tree.dir.path().display().to_string()] {
        assert!(secret.len() < 3 || !view.contains(&secret), "{secret}: {view}");
    }
}

#[test]
fn project_is_named_or_that_of_the_directory() {
    use docui::testing::Host;
    use pipemux_memotree::MemoTree;

    let tree = Fixture::with_nodes();
    let (root, state) = (tree.root(), tree.dir.path().join("state-c"));
    std::fs::create_dir_all(root.join("deep/er")).unwrap();
    std::fs::create_dir_all(&state).unwrap();
    let shown = |host: &mut Host<MemoTree>| host.text(docui::Lod::Summary, 4_000).unwrap();
    let mut host = Host::<MemoTree>::open(&[], &root.join("deep/er"), &state).unwrap();
    assert!(shown(&mut host).contains("proj · 4 nodes"));
    let mut host = Host::<MemoTree>::open(&["../proj/.memotree"], &root, &state).unwrap();
    assert!(shown(&mut host).contains("proj · 4 nodes"));
    assert_eq!(host.attach(&[]).unwrap(), [""; 0]);
    let refused = host.attach(&["deep"]).unwrap_err();
    assert!(refused.message.contains("open for proj already"), "{refused:?}");
    assert!(Host::<MemoTree>::open(&["nowhere"], &root, &state).is_err());
    assert!(Host::<MemoTree>::open(&["a", "b"], &root, &state).is_err());
}

#[test]
fn refused_call_says_which_call_goes_on() {
    let mut tree = Fixture::with_nodes();
    let mut hint = |action: &str, args: [(&'static str, pipemux_proto::projection::Arg); 2]| {
        let [first, second] = args;
        let fault = match second.0 {
            "" => tree.fault(action, [first]),
            _ => tree.fault(action, [first, second]),
        };
        format!("{}\n{}", fault.message, fault.hints.join("\n"))
    };
    let none = || ("", text(""));
    assert_eq!(
        hint("move", [("nodes", texts(&["rope"])), ("parent", text("rope"))]),
        "`rope` can't move below itself\nto the root: pipemux run 'memotree.move(\"rope\")'"
    );
    assert_eq!(
        hint("move", [("nodes", texts(&["rope"])), ("parent", text("len"))]),
        "`rope` can't move below `len`, which is below it\n\
         first beside it: pipemux run 'memotree.move(\"len\", before=\"rope\")'"
    );
    let missing = hint("import", [("path", text("nope")), none()]);
    assert!(missing.starts_with("nope: there is no such file or folder\n"), "{missing}");
    assert_eq!(
        hint("restore", [("id", text("bad")), none()]),
        "there is no node in the trash `bad`\npipemux ask 'memotree.trash()'"
    );
    assert_eq!(
        hint("undo_change", [("change", text("c99")), none()]).lines().count(),
        2,
        "a message and what to do"
    );
    std::fs::write(tree.root().join("notes.md"), "# x\n").unwrap();
    let fault = tree.fault("import", [("path", text("note.md"))]);
    assert_eq!(fault.hints[0], "pipemux run 'memotree.import(\"notes.md\")'");
}
