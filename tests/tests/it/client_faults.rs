//! Clients that misbehave or vanish: the daemon keeps answering the others.

use std::fs;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use pipemux_proto::hello::{PROTOCOL, ProtocolVersion};
use pipemux_proto::{Envelope, Hello, Incarnation, Kind, Method, Role, decode};
use pipemux_tests::proc_stats::{peak_kib, reset_peak, resident_kib};
use pipemux_tests::raw_connection::{RawConnection, verb_call};
use pipemux_tests::{Signal, TestEnv, is_alive, kill, wait_for};
use serde_json::json;

#[test]
fn invalid_framing_closes_only_its_own_connection() {
    let env = TestEnv::with_notebook();
    for bytes in [&[0xff; 4][..], &[0, 0, 0, 5, 1, 2, 3, 4, 5], b"GET / HTTP/1.1\r\n\r\n", &[0; 64]]
    {
        let mut raw = RawConnection::connect(&env);
        raw.write(bytes);
        raw.expect_close();
    }
    // A silent connection and one in the middle of a frame delay nobody.
    let _silent = RawConnection::connect(&env);
    let mut half = RawConnection::greeted(&env);
    half.write(&[0, 0, 1, 0, 0x95]);
    env.run("notebook.add('a', 'b')").ok();
}

#[test]
fn other_major_version_is_refused_with_both_versions() {
    let env = TestEnv::new();
    env.pipemux(&["up"]).ok();
    let mut raw = RawConnection::connect(&env);
    let protocol = ProtocolVersion { major: 77, minor: 0 };
    let hello = Hello { protocol, ..Hello::new(Role::Client, "old client") };
    raw.send(&Envelope::event(Method::Hello, Incarnation(0)), &hello);
    let mut told = String::new();
    while let Some(frame) = raw.next_frame() {
        if frame.envelope.kind == Kind::Fault {
            let fault: pipemux_proto::Fault = decode(&frame.body).expect("a fault");
            told = fault.message;
        }
    }
    let own = format!("{}.{}", PROTOCOL.major, PROTOCOL.minor);
    assert!(told.contains("77.0") && told.contains(&own), "{told}");
}

#[test]
fn requests_without_greeting_or_with_invalid_body_are_refused() {
    let env = TestEnv::new();
    env.pipemux(&["up"]).ok();
    let mut raw = RawConnection::connect(&env);
    raw.send(
        &Envelope::request(Method::Verb, 1, Incarnation(0)),
        &verb_call(&env, json!("apps"), "1"),
    );
    raw.expect_close();
    let mut raw = RawConnection::greeted(&env);
    raw.send(&Envelope::request(Method::Verb, 9, Incarnation(0)), &["no", "call"]);
    let refused = raw.next_frame().expect("an answer");
    assert_eq!((refused.envelope.kind, refused.envelope.id), (Kind::Fault, 9));
    raw.send(&Envelope::request(Method::Invoke, 10, Incarnation(0)), &["not", "for", "clients"]);
    assert_eq!(raw.next_frame().map(|frame| frame.envelope.kind), Some(Kind::Fault));
    raw.send(
        &Envelope::request(Method::Verb, 11, Incarnation(0)),
        &verb_call(&env, json!("apps"), "2"),
    );
    assert_eq!(raw.next_frame().map(|frame| frame.envelope.kind), Some(Kind::Reply));
}

#[test]
fn call_sent_three_times_runs_once() {
    let env = TestEnv::with_notebook();
    let run = json!({ "run": { "code": "notebook.add('once', 'only')" } });
    let add = verb_call(&env, run, "the same id");
    let mut answers = Vec::new();
    for id in 1..=3 {
        let mut raw = RawConnection::greeted(&env);
        raw.send(&Envelope::request(Method::Verb, id, Incarnation(0)), &add);
        let answer = raw.next_frame().expect("an answer");
        let answer: pipemux_proto::client::Answer = decode(&answer.body).expect("an answer");
        answers.push((answer.exit, answer.body));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    env.pipemux(&["view"]).ok().has("1 entry");
}

#[test]
fn steps_of_a_killed_client_that_had_not_begun_do_not_run() {
    let env = TestEnv::with_rogue_and_notebook();
    let gate = env.path("gate");
    let code = format!(
        "notebook.add('before', 'x'); rogue.misbehave('wait for {}'); notebook.add('behind', 'x')",
        gate.display()
    );
    let running = env.command(&["run", &code]).start();
    wait_for("the first step is done", || {
        let view = env.as_reader("bob", &["view", "notebook/main"]);
        view.text().contains("[before]")
    });
    kill(running.pid, Signal::SIGKILL);
    wait_for("the client has ended", || !is_alive(running.pid));
    // The daemon has noticed the end of the connection once it answers a later request.
    env.pipemux(&["status"]).ok();
    fs::write(gate, "").expect("the gate");
    env.run("rogue.misbehave('nothing')").ok();
    env.pipemux(&["view", "notebook/main"]).ok().has("[before]").lacks("[behind]");
}

#[test]
fn client_that_never_reads_is_disconnected() {
    let env = TestEnv::new();
    let text: String =
        (0..6_000).map(|number| format!("a line of some length {number}\n")).collect();
    env.write("a.txt", text);
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    let mut deaf = RawConnection::greeted(&env);
    let mut view = verb_call(&env, json!({ "view": {} }), "v");
    view["budget"] = json!(50_000);
    for id in 1..=60 {
        deaf.send(&Envelope::request(Method::Verb, id, Incarnation(0)), &view);
    }
    env.run("editor.insert(1, 'still here')").ok();
    let _ = deaf.stream.shutdown(Shutdown::Both);
    env.pipemux(&["status"]).ok();
}

#[test]
fn deaf_clients_and_unconfirmed_views_keep_little_memory_and_it_goes_back() {
    let env = TestEnv::new();
    let text: String = (0..14_000).map(|n| format!("a line of some length {n}\n")).collect();
    env.write("a.txt", text);
    env.pipemux(&["open", "editor", "a.txt"]).ok();
    let daemon = env.daemon_pid();
    let Some(before) = resident_kib(daemon) else { return };
    reset_peak(daemon);
    let mut deaf = Vec::new();
    for number in 0..30 {
        let mut client = RawConnection::greeted(&env);
        // The daemon may have disconnected it meanwhile.
        let _ = client.stream.set_write_timeout(Some(Duration::from_millis(300)));
        let mut view = verb_call(&env, json!({ "view": {} }), "v");
        view["reader"] = json!(format!("r{number}"));
        view["budget"] = json!(150_000);
        view["lod"] = json!("full");
        for id in 1..=8 {
            client.send_verb(id, &view);
        }
        deaf.push(client);
    }
    env.pipemux(&["status"]).ok();
    let peak = peak_kib(daemon).expect("a peak");
    assert!(peak < before + 180 * 1024, "{before} KiB before, {peak} KiB at most");
    drop(deaf);
    // What was freed goes back once it is quiet; what readers may still confirm is bounded.
    wait_for("memory goes back", || {
        env.pipemux(&["status"]).ok();
        resident_kib(daemon).is_some_and(|now| now < before + 72 * 1024)
    });
}

#[test]
fn client_that_sends_nothing_more_gets_its_answers() {
    let env = TestEnv::with_notebook();
    let mut raw = RawConnection::greeted(&env);
    let add = |number: u64| {
        let code = format!("notebook.add('n{number}', 'x')");
        verb_call(&env, json!({ "run": { "code": code } }), &format!("half-closed {number}"))
    };
    for number in 1..=3 {
        raw.send_verb(number, &add(number));
    }
    raw.stream.shutdown(Shutdown::Write).expect("half of it");
    for number in 1..=3 {
        let answer = raw.next_frame().expect("an answer");
        assert_eq!((answer.envelope.kind, answer.envelope.id), (Kind::Reply, number));
    }
    raw.expect_close();
    env.pipemux(&["history"]).ok().has("add('n1', 'x')").has("add('n3', 'x')");
    // One that asks for nothing is closed at once.
    let idle = RawConnection::greeted(&env);
    idle.stream.shutdown(Shutdown::Write).expect("half of it");
    idle.expect_close();
}

#[test]
fn runtime_and_state_directories_are_private() {
    let env = TestEnv::with_editor("secret\n");
    env.run("editor.hold(); editor.insert(1, 'unsaved secret')").ok();
    let paths = env.paths();
    for path in [&paths.runtime_dir, &paths.state_dir] {
        let mode = fs::metadata(path).expect("a directory").permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

/// More connections than there may be, that say nothing, or that greeted and ask for nothing.
#[test]
fn connections_that_wait_for_nothing_lock_nobody_out() {
    let limits = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let raised = rustix::process::Rlimit { current: limits.maximum, ..limits };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, raised).expect("a limit");
    let env = TestEnv::with_notebook();
    for greets in [false, true] {
        let idle: Vec<_> =
            (0..1_100)
                .map(|_| {
                    if greets { RawConnection::greeted(&env) } else { RawConnection::connect(&env) }
                })
                .collect();
        for word in ["one", "two"] {
            env.run(&format!("notebook.add('{word} {greets}', 'x')")).ok();
        }
        drop(idle);
    }
}
