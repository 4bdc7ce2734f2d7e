//! Exchanges: a program and an app send each other bytes through the daemon.

use pipemux_proto::client::{Attach, Attached, Workspace};
use pipemux_proto::limits::EXCHANGE_MAX;
use pipemux_proto::{Code, Envelope, Fault, Frame, Incarnation, Kind, Method, decode};
use pipemux_tests::raw_connection::RawConnection;
use pipemux_tests::{Signal, TestEnv, kill};

/// An environment with an open `rogue`, and a connection that is attached to it.
fn attached() -> (TestEnv, RawConnection, Incarnation) {
    let env = TestEnv::with_rogue();
    let mut raw = RawConnection::greeted(&env);
    let life = attach(&env, &mut raw, "rogue/main").expect("a life");
    (env, raw, life)
}

fn attach(env: &TestEnv, raw: &mut RawConnection, session: &str) -> Result<Incarnation, Fault> {
    let key = env.project().canonicalize().expect("the project").display().to_string();
    let workspace = Workspace { key, name: "proj".into() };
    let session = session.parse().expect("a session");
    let request = Envelope::request(Method::Attach, 900, Incarnation(0));
    raw.send(&request, &Attach { workspace, session });
    let frame = raw.next_frame().expect("an answer");
    match frame.envelope.kind {
        Kind::Reply => Ok(decode::<Attached>(&frame.body).expect("a life").incarnation),
        _ => Err(decode(&frame.body).expect("a fault")),
    }
}

fn ask(raw: &mut RawConnection, id: u64, life: Incarnation, body: &[u8]) {
    let envelope = Envelope::request(Method::Exchange, id, life);
    let head = Frame::head(&envelope, body.len()).expect("it fits");
    assert!(raw.write(&[&head[..], body].concat()));
}

#[track_caller]
fn echoed(raw: &mut RawConnection, id: u64, body: &[u8]) {
    let frame = raw.next_frame().expect("an answer");
    assert_eq!((frame.envelope.kind, frame.envelope.id), (Kind::Reply, id));
    assert!(frame.body == body, "{} bytes came back for {}", frame.body.len(), body.len());
}

#[track_caller]
fn refused(raw: &mut RawConnection, id: u64) -> Fault {
    let frame = raw.next_frame().expect("an answer");
    assert_eq!((frame.envelope.kind, frame.envelope.id), (Kind::Fault, id));
    decode(&frame.body).expect("a fault")
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| ((at * 31) ^ (at >> 8) ^ seed) as u8).collect()
}

#[test]
fn exchange_bodies_of_every_size_come_back_whole() {
    let (_env, mut raw, life) = attached();
    let sizes = [0, 1, 63, 4_096, 8_192, 16_384, 16_385, 65_536, 70_000, 300_000, EXCHANGE_MAX];
    for (id, size) in sizes.into_iter().enumerate() {
        let body = pattern(size, id);
        ask(&mut raw, id as u64, life, &body);
        echoed(&mut raw, id as u64, &body);
    }
    // Bodies are opaque, even if they look like a frame or a fault.
    for body in [&[0xc1; 9][..], &[0x00, 0x00, 0x00, 0x05, 0x95], b"\x81\xa4code\xa6failed"] {
        ask(&mut raw, 70, life, body);
        echoed(&mut raw, 70, body);
    }
    // A body of one byte too many is refused before it reaches the app, and the connection stays
    // open.
    ask(&mut raw, 71, life, &vec![0; EXCHANGE_MAX + 1]);
    assert_eq!(refused(&mut raw, 71).code, Code::Refused);
    ask(&mut raw, 72, life, b"still here");
    echoed(&mut raw, 72, b"still here");
}

#[test]
fn concurrent_exchanges_reach_their_own_clients() {
    let (env, mut raw, life) = attached();
    let mut other = RawConnection::greeted(&env);
    attach(&env, &mut other, "rogue/main").expect("the same life");
    let bodies: Vec<Vec<u8>> = (0..60).map(|id| pattern(id * 331, id)).collect();
    for (id, body) in bodies.iter().enumerate() {
        ask(&mut raw, id as u64, life, body);
        ask(&mut other, id as u64, life, &[id as u8]);
    }
    for (id, body) in bodies.iter().enumerate() {
        echoed(&mut raw, id as u64, body);
        echoed(&mut other, id as u64, &[id as u8]);
    }
    // The app answers in another order.
    for id in 1..=3 {
        ask(&mut raw, id, life, b"hold");
    }
    ask(&mut raw, 4, life, b"release");
    for id in [3, 2, 1] {
        echoed(&mut raw, id, b"held");
    }
    echoed(&mut raw, 4, b"released");
}

#[test]
fn slow_client_gets_all_answers_and_delays_no_other() {
    let (env, mut slow, life) = attached();
    let body = pattern(EXCHANGE_MAX, 5);
    for id in 0..4 {
        ask(&mut slow, id, life, &body);
    }
    let mut other = RawConnection::greeted(&env);
    attach(&env, &mut other, "rogue/main").expect("the same life");
    for id in 0..50 {
        ask(&mut other, id, life, b"small");
        echoed(&mut other, id, b"small");
    }
    for id in 0..4 {
        echoed(&mut slow, id, &body);
    }
}

#[test]
fn crash_during_exchanges_makes_outcomes_unknown() {
    let (env, mut raw, life) = attached();
    for how in ["die", "half"] {
        let life = attach(&env, &mut raw, "rogue/main").expect("a life");
        ask(&mut raw, 1, life, b"hold");
        ask(&mut raw, 2, life, how.as_bytes());
        assert_eq!(refused(&mut raw, 1).code, Code::Unknown);
        assert_eq!(refused(&mut raw, 2).code, Code::Unknown);
        ask(&mut raw, 3, life, b"too late");
        let gone = refused(&mut raw, 3);
        assert_eq!(gone.code, Code::Unavailable);
        assert!(gone.message.contains("not delivered"), "{gone:?}");
    }
    let next = attach(&env, &mut raw, "rogue/main").expect("a life");
    assert!(next > life);
    ask(&mut raw, 4, next, b"well");
    echoed(&mut raw, 4, b"well");
    kill(env.pid("rogue/main"), Signal::SIGKILL);
    ask(&mut raw, 5, next, b"killed");
    // The daemon may or may not have noticed the death before the request arrived.
    assert!(matches!(refused(&mut raw, 5).code, Code::Unknown | Code::Unavailable));
}

#[test]
fn faults_are_forwarded_and_second_answers_dropped() {
    let (_env, mut raw, life) = attached();
    ask(&mut raw, 1, life, b"refuse");
    let fault = refused(&mut raw, 1);
    assert_eq!((fault.message.as_str(), fault.hints.len()), ("not this one", 1));
    ask(&mut raw, 2, life, b"garbage fault");
    assert_eq!(raw.next_frame().map(|frame| frame.envelope.kind), Some(Kind::Fault));
    ask(&mut raw, 3, life, b"twice");
    echoed(&mut raw, 3, b"once");
    ask(&mut raw, 4, life, b"next");
    echoed(&mut raw, 4, b"next");
}

#[test]
fn unknown_incarnations_and_unsupported_exchanges_are_refused() {
    let (env, mut raw, life) = attached();
    for none in [Incarnation(0), Incarnation(life.0 + 1_000), Incarnation(u64::MAX)] {
        ask(&mut raw, 1, none, b"x");
        assert_eq!(refused(&mut raw, 1).code, Code::Unavailable);
    }
    assert_eq!(attach(&env, &mut raw, "rogue/other").map_err(|f| f.code), Err(Code::NotFound));
    assert_eq!(attach(&env, &mut raw, "nobody/main").map_err(|f| f.code), Err(Code::NotFound));
    env.pipemux(&["open", "notebook"]).ok();
    let notebook = attach(&env, &mut raw, "notebook/main").expect("a life");
    ask(&mut raw, 2, notebook, b"x");
    let told = refused(&mut raw, 2);
    assert!(told.message.contains("takes no exchanges"), "{told:?}");
    env.run("notebook.add('a', 'b')").ok();
}
