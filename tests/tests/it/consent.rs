//! What only a person may allow: nothing that a project names is started, opened or sent before.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use pipemux_proto::client::Verb;
use pipemux_proto::consent::{ConsentArgs, ConsentDecision, PersonChannel};
use pipemux_tests::{McpClient, TestClient, TestEnv, ToolResult, wait_until};
use serde_json::json;

/// A project that somebody else wrote: each of its files tries to have a program started, and a
/// turn is open.
fn hostile() -> TestEnv {
    let env = TestEnv::new();
    for folder in [".planning/todo", ".git/hooks"] {
        fs::create_dir_all(env.path(folder)).expect("a directory");
    }
    let at = env.project().display().to_string();
    env.write("evil.sh", format!("echo ran >> {at}/pwned\n"));
    let command = format!("command = [\"sh\", \"{at}/evil.sh\"]\n");
    env.write(
        "planner.toml",
        format!("driver = \"evil\"\ncodegen = \"sh {at}/evil.sh\"\n[drivers.evil]\n{command}"),
    );
    env.write("config.toml", "[terminal]\nconfine = \"off\"\n");
    env.write(
        ".planning/todo/journal.jsonl",
        "{\"ts\":\"2026-01-01T00:00:00Z\",\"by\":{\"reader\":\"x\",\"driver\":\"agent\",\"person\":false},\"event\":\"start\",\"topic\":\"todo\",\"brief\":\"x\",\"history\":[],\"rules\":1}\n",
    );
    let hook = format!("#!/bin/sh\nsh {at}/evil.sh\n");
    for name in [".git/hooks/post-checkout", ".git/hooks/post-index-change", ".envrc"] {
        env.write(name, &hook);
    }
    env.write(
        ".git/config",
        format!("[core]\n\tfsmonitor = sh {at}/evil.sh\n\tpager = sh {at}/evil.sh\n[diff]\n\texternal = sh {at}/evil.sh\n"),
    );
    env.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    env.write("a.txt", "one\n");
    env
}

#[test]
fn cloned_project_starts_nothing_until_a_person_trusts_it() {
    let env = hostile();
    env.pipemux(&["ask", "planner.topics()"]).ok().has("todo");
    env.pipemux(&["open", "planner"]).ok();
    env.pipemux(&["view", "planner"]).ok().has("evil is to play ProductPlanner");
    env.pipemux(&["inject"]).ok();
    let refused = env.run("planner.plan('add a log')");
    refused.exits(9).has("nobody has trusted it").has("pipemux consent");
    // The agent can't allow it: it has no terminal, and its words go to no question.
    env.pipemux(&["answer", "yes"]).exits(3);
    let listed = env.pipemux(&["consent"]);
    listed
        .ok()
        .has("planner asks to trust planner.toml")
        .has("evil starts: sh ")
        .has("covers the file evil.sh");
    let number = listed.text().split(' ').next().expect("a number").to_owned();
    env.pipemux(&["consent", &number]).exits(9).has("only a person at a terminal");
    assert!(!env.path("pwned").exists());
    // A person can, and what they allowed outlives the daemon.
    assert_eq!(TestClient::new(&env, None, "person").allow_all().len(), 1);
    env.pipemux(&["consent"]).ok().has("planner may trust planner.toml");
    env.kill_daemon();
    env.pipemux(&["view", "planner"]).ok();
    assert!(!env.path("pwned").exists(), "a look after a kill played a turn");
    env.run("planner.go()").ok();
    wait_until("the driver runs", || env.path("pwned").exists().then_some(()));
    // A change asks again.
    env.write("evil.sh", "echo changed\n");
    env.run("planner.retry()").exits(9).has("nobody has trusted it");
    env.pipemux(&["consent", &number, "--withdraw"]).ok().has("withdrawn: trust planner.toml");
}

#[test]
fn decision_without_a_person_is_refused() {
    let env = hostile();
    env.run("planner.plan('add a log')").exits(9);
    let mut client = TestClient::new(&env, None, "agent");
    let mut decide = |number, by| {
        let decision = Some(ConsentDecision::Allow);
        let args = ConsentArgs { number, decision, by };
        client.request(Verb::Consent(args), Duration::from_secs(30)).exit
    };
    let person = Some(PersonChannel::Terminal);
    for number in [None, Some(0), Some(1_000_000)] {
        assert_ne!(decide(number, person), 0, "{number:?}");
    }
    let listed = env.pipemux(&["consent"]).ok().text();
    let number = listed.split(' ').next().and_then(|number| number.parse().ok());
    assert_eq!(decide(number, None), 2);
    assert_eq!(decide(number, person), 0);
}

#[test]
fn client_that_can_ask_its_person_does() {
    let env = hostile();
    let forms = json!({ "elicitation": {} });
    let mut agent = McpClient::connect_as(&env, &["mcp"], "2025-11-25", forms);
    let plan =
        json!({ "name": "run_code_snippet", "arguments": { "code": "planner.plan('add a log')" } });
    let id = agent.begin("tools/call", plan.clone());
    let declined = agent.finish(id, |asked| {
        let message = asked["params"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("evil starts: sh ") && message.ends_with("Allow it?"), "{asked}");
        json!({ "action": "decline" })
    });
    ToolResult::of(&declined).fails().has("nobody has trusted it");
    let id = agent.begin("tools/call", plan);
    let accepted = agent.finish(id, |_| json!({ "action": "accept" }));
    ToolResult::of(&accepted).ok().has("1 done · plan");
}

#[test]
fn query_reaches_nothing_that_was_not_reached_before() {
    let env = TestEnv::new();
    env.write("a.txt", "one\n");
    let secret = env.root().join("home/.ssh/id");
    fs::create_dir_all(secret.parent().expect("a parent")).expect("a directory");
    fs::write(&secret, "TOP-SECRET-KEY\n").expect("a file");
    env.pipemux(&["up"]).ok();
    if !env.pipemux(&["status"]).text().contains("sandbox confines files") {
        return;
    }
    let (folder, file) =
        (secret.parent().expect("a parent").display().to_string(), secret.display().to_string());
    for code in [
        format!("editor.find('SECRET', in='{folder}')"),
        format!("editor.find('SECRET', in='{file}')"),
        format!("editor.lines('{file}')"),
        format!("editor.lines(files='{file}')"),
        format!("editor.outline('{folder}')"),
        format!("editor.text('{file}')"),
    ] {
        for verb in ["ask", "run"] {
            let answer = env.pipemux(&[verb, &code]);
            assert!(!answer.text().contains("TOP-SECRET"), "{verb} {code}: {}", answer.text());
        }
        let mut agent = McpClient::connect(&env);
        agent.ask(&code).lacks("TOP-SECRET");
    }
    // An open names it, and so widens.
    env.pipemux(&["open", "editor", &file]).ok().has("TOP-SECRET");
}

/// What is at each path below a folder: type and mode, owner, length, time of change, content.
fn state(root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, found) = (entry.path(), entry.metadata().expect("what is listed"));
            let content =
                if found.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
            if found.is_dir() {
                left.push(path.clone());
            }
            let told = format!(
                "{:o} {} {} {}.{} {content:?}",
                found.mode(),
                found.uid(),
                found.len(),
                found.mtime(),
                found.mtime_nsec(),
            );
            all.insert(path.display().to_string(), told);
        }
    }
    all
}

#[test]
fn no_query_of_any_app_changes_a_project_or_starts_or_opens_anything() {
    let env = hostile();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let heard =
        thread::spawn(move || listener.accept().map(|(mut stream, _)| stream.read(&mut [0; 1])));
    let more = format!("[drivers.net]\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"\n");
    env.write("planner.toml", env.read("planner.toml") + "[coach]\ndriver = \"net\"\n" + &more);
    let before = state(&env.project());
    let mut tried = 0;
    let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("../apps");
    let built_in =
        apps.read_dir().expect("the apps").map(|folder| folder.expect("a folder").path());
    for app in built_in.filter(|folder| folder.join("manifest.toml").exists()) {
        let app = app.file_name().and_then(|name| name.to_str()).expect("a name");
        let _ = env.pipemux(&["open", app]);
        let _ = env.pipemux(&["view", app]);
        let help = env.pipemux(&["help", app, "--json"]);
        for query in queries(&help.text()) {
            let _ = env.pipemux(&["ask", &format!("{app}.{query}"), "--timeout", "20"]);
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried} queries");
    env.pipemux(&["inject"]).ok();
    env.pipemux(&["down"]).ok();
    env.pipemux(&["view"]).ok();
    assert!(!env.path("pwned").exists());
    let after = state(&env.project());
    for (path, what) in &before {
        assert_eq!(after.get(path), Some(what), "{path}");
    }
    let added: Vec<&String> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(added.is_empty(), "{added:?}");
    assert!(!heard.is_finished(), "a connection was opened");
}

/// Calls of all queries that an app's help declares, each with arguments that may mean something: a
/// name, a file, a number.
fn queries(help: &str) -> Vec<String> {
    let help: Vec<serde_json::Value> = serde_json::from_str(help).expect("JSON");
    let queries = help.iter().filter_map(|one| one["short"].as_str()?.strip_prefix('?'));
    let calls = queries.flat_map(|short| {
        let (name, params) = short.trim_end_matches(')').split_once('(').unwrap_or((short, ""));
        let required: Vec<&str> =
            params.split(", ").filter(|param| !param.is_empty() && !param.contains('=')).collect();
        ["'a.txt'", "'one'", "1"].map(|value| {
            let args = vec![value; required.len()];
            format!("{name}({})", args.join(", "))
        })
    });
    calls.collect()
}
