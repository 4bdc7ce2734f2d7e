//! How the tree is shown: tokens, time, debug mode, other sessions.

use crate::common::{Fixture, text, texts};
use pipemux_proto::Value;
use pipemux_proto::projection::Arg;

fn yes() -> Arg {
    Value::from(true).into()
}

#[test]
fn form_of_tokens_is_set_for_the_tree_and_undone() {
    let mut tree = Fixture::with_nodes();
    tree.call("expand", [("nodes", texts(&["rope"]))]);
    assert!(tree.view().contains("- Rope [[MT:Node:rope]]\n"));
    tree.write("memotree.toml", "# ours\nbudget = 3000\n");
    let done = tree.call("set", [("tokens", text("long"))]);
    assert_eq!(done.brief, "tokens=long, budget=3000, codebase=true, debug=false, time=false");
    assert_eq!(tree.file("memotree.toml"), "# ours\nbudget = 3000\ntokens = \"long\"\n");
    assert!(tree.view().contains("- [Rope] [rope] [[MT:Node:rope]]\n"), "{}", tree.view());
    tree.call("undo", []);
    assert!(tree.view().contains("- Rope [[MT:Node:rope]]\n"));
    assert_eq!(tree.file("memotree.toml"), "# ours\nbudget = 3000\n");
    let fault = tree.fault("set", []);
    assert!(
        fault
            .message
            .ends_with("it is tokens=short, budget=3000, codebase=true, debug=false, time=false"),
        "{fault:?}"
    );
}

#[test]
fn broken_configuration_is_told_and_never_written_over() {
    let mut tree = Fixture::with_nodes();
    tree.write("memotree.toml", "budget = \"many\"\n");
    let fault = tree.fault("set", [("tokens", text("long"))]);
    assert!(fault.message.starts_with("memotree.toml: "), "{fault:?}");
    assert_eq!(fault.hints[0], "pipemux open editor .memotree/memotree.toml");
    assert_eq!(tree.file("memotree.toml"), "budget = \"many\"\n");
    assert!(tree.view().contains("memotree.toml: "), "{}", tree.view());
}

#[test]
fn debug_mode_tells_what_each_source_took_and_belongs_to_the_session() {
    let mut tree = Fixture::with_nodes();
    let before = tree.view();
    assert!(!before.contains("debug"), "{before}");
    tree.call("set", [("debug", yes())]);
    let view = tree.view();
    let lines: Vec<&str> = view.lines().filter(|line| line.contains("debug")).collect();
    assert_eq!(lines.len(), 3, "{view}");
    assert!(!tree.path("memotree.toml").exists(), "nothing of it is in the tree");
    let mut tree = tree.restart();
    assert!(tree.view().contains("debug"));
    tree.call("set", [("debug", Value::from(false).into())]);
    assert_eq!(tree.view(), before);
}

#[test]
fn time_of_the_view_is_shown_to_who_wants_it() {
    let mut tree = Fixture::with_nodes();
    assert!(tree.view().contains(" · changed 20"), "{}", tree.view());
    tree.call("set", [("time", yes())]);
    let view = tree.view();
    let meta = view.lines().find(|line| line.starts_with("Context UI v1")).unwrap();
    assert!(meta.ends_with(" UTC") && !meta.contains("changed"), "{meta}");
}

#[test]
fn sources_are_kept_in_the_configuration() {
    let mut tree = Fixture::with_nodes();
    tree.call("source_add", [("session", text("monitor/main")), ("weight", Value::from(2).into())]);
    let expected =
        "[[sources]]\nid = \"monitor/main\"\npriority = 0\nweight = 2\nlod = \"summary\"\n";
    assert_eq!(tree.file("memotree.toml"), expected);
    let list = tree.ask("source_list", []);
    assert!(list.contains("- monitor/main · priority 0 · weight 2 · summary\n"), "{list}");
    tree.call("source_add", [("session", text("monitor/main")), ("lod", text("gist"))]);
    assert_eq!(tree.file("memotree.toml").matches("[[sources]]").count(), 1);
    for (session, why) in [
        ("monitor", "session: expected an address like"),
        ("a/b\"c", "session: expected an address like"),
        ("memotree/main", "session: this is the session of the tree itself"),
    ] {
        let fault = tree.fault("source_add", [("session", text(session))]);
        assert!(fault.message.starts_with(why), "{fault:?}");
    }
    let fault = tree.fault("source_remove", [("session", text("monitor/mian"))]);
    assert_eq!(fault.message, "there is no source `monitor/mian`; near: monitor/main");
    tree.call("source_remove", [("session", text("monitor/main"))]);
    assert_eq!(tree.file("memotree.toml"), "");
    tree.call("undo", []);
    assert!(tree.ask("source_list", []).contains("monitor/main"));
}
