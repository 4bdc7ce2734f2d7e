//! `pipemux pipe`: one process carries out many command lines.

use std::collections::BTreeMap;

use pipemux_tests::interactive::InteractiveCommand;
use pipemux_tests::{Signal, TestEnv, kill, wait_for};
use serde_json::{Value, json};

/// A running `pipemux pipe`, and the answers that arrived before they were asked for.
struct Pipe {
    command: InteractiveCommand,
    kept: BTreeMap<String, Value>,
}

impl Pipe {
    fn new(env: &TestEnv) -> Self {
        Self { command: InteractiveCommand::start(env, &["pipe"]), kept: BTreeMap::new() }
    }

    fn ask(&mut self, request: &Value) {
        self.command.write_line(&request.to_string());
    }

    /// Waits for the answer with this id.
    #[track_caller]
    fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into().to_string();
        loop {
            if let Some(found) = self.kept.remove(&id) {
                return found;
            }
            let line = self.command.next_line().unwrap_or_else(|| panic!("no answer to {id}"));
            let answer: Value = serde_json::from_str(&line).expect("a line of JSON");
            let twice = self.kept.insert(answer["id"].to_string(), answer);
            assert!(twice.is_none(), "two answers: {twice:?}");
        }
    }

    #[track_caller]
    fn asked(&mut self, request: &Value) -> Value {
        self.ask(request);
        self.answer(request["id"].clone())
    }
}

#[track_caller]
fn text(answer: &Value) -> &str {
    answer["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

#[test]
fn pipe_requests_behave_like_command_lines() {
    let env = TestEnv::new();
    env.write("a.txt", "one\n");
    let mut pipe = Pipe::new(&env);
    let opened = pipe.asked(&json!({ "id": 1, "args": ["open", "editor", "a.txt"] }));
    assert_eq!(opened["exit"], 0);
    assert!(text(&opened).contains("## editor/main · a.txt"), "{opened}");
    // The window was shown, so the next answer shows only the change.
    let run = json!({
        "id": "two", "args": ["run", "editor.insert(1, text=stdin)"], "stdin": "深い \"x\"\n"
    });
    let acted = pipe.asked(&run);
    assert_eq!(acted["exit"], 0, "{acted}");
    assert!(!text(&acted).contains("replace_lines("), "{acted}");
    let viewed = pipe.asked(&json!({ "id": null, "args": ["view"], "json": true }));
    assert!(viewed["report"]["windows"][0]["content"].as_str().unwrap().contains("深い \"x\""));
    let refused = pipe.asked(&json!({ "id": 4, "args": ["run", "editor.save("] }));
    assert_eq!(refused["exit"], 2);
    assert!(text(&refused).contains("missing `)`"), "{refused}");
    let there = json!({ "id": 5, "args": ["view"], "workspace": "elsewhere", "reader": "b" });
    assert!(text(&pipe.asked(&there)).contains("0 windows"));
    let message = json!({ "id": 6, "args": ["listen"], "stdin": "```docui\neditor.save()\n```\n" });
    assert!(text(&pipe.asked(&message)).contains("done · save"));
    assert_eq!(env.read("a.txt"), "深い \"x\"\none\n");
    // A symbolic link to the project leads to the same workspace.
    let link = env.root().join("link");
    std::os::unix::fs::symlink(env.project(), &link).unwrap();
    let linked = pipe.asked(&json!({ "id": "link", "args": ["view"], "cwd": link }));
    assert!(text(&linked).contains("## editor/main"), "{linked}");
    assert!(text(&pipe.asked(&json!({ "id": 7, "args": ["--help"] }))).contains("pipemux run"));
    pipe.command.close_stdin();
    assert_eq!(pipe.command.next_line(), None);
    assert_eq!(pipe.command.finish(), 0);
}

#[test]
fn invalid_requests_are_answered_with_an_error() {
    let env = TestEnv::new();
    let mut pipe = Pipe::new(&env);
    let long = format!("{{\"id\": 0, \"args\": [\"{}\"]}}", "x".repeat(7 << 20));
    for line in ["no json", "[1]", "{\"args\": 3}", "\u{feff}{}", &long] {
        pipe.command.write_line(line);
        let refused = pipe.answer(Value::Null);
        assert_eq!(refused["exit"], 2, "{refused}");
        assert!(refused["error"]["hints"][0].as_str().unwrap().contains("\"args\""), "{refused}");
    }
    for (request, expected) in [
        (json!({ "id": 1, "arg": ["view"] }), "unknown field `arg`, expected one of"),
        (json!({ "id": 1, "args": ["viev"] }), "is not a verb"),
        (json!({ "id": 1, "args": ["watch"] }), "can't be used in a pipe"),
        (json!({ "id": 1, "args": ["pipe"] }), "can't be used in a pipe"),
        (json!({ "id": 1, "args": ["run", "-"] }), "there is no standard input"),
        (
            json!({ "id": 1, "args": ["open", "editor"], "cwd": "here" }),
            "expected an absolute path",
        ),
        (json!({ "id": 1, "args": ["view", "--budget", "x"] }), "expected tokens"),
    ] {
        let refused = pipe.asked(&request);
        assert_eq!(refused["exit"], 2, "{refused}");
        assert!(text(&refused).contains(expected), "{refused}");
    }
    pipe.command.write_line("");
    assert_eq!(pipe.asked(&json!({ "id": 2, "args": ["apps"], "json": true }))["exit"], 0);
}

#[test]
fn slow_requests_delay_no_others_and_all_are_answered() {
    let env = TestEnv::with_notebook();
    env.pipemux(&["view"]).ok();
    let mut pipe = Pipe::new(&env);
    pipe.ask(&json!({ "id": "slow", "args": ["view", "--wait", "60"] }));
    let quick = pipe.asked(&json!({ "id": "quick", "args": ["sessions"] }));
    assert!(text(&quick).contains("notebook/main"));
    assert!(pipe.kept.is_empty(), "the slow one waits still");
    for number in 0..200 {
        let code = format!("notebook.add('n{number}', 'x')");
        pipe.ask(&json!({ "id": number, "args": ["run", code], "reader": "writer" }));
    }
    for number in 0..200 {
        assert_eq!(pipe.answer(number)["exit"], 0);
    }
    assert!(text(&pipe.answer("slow")).contains("notebook/main"));
    let listed = pipe.asked(&json!({ "id": 1, "args": ["view"] }));
    assert!(text(&listed).contains("200 entries"), "{listed}");
}

#[test]
fn requests_run_in_the_order_of_their_lines() {
    const ADDS: usize = 30;
    let env = TestEnv::new();
    let mut pipe = Pipe::new(&env);
    // All requests are sent at once; each one sees the effects of the lines before it.
    pipe.ask(&json!({ "id": "open", "args": ["open", "notebook"] }));
    for number in 0..ADDS {
        let code = format!("notebook.add('n{number:02}', text=stdin)");
        // Some lines are long and take longer to read.
        let text = "x".repeat(if number % 7 == 0 { 300_000 } else { 1 });
        pipe.ask(&json!({ "id": number, "args": ["run", code], "stdin": text }));
        if number % 10 == 5 {
            pipe.ask(&json!({ "id": format!("wrong {number}"), "args": ["viev"] }));
        }
    }
    pipe.ask(&json!({ "id": "close", "args": ["close", "notebook"] }));
    pipe.ask(&json!({ "id": "late", "args": ["close", "notebook"] }));
    pipe.ask(&json!({ "id": "again", "args": ["open", "notebook"] }));
    pipe.ask(&json!({ "id": "last", "args": ["run", "notebook.add('last', 'x')"] }));
    assert_eq!(pipe.answer("open")["exit"], 0);
    for number in 0..ADDS {
        let added = pipe.answer(number);
        assert_eq!(added["exit"], 0, "{added}");
    }
    let late = pipe.answer("late");
    assert_eq!(late["exit"], 3, "{late}");
    for id in ["close", "again", "last"] {
        let done = pipe.answer(id);
        assert_eq!(done["exit"], 0, "{done}");
    }
    let told = env.pipemux(&["history", "--rounds", "100"]).ok().text();
    let titles: Vec<String> = (0..ADDS).map(|number| format!("n{number:02}")).collect();
    let titles = titles.iter().map(String::as_str).chain(["last"]);
    let places: Vec<Option<usize>> = titles.map(|title| told.find(title)).collect();
    assert!(places.iter().all(Option::is_some), "{told}");
    assert!(places.is_sorted(), "{told}");
}

#[test]
fn daemon_and_client_errors_have_the_same_form() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "plain");
    let mut pipe = Pipe::new(&env);
    env.write("a.txt", "one\n");
    pipe.asked(&json!({ "id": 0, "args": ["open", "editor", "a.txt"] }));
    pipe.asked(&json!({ "id": 0, "args": ["open", "rogue"] }));
    for (args, exit, code, message) in [
        (json!(["run", "rogue.set("]), 2, "usage", "missing `)`"),
        (json!(["run", "rogue.sett()"]), 2, "usage", "sett"),
        (json!(["view", "nobody/main"]), 3, "not_found", "no window of nobody/main"),
        (json!(["open", "nobody"]), 3, "not_found", "no app nobody"),
        (json!(["click", "link:999"]), 3, "not_found", "link:999"),
        (json!(["app", "remove", "editor"]), 9, "refused", "can't be removed"),
        (
            json!(["run", "editor.insert(1, 'x'); editor.replace('no such', 'y')"]),
            1,
            "failed",
            "replace",
        ),
        (json!(["run", "rogue.misbehave('exit')"]), 7, "unknown", "died"),
        (json!(["viev"]), 2, "usage", "is not a verb"),
    ] {
        for json in [false, true] {
            let told = pipe.asked(&json!({ "id": 1, "args": args, "json": json }));
            assert_eq!(told["exit"], exit, "{told}");
            assert_eq!(told["error"]["code"], code, "{told}");
            let said = told["error"]["message"].as_str().unwrap_or_else(|| panic!("{told}"));
            assert!(said.contains(message) || json, "{told}");
            assert!(told["error"]["hints"].is_array() && !said.is_empty(), "{told}");
        }
    }
    let asks = pipe.asked(&json!({ "id": 1, "args": ["run", "rogue.wipe()"] }));
    assert_eq!((&asks["exit"], &asks["error"]), (&json!(5), &Value::Null), "{asks}");
}

#[test]
fn requests_before_the_end_of_input_are_answered() {
    let env = TestEnv::with_notebook();
    env.pipemux(&["view"]).ok();
    let mut pipe = Pipe::new(&env);
    pipe.ask(&json!({ "id": 1, "args": ["view", "--wait", "0.3"] }));
    pipe.ask(&json!({ "id": 2, "args": ["apps"] }));
    pipe.command.close_stdin();
    assert!(text(&pipe.answer(1)).contains("unchanged"));
    assert_eq!(pipe.answer(2)["exit"], 0);
    assert_eq!(pipe.command.next_line(), None);
    assert_eq!(pipe.command.finish(), 0);
}

#[test]
fn next_request_after_a_lost_daemon_starts_another() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "plain");
    let mut pipe = Pipe::new(&env);
    pipe.asked(&json!({ "id": 0, "args": ["open", "rogue"] }));
    let gate = env.path("gate").display().to_string();
    pipe.ask(&json!({ "id": 1, "args": ["run", format!("rogue.misbehave('wait for {gate}')")] }));
    let owes = || {
        let told = env.pipemux(&["watch", "--since", "0", "--count", "1"]);
        told.ok();
    };
    owes();
    wait_for("the run is in progress", || {
        let limits = env.pipemux(&["status", "--json"]).ok().json();
        limits["clients"].as_i64() == Some(2)
    });
    kill(env.daemon_pid(), Signal::SIGKILL);
    let lost = pipe.answer(1);
    assert_eq!(lost["exit"], 7, "{lost}");
    assert!(text(&lost).starts_with("unknown · "), "{lost}");
    env.write("gate", "");
    wait_for("all other processes have ended", || {
        env.processes().iter().all(|p| p.pid == pipe.command.pid)
    });
    let viewed = pipe.asked(&json!({ "id": 2, "args": ["view"] }));
    assert_eq!(viewed["exit"], 0, "{viewed}");
    assert!(text(&viewed).contains("## rogue/main"), "{viewed}");
    // The same holds for a daemon that was ended by `down`.
    assert_eq!(pipe.asked(&json!({ "id": 3, "args": ["down"] }))["exit"], 0);
    assert_eq!(pipe.asked(&json!({ "id": 4, "args": ["view"] }))["exit"], 0);
}

#[test]
fn line_may_be_a_tool_call() {
    let env = TestEnv::with_notebook();
    let mut pipe = Pipe::new(&env);
    let added = pipe.asked(&json!({
        "id": 1, "name": "run_code_snippet", "parameters": { "code": "notebook.add('t', 'x')" },
    }));
    assert_eq!(added["exit"], 0, "{added}");
    let shown = pipe.asked(&json!({
        "id": 2, "type": "tool_use", "name": "ask", "input": { "code": "notebook.show('t')" },
    }));
    assert!(text(&shown).contains("[t]"), "{shown}");
    let refused = pipe.asked(&json!({ "id": 3, "name": "ask", "parameters": { "code": "undo" } }));
    assert_eq!(refused["exit"], 2, "{refused}");
}
