//! Ways to look on: waiting views, events, logs that are followed, bounds; and clients of other versions.

use std::process::{Command, Stdio};

use pipemux_proto::{Code, Fault, Kind, decode};
use pipemux_tests::programs::program;
use pipemux_tests::raw::Raw;
use pipemux_tests::stream::Stream;
use pipemux_tests::{Signal, World, is_alive, kill, wait_until};
use serde_json::Value;

/// A greeting and a `status`, as clients of these versions of the protocol sent them.
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
fn a_waiting_view_sleeps_until_another_reader_changes_something() {
    let world = World::new();
    world.write("a.txt", "one\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.pipemux(&["view"]).ok();
    let waiting = world.command(&["view", "--wait", "40"]).start();
    let events = Stream::start(&world, &["watch", "--since", "0"]);
    events.until("editor/main started");
    assert!(waiting.is_running());
    world.command(&["run", "editor.replace('one', 'two')"]).reader("b").output().ok();
    waiting.finish().ok().has("two").lacks("unchanged");
    // It has been seen: the next one waits, and says at its end that there was nothing.
    world.pipemux(&["view", "--wait", "0.2"]).ok().has("unchanged for 0.2 s").has("two");
    let one = world.pipemux(&["view", "editor/main", "--wait", "0.1", "--json"]).ok().json();
    assert_eq!(one["notices"][0], "unchanged for 0.1 s");
    world.pipemux(&["view", "monitor/main", "--wait", "40"]).exits(3).has("no window");
    world.pipemux(&["view", "--wait", "4000"]).exits(2).has("from 0.001 to 3600");
}

#[test]
fn a_client_that_stops_waiting_leaves_the_daemon_as_it_was() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    world.pipemux(&["view"]).ok();
    let clients = || world.pipemux(&["status", "--json"]).ok().json()["clients"].as_i64();
    let waiting = Stream::start(&world, &["view", "--wait", "600"]);
    wait_until("it waits", || (clients() == Some(2)).then_some(()));
    waiting.signal(Signal::SIGKILL);
    assert_eq!(waiting.finish(), 137);
    wait_until("it is forgotten", || (clients() == Some(1)).then_some(()));
}

#[test]
fn events_are_told_for_people_and_for_programs_and_mark_nothing_as_seen() {
    let world = World::new();
    world.install_rogue("rogue", "plain");
    world.pipemux(&["open", "rogue"]).ok();
    let people = Stream::start(&world, &["watch", "--since", "0"]);
    people.until("rogue/main was opened");
    let programs = Stream::start(&world, &["watch", "--json", "--since", "0"]);
    programs.until("\"opened\"");
    world.run("rogue.set()").ok();
    world.run("rogue.wipe()").exits(5);
    world.pipemux(&["answer", "no"]);
    world.run("rogue.misbehave('exit')").exits(7);
    let told = people.until("died while it ran (ended with status 7)");
    let all = told.join("\n");
    for part in ["rogue.set() · set done", "question", "was answered: no"] {
        assert!(all.contains(part), "no `{part}` in:\n{all}");
    }
    // Numbers rise, and are what --since goes on after.
    let number = |line: &str| -> u64 { line.split(' ').next().unwrap().parse().unwrap() };
    assert!(told.windows(2).all(|pair| number(&pair[0]) < number(&pair[1])), "{all}");
    let last = number(told.last().unwrap());
    let act = programs.until("\"act\"");
    let act = event(act.last().unwrap());
    assert_eq!((&act["reader"], &act["workspace"]), (&"default".into(), &"proj".into()));
    assert!(act["at"].as_str().unwrap().ends_with('Z'));

    let since = last.to_string();
    world.pipemux(&["view"]).ok().has("rogue/main was restarted");
    // Told once, with why.
    let more = world.pipemux(&["watch", "--since", &since, "--count", "2"]).ok().text();
    assert!(more.contains("rogue/main was restarted just now: ended with status 7"), "{more}");
    world.run("rogue.set()").ok();
    let more = world.pipemux(&["watch", "--since", &since, "--count", "3", "--json"]).ok().text();
    let whats: Vec<Value> = more.lines().map(|line| event(line)["what"].clone()).collect();
    assert!(whats.contains(&"restarted".into()), "{more}");
    assert_eq!(more.matches("was restarted").count(), 1, "{more}");
    // Whoever watched has seen nothing of the desk.
    world.command(&["view"]).reader("b").output().ok().has("misbehave(how)");

    people.signal(Signal::SIGINT);
    assert_eq!(people.finish(), 0);
    programs.signal(Signal::SIGTERM);
    assert_eq!(programs.finish(), 0);
}

#[test]
fn a_watch_ends_with_its_reader_also_while_nothing_happens() {
    let world = World::new();
    world.pipemux(&["up"]).ok();
    let mut child = Command::new(program("pipemux"))
        .arg("watch")
        .current_dir(world.project())
        .env_clear()
        .envs(world.environment())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let pid = i32::try_from(child.id()).expect("a process id");
    let clients = || world.pipemux(&["status", "--json"]).ok().json()["clients"].as_i64();
    wait_until("it watches", || (clients() == Some(2)).then_some(()));
    assert!(is_alive(pid));
    drop(child.stdout.take());
    let status = wait_until("it ends", || child.try_wait().ok().flatten());
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_watch_goes_on_with_the_next_daemon_and_says_so() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let watch = Stream::start(&world, &["watch", "--since", "0", "--json"]);
    watch.until("\"started\"");
    kill(world.daemon(), Signal::SIGKILL);
    let lost = watch.until("\"lost\"");
    assert!(event(lost.last().unwrap())["text"].as_str().unwrap().contains("waiting"));
    wait_until("everything ends", || {
        world.processes().iter().all(|p| p.pid == watch.pid).then_some(())
    });
    world.run("notebook.add('a', 'b')").ok();
    let found = watch.until("\"act\"");
    assert!(found.iter().any(|line| line.contains("another daemon")), "{found:#?}");
    // `down` is no crash, and no reason to start it again.
    world.pipemux(&["down"]).ok();
    watch.until("\"lost\"");
    assert_eq!(world.pipemux(&["status"]).ok().text(), "not running · start: pipemux up\n");
}

#[test]
fn a_log_is_followed_across_the_apps_lives() {
    let world = World::new();
    world.install_rogue("rogue", "plain");
    world.pipemux(&["open", "rogue"]).ok();
    world.run("rogue.misbehave('exit')").exits(7);
    let follow = Stream::start(&world, &["logs", "rogue", "--follow", "--lines", "1"]);
    assert_eq!(follow.line().as_deref(), Some("fell"), "the last line there was");
    for _ in 0..2 {
        world.pipemux(&["view"]).ok();
        world.run("rogue.misbehave('exit')").exits(7);
        assert_eq!(follow.until("fell"), ["about to fall", "fell"]);
    }
    follow.signal(Signal::SIGINT);
    assert_eq!(follow.finish(), 0);
    let lines = world.pipemux(&["logs", "rogue", "--lines", "2"]).ok().text();
    assert_eq!(lines, "about to fall\nfell\n");
    world.pipemux(&["logs", "nobody", "--follow"]).exits(3).has("no session nobody/main");
}

#[test]
fn a_log_is_followed_across_daemons_also_after_its_oldest_bytes_are_gone() {
    let world = World::new();
    let more = "args = [\"plain\"]\n[limits]\nlog = \"4K\"\n";
    world.install("rogue", "rogue", more);
    world.pipemux(&["open", "rogue"]).ok();
    world.run("rogue.misbehave('print 1')").ok();
    let follow = Stream::start(&world, &["logs", "rogue", "--follow", "--lines", "1"]);
    world.run("rogue.misbehave('exit')").exits(7);
    follow.until("fell");
    // The next one counts from what is kept, which is far less.
    kill(world.daemon(), Signal::SIGKILL);
    follow.until("the daemon is gone; waiting for another one");
    wait_until("everything ends", || {
        world.processes().iter().all(|p| p.pid == follow.pid).then_some(())
    });
    world.pipemux(&["view"]).ok();
    follow.until("a daemon is there again");
    // It asks where the log is now; what is printed from then on is told.
    for _ in 0..3 {
        world.run("rogue.misbehave('exit')").exits(7);
        world.pipemux(&["view"]).ok();
    }
    follow.until("fell");
    follow.signal(Signal::SIGINT);
    assert_eq!(follow.finish(), 0);
}

#[test]
fn every_bound_is_told_with_what_is_used_of_it() {
    let world = World::new();
    world.pipemux(&["status", "--limits"]).ok().has("not running");
    world.pipemux(&["open", "notebook"]).ok();
    let told = world.pipemux(&["status", "--limits"]);
    told.ok()
        .has("## Clients\n")
        .has("\nconnected at once: 1 of 1024\n")
        .has("sessions at once: 1 of 4096");
    told.has("windows of this workspace: 1 of 256").has("one message: 1 MiB").has("## The daemon");
    let data = world.pipemux(&["status", "--limits", "--json"]).ok().json();
    let bound = |name: &str| data.as_array().unwrap().iter().find(|b| b["name"] == name).cloned();
    let windows = bound("WINDOWS_MAX").expect("it is listed");
    assert_eq!((&windows["value"], &windows["used"]), (&256.into(), &1.into()));
    assert!(bound("MANIFEST_MAX").is_some() && bound("FRAME_MAX").is_some());
    assert!(data.as_array().unwrap().len() > 70);
}

#[test]
fn clients_of_other_versions_get_a_clear_answer() {
    let world = World::new();
    world.pipemux(&["up"]).ok();
    let mut old = Raw::connect(&world);
    old.write(&bytes(CLIENT_1_0));
    let hello = old.frame().expect("a greeting");
    assert_eq!(hello.envelope.kind, Kind::Event);
    let answer = old.frame().expect("an answer");
    assert_eq!((answer.envelope.kind, answer.envelope.id), (Kind::Reply, 300));

    let mut other = Raw::connect(&world);
    other.write(&bytes(CLIENT_2_0));
    let refusal = loop {
        let frame = other.frame().expect("a refusal");
        if frame.envelope.kind == Kind::Fault {
            break decode::<Fault>(&frame.body).expect("a fault");
        }
    };
    assert_eq!(refusal.code, Code::Version);
    assert!(refusal.message.contains("2.0") && refusal.message.contains("1."), "{refusal:?}");
    assert!(!refusal.hints.is_empty());
}
