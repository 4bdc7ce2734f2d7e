//! Agents of the Agent Client Protocol play the roles: a program of the test speaks it, and plays
//! faults.

use std::time::Duration;

use fastrand::Rng;
use pipemux_planner::Action;
use pipemux_planner::drivers::{Cancel, acp, extract};
use pipemux_planner_course::Role;
use pipemux_planner_course::turn::TurnKind;
use serde_json::json;

use crate::support::{Session, YES};

/// A project whose roles are played by the agent in one of its modes.
fn agent(mode: &str, more: &str) -> Session {
    let session = Session::new("");
    session.write("agent.py", include_str!("fake_agent.py"));
    let words = words(&session, mode, session.path("").to_str().unwrap());
    session.write("planner.toml", &format!("driver = \"a\"\n[drivers.a]\nacp = {words:?}\n{more}"));
    session
}

fn words(session: &Session, mode: &str, traces: &str) -> [String; 4] {
    let script = session.path("agent.py").display().to_string();
    ["python3".into(), script, mode.into(), traces.into()]
}

/// The window once it says this of the agent's first turns.
#[track_caller]
fn wait_for(mode: &str, wanted: &str) -> Session {
    let mut session = agent(mode, "");
    session.plan("add an audit log");
    session.wait_for(wanted);
    session
}

#[test]
fn agent_is_given_nothing_but_the_payload_and_its_words_are_the_answer() {
    let session = wait_for("talks", "agree · 同意：范围清楚，可以测试 (by a)");
    let folders = session.read("folder");
    assert!(folders.lines().all(|folder| !folder.starts_with(session.path("").to_str().unwrap())));
    let ended = folders.lines().next().unwrap();
    assert!(!std::path::Path::new(ended).exists(), "{ended} ends with the turn");
}

#[test]
fn lines_that_are_no_messages_are_passed_over_and_broken_messages_are_not() {
    wait_for("noisy", "agree · fine");
    wait_for("broken", "`python3` sent a broken message");
}

#[test]
fn answer_is_the_same_however_it_is_cut_into_chunks() {
    let session = agent("chunks", "");
    let traces = session.path("").display().to_string();
    let words = words(&session, "chunks", &traces);
    let answer =
        "判断如下：\n```json\n{\"ok\": null, \"reasons\": [\"范围\\n不清 🙂 \\\"R1\\\" {\"]}\n```";
    for seed in 0..12 {
        let mut rng = Rng::with_seed(seed);
        let (mut chunks, mut chunk) = (Vec::new(), String::new());
        for char in answer.chars() {
            chunk.push(char);
            if rng.u8(..3) == 0 {
                chunks.push(std::mem::take(&mut chunk));
            }
        }
        chunks.push(chunk);
        session.write("chunks.json", &serde_json::to_string(&chunks).unwrap());
        let payload = json!({"user_brief": "b", "my_prompt": "p"});
        let said = acp::ask(&words, &payload, Duration::from_secs(60), &Cancel::default());
        let said = said.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert_eq!(said, answer, "seed {seed}");
        let kind = TurnKind::Verdict(1, Role::TestPlanner);
        assert_eq!(extract(&said, kind).unwrap()["reasons"][0], "范围\n不清 🙂 \"R1\" {");
    }
}

#[test]
fn what_an_agent_says_of_its_faults_stands_in_no_file_of_the_project() {
    let faults = [
        ("login", "`python3` wants a login: log in with its own program: run `fake login`"),
        ("dies", "`python3` ended with status 3 before it answered session/new: fatal"),
        ("fails", "`python3` refused session/prompt (error -32603): 401 for"),
    ];
    for (mode, wanted) in faults {
        let session = wait_for(mode, wanted);
        let journal = session.read(".planning/add-an-audit-log/journal.jsonl");
        let reason = wanted.split(": ").next().unwrap();
        assert!(journal.contains(reason) && !journal.contains("SECRET"), "{journal}");
    }
}

#[test]
fn faults_leave_the_turn_open_with_what_came() {
    for (mode, wanted) in [
        ("old", "`python3` speaks version 0 of ACP, the planner version 1: use another release"),
        ("no_session", "`python3` answered session/new without a session"),
        ("refuses", "`python3` stopped after it was refused a tool: refusal"),
        ("half", "`python3` was killed before it answered session/prompt"),
        ("closes", "`python3` closed its output before it answered session/prompt"),
        ("endless_line", "`python3` sent more than 1048576 bytes"),
        ("floods", "`python3` sent more than 33554432 bytes"),
        ("says_too_much", "`python3` said more than 1048576 bytes"),
    ] {
        wait_for(mode, wanted);
    }
    let mut session = agent("hangs_at_once", "deadline = 1\n");
    session.plan("add an audit log");
    session.wait_for("`python3` did not answer initialize within 1 s");
    // A program that speaks something else.
    for (program, wanted) in [
        ("cat", "`cat` refused initialize (error -32601)"),
        ("true", "`true` ended with status 0 before it answered initialize"),
        ("no-such-agent", "there is no program `no-such-agent`"),
    ] {
        session.write("planner.toml", &format!("driver = \"a\"\n[drivers.a]\nacp = {program:?}\n"));
        session.done(Action::Retry {});
        session.wait_for(wanted);
    }
}

#[test]
fn agent_is_told_that_its_turn_is_over_and_ended_if_it_stays() {
    let mut session = agent("hangs", "");
    session.plan("add an audit log");
    let read = |session: &Session, name: &str| {
        std::fs::read_to_string(session.path(name)).unwrap_or_default()
    };
    while read(&session, "pids").lines().count() < 5 {
        session.view();
    }
    let pids = read(&session, "pids");
    session.done(Action::Pause {});
    while read(&session, "told").lines().count() < 5 {
        std::thread::yield_now();
    }
    assert!(read(&session, "told").lines().all(|wrong| wrong == "[]"));
    let is_gone = |pid: &str| !std::path::Path::new(&format!("/proc/{pid}")).exists();
    while cfg!(target_os = "linux") && !pids.lines().all(is_gone) {
        std::thread::yield_now();
    }
    // The end of the session kills at once.
    session.done(Action::Resume {});
    while read(&session, "pids").lines().count() < 10 {
        session.view();
    }
    session.kill();
    let pids = read(&session, "pids");
    while cfg!(target_os = "linux") && !pids.lines().all(is_gone) {
        std::thread::yield_now();
    }
    session.done(Action::Driver { role: "all".into(), driver: "agent".into() });
    session.verdict("ProductPlanner", YES, &[]);
}

/// What real agents answered that nobody had logged in to, as `docs/drivers.md` tells.
#[test]
fn logins_that_real_agents_want_are_told() {
    let session = agent("replays", "");
    let payload = json!({"user_brief": "b", "my_prompt": "p"});
    for (name, wanted) in [
        ("claude", "Authentication required"),
        (
            "codex",
            "Use your ChatGPT login with Codex CLI (requires a paid ChatGPT subscription); Requires setting the `CODEX_API_KEY`",
        ),
        ("gemini", "Log in with your Google account; Use an API key with Gemini Developer API;"),
        ("qwen", "Requires setting the `OPENAI_API_KEY` environment variable;"),
    ] {
        let recorded = format!("{}/tests/outputs/acp_{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let words = words(&session, "replays", &recorded);
        let asked = acp::ask(&words, &payload, Duration::from_secs(60), &Cancel::default());
        let why = asked.unwrap_err();
        assert_eq!(why.reason, "`python3` wants a login: log in with its own program");
        assert!(why.detail.starts_with(wanted), "{name}: {}", why.detail);
    }
}

#[test]
fn project_s_agent_is_started_by_nobody_before_a_person_trusts_it() {
    let mut session = Session::strict("driver = \"a\"\n[drivers.a]\nacp = \"sh say.sh\"\n");
    session.write("say.sh", "touch pwned\n");
    let plan = Action::Plan { brief: "b".into(), from: None, intent: None, topic: String::new() };
    let request = session.fails(plan).consent.unwrap();
    assert_eq!(request.shows, ["a starts: sh say.sh", "covers the file say.sh"]);
}
