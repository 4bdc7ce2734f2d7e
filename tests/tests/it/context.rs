//! Contexts as Proposal-0001 has them: versions, freezing, and the four errors with their recovery.

use pipemux_tests::{Output, World};
use serde_json::Value;

/// A world with a rogue that is tame and a notebook of one entry.
fn world() -> World {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    world.run("notebook.add('n', 'first line')").ok();
    world
}

fn contexts(view: &Output) -> Vec<Value> {
    view.ok().json()["windows"].as_array().cloned().expect("windows")
}

/// The Context of the one window.
fn context(world: &World, args: &[&str]) -> Value {
    let view = world.pipemux(&[&["view"], args, &["--json"]].concat());
    let all = contexts(&view);
    assert_eq!(all.len(), 1, "{view}");
    all[0].clone()
}

fn version(context: &Value) -> [u64; 3] {
    let version = &context["header"]["version"];
    ["major", "minor", "patch"].map(|part| version[part].as_u64().expect("a number"))
}

#[test]
fn two_looks_at_the_same_are_the_same_bytes() {
    let world = world();
    world.write("a.rs", "fn main() {}\n");
    world.pipemux(&["open", "editor", "a.rs"]).ok();
    for args in
        [&["view"][..], &["view", "--json"], &["view", "--lod", "full"], &["view", "--json"]]
    {
        world.pipemux(args).ok();
        let (one, two) = (world.pipemux(args), world.pipemux(args));
        assert_eq!(one.ok().text(), two.ok().text());
    }
    // What another window became changes no byte of these, the time of rendering included.
    let before = contexts(&world.pipemux(&["view", "--json"]));
    world.run("editor.insert(1, '// new')").ok();
    let after = contexts(&world.pipemux(&["view", "--json"]));
    assert_eq!(before[..2], after[..2]);
    assert_ne!(before[2], after[2]);
}

#[test]
fn major_is_of_the_data_minor_of_the_level_patch_of_the_rendering() {
    let world = World::new();
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    world.write("a.txt", lines);
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let first = context(&world, &["editor/main"]);
    let [major, ..] = version(&first);
    assert_eq!(version(&first), [1, 0, 0]);
    // Another level, and back: the minor rises both times.
    assert_eq!(version(&context(&world, &["editor/main", "--lod", "gist"])), [major, 1, 0]);
    let back = context(&world, &["editor/main"]);
    assert_eq!(version(&back), [major, 2, 0]);
    assert_eq!((&back["content"], &back["anchors"]), (&first["content"], &first["anchors"]));

    world.run("editor.insert(1, 'zero')").ok();
    let changed = context(&world, &["editor/main"]);
    assert_eq!(version(&changed), [major + 1, 0, 0]);
    // The same data at the same level, written otherwise.
    let shorter = context(&world, &["editor/main", "--budget", "200"]);
    assert_ne!(shorter["content"], changed["content"]);
    assert_eq!(version(&shorter), [major + 1, 0, 1]);
    // Taking a change back is a change: the major only grows.
    world.run("editor.undo()").ok();
    assert_eq!(version(&context(&world, &["editor/main"])), [major + 2, 0, 0]);
}

#[test]
fn the_header_state_and_anchors_tell_what_is_there() {
    let world = World::new();
    world.write("a.txt", "one\ntwo\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.insert(1, 'zero')").ok();
    let editor = context(&world, &["editor/main"]);
    assert!(editor["state"]["custom"]["unsaved"] == true, "{editor:#}");
    // The one file has no number in the window: its key is the focus, not a ref that leads nowhere.
    let focus = editor["state"]["focusId"].as_str().expect("a focus");
    assert!(!focus.starts_with("obj:"), "{focus}");
    // Every Button of it is a link that can be clicked.
    let buttons: Vec<String> = editor["anchors"]
        .as_object()
        .expect("anchors")
        .iter()
        .filter(|(_, anchor)| anchor["type"] == "Button")
        .map(|(id, _)| id.clone())
        .collect();
    assert!(!buttons.is_empty(), "{editor:#}");
    for button in &buttons {
        assert!(editor["content"].as_str().expect("content").contains(&format!("]({button}")));
    }
    let timestamp = editor["header"]["timestamp"].as_str().expect("a timestamp");
    assert!(timestamp.ends_with('Z') && timestamp.len() >= 20, "{timestamp}");

    world.write("b.txt", "b\n");
    world.pipemux(&["open", "editor", "b.txt"]).ok();
    world.run("editor.open('a.txt')").ok();
    let editor = context(&world, &["editor/main"]);
    let focus = editor["state"]["focusId"].as_str().expect("a focus").to_owned();
    assert_eq!(editor["anchors"][&focus]["type"], "Reference", "{editor:#}");
    world.pipemux(&["read", &focus]).ok().has("zero");

    world.install("arena", "examples/arena", "");
    world.pipemux(&["down"]).ok();
    let slime = world.pipemux(&["open", "arena"]).ok().obj("史莱姆1");
    let arena = context(&world, &["arena/main"]);
    let anchors = arena["anchors"].as_object().expect("anchors");
    let attack = anchors.values().filter(|a| a["target"] == format!("obj:{slime}").as_str());
    assert_eq!(attack.count(), 1, "the attack on it: {arena:#}");
}

#[test]
fn an_app_that_is_broken_has_an_error_context_and_the_others_are_as_ever() {
    let world = world();
    let before = contexts(&world.pipemux(&["view", "--json"]));
    world.pipemux(&["down"]).ok();
    world.install_rogue("rogue", "bad-window");
    let after = contexts(&world.pipemux(&["view", "--json"]));
    assert_eq!(after.len(), 2);
    let broken = &after[0];
    assert_eq!(broken["header"]["appId"], "rogue");
    assert_eq!(broken["anchors"], serde_json::json!({}));
    assert!(broken["header"]["version"]["major"].is_number() && broken["state"].is_object());
    assert_eq!(broken["state"]["currentLod"], "Summary");
    let said = broken["content"].as_str().expect("content");
    assert!(said.contains("rogue/main") && said.contains("sent no window"), "{said}");
    assert_eq!(before[1]["content"], after[1]["content"]);
}

#[test]
fn of_two_things_under_one_key_the_first_is_kept_and_it_is_told() {
    let world = world();
    let thing = world.pipemux(&["view"]).ok().obj("the thing");
    let told = world.run("rogue.misbehave('show twins')");
    told.ok().has("rogue/main shows two things under the key thing: the first one is kept");
    told.has(&format!("[the thing](obj:{thing}) its twin"));
    world.pipemux(&["view"]).ok().lacks("two things");
    let anchors = context(&world, &["rogue/main"])["anchors"].clone();
    assert!(anchors[format!("obj:{thing}")].is_object(), "{anchors:#}");
    assert_eq!(
        anchors.as_object().map(|all| all.keys().filter(|id| id.starts_with("obj:")).count()),
        Some(1)
    );
    world.run(&format!("rogue.look(obj:{thing})")).ok();
}

#[test]
fn what_is_too_large_is_shown_with_less_detail_and_says_so() {
    let world = world();
    world.run("rogue.misbehave('show long')").ok();
    let lowered = world.pipemux(&["view", "rogue/main"]);
    lowered.ok().has("less detail, to fit").lacks("a line of a long window");
    assert!(lowered.lines() < 30, "{lowered}");
    assert_eq!(context(&world, &["rogue/main"])["state"]["currentLod"], "Gist");
    let lowered = world.pipemux(&["view", "rogue/main", "--lod", "full"]);
    lowered.ok().has("less detail, to fit").lacks("a line of a long window");
    // What it says is a whole command, and it helps.
    let text = lowered.text();
    let command = text.split_once("all of it: pipemux ").and_then(|(_, rest)| rest.lines().next());
    let command: Vec<&str> = command.unwrap_or_default().split(' ').collect();
    let all = world.pipemux(&command);
    assert_eq!(all.ok().text().matches("a line of a long window").count(), 2_000);
    // The others have their share untouched.
    world.pipemux(&["view"]).ok().has("first line");
}

#[test]
fn a_budget_is_kept_and_the_receipt_tells_what_there_is() {
    let world = World::new();
    let lines: String = (1..=2_000).map(|number| format!("line {number} of many\n")).collect();
    world.write("a.txt", lines);
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    for number in 0..40 {
        world.run(&format!("notebook.add('note {number}', 'text of {number}')")).ok();
    }
    world.pipemux(&["view"]).ok();
    for budget in [150, 300, 600, 1200, 2400] {
        let text = budget.to_string();
        let view = world.pipemux(&["view", "--budget", &text, "--json"]).ok().json();
        let (shown, available) = (&view["receipt"]["shown"], &view["receipt"]["available"]);
        let (shown, available) = (shown.as_u64().unwrap_or(0), available.as_u64().unwrap_or(0));
        assert!(shown <= budget + 60 && available > 10_000, "{budget}: {shown} of {available}");
        let printed = world.pipemux(&["view", "--budget", &text]);
        let cost = pipemux_proto::tokens::estimate(&printed.ok().text());
        assert!(cost <= budget + 60, "{cost} tokens of {budget}: {printed}");
    }
}
