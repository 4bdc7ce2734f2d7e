use pipemux_memotree_store::actions::{NewNode, NewPlace};
use pipemux_memotree_store::{Level, StoreError};
use pipemux_memotree_store::{transfer, views};

use crate::common::{Tree, add, at, children, node, outline};

#[test]
fn added_node_is_a_file_that_people_read() {
    let tree = Tree::new();
    let mut store = tree.open();
    let id = add(&mut store, "Editor", None);
    assert_eq!(id.as_str(), "editor");
    let new = NewNode {
        text: "Lines are kept in a rope.\n".to_owned(),
        gist: "Why a rope".to_owned(),
        tags: vec!["rope".to_owned(), "#core".to_owned()],
        ..node("绳 rope: why?", Some("editor"))
    };
    let (ids, done) = store.add(&[new]).unwrap();
    assert_eq!((ids[0].as_str(), done.label.as_str()), ("绳-rope-why", "add 绳 rope: why?"));
    let order = store.files.node("绳-rope-why").unwrap().order;
    assert_eq!(
        tree.read("nodes/绳-rope-why.md"),
        format!(
            "---\ntitle: \"绳 rope: why?\"\nparent: editor\norder: {order}\ngist: Why a rope\ntags:\n  - core\n  - rope\n\
             created: 2031-02-03\nmodified: 2031-02-03\n---\n\nLines are kept in a rope.\n"
        )
    );
}

#[test]
fn many_nodes_are_added_with_their_children_as_one_change() {
    let tree = Tree::new();
    let mut store = tree.open();
    let below = |title: &str, at| NewNode { place: NewPlace::Below(at), ..node(title, None) };
    let rows = [node("a", None), below("b", 0), below("c", 1), below("d", 0), node("A", None)];
    let (ids, _) = store.add(&rows).unwrap();
    assert_eq!(ids[4].as_str(), "a-2");
    assert_eq!(outline(&store), "a\n  b\n    c\n  d\na-2\n");
    let files = tree.files();
    store.undo().unwrap();
    assert_eq!(tree.files(), []);
    store.redo().unwrap();
    assert_eq!(tree.files(), files);
    assert!(matches!(store.redo(), Err(StoreError::Nothing("redo"))));
}

#[test]
fn sibling_moves_by_a_change_of_its_own_file() {
    let tree = Tree::new();
    let mut store = tree.open();
    for title in ["a", "b", "c", "d"] {
        add(&mut store, title, None);
    }
    let before = tree.files();
    store.move_nodes(&["d"], &at(None, Some("b"))).unwrap();
    assert_eq!(children(&store, None), ["a", "d", "b", "c"]);
    let changed = tree.files().iter().zip(&before).filter(|(one, two)| one != two).count();
    assert_eq!(changed, 1);
    store.move_nodes(&["a", "b"], &at(Some("c"), None)).unwrap();
    store.move_nodes(&["d"], &at(Some("c"), Some("b"))).unwrap();
    assert_eq!(outline(&store), "c\n  a\n  d\n  b\n");
    // A move doesn't count as an edit, so that it merges with one.
    assert!(!tree.read("nodes/d.md").contains("modified: 2031-02-04"));
}

#[test]
fn moves_that_make_no_tree_are_refused_and_change_nothing() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    add(&mut store, "b", Some("a"));
    add(&mut store, "c", Some("b"));
    let files = tree.files();
    let message = |result: Result<_, StoreError>| result.map(drop).unwrap_err().to_string();
    assert_eq!(
        message(store.move_nodes(&["a"], &at(Some("c"), None))),
        "`a` can't move below `c`, which is below it"
    );
    assert_eq!(
        message(store.move_nodes(&["a"], &at(Some("a"), None))),
        "`a` can't move below itself"
    );
    assert_eq!(
        message(store.move_nodes(&["c"], &at(Some("a"), Some("c")))),
        "`c` is not a child of `a`"
    );
    assert_eq!(message(store.move_nodes(&["x"], &at(None, None))), "there is no node `x`");
    assert_eq!(message(store.edit("aa", "text")), "there is no node `aa`; near: a");
    assert_eq!(tree.files(), files);
    assert!(matches!(store.undo(), Ok(done) if done.label == "add c"));
}

#[test]
fn removed_nodes_lie_in_the_trash_and_their_ids_are_not_used_again() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "Plan", None);
    add(&mut store, "Step", Some("plan"));
    let before = tree.files();
    let (gone, done) = store.remove(&["plan", "step"]).unwrap();
    assert_eq!(gone.len(), 2);
    assert_eq!(done.label, "remove 2 nodes");
    assert_eq!(outline(&store), "");
    assert_eq!(store.trash().unwrap().len(), 2);
    assert_eq!(add(&mut store, "Plan", None).as_str(), "plan-2");
    store.undo().unwrap();
    store.undo().unwrap();
    assert_eq!(tree.files(), before);
    store.remove(&["plan"]).unwrap();
    store.restore("step").unwrap();
    assert_eq!(outline(&store), "step (its parent `plan` is missing)\n");
    store.restore("plan").unwrap();
    assert_eq!(outline(&store), "plan\n  step\n");
}

#[test]
fn edits_and_descriptions_keep_what_people_wrote() {
    let tree = Tree::new();
    tree.write("nodes/n.md", "---\r\n# mine\r\ntitle: 'N'\r\naliases: [x]\r\n---\r\n\r\nold\r\n");
    let mut store = tree.open();
    store.append("n", "new\n").unwrap();
    store.describe("n", Some("about n"), Some("two\nlines")).unwrap();
    store.tag(&["n"], &["t".to_owned()], &[]).unwrap();
    assert_eq!(
        tree.read("nodes/n.md"),
        "---\r\n# mine\r\ntitle: 'N'\r\naliases: [x]\r\ngist: about n\r\nsummary: |\r\n  two\r\n  lines\r\ntags:\r\n  - t\r\n\
         modified: 2031-02-03\r\n---\r\n\r\nold\r\nnew\r\n"
    );
    store.retitle("n", "M").unwrap();
    assert_eq!(store.files.node("n").unwrap().title, "M");
    for _ in 0..4 {
        store.undo().unwrap();
    }
    assert_eq!(
        tree.read("nodes/n.md"),
        "---\r\n# mine\r\ntitle: 'N'\r\naliases: [x]\r\n---\r\n\r\nold\r\n"
    );
}

#[test]
fn relations_have_ids_and_lie_in_one_file() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    add(&mut store, "b", None);
    let (id, _) = store.relate("a", "b", "depends-on").unwrap();
    assert_eq!(store.relate("a", "b", "depends-on").unwrap().0, id);
    let relation = [id.clone(), "a".into(), "depends-on".into(), "b".into()];
    assert_eq!(store.index().relations("b").unwrap(), [relation]);
    assert_eq!(store.index().relation(&id).unwrap().unwrap()[1], "depends-on");
    assert!(store.relate("a", "b", "a b").is_err());
    store.unrelate(&id).unwrap();
    assert_eq!(store.index().relations("a").unwrap().len(), 0);
}

#[test]
fn views_have_names_descriptions_and_what_they_expanded() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    assert_eq!(views::all(&store).unwrap()[0].name, "default");
    views::create(&mut store, "设计", "how it is built").unwrap();
    views::create(&mut store, "review", "").unwrap();
    let message = |result: Result<_, StoreError>| result.map(drop).unwrap_err().to_string();
    assert_eq!(
        message(views::create(&mut store, "Review", "")),
        "there is a view `review` already"
    );
    assert!(message(views::create(&mut store, "a b", "")).starts_with("a space is not allowed"));
    assert_eq!(
        message(views::describe(&mut store, "reveiw", "x")),
        "there is no view `reveiw`; near: review"
    );
    store.state.set_levels("review", &["a".to_owned()], Some(Level::Full)).unwrap();
    store.state.use_view("review", Some("a"), 7).unwrap();
    views::rename(&mut store, "review", "audit").unwrap();
    assert_eq!(store.state.level("audit", "a").unwrap(), Some(Level::Full));
    assert_eq!(store.state.level("review", "a").unwrap(), None);
    let names: Vec<String> =
        views::all(&store).unwrap().into_iter().map(|view| view.name).collect();
    assert_eq!(names, ["audit", "设计"], "the last used one comes first");
    views::describe(&mut store, "audit", "what to check").unwrap();
    assert_eq!(tree.read("views/audit.toml"), "description = \"what to check\"\n");
    views::delete(&mut store, "audit").unwrap();
    store.undo().unwrap();
    assert_eq!(views::get(&store, "audit").unwrap().description, "what to check");
    views::save_query(&mut store, "open", "todo OR 待办").unwrap();
    assert_eq!(views::query(&store, "open").unwrap(), "todo OR 待办");
    views::delete_query(&mut store, "open").unwrap();
    assert!(views::query(&store, "open").is_err());
}

#[test]
fn expanding_touches_no_file() {
    let tree = Tree::new();
    let mut store = tree.open();
    add(&mut store, "a", None);
    let files = tree.files();
    store.state.set_levels("default", &["a".to_owned()], Some(Level::Summary)).unwrap();
    store.state.use_view("default", Some("a"), 1).unwrap();
    drop(store);
    assert_eq!(tree.files(), files);
    assert_eq!(tree.open().state.level("default", "a").unwrap(), Some(Level::Summary));
}

#[test]
fn headings_are_imported_as_a_tree_and_exported_again() {
    let tree = Tree::new();
    let mut store = tree.open();
    let text = "\u{feff}before\r\n# Rope\r\nwhy\r\n```\r\n# no heading\r\n```\r\n### Deep\r\n## 设计 {#design}\r\n\\# text\r\n# Last\r\n";
    let imported = transfer::import(&mut store, text, None).unwrap();
    assert_eq!(imported.added.len(), 4);
    assert_eq!(outline(&store), "rope\n  deep\n  design\nlast\n");
    assert_eq!(store.files.text("rope").unwrap().1, "why\n```\n# no heading\n```\n");
    assert_eq!(store.files.text("design").unwrap().1, "# text\n");
    let exported = transfer::export(&mut store, &[]).unwrap();
    assert_eq!(
        exported,
        "# Rope [[MT:Node:rope]]\n\nwhy\n```\n# no heading\n```\n\n## Deep [[MT:Node:deep]]\n\n## 设计 [[MT:Node:design]]\n\n\\# text\n\n\
         # Last [[MT:Node:last]]\n"
    );
    // What is exported names its nodes, so importing it changes nothing.
    let files = tree.files();
    let again = transfer::import(&mut store, &exported, None).unwrap();
    assert_eq!((again.added.len(), again.updated.len()), (0, 0));
    assert_eq!(tree.files(), files);
    let again =
        transfer::import(&mut store, "## Depth [[MT:Node:deep]]\nnew\n### Under\n", None).unwrap();
    assert_eq!((again.added.len(), again.updated.len()), (1, 1));
    assert_eq!(outline(&store), "rope\n  deep\n    under\n  design\nlast\n");
    assert_eq!(store.files.node("deep").unwrap().title, "Depth");
}

#[test]
fn headings_that_name_new_nodes_make_them_by_that_name_once() {
    let tree = Tree::new();
    let mut store = tree.open();
    let text = "# Plan {#plan}\n## R1 log it #log {#plan-r1}\nfirst\n";
    let imported = transfer::import(&mut store, text, None).unwrap();
    let added: Vec<&str> = imported.added.iter().map(|id| id.as_str()).collect();
    assert_eq!(added, ["plan", "plan-r1"]);
    let again = transfer::import(&mut store, &text.replace("first", "second"), None).unwrap();
    assert_eq!((again.added.len(), again.updated.len()), (0, 1));
    assert!(
        transfer::import(&mut store, &text.replace("first", "second"), None)
            .unwrap()
            .updated
            .is_empty()
    );
}
