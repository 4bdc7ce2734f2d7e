//! `pipemux pipe`: many command lines over one process.

use std::collections::BTreeMap;

use pipemux_tests::stream::Stream;
use pipemux_tests::{Signal, World, kill, wait_until};
use serde_json::{Value, json};

/// A pipe, and the answers that came while another one was awaited.
struct Pipe {
    stream: Stream,
    kept: BTreeMap<String, Value>,
}

impl Pipe {
    fn new(world: &World) -> Self {
        Self { stream: Stream::start(world, &["pipe"]), kept: BTreeMap::new() }
    }

    fn ask(&mut self, request: &Value) {
        self.stream.give(&request.to_string());
    }

    /// The answer of that id.
    #[track_caller]
    fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into().to_string();
        loop {
            if let Some(found) = self.kept.remove(&id) {
                return found;
            }
            let line = self.stream.line().unwrap_or_else(|| panic!("no answer to {id}"));
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
fn requests_are_command_lines_and_answers_what_they_print() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let mut pipe = Pipe::new(&world);
    let opened = pipe.asked(&json!({ "id": 1, "args": ["open", "editor", "a.txt"] }));
    assert_eq!(opened["exit"], 0);
    assert!(text(&opened).contains("## editor/main · a.txt"), "{opened}");
    // Seen: what is acted on is shown as a change from now on.
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
    assert_eq!(world.read("a.txt"), "深い \"x\"\none\n");
    // The same desk, whichever link led to its project.
    let link = world.root().join("link");
    std::os::unix::fs::symlink(world.project(), &link).unwrap();
    let linked = pipe.asked(&json!({ "id": "link", "args": ["view"], "cwd": link }));
    assert!(text(&linked).contains("## editor/main"), "{linked}");
    assert!(text(&pipe.asked(&json!({ "id": 7, "args": ["--help"] }))).contains("view"));
    pipe.stream.end_input();
    assert_eq!(pipe.stream.line(), None);
    assert_eq!(pipe.stream.finish(), 0);
}

#[test]
fn what_is_no_request_is_answered_and_the_rest_goes_on() {
    let world = World::new();
    let mut pipe = Pipe::new(&world);
    let long = format!("{{\"id\": 0, \"args\": [\"{}\"]}}", "x".repeat(7 << 20));
    for line in ["no json", "[1]", "{\"args\": 3}", "\u{feff}{}", &long] {
        pipe.stream.give(line);
        let refused = pipe.answer(Value::Null);
        assert_eq!(refused["exit"], 2, "{refused}");
        assert!(refused["error"]["hints"][0].as_str().unwrap().contains("\"args\""), "{refused}");
    }
    for (request, expected) in [
        (json!({ "id": 1, "arg": ["view"] }), "unknown field `arg`, expected one of"),
        (json!({ "id": 1, "args": ["viev"] }), "is no verb"),
        (json!({ "id": 1, "args": ["watch"] }), "isn't answered once"),
        (json!({ "id": 1, "args": ["pipe"] }), "isn't answered once"),
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
    pipe.stream.give("");
    assert_eq!(pipe.asked(&json!({ "id": 2, "args": ["apps"], "json": true }))["exit"], 0);
}

#[test]
fn answers_come_when_they_are_there_and_more_than_fit_at_once_all_come() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.pipemux(&["view"]).ok();
    let mut pipe = Pipe::new(&world);
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
fn requests_are_carried_out_in_the_order_of_their_lines() {
    const ADDS: usize = 30;
    let world = World::new();
    let mut pipe = Pipe::new(&world);
    // All at once: what `open` makes is there for the next line, and gone for the one after `close`.
    pipe.ask(&json!({ "id": "open", "args": ["open", "notebook"] }));
    for number in 0..ADDS {
        let code = format!("notebook.add('n{number:02}', text=stdin)");
        // A line that takes longer to read, now and then.
        let text = "x".repeat(if number % 7 == 0 { 300_000 } else { 1 });
        pipe.ask(&json!({ "id": number, "args": ["run", code], "stdin": text }));
        if number % 10 == 5 {
            pipe.ask(&json!({ "id": format!("wrong {number}"), "args": ["viev"] }));
        }
    }
    pipe.ask(&json!({ "id": "close", "args": ["close", "notebook"] }));
    pipe.ask(&json!({ "id": "late", "args": ["run", "notebook.add('late', 'x')"] }));
    pipe.ask(&json!({ "id": "again", "args": ["open", "notebook"] }));
    pipe.ask(&json!({ "id": "last", "args": ["run", "notebook.add('last', 'x')"] }));
    assert_eq!(pipe.answer("open")["exit"], 0);
    for number in 0..ADDS {
        let added = pipe.answer(number);
        assert_eq!(added["exit"], 0, "{added}");
    }
    let late = pipe.answer("late");
    assert_ne!(late["exit"], 0, "{late}");
    for id in ["close", "again", "last"] {
        let done = pipe.answer(id);
        assert_eq!(done["exit"], 0, "{done}");
    }
    let told = world.pipemux(&["history", "--rounds", "100"]).ok().text();
    let titles: Vec<String> = (0..ADDS).map(|number| format!("n{number:02}")).collect();
    let titles = titles.iter().map(String::as_str).chain(["last"]);
    let places: Vec<Option<usize>> = titles.map(|title| told.find(title)).collect();
    assert!(places.iter().all(Option::is_some), "{told}");
    assert!(places.is_sorted(), "{told}");
    assert!(!told.contains("late"), "{told}");
}

#[test]
fn what_the_daemon_refuses_is_told_as_what_this_side_refuses() {
    let world = World::new();
    world.install_rogue("rogue", "plain");
    let mut pipe = Pipe::new(&world);
    world.write("a.txt", "one\n");
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
        (json!(["viev"]), 2, "usage", "is no verb"),
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
fn what_was_asked_before_the_input_ended_is_answered() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.pipemux(&["view"]).ok();
    let mut pipe = Pipe::new(&world);
    pipe.ask(&json!({ "id": 1, "args": ["view", "--wait", "0.3"] }));
    pipe.ask(&json!({ "id": 2, "args": ["apps"] }));
    pipe.stream.end_input();
    assert!(text(&pipe.answer(1)).contains("unchanged"));
    assert_eq!(pipe.answer(2)["exit"], 0);
    assert_eq!(pipe.stream.line(), None);
    assert_eq!(pipe.stream.finish(), 0);
}

#[test]
fn a_lost_daemon_costs_one_answer_each_and_the_next_request_starts_another() {
    let world = World::new();
    world.install_rogue("rogue", "plain");
    let mut pipe = Pipe::new(&world);
    pipe.asked(&json!({ "id": 0, "args": ["open", "rogue"] }));
    let gate = world.path("gate").display().to_string();
    pipe.ask(&json!({ "id": 1, "args": ["run", format!("rogue.misbehave('wait for {gate}')")] }));
    let owes = || {
        let told = world.pipemux(&["watch", "--since", "0", "--count", "1"]);
        told.ok();
    };
    owes();
    wait_until("it is under way", || {
        let limits = world.pipemux(&["status", "--json"]).ok().json();
        (limits["clients"].as_i64() == Some(2)).then_some(())
    });
    kill(world.daemon(), Signal::SIGKILL);
    let lost = pipe.answer(1);
    assert_eq!(lost["exit"], 7, "{lost}");
    assert!(text(&lost).starts_with("unknown · "), "{lost}");
    world.write("gate", "");
    wait_until("everything ends", || {
        world.processes().iter().all(|p| p.pid == pipe.stream.pid).then_some(())
    });
    let viewed = pipe.asked(&json!({ "id": 2, "args": ["view"] }));
    assert_eq!(viewed["exit"], 0, "{viewed}");
    assert!(text(&viewed).contains("## rogue/main"), "{viewed}");
    // Ended on purpose it is the same.
    assert_eq!(pipe.asked(&json!({ "id": 3, "args": ["down"] }))["exit"], 0);
    assert_eq!(pipe.asked(&json!({ "id": 4, "args": ["view"] }))["exit"], 0);
}
