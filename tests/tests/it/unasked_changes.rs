//! Apps that change by themselves: a timer rings, a file is written by another program.

use pipemux_tests::{InteractiveCommand, TestEnv, wait_for};

fn with_timer(more: &str) -> TestEnv {
    let env = TestEnv::new();
    env.install("timer", "examples/timer", more);
    env.pipemux(&["open", "timer"]).ok();
    env
}

fn is_asleep(env: &TestEnv) -> bool {
    env.sessions().iter().any(|row| row.session == "timer/main" && row.state == "asleep")
}

#[test]
fn timer_rings_into_a_waiting_view() {
    let env = with_timer("");
    env.run("timer.start('tea', seconds=1)").ok().has("tea rings at");
    let told = env.pipemux(&["view", "--wait", "40"]);
    told.ok().has("timer/main: tea rings").has("tea rang at").lacks("unchanged");
    // It rang once.
    env.pipemux(&["view", "--wait", "0.1"]).ok().has("unchanged for 0.1 s").lacks("tea rings");
}

#[test]
fn timer_rings_while_its_app_sleeps() {
    let env = with_timer("idle = \"200ms\"\n");
    let events = InteractiveCommand::start(&env, &["watch", "--since", "0"]);
    env.run("timer.start('tea', seconds=4)").ok();
    events.lines_until("timer/main was put to sleep");
    events.lines_until("timer/main woke up");
    events.lines_until("timer/main: tea rings");
    env.pipemux(&["view"]).ok().has("timer/main: tea rings").has("tea rang at").lacks("restarted");
}

#[test]
fn timer_rings_after_its_daemon_was_killed() {
    let env = with_timer("idle = \"200ms\"\n");
    env.run("timer.start('tea', seconds=4)").ok();
    wait_for("the timer sleeps", || is_asleep(&env));
    env.kill_daemon();
    // The command starts a daemon, and asks for nothing of the timer.
    let events = InteractiveCommand::start(&env, &["watch", "--since", "0"]);
    let lines = events.lines_until("timer/main: tea");
    assert!(lines.iter().all(|line| !line.contains("restarted")), "{lines:#?}");
    env.pipemux(&["view"]).ok().has("tea rang at").lacks("restarted");
}

#[test]
fn file_that_another_program_writes_is_told_at_once() {
    let env = TestEnv::with_editor("one\n");
    env.pipemux(&["view"]).ok();
    // Nobody waits for the window: the editor tells by itself.
    let events = InteractiveCommand::start(&env, &["watch", "--since", "0"]);
    events.lines_until("editor/main started");
    env.write("a.txt", "two\n");
    events.lines_until("editor/main changed");
    env.pipemux(&["view"]).ok().has("two");
    // Many programs replace a file by renaming another one.
    let waiting = env.command(&["view", "--wait", "40"]).start();
    env.write("a.txt.new", "three\n");
    std::fs::rename(env.path("a.txt.new"), env.path("a.txt")).expect("it is renamed");
    waiting.finish().ok().has("three").lacks("unchanged");
}

#[test]
fn store_that_another_process_writes_is_told_at_once() {
    let env = TestEnv::new();
    env.pipemux(&["open", "notebook", "shared.db"]).ok();
    env.in_workspace("other", &["open", "notebook", "shared.db"]).ok();
    env.pipemux(&["view"]).ok();
    let waiting = env.command(&["view", "--wait", "40"]).start();
    env.in_workspace("other", &["run", "notebook.add('from the other', 'x')"]).ok();
    waiting.finish().ok().has("from the other").lacks("unchanged");
}
