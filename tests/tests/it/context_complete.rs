//! A complete context: history, forms, prototypes, a session id of its own.

use std::fs;

use pipemux_tests::TestEnv;
use serde_json::{Value, json};

fn context(env: &TestEnv, session: &str) -> Value {
    env.pipemux(&["view", session, "--json"]).ok().json()["windows"][0].clone()
}

#[test]
fn view_has_history_forms_and_prototypes_and_acts_have_none_of_them() {
    let env = TestEnv::with_editor("one\ntwo\n");
    let before = context(&env, "editor/main");
    assert_eq!(before["history"], Value::Null);
    let form = &before["anchors"]["editor.replace"];
    assert_eq!(form["type"], "Form");
    let params =
        json!(["old", "new", "in", "word", "regex", "case", "only", "not", "all", "preview"]);
    assert_eq!(form["params"], params);
    assert_eq!(before["anchors"]["editor.save"], Value::Null, "it has no parameters");
    // A reader who knows the prototypes gets them nevertheless: a context is complete.
    for _ in 0..2 {
        let content = context(&env, "editor/main")["content"].clone();
        let content = content.as_str().expect("content");
        assert!(content.contains("```ts\n") && content.contains("replace(old"), "{content}");
    }
    let acted = env.pipemux(&["run", "--json", "editor.insert(1, 'zero')"]).ok().json();
    let window = &acted["windows"][0];
    assert_eq!(window["history"], Value::Null);
    assert!(window["anchors"].as_object().unwrap().values().all(|a| a["type"] != "Form"));
    assert!(!window["content"].as_str().unwrap().contains("```ts"));
    let after = context(&env, "editor/main");
    let rounds = after["history"].as_array().expect("a round");
    assert_eq!(rounds.len(), 1);
    assert_eq!(rounds[0]["action"], "editor.insert(1, 'zero')");
    assert!(rounds[0]["result"].as_str().unwrap().starts_with("insert done"), "{rounds:?}");
    assert!(rounds[0]["timestamp"].as_str().unwrap().ends_with('Z'), "{rounds:?}");
    // A gist shows no actions, and is no other version.
    let gist = env.pipemux(&["view", "editor/main", "--lod", "gist", "--json"]).ok().json();
    let gist = &gist["windows"][0];
    assert_eq!(gist["header"], after["header"]);
    assert!(gist["anchors"].as_object().unwrap().values().all(|a| a["type"] != "Form"));
}

#[test]
fn history_has_the_last_8_rounds_of_its_session_also_after_a_restart() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["open", "notebook"]).ok();
    for number in 0..10 {
        env.run(&format!("editor.insert(1, 'line {number}')")).ok();
        env.run(&format!("notebook.add('note {number}', 'text')")).ok();
    }
    env.run("notebook.add('both', text=editor.lines(1, 1))").ok();
    let actions = |session: &str| -> Vec<String> {
        let context = context(&env, session);
        let rounds = context["history"].as_array().expect("rounds").iter();
        rounds.map(|round| round["action"].as_str().expect("an action").to_owned()).collect()
    };
    let (editor, notebook) = (actions("editor/main"), actions("notebook/main"));
    assert_eq!((editor.len(), notebook.len()), (8, 8));
    assert_eq!(editor[0], "editor.insert(1, 'line 3')");
    assert_eq!(notebook[0], "notebook.add('note 3', 'text')");
    // A round belongs to all sessions that it used.
    assert_eq!(editor[7], notebook[7]);
    env.pipemux(&["down"]).ok();
    assert_eq!(actions("editor/main"), editor);
    assert_eq!(actions("notebook/main"), notebook);
}

#[test]
fn session_id_is_unique_in_the_daemon_and_names_its_session() {
    let env = TestEnv::with_editor("one\ntwo\n");
    env.pipemux(&["open", "notebook"]).ok();
    env.in_workspace("elsewhere", &["open", "editor", "a.txt"]).ok();
    let elsewhere = env.in_workspace("elsewhere", &["view", "--json"]).ok().json();
    let id = |context: &Value| context["header"]["sessionId"].as_str().unwrap().to_owned();
    let editor = id(&context(&env, "editor/main"));
    let ids = [&editor, &id(&context(&env, "notebook/main")), &id(&elsewhere["windows"][0])];
    assert!(ids.iter().all(|id| id.starts_with("main-")), "{ids:?}");
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    // It is accepted wherever the session is named, and only where that is.
    let unique = format!("editor/{editor}");
    env.pipemux(&["view", &unique]).ok().has("## editor/main");
    env.in_workspace("elsewhere", &["view", &unique]).exits(3);
    env.run(&format!("{unique}.goto(2)")).ok();
    env.pipemux(&["open", &unique]).ok().has("## editor/main");
    env.pipemux(&["logs", &unique]).ok();
    let focus = context(&env, &unique)["state"]["focusId"].as_str().unwrap().to_owned();
    let (_, number) = focus.split_once(':').unwrap();
    env.pipemux(&["read", &format!("obj:{unique}:{number}")]).ok().has("two");
    env.pipemux(&["restart", &unique]).ok();
    assert_eq!(id(&context(&env, "editor/main")), editor);
    env.pipemux(&["down"]).ok();
    assert_eq!(id(&context(&env, "editor/main")), editor);
    env.pipemux(&["close", &unique, "--end"]).ok().has("editor/main");
    assert_eq!(
        env.pipemux(&["view", "--json"]).ok().json()["windows"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn major_version_never_falls() {
    let env = TestEnv::with_editor("one\n");
    let major = || context(&env, "editor/main")["header"]["version"]["major"].as_u64().unwrap();
    let mut newest = major();
    let mut rises = |env: &TestEnv, args: &[&str]| {
        env.pipemux(args).ok();
        env.pipemux(&["open", "editor", "a.txt"]).ok();
        let now = major();
        assert!(now >= newest, "{now} after {newest}: {args:?}");
        newest = now;
    };
    for args in [
        &["run", "editor.insert(1, 'x')"][..],
        &["close", "editor/main"],
        &["restart", "editor/main"],
        &["down"],
        &["end", "editor/main"],
        &["close", "editor/main", "--end"],
        &["down"],
    ] {
        rises(&env, args);
    }
}

/// An error context: it names its kind, and stays as it is until it is mended.
#[test]
fn damaged_store_is_invalid_source_data_until_it_is_mended() {
    let env = TestEnv::new();
    env.write("text.db", "no database ".repeat(2000));
    let refused = env.pipemux(&["open", "notebook", "text.db"]);
    let named = "InvalidSourceData · text.db is not a SQLite file; it was left as it is";
    refused.exits(9).has(named);

    env.pipemux(&["open", "notebook", "n.db"]).ok();
    env.run("notebook.add('kept', 'text')").ok();
    let good = context(&env, "notebook/main");
    env.pipemux(&["down"]).ok();
    let (path, spare) = (env.path("n.db"), env.path("spare.db"));
    fs::copy(&path, &spare).expect("it is copied");
    fs::write(&path, "no database ".repeat(2000)).expect("it is written");
    let damaged = "InvalidSourceData · n.db is not a SQLite file; it was left as it is";
    env.pipemux(&["view", "notebook/main"]).exits(9).has(damaged);
    let broken = env.pipemux(&["view", "notebook/main", "--json"]).exits(9).json();
    let broken = &broken["windows"][0];
    assert!(broken["content"].as_str().unwrap().starts_with(damaged), "{broken:#}");
    assert_eq!(broken["errors"][0]["code"], "invalid_source_data");
    assert_eq!((&broken["anchors"], &broken["state"]["focusId"]), (&json!({}), &Value::Null));
    // An act says the same, by the same name and code.
    env.run("notebook.add('n', 't')").exits(9).has(damaged);
    let acted = env.pipemux(&["run", "--json", "notebook.add('n', 't')"]).exits(9).json();
    assert_eq!(acted["steps"][0]["error"]["code"], "invalid_source_data");
    // The whole workspace is shown, with the error as this window's content.
    env.pipemux(&["view"]).ok().has(damaged);
    let later = context_of_broken(&env);
    assert_eq!(
        (&later["header"], &later["content"], &later["errors"]),
        (&broken["header"], &broken["content"], &broken["errors"]),
        "until it is mended"
    );
    assert!(fs::read_to_string(&path).unwrap().starts_with("no database"), "left as it is");

    fs::rename(&spare, &path).expect("it is mended");
    let mended = context(&env, "notebook/main");
    assert_eq!(
        mended["anchors"].as_object().unwrap().len(),
        good["anchors"].as_object().unwrap().len()
    );
    assert!(mended["content"].as_str().unwrap().contains("kept"), "{mended:#}");
    assert!(mended["errors"].is_null(), "{mended:#}");
    let version = |context: &Value| {
        let version = &context["header"]["version"];
        ["major", "minor", "patch"].map(|part| version[part].as_u64().unwrap())
    };
    assert!(version(&mended) > version(broken) && version(broken) > version(&good));
}

fn context_of_broken(env: &TestEnv) -> Value {
    env.pipemux(&["view", "notebook/main", "--json"]).exits(9).json()["windows"][0].clone()
}

#[test]
fn version_that_goes_back_is_shown_anew_and_told() {
    let env = TestEnv::with_rogue_and_notebook();
    for _ in 0..3 {
        env.run("rogue.set()").ok();
    }
    let before = context(&env, "rogue/main");
    env.run("rogue.misbehave('show gone')").ok();
    let told = env.run("rogue.misbehave('go back to 2')");
    told.ok().has("VersionMismatch · rogue/main went from 5 to 2; shown anew").has("## rogue/main");
    let after = context(&env, "rogue/main");
    assert_eq!(after["errors"][0]["code"], "version_mismatch");
    assert_eq!(after["errors"][0]["message"], "rogue/main went from 5 to 2; shown anew");
    let major = |context: &Value| context["header"]["version"]["major"].as_u64().unwrap();
    assert!(major(&after) > major(&before));
    assert_eq!(context(&env, "rogue/main"), after);
    // What comes after it is shown, and nothing is told again.
    env.run("rogue.misbehave('show plain')").ok().lacks("VersionMismatch").has("plain");
    assert!(context(&env, "rogue/main")["errors"].is_null());
}
