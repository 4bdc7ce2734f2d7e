//! Jobs from the first line to the last: progress, output, cancellation, waiting, and one truthful
//! end, whatever is killed.

use std::fs::OpenOptions;
use std::io::Write;

use pipemux_proto::{Envelope, Incarnation, Method};
use pipemux_tests::interactive::InteractiveCommand;
use pipemux_tests::raw_connection::{RawConnection, verb_call};
use pipemux_tests::{Output, TestEnv, wait_for, wait_until};
use serde_json::json;

/// The example app `follow`, open, and a file for it.
fn follower(more: &str) -> TestEnv {
    let env = TestEnv::new();
    env.install("follow", "examples/follow", more);
    env.write("log", "");
    env.pipemux(&["open", "follow"]).ok();
    env
}

/// Adds a line to the file.
fn add(env: &TestEnv, line: &str) {
    let mut file = OpenOptions::new().append(true).open(env.path("log")).expect("the file");
    writeln!(file, "{line}").expect("a line");
}

/// Returns what `pipemux read` needs for the job of an answer: `job:3`.
fn job(output: &Output) -> String {
    let text = output.text();
    let (_, rest) = text.split_once("job:").unwrap_or_else(|| panic!("no job in {text}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    format!("job:{digits}")
}

fn wait_for_output(env: &TestEnv, job: &str, text: &str) {
    wait_for("the job has read the line", || {
        env.pipemux(&["read", job]).ok().text().contains(text)
    });
}

#[test]
fn long_job_shows_progress_streams_output_and_ends_once() {
    let env = follower("");
    let started = env.run("follow.follow('log', total=4)");
    let job = job(started.ok());
    let number = job.trim_start_matches("job:");
    started.has(&format!("1 started · follow: follow log · job {number} · [cancel](link:"));
    started.has(&format!("end and output: pipemux read {job} --wait 60\n"));
    env.as_reader("b", &["view"]).ok().has(&format!("job {number} · follow log"));
    let watching = InteractiveCommand::start(&env, &["watch", "--since", "0"]);
    watching.lines_until(&format!("follow/main job {number} started · follow log"));
    add(&env, "one");
    add(&env, "two");
    wait_for_output(&env, &job, "```\none\ntwo\n```\n");
    env.pipemux(&["view"])
        .ok()
        .has(&format!("job {number} · follow log · 50 % · two · [cancel](link:"));
    watching.lines_until("50 % · two");
    // Both waits end with the job.
    let reading = env.command(&["read", &job, "--wait", "60"]).reader("c").start();
    let viewing = env.command(&["view", "--wait", "60"]).reader("b").start();
    add(&env, "end");
    reading.finish().ok().has(" done after ").has(": 2 lines · follow log\n").has("two\n```\n");
    viewing.finish().ok();
    watching.lines_until(&format!("follow/main job {number} done after"));
    let end = format!("job {number} done after");
    let told = env.pipemux(&["view"]);
    told.ok().has(&end).has(&format!(": 2 lines · follow log · output: pipemux read {job}\n"));
    env.pipemux(&["view"]).ok().lacks(&end);
    let json = env.pipemux(&["read", &job, "--json"]).ok().json();
    assert_eq!((&json["state"], &json["output"]), (&"done".into(), &"one\ntwo\n".into()));
}

#[test]
fn run_waits_for_a_job_and_fails_with_it() {
    let env = follower("");
    add(&env, "one");
    add(&env, "end");
    let done = env.pipemux(&["run", "--wait", "60", "follow.follow('log')"]);
    done.ok().has("1 done · follow: follow log · job ").has(": 1 lines\n```\n");
    env.write("log", "fail\n");
    let failed =
        env.pipemux(&["run", "--wait", "60", "follow.follow('log'); follow.follow('log')"]);
    failed
        .exits(1)
        .has("1 failed · follow: follow log · job ")
        .has("line 1 says so")
        .has("kept as ");
    env.pipemux(&["view"]).ok().lacks("says so");
    env.write("log", "");
    let short = env.pipemux(&["run", "--wait", "0.1", "follow.follow('log')"]);
    short.ok().has("still runs after 0.").has(" s · [cancel](link:").has("--wait 60");
}

#[test]
fn click_cancels_a_job_and_tells_its_end() {
    let env = follower("");
    let started = env.run("follow.follow('log')");
    let link = started.ok().link("cancel").to_string();
    let cancelled = env.pipemux(&["click", &link]);
    cancelled.ok().has(" cancelled after ").has(": 0 lines so far · follow log\n");
    env.pipemux(&["view"]).ok().lacks("cancel");
}

#[test]
fn killed_app_loses_its_job_unless_it_goes_on_with_it() {
    let env = follower("");
    env.run("follow.follow('log')").ok();
    let lasting = env.run("follow.follow('log', lasting=true)");
    let lasting = job(lasting.ok());
    env.kill_session("follow/main");
    // Nobody has to ask: the app is started again to say which jobs go on.
    wait_for("the app runs again", || env.sessions().iter().any(|row| row.state == "ready"));
    let view = env.pipemux(&["view"]);
    view.ok().has(" lost after ").has("follow/main died while it ran (killed by signal 9)");
    view.has(&format!("job {} · follow log · [cancel](link:", lasting.trim_start_matches("job:")));
    add(&env, "end");
    env.pipemux(&["read", &lasting, "--wait", "60"]).ok().has(" done after ");
    env.pipemux(&["view"]).ok().lacks("lost after").lacks("done after");
}

#[test]
fn killed_daemon_tells_what_it_lost_and_goes_on_with_the_rest() {
    let env = follower("");
    let lost = env.run("follow.follow('log')");
    let lost = job(lost.ok());
    let lasting = env.run("follow.follow('log', lasting=true)");
    let lasting = job(lasting.ok());
    env.kill_daemon();
    let view = env.pipemux(&["view"]);
    let number = lost.trim_start_matches("job:");
    view.ok().has(&format!("job {number} lost after ")).has("the daemon was lost or restarted");
    env.pipemux(&["view"]).ok().lacks("lost after");
    env.kill_daemon();
    env.pipemux(&["view"]).ok().lacks("lost after");
    add(&env, "end");
    env.pipemux(&["read", &lasting, "--wait", "60"]).ok().has(" done after ");
    // The end survives the daemon, and is told to those who haven't confirmed it.
    env.kill_daemon();
    env.pipemux(&["read", &lasting]).ok().has(" done after ");
    env.pipemux(&["read", &lost]).ok().has(" lost after ");
    env.pipemux(&["view"]).ok().lacks("done after").lacks("lost after");
}

#[test]
fn session_sleeps_only_with_jobs_that_its_app_saves() {
    let env = follower("idle = \"1s\"\n");
    let lasting = env.run("follow.follow('log', lasting=true)");
    let lasting = job(lasting.ok());
    let asleep = || env.sessions().iter().any(|row| row.state == "asleep");
    wait_for("the session sleeps", asleep);
    env.pipemux(&["view"]).ok().has("[cancel](link:").lacks("lost");
    add(&env, "end");
    env.pipemux(&["read", &lasting, "--wait", "60"]).ok().has(" done after ");
    wait_for("the session sleeps", asleep);
}

/// A command whose client is gone goes on: the next answers of the same reader say so, and how it
/// ended.
#[test]
fn step_whose_client_is_gone_is_told_by_the_next_answers() {
    let env = crate::terminal::confining();
    env.pipemux(&["open", "notebook"]).ok();
    env.pipemux(&["open", "terminal"]).ok();
    let begun = env.path("begun");
    let release = env.path("release");
    let code = "terminal.run('touch begun; while ! test -e release; do sleep 0.05; done; exit 3')";
    let mut raw = RawConnection::greeted(&env);
    let run = json!({ "run": { "code": code } });
    raw.send(
        &Envelope::request(Method::Verb, 1, Incarnation(0)),
        &verb_call(&env, run, "0192f0c4-0000-7000-8000-000000000001"),
    );
    wait_for("the command to begin", || begun.exists());
    drop(raw);
    let told = wait_until("the answer that tells it", || {
        let answer = env.as_reader("raw", &["run", "notebook.filter([])"]);
        answer.text().contains("still runs, though its call was cancelled").then_some(answer)
    });
    told.ok().has("terminal.run('touch begun").has("look: pipemux view terminal/main");
    std::fs::write(&release, "").expect("a file");
    let told = wait_until("the answer that tells its end", || {
        let answer = env.as_reader("raw", &["run", "notebook.filter([])"]);
        answer.text().contains("whose call was cancelled, is done: ").then_some(answer)
    });
    told.ok().has("exit 3");
    env.as_reader("raw", &["run", "notebook.filter([])"]).ok().lacks("whose call was cancelled");
}
