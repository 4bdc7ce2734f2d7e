//! Clients that misbehave or vanish: the daemon answers the others.

use std::fs;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;

use pipemux_proto::hello::{PROTOCOL, ProtocolVersion};
use pipemux_proto::{Envelope, Hello, Incarnation, Kind, Method, Role, decode};
use pipemux_tests::raw::{Raw, call};
use pipemux_tests::{Signal, World, is_alive, kill, wait_until};
use serde_json::json;

#[test]
fn bytes_that_are_no_frames_end_only_their_own_connection() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    for bytes in [&[0xff; 4][..], &[0, 0, 0, 5, 1, 2, 3, 4, 5], b"GET / HTTP/1.1\r\n\r\n", &[0; 64]]
    {
        let mut raw = Raw::connect(&world);
        raw.write(bytes);
        raw.ends();
    }
    // One that says nothing, and one in the middle of a frame, cost nothing.
    let _silent = Raw::connect(&world);
    let mut half = Raw::greeted(&world);
    half.write(&[0, 0, 1, 0, 0x95]);
    world.run("notebook.add('a', 'b')").ok();
}

#[test]
fn another_major_version_is_told_both_and_closed() {
    let world = World::new();
    world.pipemux(&["up"]).ok();
    let mut raw = Raw::connect(&world);
    let protocol = ProtocolVersion { major: 77, minor: 0 };
    let hello = Hello { protocol, ..Hello::new(Role::Client, "old client") };
    raw.send(&Envelope::event(Method::Hello, Incarnation(0)), &hello);
    let mut told = String::new();
    while let Some(frame) = raw.frame() {
        if frame.envelope.kind == Kind::Fault {
            let fault: pipemux_proto::Fault = decode(&frame.body).expect("a fault");
            told = fault.message;
        }
    }
    let own = format!("{}.{}", PROTOCOL.major, PROTOCOL.minor);
    assert!(told.contains("77.0") && told.contains(&own), "{told}");
}

#[test]
fn a_request_without_a_greeting_and_an_unreadable_one_are_refused() {
    let world = World::new();
    world.pipemux(&["up"]).ok();
    let mut raw = Raw::connect(&world);
    raw.send(
        &Envelope::request(Method::Verb, 1, Incarnation(0)),
        &call(&world, json!("apps"), "1"),
    );
    raw.ends();
    let mut raw = Raw::greeted(&world);
    raw.send(&Envelope::request(Method::Verb, 9, Incarnation(0)), &["no", "call"]);
    let refused = raw.frame().expect("an answer");
    assert_eq!((refused.envelope.kind, refused.envelope.id), (Kind::Fault, 9));
    raw.send(&Envelope::request(Method::Invoke, 10, Incarnation(0)), &["not", "for", "clients"]);
    assert_eq!(raw.frame().map(|frame| frame.envelope.kind), Some(Kind::Fault));
    raw.send(
        &Envelope::request(Method::Verb, 11, Incarnation(0)),
        &call(&world, json!("apps"), "2"),
    );
    assert_eq!(raw.frame().map(|frame| frame.envelope.kind), Some(Kind::Reply));
}

#[test]
fn a_call_that_is_sent_twice_runs_once() {
    let world = World::new();
    world.pipemux(&["open", "notebook"]).ok();
    let run = json!({ "run": { "code": "notebook.add('once', 'only')" } });
    let add = call(&world, run, "the same id");
    let mut answers = Vec::new();
    for id in 1..=3 {
        let mut raw = Raw::greeted(&world);
        raw.send(&Envelope::request(Method::Verb, id, Incarnation(0)), &add);
        let answer = raw.frame().expect("an answer");
        let answer: pipemux_proto::client::Answer = decode(&answer.body).expect("an answer");
        answers.push((answer.exit, answer.body));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    world.pipemux(&["view"]).ok().has("1 entry");
}

#[test]
fn a_vanished_clients_steps_that_were_not_begun_do_not_run() {
    let world = World::new();
    world.install_rogue("rogue", "tame");
    world.pipemux(&["open", "rogue"]).ok();
    world.pipemux(&["open", "notebook"]).ok();
    let gate = world.path("gate");
    let code = format!(
        "notebook.add('before', 'x'); rogue.misbehave('wait for {}'); notebook.add('behind', 'x')",
        gate.display()
    );
    let running = world.command(&["run", &code]).start();
    wait_until("the first step", || {
        let view = world.command(&["view", "notebook/main"]).reader("bob").output();
        view.text().contains("[before]").then_some(())
    });
    kill(running.pid, Signal::SIGKILL);
    wait_until("the client's end", || (!is_alive(running.pid)).then_some(()));
    // A request behind its connection's end: the daemon has noticed.
    world.pipemux(&["status"]).ok();
    fs::write(gate, "").expect("the gate");
    world.run("rogue.misbehave('nothing')").ok();
    world.pipemux(&["view", "notebook/main"]).ok().has("[before]").lacks("[behind]");
}

#[test]
fn one_that_never_reads_is_let_go_and_others_are_answered() {
    let world = World::new();
    let text: String =
        (0..6_000).map(|number| format!("a line of some length {number}\n")).collect();
    world.write("a.txt", text);
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    let mut deaf = Raw::greeted(&world);
    let mut view = call(&world, json!({ "view": {} }), "v");
    view["budget"] = json!(50_000);
    for id in 1..=60 {
        deaf.send(&Envelope::request(Method::Verb, id, Incarnation(0)), &view);
    }
    world.run("editor.insert(1, 'still here')").ok();
    let _ = deaf.stream.shutdown(Shutdown::Both);
    world.pipemux(&["status"]).ok();
}

#[test]
fn socket_and_state_are_the_users_alone() {
    let world = World::new();
    world.write("a.txt", "secret\n");
    world.pipemux(&["open", "editor", "a.txt"]).ok();
    world.run("editor.insert(1, 'unsaved secret')").ok();
    let paths = world.paths();
    for path in [&paths.runtime_dir, &paths.state_dir] {
        let mode = fs::metadata(path).expect("a directory").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}
