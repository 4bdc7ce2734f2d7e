//! Who plays the roles of a planning course besides programs: an endpoint that speaks the chat API,
//! and several agents.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use pipemux_tests::{Invocation, TestEnv};
use serde_json::{Value, json};

use crate::planner::Talk;

/// Serves the chat API: each answer is that of the script, streamed in pieces. Some requests meet a
/// fault first.
fn serve(listener: TcpListener, script: String) {
    let count = Arc::new(AtomicU32::new(0));
    // Roles are asked at the same time.
    for stream in listener.incoming() {
        let Ok(stream) = stream else { return };
        let (script, count) = (script.clone(), count.clone());
        thread::spawn(move || answer(stream, &script, &count));
    }
}

fn answer(mut stream: TcpStream, script: &str, count: &AtomicU32) {
    let Some(payload) = request(&stream) else { return };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let event = |text: &str| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
    };
    let answer = match count.fetch_add(1, Ordering::SeqCst) {
            0 => "HTTP/1.1 503 Busy\r\ncontent-length: 4\r\nretry-after: 0\r\nconnection: close\r\n\r\nbusy".to_owned(),
            // The stream breaks off.
            2 => format!("{head}{}", event("{\"ok\": tr")),
            // The model doesn't answer as it is asked to; that is sent back to it.
            4 => format!("{head}{}data: [DONE]\n\n", event("I agree.")),
            _ => {
                let answer: Vec<char> = judged(script, &payload).chars().collect();
                let pieces = answer.chunks(9).map(|piece| event(&String::from_iter(piece)));
                format!("{head}{}data: [DONE]\n\n", pieces.collect::<String>())
            }
        };
    // A client that has gone away is no fault of the server.
    let _ = stream.write_all(answer.as_bytes());
}

/// Reads a request, and returns what the role is given.
fn request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_ascii_lowercase();
        match line.split_once(": ") {
            Some(("content-length", value)) => length = value.parse().ok()?,
            _ if line.is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    body["messages"][1]["content"].as_str().map(str::to_owned)
}

/// Returns what the script says to a payload.
fn judged(script: &str, payload: &str) -> String {
    let mut child = Command::new("python3")
        .args([script, "fast"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload.as_bytes()).expect("the payload is read");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn endpoint_of_the_chat_api_plays_all_roles_in_spite_of_its_faults() {
    let env = TestEnv::new();
    env.write("judge.py", include_str!("planner/judge.py"));
    let script = env.path("judge.py").display().to_string();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || serve(listener, script));
    env.write(
        "planner.toml",
        format!("driver = \"local\"\n[drivers.local]\nbase_url = \"http://{address}/v1\"\nmodel = \"m-1\"\n"),
    );
    env.trust_planner();
    let mut talk = Talk::new(env);
    talk.run("planner.plan('Add an audit log')").ok().has("local plays ProductPlanner");
    talk.reach("decides on the plan: all five agree");
    talk.run("planner.accept()").ok();
    talk.finish("planner-http", ".planning");
}

#[test]
fn first_look_opens_the_planner_where_it_is_made() {
    let env = TestEnv::new();
    env.write("planner.toml", "driver = \"agent\"\n");
    env.as_reader("ann", &["view", "planner", "--wait", "60"])
        .ok()
        .has("**Expected of you now**: say what is to be planned");
    env.run("planner.plan('Add an audit log')").ok();
    assert!(env.path(".planning/add-an-audit-log").is_dir(), "it was opened in the project");
    env.pipemux(&["view", "arena"]).exits(3).has("no window of arena/main");
}

#[test]
fn agents_that_each_take_a_role_are_told_whose_turn_it_is() {
    let env = TestEnv::new();
    env.write("planner.toml", "driver = \"agent\"\n");
    // It waits for a brief, too.
    let first = turn(&env, "agent-0").start();
    env.run("planner.plan('Add an audit log')").ok();
    first.finish().ok().has("expected of you now: you may play ProductPlanner");
    let mut next = None;
    let roles =
        ["ProductPlanner", "SystemDesigner", "SeniorDeveloper", "TestPlanner", "RiskPlanner"];
    for (number, role) in roles.iter().enumerate() {
        let reader = format!("agent-{number}");
        env.as_reader(&reader, &["run", &format!("planner.take('{role}')")]).ok();
    }
    // Two agents for one role: the second is told.
    env.as_reader("agent-0", &["run", "planner.take('TestPlanner')"])
        .exits(9)
        .has("TestPlanner is played by reader agent-3");
    env.as_reader("agent-1", &["run", "planner.verdict('ProductPlanner', true, ['clear'])"])
        .exits(9)
        .has("ProductPlanner is played by reader agent-0, not by agent-1");
    env.as_reader("agent-1", &["view", "planner/main"])
        .ok()
        .has("you play SystemDesigner, who judges the brief")
        .lacks("You are the product planner");
    for (number, role) in roles.iter().enumerate() {
        let reader = format!("agent-{number}");
        env.as_reader(&reader, &["view", "planner/main"])
            .ok()
            .has(&format!("you play {role}, who judges the brief"));
        env.as_reader(&reader, &["run", &format!("planner.verdict('{role}', true, ['clear'])")])
            .ok();
        if number == 0 {
            // The five are asked at the same time; who has spoken waits for the others.
            env.as_reader(&reader, &["view", "planner/main"])
                .ok()
                .has("reader agent-1 plays SystemDesigner, who judges the brief")
                .has("pipemux run --wait 300 'planner.turn()'");
            next = Some(turn(&env, &reader).start());
        }
    }
    let next = next.expect("a reader that waits");
    assert!(next.is_running(), "its turn hasn't come again");
    env.run("planner.speak({agreed_points: ['log it'], reserved_points: [], strong_disagreements: [], summary: 'all agree'})")
        .ok();
    let plan = "planner.speak({why: 'w', what: 'a log', requirements: [{id: 'R1', text: 'log'}], draft_files: [{path: 'a.rs', purpose: 'log'}], acceptance: [{id: 'A1', requirement: 'R1', text: 'seen'}], scope: ['writes'], non_goals: [], open_questions: [], test_plan: [{id: 'T1', covers: ['A1'], text: 'look'}], risks: []})";
    env.run(plan).ok().has("the user decides on the plan: all five agree");
    let plan = env.read(".planning/add-an-audit-log/planning.ai.json");
    assert!(!plan.contains("roles shared one context"), "{plan}");
    assert!(next.is_running(), "the user decides");
    env.run("planner.accept()").ok();
    next.finish().ok().has("done: ");
}

/// The call that ends once something is expected of a reader.
fn turn<'e>(env: &'e TestEnv, reader: &str) -> Invocation<'e> {
    env.command(&["run", "--wait", "60", "planner.turn()"]).reader(reader)
}
