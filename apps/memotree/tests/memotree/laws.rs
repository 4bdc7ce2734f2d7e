//! Laws that hold whatever is done.

use pipemux_proto::Value;
use pipemux_proto::app::Outcome;
use proptest::prelude::*;

use crate::common::{Fixture, text, texts};

/// Something that a reader does.
#[derive(Debug, Clone)]
enum Act {
    Look(Look),
    Add { parent: Option<usize>, before: Option<usize> },
    Edit(usize, String),
    Append(usize),
    Tag(usize),
    Move { node: usize, parent: Option<usize> },
    Remove(usize),
    Describe(usize),
    Relate(usize, usize),
}

/// Something that changes no file.
#[derive(Debug, Clone)]
enum Look {
    Expand(Vec<usize>, &'static str),
    Collapse(Vec<usize>),
    Switch(&'static str),
    Show(usize),
    Search(&'static str),
    Outline,
    List,
    View(u32),
}

fn looks() -> impl Strategy<Value = Look> {
    let nodes = || proptest::collection::vec(0..12_usize, 1..4);
    let levels = proptest::sample::select(vec!["gist", "summary", "full"]);
    prop_oneof![
        (nodes(), levels).prop_map(|(nodes, level)| Look::Expand(nodes, level)),
        nodes().prop_map(Look::Collapse),
        proptest::sample::select(vec!["default", "a", "b"]).prop_map(Look::Switch),
        (0..12_usize).prop_map(Look::Show),
        proptest::sample::select(vec!["text", "数据", "nothing"]).prop_map(Look::Search),
        Just(Look::Outline),
        Just(Look::List),
        proptest::sample::select(vec![60_u32, 300, 4_000]).prop_map(Look::View),
    ]
}

fn acts() -> impl Strategy<Value = Act> {
    let node = || 0..12_usize;
    let maybe = || proptest::option::of(0..12_usize);
    prop_oneof![
        2 => (maybe(), maybe()).prop_map(|(parent, before)| Act::Add { parent, before }),
        1 => (node(), "[a-z 数\n]{0,12}").prop_map(|(node, text)| Act::Edit(node, text)),
        1 => node().prop_map(Act::Append),
        1 => node().prop_map(Act::Tag),
        2 => (node(), maybe()).prop_map(|(node, parent)| Act::Move { node, parent }),
        1 => node().prop_map(Act::Remove),
        1 => node().prop_map(Act::Describe),
        1 => (node(), node()).prop_map(|(a, b)| Act::Relate(a, b)),
        2 => looks().prop_map(Act::Look),
    ]
}

fn name(number: usize) -> String {
    format!("n{number}")
}

fn look(tree: &mut Fixture, look: &Look) {
    let names = |nodes: &[usize]| -> Vec<String> { nodes.iter().map(|node| name(*node)).collect() };
    let refs = |names: &[String]| texts(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let _ = match look {
        Look::Expand(nodes, level) => {
            tree.try_call("expand", [("nodes", refs(&names(nodes))), ("level", text(level))])
        }
        Look::Collapse(nodes) => tree.try_call("collapse", [("nodes", refs(&names(nodes)))]),
        Look::Switch(view) => tree.try_call("switch", [("view", text(view))]),
        Look::Show(node) => tree.try_call("show", [("nodes", text(&name(*node)))]),
        Look::Search(words) => tree.try_call("search", [("query", text(words))]),
        Look::Outline => tree.try_call("show", []),
        Look::List => tree.try_call("list", []),
        Look::View(budget) => {
            let shown = tree.host.text(docui::Lod::Summary, *budget).unwrap();
            assert!(shown.contains("## proj"), "{shown}");
            return;
        }
    };
}

/// Does it. Returns whether files may have changed.
fn act(tree: &mut Fixture, act: &Act, number: &mut usize) -> bool {
    let named = |at: &usize| text(&name(*at));
    let or_null = |at: &Option<usize>| at.as_ref().map_or_else(|| Value::Null.into(), named);
    let outcome = match act {
        Act::Look(one) => {
            look(tree, one);
            return false;
        }
        Act::Add { parent, before } => {
            let title = name(*number);
            *number += 1;
            let places = [("parent", or_null(parent)), ("before", or_null(before))];
            let [parent, before] = places;
            tree.try_call(
                "add",
                [("title", text(&title)), ("text", text("some text 数据")), parent, before],
            )
        }
        Act::Edit(node, new) => tree.try_call("edit", [("node", named(node)), ("text", text(new))]),
        Act::Append(node) => {
            tree.try_call("append", [("node", named(node)), ("text", text("more"))])
        }
        Act::Tag(node) => tree.try_call("tag", [("nodes", named(node)), ("add", texts(&["t"]))]),
        Act::Move { node, parent } => {
            tree.try_call("move", [("nodes", named(node)), ("parent", or_null(parent))])
        }
        Act::Remove(node) => tree.try_call("remove", [("nodes", named(node))]),
        Act::Describe(node) => tree.try_call("gist", [("node", named(node)), ("text", text("g"))]),
        Act::Relate(a, b) => tree.try_call("relate", [("a", named(a)), ("b", named(b))]),
    };
    match outcome {
        // What found everything as it was has no undo.
        Outcome::Done(done) => done.links.iter().any(|link| link.label == "undo"),
        Outcome::Failed(_) => false,
        other => panic!("{other:?}"),
    }
}

fn fixture() -> Fixture {
    let mut tree = Fixture::new();
    for number in 0..6 {
        tree.call("add", [("title", text(&name(number))), ("text", text("text"))]);
    }
    tree.call("create", [("name", text("a"))]);
    tree.call("create", [("name", text("b"))]);
    tree
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn looking_changes_no_file(all in proptest::collection::vec(looks(), 1..12)) {
        let mut tree = fixture();
        let before = tree.files();
        all.iter().for_each(|one| look(&mut tree, one));
        prop_assert_eq!(tree.files(), before);
    }

    #[test]
    fn expanding_in_one_view_changes_no_other(all in proptest::collection::vec(looks(), 1..12)) {
        let mut tree = fixture();
        tree.call("switch", [("view", text("a"))]);
        tree.call("expand", [("nodes", texts(&["n1", "n3"]))]);
        let part = |view: &str| view[view.find("### Workspace tree").unwrap_or(view.len())..].to_owned();
        let before = part(&tree.view());
        tree.call("switch", [("view", text("b"))]);
        for one in all.iter().filter(|one| !matches!(one, Look::Switch(_))) {
            look(&mut tree, one);
        }
        tree.call("switch", [("view", text("a"))]);
        prop_assert_eq!(part(&tree.view()), before);
    }

    #[test]
    fn undo_and_redo_bring_back_the_same_bytes(all in proptest::collection::vec(acts(), 1..10)) {
        let mut tree = fixture();
        let mut states = vec![tree.files()];
        let mut number = 6;
        for one in &all {
            let before = tree.files();
            match act(&mut tree, one, &mut number) {
                true => states.push(tree.files()),
                false => prop_assert_eq!(tree.files(), before, "{:?} failed or looked", one),
            }
        }
        for state in states.iter().rev().skip(1) {
            tree.call("undo", []);
            prop_assert_eq!(&tree.files(), state);
        }
        for state in &states[1..] {
            tree.call("redo", []);
            prop_assert_eq!(&tree.files(), state);
        }
        // Another process has the same tree.
        let shown = tree.view();
        let mut tree = tree.restart();
        prop_assert_eq!(tree.view(), shown);
    }
}
