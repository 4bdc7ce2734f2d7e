//! Waiting views, events, followed logs, limits, and clients of other protocol versions.

use std::process::{Command, Stdio};

use pipemux_proto::{Code, Fault, Kind, decode};
use pipemux_tests::interactive::InteractiveCommand;
use pipemux_tests::programs::program;
use pipemux_tests::raw_connection::RawConnection;
use pipemux_tests::{Signal, TestEnv, is_alive, kill, wait_for, wait_until};
use serde_json::Value;

/// A greeting and a `status` request, recorded from clients of these protocol versions.
const CLIENT_1_0: &str = include_str!("frames/client-1.0.hex");
const CLIENT_2_0: &str = include_str!("frames/client-2.0.hex");

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |word: &str| u8::from_str_radix(word, 16).expect("hex");
    hex.split_whitespace().map(byte).collect()
}

fn event(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn waiting_view_returns_when_another_reader_changes_something() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["view"]).ok();
    let waiting = env.command(&["view", "--wait", "40"]).start();
    let events = InteractiveCommand::start(&env, &["watch", "--since", "0"]);
    events.lines_until("editor/main started");
    assert!(waiting.is_running());
    env.as_reader("b", &["run", "editor.replace('one', 'two')"]).ok();
    waiting.finish().ok().has("two").lacks("unchanged");
    // The change was shown, so the next view waits and reports that nothing changed.
    env.pipemux(&["view", "--wait", "0.2"]).ok().has("unchanged for 0.2 s").has("two");
    let one = env.pipemux(&["view", "editor/main", "--wait", "0.1", "--json"]).ok().json();
    assert_eq!(one["notices"][0], "unchanged for 0.1 s");
    env.pipemux(&["view", "editor/other", "--wait", "40"]).exits(3).has("no window");
    env.pipemux(&["view", "--wait", "4000"]).exits(2).has("from 0.001 to 3600");
}

#[test]
fn killed_waiting_client_is_forgotten() {
    let env = TestEnv::with_notebook();
    env.pipemux(&["view"]).ok();
    let clients = || env.pipemux(&["status", "--json"]).ok().json()["clients"].as_i64();
    let waiting = InteractiveCommand::start(&env, &["view", "--wait", "600"]);
    wait_for("the view waits", || clients() == Some(2));
    waiting.signal(Signal::SIGKILL);
    assert_eq!(waiting.finish(), 137);
    wait_for("the client is forgotten", || clients() == Some(1));
}

#[test]
fn watch_prints_events_as_text_and_json_and_marks_nothing_seen() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "plain");
    env.pipemux(&["open", "rogue"]).ok();
    let people = InteractiveCommand::start(&env, &["watch", "--since", "0"]);
    people.lines_until("rogue/main was opened");
    let programs = InteractiveCommand::start(&env, &["watch", "--json", "--since", "0"]);
    programs.lines_until("\"opened\"");
    env.run("rogue.set()").ok();
    env.run("rogue.wipe()").exits(5);
    env.pipemux(&["answer", "no"]).ok();
    env.run("rogue.misbehave('exit')").exits(7);
    let told = people.lines_until("died while it ran (ended with status 7)");
    let all = told.join("\n");
    for part in ["rogue.set() · set done", "question", "was answered: no"] {
        assert!(all.contains(part), "no `{part}` in:\n{all}");
    }
    // The numbers rise, and `--since` continues after one of them.
    let number = |line: &str| -> u64 { line.split(' ').next().unwrap().parse().unwrap() };
    assert!(told.windows(2).all(|pair| number(&pair[0]) < number(&pair[1])), "{all}");
    let last = number(told.last().unwrap());
    let act = programs.lines_until("\"act\"");
    let act = event(act.last().unwrap());
    assert_eq!((&act["reader"], &act["workspace"]), (&"default".into(), &"proj".into()));
    assert!(act["at"].as_str().unwrap().ends_with('Z'));

    let since = last.to_string();
    env.pipemux(&["view"]).ok().has("rogue/main was restarted");
    // The restart is reported once, with its reason.
    let more = env.pipemux(&["watch", "--since", &since, "--count", "2"]).ok().text();
    assert!(more.contains("rogue/main was restarted just now: ended with status 7"), "{more}");
    env.run("rogue.set()").ok();
    let more = env.pipemux(&["watch", "--since", &since, "--count", "3", "--json"]).ok().text();
    let whats: Vec<Value> = more.lines().map(|line| event(line)["what"].clone()).collect();
    assert!(whats.contains(&"restarted".into()), "{more}");
    assert_eq!(more.matches("was restarted").count(), 1, "{more}");
    // A watching reader counts as having seen no window.
    env.as_reader("b", &["view"]).ok().has("misbehave(how)");

    people.signal(Signal::SIGINT);
    assert_eq!(people.finish(), 0);
    programs.signal(Signal::SIGTERM);
    assert_eq!(programs.finish(), 0);
}

#[test]
fn watch_ends_when_its_output_is_closed() {
    let env = TestEnv::new();
    env.pipemux(&["up"]).ok();
    let mut child = Command::new(program("pipemux"))
        .arg("watch")
        .current_dir(env.project())
        .env_clear()
        .envs(env.variables())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pid = i32::try_from(child.id()).expect("a process id");
    let clients = || env.pipemux(&["status", "--json"]).ok().json()["clients"].as_i64();
    wait_for("the client watches", || clients() == Some(2));
    assert!(is_alive(pid));
    drop(child.stdout.take());
    let status = wait_until("the watch has ended", || child.try_wait().ok().flatten());
    assert_eq!(status.code(), Some(0));
}

#[test]
fn watch_continues_with_the_next_daemon_and_says_so() {
    let env = TestEnv::with_notebook();
    let watch = InteractiveCommand::start(&env, &["watch", "--since", "0", "--json"]);
    watch.lines_until("\"started\"");
    kill(env.daemon_pid(), Signal::SIGKILL);
    let lost = watch.lines_until("\"lost\"");
    assert!(event(lost.last().unwrap())["text"].as_str().unwrap().contains("waiting"));
    wait_for("all other processes have ended", || {
        env.processes().iter().all(|p| p.pid == watch.pid)
    });
    env.run("notebook.add('a', 'b')").ok();
    let found = watch.lines_until("\"act\"");
    assert!(found.iter().any(|line| line.contains("another daemon")), "{found:#?}");
    // `watch` does not start a daemon again that was ended by `down`.
    env.pipemux(&["down"]).ok();
    watch.lines_until("\"lost\"");
    assert_eq!(env.pipemux(&["status"]).ok().text(), "not running · start: pipemux up\n");
}

#[test]
fn log_is_followed_across_restarts_of_the_app() {
    let env = TestEnv::new();
    env.install_rogue("rogue", "plain");
    env.pipemux(&["open", "rogue"]).ok();
    env.run("rogue.misbehave('exit')").exits(7);
    let follow = InteractiveCommand::start(&env, &["logs", "rogue", "--follow", "--lines", "1"]);
    assert_eq!(follow.next_line().as_deref(), Some("fell"), "the last line there was");
    for _ in 0..2 {
        env.pipemux(&["view"]).ok();
        env.run("rogue.misbehave('exit')").exits(7);
        let mut printed = follow.lines_until("fell");
        // A new process's words begin with the time.
        assert!(printed.remove(0).starts_with("[pipemux 20"));
        assert_eq!(printed, ["about to fall", "fell"]);
    }
    follow.signal(Signal::SIGINT);
    assert_eq!(follow.finish(), 0);
    let lines = env.pipemux(&["logs", "rogue", "--lines", "2"]).ok().text();
    assert_eq!(lines, "about to fall\nfell\n");
    env.pipemux(&["logs", "nobody", "--follow"]).exits(3).has("no session nobody/main");
}

#[test]
fn truncated_log_is_followed_across_daemons() {
    let env = TestEnv::new();
    let more = "args = [\"plain\"]\n[limits]\nlog = \"4K\"\n";
    env.install("rogue", "rogue", more);
    env.pipemux(&["open", "rogue"]).ok();
    env.run("rogue.misbehave('print 1')").ok();
    let follow = InteractiveCommand::start(&env, &["logs", "rogue", "--follow", "--lines", "1"]);
    env.run("rogue.misbehave('exit')").exits(7);
    follow.lines_until("fell");
    // The next daemon counts the log from the part that is kept, which is much shorter.
    kill(env.daemon_pid(), Signal::SIGKILL);
    follow.lines_until("the daemon is gone; waiting for another one");
    wait_for("all other processes have ended", || {
        env.processes().iter().all(|p| p.pid == follow.pid)
    });
    env.pipemux(&["view"]).ok();
    follow.lines_until("connected to a daemon again");
    // The client asks for the new position and prints what follows.
    for _ in 0..3 {
        env.run("rogue.misbehave('exit')").exits(7);
        env.pipemux(&["view"]).ok();
    }
    follow.lines_until("fell");
    follow.signal(Signal::SIGINT);
    assert_eq!(follow.finish(), 0);
}

#[test]
fn every_limit_is_listed_with_its_use() {
    let env = TestEnv::new();
    env.pipemux(&["status", "--limits"]).ok().has("not running");
    env.pipemux(&["open", "notebook"]).ok();
    let told = env.pipemux(&["status", "--limits"]);
    told.ok()
        .has("## Clients\n")
        .has("\nconnected at once: 1 of 1024\n")
        .has("sessions at once: 1 of 4096");
    told.has("windows of this workspace: 1 of 256").has("one message: 1 MiB").has("## The daemon");
    let data = env.pipemux(&["status", "--limits", "--json"]).ok().json();
    let bound = |name: &str| data.as_array().unwrap().iter().find(|b| b["name"] == name).cloned();
    let windows = bound("WINDOWS_MAX").expect("it is listed");
    assert_eq!((&windows["value"], &windows["used"]), (&256.into(), &1.into()));
    assert!(bound("MANIFEST_MAX").is_some() && bound("FRAME_MAX").is_some());
    assert!(data.as_array().unwrap().len() > 70);
}

#[test]
fn recorded_clients_of_other_versions_get_a_clear_answer() {
    let env = TestEnv::new();
    env.pipemux(&["up"]).ok();
    let mut old = RawConnection::connect(&env);
    old.write(&bytes(CLIENT_1_0));
    let hello = old.next_frame().expect("a greeting");
    assert_eq!(hello.envelope.kind, Kind::Event);
    let answer = old.next_frame().expect("an answer");
    assert_eq!((answer.envelope.kind, answer.envelope.id), (Kind::Reply, 300));

    let mut other = RawConnection::connect(&env);
    other.write(&bytes(CLIENT_2_0));
    let refusal = loop {
        let frame = other.next_frame().expect("a refusal");
        if frame.envelope.kind == Kind::Fault {
            break decode::<Fault>(&frame.body).expect("a fault");
        }
    };
    assert_eq!(refusal.code, Code::Version);
    assert!(refusal.message.contains("2.0") && refusal.message.contains("1."), "{refusal:?}");
    assert!(!refusal.hints.is_empty());
}

#[test]
fn wait_ends_with_the_time_limit_and_says_how_long_it_was() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["view"]).ok();
    let waited = env.pipemux(&["view", "--wait", "60", "--timeout", "2"]).ok().text();
    // The answer has its own part of the limit.
    assert!(
        waited.contains("unchanged for ") && !waited.contains("unchanged for 60 s"),
        "{waited}"
    );
    let longest = waited.split_once("unchanged for ").and_then(|(_, rest)| rest.split_once(" s"));
    let seconds: f64 = longest.and_then(|(seconds, _)| seconds.parse().ok()).expect("seconds");
    assert!(seconds <= 2.0, "{seconds}");
}
