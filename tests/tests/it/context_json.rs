//! The context of a window as JSON: version, state, anchors, stability, and error contexts.

use pipemux_tests::{Output, TestEnv};
use serde_json::Value;

/// An environment with a well-behaved `rogue` and a notebook with one entry.
fn rogue_and_notebook() -> TestEnv {
    let env = TestEnv::with_rogue_and_notebook();
    env.run("notebook.add('n', 'first line')").ok();
    env
}

fn contexts(view: &Output) -> Vec<Value> {
    view.ok().json()["windows"].as_array().cloned().expect("windows")
}

/// Returns the context of the only window of a view.
fn context(env: &TestEnv, args: &[&str]) -> Value {
    let view = env.pipemux(&[&["view"], args, &["--json"]].concat());
    let all = contexts(&view);
    assert_eq!(all.len(), 1, "{view}");
    all[0].clone()
}

/// Returns the codes of a context's errors.
fn codes(context: &Value) -> Vec<&str> {
    let errors = context["errors"].as_array().into_iter().flatten();
    errors.filter_map(|error| error["code"].as_str()).collect()
}

fn version(context: &Value) -> [u64; 3] {
    let version = &context["header"]["version"];
    ["major", "minor", "patch"].map(|part| version[part].as_u64().expect("a number"))
}

#[test]
fn repeated_views_are_byte_identical() {
    let env = rogue_and_notebook();
    env.write("a.rs", "fn main() {}\n");
    env.pipemux(&["open", "editor", "a.rs"]).ok();
    for args in
        [&["view"][..], &["view", "--json"], &["view", "--lod", "full"], &["view", "--json"]]
    {
        env.pipemux(args).ok();
        let (one, two) = (env.pipemux(args), env.pipemux(args));
        assert_eq!(one.ok().text(), two.ok().text());
    }
    // A change in another window changes no byte of these contexts, not even their timestamps.
    let before = contexts(&env.pipemux(&["view", "--json"]));
    env.run("editor.insert(1, '// new')").ok();
    let after = contexts(&env.pipemux(&["view", "--json"]));
    assert_eq!(before[..2], after[..2]);
    assert_ne!(before[2], after[2]);
}

#[test]
fn context_version_tracks_data_level_and_rendering() {
    let env = TestEnv::new();
    let lines: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    env.write("a.txt", lines);
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    let first = context(&env, &["editor/main"]);
    let [major, ..] = version(&first);
    assert_eq!(version(&first), [1, 0, 0]);
    // A look at another level of detail is no change of the window's own, and raises nothing.
    for args in [["--lod", "gist"], ["--lod", "full"], ["--budget", "200"]] {
        let peek = context(&env, &["editor/main", args[0], args[1]]);
        assert_eq!(peek["header"], first["header"], "{args:?}");
        assert_ne!(peek["content"], first["content"], "{args:?}");
        assert_eq!(context(&env, &["editor/main"]), first, "after {args:?}");
    }
    // Every change of the level of detail raises the minor version.
    env.pipemux(&["open", "editor", "--lod", "gist"]).ok();
    assert_eq!(version(&context(&env, &["editor/main"])), [major, 1, 0]);
    env.pipemux(&["open", "editor", "--lod", "summary"]).ok();
    let back = context(&env, &["editor/main"]);
    assert_eq!(version(&back), [major, 2, 0]);
    assert_eq!((&back["content"], &back["anchors"]), (&first["content"], &first["anchors"]));

    env.run("editor.insert(1, 'zero')").ok();
    let changed = context(&env, &["editor/main"]);
    assert_eq!(version(&changed), [major + 1, 0, 0]);
    // The same data at the same level, rendered within a smaller budget, raises the patch version.
    env.pipemux(&["open", "editor", "--budget", "200"]).ok();
    let shorter = context(&env, &["editor/main"]);
    assert_ne!(shorter["content"], changed["content"]);
    assert_eq!(version(&shorter), [major + 1, 0, 1]);
    // An undo is a change too: the major version never goes back.
    env.run("editor.undo()").ok();
    assert_eq!(version(&context(&env, &["editor/main"])), [major + 2, 0, 0]);
}

#[test]
fn context_header_state_and_anchors_match_the_window() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.run("editor.hold(); editor.insert(1, 'zero')").ok();
    let editor = context(&env, &["editor/main"]);
    assert!(editor["state"]["custom"]["unsaved"] == true, "{editor:#}");
    // The only file has no id in the window, but it is in focus and an anchor nevertheless.
    let focus = editor["state"]["focusId"].as_str().expect("a focus");
    assert_eq!(editor["anchors"][focus]["type"], "Reference", "{editor:#}");
    assert!(!editor["content"].as_str().expect("content").contains(focus), "{editor:#}");
    env.pipemux(&["read", focus]).ok().has("zero");
    // Every button is a link in the content.
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

    env.write("b.txt", "b\n");
    env.pipemux(&["open", "editor", "b.txt"]).ok();
    env.run("editor.open('a.txt')").ok();
    let editor = context(&env, &["editor/main"]);
    let focus = editor["state"]["focusId"].as_str().expect("a focus").to_owned();
    assert_eq!(editor["anchors"][&focus]["type"], "Reference", "{editor:#}");
    env.pipemux(&["read", &focus]).ok().has("zero");

    env.install("arena", "examples/arena", "");
    env.pipemux(&["down"]).ok();
    let slime = env.pipemux(&["open", "arena"]).ok().obj("史莱姆1");
    let arena = context(&env, &["arena/main"]);
    let anchors = arena["anchors"].as_object().expect("anchors");
    let attack = anchors.values().filter(|a| a["target"] == format!("obj:enemy:{slime}").as_str());
    assert_eq!(attack.count(), 1, "the attack on it: {arena:#}");
}

#[test]
fn broken_app_has_an_error_context_and_others_are_unchanged() {
    let env = rogue_and_notebook();
    let before = contexts(&env.pipemux(&["view", "--json"]));
    env.pipemux(&["down"]).ok();
    env.install_rogue("rogue", "bad-window");
    let after = contexts(&env.pipemux(&["view", "--json"]));
    assert_eq!(after.len(), 2);
    let broken = &after[0];
    assert_eq!(broken["header"]["appId"], "rogue");
    assert_eq!(broken["anchors"], serde_json::json!({}));
    assert!(broken["header"]["version"]["major"].is_number() && broken["state"].is_object());
    assert_eq!(broken["state"]["currentLod"], "Summary");
    assert_eq!(codes(broken), ["unavailable"]);
    let said = broken["content"].as_str().expect("content");
    assert!(said.contains("rogue/main") && said.contains("sent no window"), "{said}");
    assert_eq!(before[1]["content"], after[1]["content"]);
}

#[test]
fn duplicate_object_key_keeps_the_first_with_a_notice() {
    let env = rogue_and_notebook();
    let thing = env.pipemux(&["view"]).ok().obj("the thing");
    let told = env.run("rogue.misbehave('show twins')");
    let conflict =
        "AnchorConflict · rogue/main shows two things under the key thing: the first one is kept";
    told.ok().has(conflict);
    told.has(&format!("[the thing](obj:thing:{thing}) its twin"));
    env.pipemux(&["view"]).ok().lacks("two things");
    let twins = context(&env, &["rogue/main"]);
    assert_eq!(codes(&twins), ["anchor_conflict"]);
    assert_eq!(context(&env, &["rogue/main"]), twins, "as long as there are two");
    let anchors = twins["anchors"].clone();
    assert!(anchors[format!("obj:thing:{thing}")].is_object(), "{anchors:#}");
    assert_eq!(
        anchors.as_object().map(|all| all.keys().filter(|id| id.starts_with("obj:")).count()),
        Some(1)
    );
    env.run(&format!("rogue.look(obj:{thing})")).ok();
}

#[test]
fn oversized_window_is_shown_with_less_detail() {
    let env = rogue_and_notebook();
    env.run("rogue.misbehave('show long')").ok();
    let lowered = env.pipemux(&["view", "rogue/main"]);
    lowered.ok().has("ContextTooLarge · rogue/main takes about").lacks("a line of a long window");
    assert!(lowered.lines() < 30, "{lowered}");
    let gist = context(&env, &["rogue/main"]);
    assert_eq!(
        (&gist["state"]["currentLod"], codes(&gist)),
        (&"Gist".into(), vec!["context_too_large"])
    );
    assert_eq!(context(&env, &["rogue/main"]), gist);
    let report = env.pipemux(&["view", "rogue/main", "--json"]).ok().json();
    let notice = report["notices"][0].as_str().expect("a notice");
    assert!(notice.starts_with("ContextTooLarge · rogue/main takes about"), "{notice}");
    assert!(report["receipt"]["available"].as_u64() > Some(10_000), "{:#}", report["receipt"]);
    let lowered = env.pipemux(&["view", "rogue/main", "--lod", "full"]);
    lowered.ok().has("shown with less detail, to fit").lacks("a line of a long window");
    // The notice contains a complete command that shows everything.
    let text = lowered.text();
    let command = text.split_once("all of it: pipemux ").and_then(|(_, rest)| rest.lines().next());
    let command: Vec<&str> = command.unwrap_or_default().split(' ').collect();
    let all = env.pipemux(&command);
    assert_eq!(all.ok().text().matches("a line of a long window").count(), 2_000);
    // The other windows are shown as before.
    env.pipemux(&["view"]).ok().has("first line");
}

#[test]
fn budget_is_respected_and_the_receipt_names_the_total() {
    let env = TestEnv::new();
    let lines: String = (1..=2_000).map(|number| format!("line {number} of many\n")).collect();
    env.write("a.txt", lines);
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    env.pipemux(&["open", "notebook"]).ok();
    for number in 0..40 {
        env.run(&format!("notebook.add('note {number}', 'text of {number}')")).ok();
    }
    env.pipemux(&["view"]).ok();
    for budget in [150, 300, 600, 1200, 2400] {
        let text = budget.to_string();
        let view = env.pipemux(&["view", "--budget", &text, "--json"]).ok().json();
        let (shown, available) = (&view["receipt"]["shown"], &view["receipt"]["available"]);
        let (shown, available) = (shown.as_u64().unwrap_or(0), available.as_u64().unwrap_or(0));
        assert!(shown <= budget + 60 && available > 9_000, "{budget}: {shown} of {available}");
        let printed = env.pipemux(&["view", "--budget", &text]);
        let cost = pipemux_tokens::estimate(&printed.ok().text());
        assert!(cost <= budget + 60, "{cost} tokens of {budget}: {printed}");
    }
}
