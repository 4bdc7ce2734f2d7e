//! JSON output has the documented fields.

use pipemux_tests::TestEnv;
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn assert_context(context: &Value, app: &str) {
    assert_eq!(keys(context), ["anchors", "content", "header", "history", "state"], "{context:#}");
    assert_eq!(keys(&context["header"]), ["appId", "sessionId", "timestamp", "version"]);
    assert_eq!(keys(&context["header"]["version"]), ["major", "minor", "patch"]);
    assert_eq!(keys(&context["state"]), ["currentLod", "custom", "focusId"]);
    assert_eq!(context["header"]["appId"], app);
    let session_id = context["header"]["sessionId"].as_str().expect("a session id");
    assert!(session_id.starts_with("main-"), "{session_id}");
    assert!(context["anchors"].is_object(), "present even when empty");
    assert!(context["history"].is_null() || context["history"].is_array());
    for (id, anchor) in context["anchors"].as_object().into_iter().flatten() {
        assert_eq!(keys(anchor), ["params", "target", "type"]);
        let kind = anchor["type"].as_str().unwrap_or_default();
        let prefix = match kind {
            "Reference" => "obj:".to_owned(),
            "Button" => "link:".to_owned(),
            "Form" => format!("{app}."),
            _ => panic!("{anchor}"),
        };
        assert!(id.starts_with(&prefix), "{id}: {anchor}");
    }
}

#[test]
fn view_and_run_json_have_the_documented_fields() {
    let env = TestEnv::new();
    env.write("a.txt", "x\nx\n");
    let opened = env.pipemux(&["open", "editor", "a.txt", "--json"]).ok().json();
    assert_context(&opened["windows"][0], "editor");
    env.pipemux(&["open", "notebook"]).ok();
    env.run("notebook.add('n', 't')").ok();

    let view = env.pipemux(&["view", "--json"]).ok().json();
    assert_eq!(keys(&view), ["epoch", "receipt", "windows", "workspace"], "{view:#}");
    assert_eq!(keys(&view["receipt"]), ["available", "shown"]);
    assert_eq!(view["workspace"], "proj");
    assert_context(&view["windows"][0], "editor");
    assert_context(&view["windows"][1], "notebook");
    assert_eq!(view["windows"][1]["state"]["currentLod"], "Summary");
    let anchors = view["windows"][1]["anchors"].as_object().unwrap();
    assert!(anchors.values().any(|anchor| anchor["type"] == "Reference"), "{anchors:?}");

    let asked = env.pipemux(&[
        "run",
        "--json",
        "editor.find('x'); editor.replace('x', 'y'); editor.save()",
    ]);
    let asked = asked.exits(5).json();
    assert_eq!(asked["steps"][0]["status"], "done");
    assert_eq!(asked["steps"][1]["status"], "needs");
    assert_eq!(keys(&asked["question"]), ["hints", "id", "level", "options", "text", "unlisted"]);
    assert_eq!(asked["question"]["level"], "choice");
    assert_eq!(keys(&asked["question"]["options"][0]), ["detail", "label", "ref"]);

    let done = env.pipemux(&["answer", "all", "--json"]).ok().json();
    let statuses: Vec<&Value> =
        done["steps"].as_array().unwrap().iter().map(|step| &step["status"]).collect();
    assert!(statuses.iter().all(|status| *status == "done"), "{done:#}");
    let value = env.pipemux(&["run", "--json", "editor.lines(1, 2)"]).ok().json();
    assert_eq!(value["steps"][0]["value"], "y\ny\n");
    assert!(value["steps"][0]["call"].as_str().unwrap().contains("editor.lines"));
}

#[test]
fn error_json_has_location_and_level() {
    let env = TestEnv::with_editor("x\n");
    let refused = env.pipemux(&["run", "--json", "editor.replace('a', nw='b')"]);
    let error = refused.exits(2).json()["error"].clone();
    assert_eq!(error["at"], serde_json::json!({ "line": 1, "column": 21 }), "{error:#}");
    assert_eq!(error["level"], "hint");
    assert!(error["message"].is_string() && error["hints"].is_array());
    let failed = env.pipemux(&[
        "run",
        "--json",
        "editor.find('x'); editor.replace('none', 'y'); editor.save()",
    ]);
    let failed = failed.json();
    assert_eq!(failed["steps"][1]["status"], "failed", "{failed:#}");
    assert_eq!(failed["steps"][2]["status"], "skipped", "{failed:#}");
    for (args, exit) in [
        (&["frob", "--json"][..], 2),
        (&["view", "nosuch/main", "--json"], 3),
        (&["click", "--json", "x y"], 2),
    ] {
        let output = env.pipemux(args);
        assert!(output.exits(exit).json()["error"]["message"].is_string(), "{output}");
    }
}

#[test]
fn listing_verbs_print_json() {
    let env = TestEnv::with_notebook();
    assert!(env.pipemux(&["sessions", "--json"]).ok().json().is_array());
    let apps = env.pipemux(&["apps", "--json"]).ok().json();
    assert_eq!(apps.as_array().map(Vec::len), Some(6));
    assert!(env.pipemux(&["status", "--json"]).ok().json()["pid"].is_number());
    for args in [
        &["help", "notebook", "--json"][..],
        &["logs", "notebook", "--json"],
        &["close", "notebook", "--json"],
    ] {
        env.pipemux(args).ok().json();
    }
}

#[test]
fn verbs_without_the_daemon_print_json_too() {
    let env = TestEnv::new();
    let setup = env.pipemux(&["setup", "cursor", "--dry-run", "--json"]).ok().json();
    assert_eq!(setup["changed"], false);
    assert!(setup["files"][0]["difference"].as_str().is_some_and(|text| text.contains("+++")));
    let done = env.pipemux(&["setup", "cursor", "--json"]).ok().json();
    assert_eq!((&done["changed"], &done["files"]), (&Value::Bool(true), &setup["files"]));
    let service = env.pipemux(&["service", "install", "--dry-run", "--json"]).ok().json();
    assert!(service["files"][0]["path"].is_string() && service["commands"][0].is_string());
    for words in [
        &["skill"][..],
        &["help", "--all"],
        &["help", "attach"],
        &["man"],
        &["completions", "bash"],
    ] {
        let text = env.pipemux(&[words, &["--json"]].concat()).ok().json()["text"].clone();
        assert!(text.as_str().is_some_and(|text| text.contains("pipemux")), "{words:?}: {text}");
    }
    assert!(env.pipemux(&["tool-schema", "--json"]).ok().json().is_array());
}

#[test]
fn help_of_a_verb_is_its_help_unless_an_app_has_the_name() {
    let env = TestEnv::new();
    let own = env.pipemux(&["attach", "--help"]).ok().text();
    assert_eq!(env.pipemux(&["help", "attach"]).ok().text().trim_end(), own.trim_end());
    env.pipemux(&["help", "editor"]).ok().has("## editor");
    env.pipemux(&["help", "undo"]).ok().has("## editor.undo").lacks("Usage");
    env.pipemux(&["help", "frob"]).exits(3).has("no app frob");
    env.install_rogue("trace", "plain");
    env.pipemux(&["help", "trace"]).exits(3).has("pipemux open trace");
    env.pipemux(&["service"]).exits(2).has("install, uninstall, status, logs");
    let mcp = env.pipemux(&["mcp", "--budget", "5"]).exits(2).clone();
    mcp.has("refused, nothing ran · ").has("a whole number from 100").has("\npipemux mcp --help");
}
