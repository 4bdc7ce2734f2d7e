//! Names and texts that are meant to do harm, or just are unusual.

use pipemux_memotree_store::actions::{NewNode, TITLE_CHARS_MAX};
use pipemux_memotree_store::token::find;
use pipemux_memotree_store::{NodeId, StoreError};

use crate::common::{Tree, add, at, node, outline};

#[test]
fn titles_never_lead_to_files_elsewhere() {
    let tree = Tree::new();
    let mut store = tree.open();
    for title in
        ["..", "/etc/passwd", "../../x", "a/b", ".git", "nul", "con.md", "-rf", "数据/库", "🚀🚀"]
    {
        add(&mut store, title, None);
    }
    let names: Vec<String> = tree.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 10);
    for name in names {
        let stem = name.strip_prefix("nodes/").unwrap().strip_suffix(".md").unwrap();
        assert!(NodeId::parse(stem).is_ok() && !stem.starts_with('-'), "{stem}");
    }
    assert_eq!(std::fs::read_dir(tree.dir.path()).unwrap().count(), 2);
}

#[test]
fn titles_that_hide_something_are_refused() {
    let tree = Tree::new();
    let mut store = tree.open();
    let mut message = |title: &str| store.add(&[node(title, None)]).unwrap_err().to_string();
    assert_eq!(message(" \t "), "title: expected a text, not an empty one");
    assert_eq!(message("a\nb"), "title: expected one line");
    assert_eq!(message("a\u{202e}b"), "title: the character \\u{202e} isn't allowed");
    assert_eq!(message("a\u{1b}[31m"), "title: the character \\u{001b} isn't allowed");
    assert_eq!(message("a\u{2028}b"), "title: the character \\u{2028} isn't allowed");
    assert_eq!(message(&"x".repeat(201)), "title: 201 characters, at most 200");
    assert_eq!(tree.files(), []);
    add(&mut tree.open(), &"界".repeat(TITLE_CHARS_MAX), None);
}

#[test]
fn texts_of_any_kind_are_kept() {
    let tree = Tree::new();
    let mut store = tree.open();
    let id = add(&mut store, "n", None);
    for text in [
        "",
        "---\n",
        "---\ntitle: x\n---\nbody\n",
        "# heading\n",
        "\u{feff}bom\n",
        "  indented\n",
        "数据 🚀\n",
        "\n\nblank first\n",
        "a\0b\n",
        "tab\t\n",
        "```\nopen fence\n",
        "<<<<<<< no conflict\n",
    ] {
        store.edit(id.as_str(), text).unwrap();
        assert_eq!(store.files.text("n").unwrap().1, text, "{text:?}");
        let mut again = tree.open();
        assert_eq!(again.files.text("n").unwrap().1, text, "{text:?}");
    }
    let huge = "line of text\n".repeat(600_000);
    store.edit("n", &huge).unwrap();
    assert_eq!(store.files.text("n").unwrap().1.len(), huge.len());
    let error = store.append("n", &huge).unwrap_err();
    assert!(matches!(error, StoreError::Value(_)), "{error}");
    assert_eq!(store.files.text("n").unwrap().1.len(), huge.len());
}

#[test]
fn tokens_in_titles_and_texts_name_nothing() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "target", None);
    let text = "see [[MT:Node:target]]\n".to_owned();
    let forged =
        NewNode { text, gist: "[[MT:View:x]]".into(), ..node("x [[MT:Node:target]]", None) };
    let (ids, _) = store.add(&[forged]).unwrap();
    let all = vec![ids[0].to_string(), "target".to_owned()];
    let full = Some(pipemux_memotree_store::Level::Full);
    store.state.set_levels("default", &all, full).unwrap();
    let shown = crate::rendering::text(&mut store, 100_000);
    let tokens: Vec<String> = find(&shown).map(|(.., token)| token.to_string()).collect();
    let own = format!("[[MT:Node:{}]]", ids[0]);
    assert_eq!(tokens, ["[[MT:Node:target]]", own.as_str()], "{shown}");
}

#[test]
fn order_keys_that_people_wrote_are_mended_when_they_are_in_the_way() {
    let tree = Tree::new();
    for (name, order) in
        [("a", ""), ("b", "order: 1\n"), ("c", "order: 1\n"), ("d", "order: ~~~\n")]
    {
        tree.write(&format!("nodes/{name}.md"), &format!("---\ntitle: {name}\n{order}---\n"));
    }
    let mut store = tree.open();
    assert_eq!(outline(&store), "a\nb\nc\nd\n");
    add(&mut store, "e", None);
    assert_eq!(outline(&store), "a\nb\nc\nd\ne\n");
    store.move_nodes(&["e"], &at(None, Some("c"))).unwrap();
    assert_eq!(outline(&store), "a\nb\ne\nc\nd\n");
    store.move_nodes(&["d"], &at(None, Some("a"))).unwrap();
    assert_eq!(outline(&store), "d\na\nb\ne\nc\n");
}

#[test]
fn messages_name_no_place_on_the_machine() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    std::fs::remove_dir_all(tree.path("nodes")).unwrap();
    tree.write("nodes", "a file");
    let outside = tree.dir.path().to_string_lossy().into_owned();
    for error in [store.edit("a", "x").unwrap_err(), store.files.refresh().unwrap_err()] {
        assert!(!error.to_string().contains(&outside), "{error}");
    }
}
